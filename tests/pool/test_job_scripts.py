"""PreCmd and PostCmd: what runs around a job, and what becomes of the job when one fails."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import submit

SHELL = """\
executable = /bin/sh
transfer_executable = false
should_transfer_files = YES
arguments = "-c 'echo job'"
output = out
"""


def test_a_script_holds_the_job_only_where_the_job_says_how_it_is_to_end(tmp_path: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix="kettle-scripts-")) if os.getuid() == 0 else tmp_path
    work.chmod(0o755)
    pre = work / "pre.sh"
    pre.write_text("#!/bin/sh\nexit 3\n")
    pre.chmod(0o755)
    with personal_pool(tmp_path, "") as pool:
        ran = submit(pool, work / "ran", f'{SHELL}+PreCmd = "{pre}"\nqueue\n')
        ran.wait_for(5, 30)
        assert ran.record().integer("ExitCode") == 0
        assert ran.count_events(1) == {0: 1}
        for name, lines, code in (
            ("before", f'+PreCmd = "{pre}"\n+SuccessPreExitCode = 0', "43"),
            ("after", '+PostCmd = "/bin/false"\n+SuccessPostExitCode = 0', "44"),
            ("missing", '+PreCmd = "/nowhere/pre"', "6"),
        ):
            held = submit(pool, work / name, f"{SHELL}{lines}\nqueue\n")
            assert held.wait_for_status(5, "HoldReasonCode") == [code], name
            assert held.count_events(1) == {0: 1}, name


def test_no_script_runs_where_the_machine_allows_none(tmp_path: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix="kettle-scripts-")) if os.getuid() == 0 else tmp_path
    work.chmod(0o755)
    lines = '+PreCmd = "/nowhere/pre"\n+PostCmd = "/nowhere/post"\n'
    with personal_pool(tmp_path, "STARTER_ALLOW_JOB_PRE_AND_POST_CMD = TARGET.Foo\n") as pool:
        job = submit(pool, work / "ran", f"{SHELL}{lines}+Foo = false\nqueue\n")
        job.wait_for(5, 30)
        assert job.record().integer("ExitCode") == 0
        allowed = submit(pool, work / "allowed", f"{SHELL}{lines}+Foo = true\nqueue\n")
        assert allowed.wait_for_status(5, "HoldReasonCode") == ["6"]
