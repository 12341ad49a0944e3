"""A name service that says nothing of an account for a while: its jobs run on, and wait."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kettle.records.event_log import read_events
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, daemon_pid, log_text, submit_as, wait_until

pytestmark = [pytest.mark.timeout(240), pytest.mark.root]

OPEN = "ALLOW_WRITE = *\nALLOW_READ = *\n"
# Runs until it is told to end, wherever that is looked from.
SCRIPT = "#!/bin/sh\nwhile ! test -e {go}; do sleep 0.1; done\n"


def rename(old: str, new: str) -> None:
    """Give an account another name, also while its processes run."""
    library = ctypes.CDLL(None)
    assert library.lckpwdf() == 0
    try:
        path = Path("/etc/passwd")
        lines = path.read_text().splitlines(keepends=True)
        changed = [
            line.replace(old, new, 1) if line.startswith(f"{old}:") else line for line in lines
        ]
        beside = path.with_name("passwd.kettle")
        beside.write_text("".join(changed))
        beside.chmod(0o644)
        beside.rename(path)
    finally:
        library.ulckpwdf()


@contextlib.contextmanager
def unknown(account: pwd.struct_passwd) -> Iterator[None]:
    """Let nobody know an account's name."""
    rename(account.pw_name, f"{account.pw_name}-away")
    try:
        yield
    finally:
        rename(f"{account.pw_name}-away", account.pw_name)


def numbers(log: Path) -> list[int]:
    return [event.number for event in read_events(log.read_bytes())]


def test_a_job_whose_owner_nobody_knows_as_its_schedd_begins_runs_on_and_is_found_again(
    tmp_path: Path, work: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    account = make_account("quiet")
    with personal_pool(tmp_path, OPEN) as pool:
        (work / "job.sh").write_text(SCRIPT.format(go=work / "go"))
        (work / "job.sh").chmod(0o755)
        lines = f"executable = {work}/job.sh\nrequest_disk = 1MB\n"
        log = submit_as(pool, account, work / "here", f"{lines}queue 1\n")
        wait_until(lambda: 1 in numbers(log), 30, lambda: log_text(pool, "ShadowLog"))
        rows = ask_queue(pool, "-all", "ClusterId", "JobStatus")
        (job,) = [row[0] for row in rows if row[1] == "2"]
        with unknown(account):
            schedd = daemon_pid(pool, "condor_schedd")
            os.kill(schedd, signal.SIGKILL)
            daemon_pid(pool, "condor_schedd", other_than=schedd)
            waits = "its running jobs wait: there is no account"
            wait_until(lambda: waits in log_text(pool, "SchedLog"), 30)
            assert ask_queue(pool, job, "JobStatus") == [["2"]]
        wait_until(lambda: 23 in numbers(log), 30, lambda: log_text(pool, "SchedLog"))
        (work / "go").touch()
        wait_until(
            lambda: not ask_queue(pool, job, "JobStatus"), 60, lambda: log_text(pool, "SchedLog")
        )
        # Without the events of file transfer and of the program's size.
        assert [number for number in numbers(log) if number not in {6, 40}] == [0, 1, 22, 23, 5]
