"""What a pool's folder says of the pool, and what waiting for one hears meanwhile."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import time
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kettle.config import Config
from kettle.errors import UsageError
from kettle.pool import making
from kettle.pool.folder import PoolFolder, closed_parent, default_folder
from kettle.pool.location import Alone, Centre
from kettle.pool.making import Maker
from kettle.pool.personal import PersonalPool
from kettle.pool.readiness import (
    Complaints,
    find_logs,
    notification_socket,
    wait_for_ads,
)
from kettle.pool.settings import PoolSettings, render_configuration
from kettle.pool.turns import make_path


def folder_of(path: Path) -> PoolFolder:
    return PoolFolder(str(path), {"PATH": "/bin", "SECRET": "x", "KETTLE_PROFILE": "p"}, None)


def test_a_folder_is_named_before_it_is_guessed(tmp_path: Path) -> None:
    assert default_folder({"KETTLE_DIR": "/a/../b", "XDG_STATE_HOME": "/c"}) == "/b"
    if os.getuid() != 0:
        assert default_folder({"XDG_STATE_HOME": "/c"}) == "/c/kettle"
        assert default_folder({"HOME": "/h", "XDG_STATE_HOME": "c"}) == "/h/.local/state/kettle"


def test_the_closed_folder_on_the_way_is_found(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(0o700)
    assert closed_parent(str(closed / "inner" / "pool")) == str(closed)


def test_daemons_inherit_what_they_need_and_no_more(tmp_path: Path) -> None:
    environment = folder_of(tmp_path).environment()
    assert environment["CONDOR_CONFIG"] == str(tmp_path / "condor_config")
    assert environment["KETTLE_PROFILE"] == "p"
    assert "SECRET" not in environment


def test_a_master_that_was_killed_is_waited_for_and_then_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its daemons answer in the moment in which it has its lock still."""
    dead = os.spawnl(os.P_NOWAIT, "/bin/true", "true")
    os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)
    (tmp_path / "log").mkdir()
    lock = (tmp_path / "log" / "InstanceLock").open("w")
    lock.write(f"{dead}\n")
    lock.flush()
    fcntl.flock(lock, fcntl.LOCK_EX)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            lock.close()

    monkeypatch.setattr(time, "sleep", wait)
    assert folder_of(tmp_path).master_pid() is None
    assert len(waits) == 3
    os.waitpid(dead, 0)


def test_a_master_that_lives_is_there_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").mkdir()
    with (tmp_path / "log" / "InstanceLock").open("w") as lock:
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        monkeypatch.delattr(time, "sleep")
        assert folder_of(tmp_path).master_pid() == os.getpid()


def test_an_empty_folder_is_no_pool_and_a_made_one_is_down(tmp_path: Path) -> None:
    pool = folder_of(tmp_path / "pool")
    assert (pool.exists(), pool.is_up(), pool.location) == (False, False, Alone())
    if os.getuid() == 0:
        # pytest's folders are closed to other accounts.
        with pytest.raises(UsageError, match="closed to the account"):
            Maker(pool, "", system=False).make()
        return
    Maker(pool, "A = 1\n", system=False).make()
    assert (pool.exists(), pool.is_up(), pool.is_system()) == (True, False, False)
    assert pool.read_configuration().endswith("A = 1\n")


def test_a_folder_stands_where_it_is_to_stand(tmp_path: Path) -> None:
    centre = Centre("10.0.0.1")
    assert PoolFolder(str(tmp_path), {}, centre).location == centre


def test_what_a_folder_without_a_pool_holds_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    maker = Maker(folder_of(tmp_path), "", system=False)
    with pytest.raises(UsageError, match="is not empty"):
        maker.make()
    with pytest.raises(UsageError, match="left alone"):
        maker.purge()
    assert (tmp_path / "mine").read_text() == "mine"


def test_of_a_pool_that_did_not_start_its_logs_stay_and_a_pool_can_be_made_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "closed_parent", lambda _folder: None)
    pool = PersonalPool(str(tmp_path / "p"))
    pool.make()
    pool.discard()
    assert not (tmp_path / "p").exists()
    pool.make()
    (tmp_path / "p/log/master.out").touch()
    (tmp_path / "p/log/MasterLog").write_text("why\n")
    pool.discard()
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["log"]
    assert not pool.exists()
    pool.make()
    assert (tmp_path / "p/log/MasterLog").read_text() == "why\n"


def test_a_pool_can_be_made_where_all_of_it_was_deleted_while_it_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its daemons made anew where they write; nobody need delete that, too."""
    monkeypatch.setattr(making, "closed_parent", lambda _folder: None)
    (tmp_path / "p/log").mkdir(parents=True)
    (tmp_path / "p/spool").mkdir()
    for name in ("log/MasterLog", "log/InstanceLock", "spool/job_queue.log"):
        (tmp_path / "p" / name).touch()
    pool = PersonalPool(str(tmp_path / "p"))
    pool.make()
    assert pool.exists()


def test_only_what_is_complained_of_from_now_on_counts(tmp_path: Path) -> None:
    log = tmp_path / "MasterLog"
    log.write_text("07/01/26 12:00:00 ERROR: the old trouble\n")
    complaints = Complaints(str(tmp_path), Config.from_text(f"LOG = {tmp_path}"))
    assert str(complaints) == "no log says why"
    with log.open("a") as file:
        file.write("07/01/26 12:00:01 ERROR: the new trouble\n")
    assert "the new trouble" in str(complaints)
    assert "old" not in str(complaints)


def test_every_daemon_of_the_pool_is_heard_and_no_job_s_starter(tmp_path: Path) -> None:
    config = Config.from_text(
        f"LOG = {tmp_path}\nDAEMON_LIST = MASTER NEGOTIATOR, schedd MINE\n"
        f"MINE_LOG = {tmp_path}/mine"
    )
    logs = {os.path.basename(path) for path in find_logs(str(tmp_path), config)}
    assert logs == {
        "master.out", "MasterLog", "SharedPortLog", "NegotiatorLog", "SchedLog", "mine",
    }  # fmt: skip
    complaints = Complaints(str(tmp_path), config)
    (tmp_path / "StarterLog").write_text("07/01/26 12:00:01 ERROR: a job's\n")
    assert str(complaints) == "no log says why"
    (tmp_path / "NegotiatorLog").write_text("07/01/26 12:00:01 ERROR: no record\n")
    assert str(complaints) == "NegotiatorLog: no record"


@pytest.mark.parametrize("length", [1, 200], ids=["a path", "an abstract name"])
def test_the_master_is_heard_whatever_the_folder_is_called(tmp_path: Path, length: int) -> None:
    path = tmp_path / ("n" * length) / "ready"
    path.parent.mkdir()
    with notification_socket(str(path)) as (ready, name):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as master:
            master.connect(name.replace("@", "\0", 1) if name.startswith("@") else name)
            master.send(b"READY=1")
        assert ready.recv(100) == b"READY=1"
    assert not path.exists()


def test_a_master_that_runs_since_before_log_was_changed_is_known(tmp_path: Path) -> None:
    pool = folder_of(tmp_path)
    settings = PoolSettings(str(tmp_path), ("alice",), "here", "/bin", extra="LOG = /elsewhere")
    (tmp_path / "condor_config").write_text(render_configuration(settings))
    (tmp_path / "log").mkdir()
    lock = tmp_path / "log" / "InstanceLock"
    lock.write_text("7\n")
    assert (pool.log_folder, pool.master_pid(), pool.is_up()) == ("/elsewhere", None, False)
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert (pool.master_pid(), pool.is_up()) == (7, True)
    assert not pool.is_up()


@pytest.mark.skipif(os.getuid() != 0, reason="no other account runs its jobs")
def test_what_root_makes_on_the_way_lets_the_account_of_jobs_through(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        make_path(str(tmp_path / "a/b/pool"))
        make_path(str(tmp_path / "a/b/pool"))
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / each).stat().st_mode) for each in ("a", "a/b", "a/b/pool")]
    assert modes == [0o755] * 3


@pytest.mark.parametrize("up", [True, False])
def test_where_a_master_runs_nothing_that_is_asked_nothing_is_waited_for(
    tmp_path: Path, up: bool
) -> None:
    config = Config.from_text("DAEMON_LIST =\n", subsystem="TOOL")
    pool = cast(PoolFolder, SimpleNamespace(master_pid=lambda: 1 if up else None))
    complaints = Complaints(str(tmp_path), config)
    assert wait_for_ads(pool, config, complaints, time.monotonic() + 60) is up
