"""All daemons of a machine are killed at once and stay away: what their jobs left still ends.

Where a job has a PID namespace the kernel sees to that (`test_own_pids.py`).
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from kettle.policy.lease import SHORTEST_SECONDS
from kettle.pool.personal import PersonalPool
from kettle.startd.services.procd import TITLE
from kettle.testing.pool_fixture import personal_pool, processes_of
from pool_jobs import (
    EVERYBODY,
    Jobs,
    daemon_pid,
    daemon_pids,
    is_noted,
    kill_at_once,
    programs_of,
    run_tool,
    submit_script,
    title_of,
    wait_until,
)

pytestmark = pytest.mark.timeout(180)
shows = pytest.mark.shows

CONFIG = (
    "NUM_CPUS = 2\nUSE_PID_NAMESPACES = false\n"
    "MASTER_BACKOFF_CONSTANT = 0\nMASTER_BACKOFF_CEILING = 1\n"
)


def leave(pool: PersonalPool, work: Path, execute: Path | None = None) -> Jobs:
    """Run a job, in this folder, whose processes are in groups and sessions of their own.

    Returns when they are, and have been seen.
    """
    script = (
        f"echo begin >>{work}/begun\n"
        f"timeout 300 sleep {seconds(1)} &\n"
        f"setsid sleep {seconds(2)} &\n"
        f"(cd / && exec setsid env -i /bin/sleep {seconds(3)}) &\n"
        "wait"
    )
    jobs = submit_script(pool, work, script, "request_memory = 10MB\nrequest_disk = 1MB\n")
    wait_until(lambda: len(left()) == 3, 30, lambda: str(left()))
    (bare,) = programs_of(f"sleep {seconds(3)}")
    wait_until(lambda: is_noted(bare, execute or Path(pool.folder, "execute")), 20)
    return jobs


def seconds(number: int) -> str:
    """Return what one of the processes sleeps, as nobody else does."""
    return f"300.{os.getpid()}{number}"


def left() -> list[int]:
    """Return the processes of the job that live."""
    return [pid for number in (1, 2, 3) for pid in programs_of(f"sleep {seconds(number)}")]


def procds(pool: PersonalPool) -> list[int]:
    """Return the processes of this kind that work in the pool, whoever their parents are."""
    return [pid for pid in processes_of(pool) if title_of(pid).startswith("condor_procd")]


@shows("E006")
def test_what_left_its_group_ends_without_any_daemon(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        leave(pool, work)
        kill_at_once(pool, *EVERYBODY)
        assert left()
        killed = time.monotonic()
        wait_until(lambda: not left(), 15)
        # Before the job may begin elsewhere.
        assert time.monotonic() - killed < SHORTEST_SECONDS
        # It stays no longer than it is needed.
        wait_until(lambda: not processes_of(pool), 10)
        log = Path(pool.log_folder, "StartLog").read_text()
        assert (
            "condor_procd: the startd is gone, and nobody came; killing what its jobs left" in log
        )
        assert (work / "begun").read_text().split() == ["begin"]


def test_what_ran_in_a_folder_that_a_reconfiguration_named_ends_too(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        other = Path(pool.folder, "execute2")
        other.mkdir(mode=0o755)
        Path(pool.folder, "config.d", "90execute").write_text(f"EXECUTE = {other}\n")
        assert run_tool(pool, "condor_reconfig", "-all")[0] == 0
        wait_until(lambda: len(procds(pool)) == 2, 20, lambda: str(procds(pool)))
        leave(pool, work, other)
        kill_at_once(pool, *EVERYBODY)
        assert left()
        wait_until(lambda: not left(), 15)


def test_a_starter_that_stands_still_ends_with_its_job(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        leave(pool, work)
        (starter,) = daemon_pids(pool, "condor_starter")
        os.kill(starter, signal.SIGSTOP)
        kill_at_once(pool, *(name for name in EVERYBODY if name != "condor_starter"))
        wait_until(lambda: not left() and not title_of(starter), 15)


def test_a_next_startd_has_a_procd_of_its_own_and_the_earlier_one_is_gone(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = leave(pool, work)
        earlier, first = procds(pool), left()
        (startd,) = daemon_pids(pool, "condor_startd")
        os.kill(startd, signal.SIGKILL)
        daemon_pid(pool, "condor_startd", other_than=startd)
        jobs.wait_for(1, 60, each=2)
        wait_until(lambda: len(left()) == 3, 30, lambda: str(left()))
        assert not set(first) & set(left())
        wait_until(lambda: len(procds(pool)) == 1, 20, lambda: str(procds(pool)))
        assert procds(pool) != earlier
        assert (work / "begun").read_text().split() == ["begin", "begin"]


def test_a_start_after_the_daemons_deaths_finds_no_earlier_procd(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        leave(pool, work)
        (earlier,), first = procds(pool), left()
        # ps shows its name, and not how it was started.
        assert title_of(earlier).rstrip("\0") == TITLE
        # It cannot end by itself what it is there for.
        os.kill(earlier, signal.SIGSTOP)
        kill_at_once(pool, *EVERYBODY)
        pool.start()
        assert earlier not in procds(pool)
        assert not set(first) & set(left())
        wait_until(lambda: len(procds(pool)) == 1, 20, lambda: str(procds(pool)))


def test_a_procd_that_is_killed_is_started_again_and_hears_no_other_signal(
    tmp_path: Path,
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        wait_until(lambda: len(procds(pool)) == 1, 20)
        (first,) = procds(pool)
        status = Path(f"/proc/{first}/status").read_text()
        ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            assert ignored >> (number - 1) & 1
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: procds(pool) not in ([], [first]), 20)


def test_an_orderly_end_leaves_no_procd(tmp_path: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        wait_until(lambda: len(procds(pool)) == 1, 20)
        pool.stop()
        assert procds(pool) == []


@pytest.mark.root
def test_where_jobs_have_pid_namespaces_there_is_no_procd(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG.replace("NAMESPACES = false", "NAMESPACES = true")) as pool:
        jobs = submit_script(pool, work, "exit 0", "request_disk = 1MB\n")
        jobs.wait_for(5, 60)
        assert procds(pool) == []
