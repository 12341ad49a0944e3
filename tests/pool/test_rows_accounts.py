"""Jobs run as the account that submitted them when the pool runs as root (R086)."""

from __future__ import annotations

import contextlib
import os
import pwd
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit, wait_until

pytestmark = [pytest.mark.timeout(60), pytest.mark.root]
shows = pytest.mark.shows
SMALL = "request_memory = 10MB\nrequest_disk = 1MB\n"


@shows("R086")
def test_a_job_runs_as_the_account_that_submitted_it(tmp_path: Path, work: Path) -> None:
    account = pwd.getpwnam("games")
    config = "ALLOW_WRITE = $(ALLOW_DEFAULT), games@*\nALLOW_READ = *\n"
    with personal_pool(tmp_path, config) as pool:
        home = work / "home"
        home.mkdir()
        os.chown(home, account.pw_uid, account.pw_gid)
        (home / "job.sub").write_text(
            "executable = /bin/sh\narguments = \"-c 'id -u; touch made'\"\n"
            f"output = out\nlog = log\ntransfer_executable = false\n{SMALL}queue\n"
        )
        # Everything that a submission loads is loaded before the account changes: the other one
        # may not be able to read it.
        submit(pool, work / "warm", "executable = /bin/true\nhold = true\nqueue\n")
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(BaseException):
                os.setgroups([])
                os.setgid(account.pw_gid)
                os.setuid(account.pw_uid)
                os.chdir(home)
                code, _, complaint = run_tool(pool, "condor_submit", "-terse", "job.sub")
                (home / "complaint").write_text(complaint)
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        complaint = home / "complaint"
        assert code == 0, complaint.read_text() if complaint.exists() else ""
        log = home / "log"
        wait_until(lambda: log.exists() and "005 (" in log.read_text(), 20)
        assert (home / "out").read_text() == f"{account.pw_uid}\n"
        for name in ("out", "made", "log"):
            assert (home / name).stat().st_uid == account.pw_uid
