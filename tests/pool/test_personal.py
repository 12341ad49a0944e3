"""A personal pool with real daemons: up, found again, down, gone."""

from __future__ import annotations

import os
import re
import signal
import socket
from pathlib import Path

import pytest

from kettle.errors import KettleError, UsageError
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool, processes_of, wait_until_gone
from kettle.wire.sinful import Sinful
from pool_jobs import daemon_pid, wait_until

CORE = "DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR\n"
ONE_PORT = "USE_SHARED_PORT = true\nSHARED_PORT_PORT = 0\n"


def _has_ipv6_loopback() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_a_pool_comes_up_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with personal_pool(tmp_path, CORE) as pool:
        assert pool.master_pid() is not None
        assert len(processes_of(pool)) >= 3
        folder = pool.folder
    assert not os.path.exists(folder)


def test_starting_a_pool_that_is_up_changes_nothing(tmp_path: Path) -> None:
    with personal_pool(tmp_path, CORE) as pool:
        pid = pool.master_pid()
        pool.start()
        assert pool.master_pid() == pid


def test_a_pool_stops_and_starts_again_in_the_same_folder(tmp_path: Path) -> None:
    with personal_pool(tmp_path, CORE) as pool:
        assert pool.stop()
        assert not pool.stop()
        wait_until_gone(pool)
        pool.start()
        assert pool.master_pid() is not None


def test_a_killed_master_takes_its_daemons_with_it(tmp_path: Path) -> None:
    with personal_pool(tmp_path, CORE) as pool:
        pid = pool.master_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        wait_until_gone(pool)
        pool.start()


def test_a_killed_daemon_is_started_again(tmp_path: Path) -> None:
    with personal_pool(tmp_path, CORE) as pool:
        pid = daemon_pid(pool, "condor_negotiator")
        os.kill(pid, signal.SIGKILL)
        assert daemon_pid(pool, "condor_negotiator", other_than=pid) != pid


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    pool = PersonalPool(str(tmp_path))
    with pytest.raises(UsageError, match="not empty"):
        pool.make()
    with pytest.raises(UsageError, match="no personal pool"):
        pool.purge()


@pytest.mark.shows("R040")
def test_a_bad_configuration_is_told_with_file_and_line(tmp_path: Path) -> None:
    with (
        pytest.raises(KettleError, match="condor_config"),
        personal_pool(tmp_path, "this is not valid\n"),
    ):
        pass


def test_all_daemons_can_live_behind_one_port(tmp_path: Path) -> None:
    # A folder whose sockets' names do not fit into a socket's address.
    long = "DAEMON_SOCKET_DIR = $(LOCK)/" + "a" * 100 + "\n"
    logged = "SHARED_PORT_DEBUG = D_FULLDEBUG\n"
    with personal_pool(tmp_path, CORE + ONE_PORT + long + logged) as pool:
        addresses = {}
        for name in ("collector", "negotiator"):
            with open(os.path.join(pool.log_folder, f".{name}_address")) as file:
                addresses[name] = Sinful.parse(file.readline())
        assert addresses["collector"].shared_port_id == "collector"
        assert addresses["collector"].port == addresses["negotiator"].port
        assert (addresses["negotiator"].shared_port_id or "").startswith("negotiator_")
        # Who wanted whom stands in the log in the reference's words.
        told = Path(pool.log_folder, "SharedPortLog").read_text()
        assert re.search(
            r"SharedPortServer: request from NEGOTIATOR <\S+> on <127\.0\.0\.1:\d+> "
            r"to connect to collector\. \(CurPending=\d+ PeakPending=\d+\)\n",
            told,
        )


@pytest.mark.skipif(not _has_ipv6_loopback(), reason="this machine has no IPv6 loopback")
def test_a_pool_lives_on_ipv6_alone(tmp_path: Path) -> None:
    ipv6 = "NETWORK_INTERFACE = ::1\nCONDOR_HOST = ::1\nCOLLECTOR_HOST = [::1]:0\n"
    with personal_pool(tmp_path, CORE + ipv6) as pool:
        path = Path(pool.log_folder, ".collector_address")
        assert path.read_text().startswith("<[::1]:")


def test_files_in_the_callers_folder_are_no_modules_of_the_daemons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "work"
    where.mkdir()
    for name in ("queue.py", "random.py", "kettle.py"):
        (where / name).write_text("raise SystemExit('the wrong module')\n")
    monkeypatch.chdir(where)
    with personal_pool(tmp_path, CORE) as pool:
        assert pool.master_pid() is not None


@pytest.mark.parametrize("how", ["given", "config.d"])
def test_a_pool_whose_logs_are_elsewhere_is_known_stopped_and_never_removed_under_its_daemons(
    work: Path, how: str
) -> None:
    logs, folder = work / "logs", work / "pool"
    logs.mkdir()
    logs.chmod(0o777)
    settings = f"LOG = {logs}\n"
    pool = PersonalPool(str(folder), configuration=settings if how == "given" else "")
    pool.make()
    if how == "config.d":
        (folder / "config.d" / "places").write_text(settings)
    pool.start()
    try:
        again = PersonalPool(str(folder))
        assert again.is_up()
        assert again.master_pid() == pool.master_pid()
        assert again.find_places_elsewhere() == {"LOG": str(logs)}
        again.start()
        with pytest.raises(UsageError, match="is up"):
            again.purge()
        if how == "config.d":
            # A configuration that is broken meanwhile hides nothing.
            (folder / "config.d" / "zz").write_text("if\n")
            assert PersonalPool(str(folder)).master_pid() == pool.master_pid()
            (folder / "config.d" / "zz").unlink()
    finally:
        assert PersonalPool(str(folder)).stop(how="fast")
    pool.purge()
    assert not folder.exists()
    assert (logs / "MasterLog").exists()


def test_who_brings_up_a_pool_whose_schedd_is_dead_is_told_why(tmp_path: Path) -> None:
    """Its ad, which the collector still has, is no sign of life."""
    text = "DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD\nMASTER_BACKOFF_CONSTANT = 1\n"
    with personal_pool(tmp_path, text) as pool:
        Path(pool.folder, "config.d", "wrong").write_text("SCHEDD_INTERVAL = abc\n")
        os.kill(daemon_pid(pool, "condor_schedd"), signal.SIGKILL)
        # Until its master knows: what is dying just now still seems to be up.
        wait_until(lambda: "= abc" in Path(pool.log_folder, "SchedLog").read_text(), 20)
        with pytest.raises(KettleError, match=r"its schedd is dead: SchedLog: .*INTERVAL = abc"):
            pool.start(seconds=60)
        Path(pool.folder, "config.d", "wrong").unlink()
        pool.start(seconds=60)
        assert daemon_pid(pool, "condor_schedd")
