"""A claim whose job was vacated, held or removed serves the next job, and none is left behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, log_text, run_tool, submit, wait_until


def claimed_idle(pool: PersonalPool) -> int:
    """Return how many slots are claimed by nobody's job."""
    _, said, _ = run_tool(pool, "condor_status", "-af", "State", "Activity")
    return said.count("Claimed Idle")


def running(jobs: Jobs) -> int:
    """Return how many jobs of the cluster run."""
    words = (str(jobs.cluster), "-af", "JobStatus")
    return run_tool(jobs.pool, "condor_q", *words)[1].split().count("2")


@pytest.mark.parametrize("tool", ["condor_vacate_job", "condor_hold", "condor_rm"])
def test_a_slot_that_a_job_was_taken_off_runs_the_next_one(tool: str, tmp_path: Path) -> None:
    work = Path(tempfile.mkdtemp(prefix="kettle-reuse-")) if os.getuid() == 0 else tmp_path
    work.chmod(0o755)
    with personal_pool(tmp_path, "NUM_CPUS = 2\n") as pool:
        jobs = submit(
            pool,
            work / "jobs",
            "executable = /bin/sleep\narguments = 100\ntransfer_executable = false\n"
            "should_transfer_files = YES\nrequest_memory = 10MB\nrequest_disk = 1MB\nqueue 6\n",
        )
        wait_until(lambda: running(jobs) == 2, 15)
        for proc in range(3):
            assert run_tool(pool, tool, f"{jobs.cluster}.{proc}")[0] in (0, 1)
            wait_until(lambda: running(jobs) == 2 and not claimed_idle(pool), 15)
        run_tool(pool, "condor_rm", str(jobs.cluster))
        # All that shadows report of such runs is believed.
        assert "may not change" not in log_text(pool, "SchedLog")


@pytest.mark.parametrize(("checked", "starts"), [("true", 2), ("false", 1)])
def test_after_a_checkpoint_a_job_leaves_a_claim_that_may_run_no_other(
    checked: str, starts: int, tmp_path: Path
) -> None:
    """CHECK_REACTIVATE_AFTER_CHECKPOINT; the events are those that HTCondor 25.14.1 writes."""
    work = Path(tempfile.mkdtemp(prefix="kettle-reuse-")) if os.getuid() == 0 else tmp_path
    work.chmod(0o755)
    knobs = f"CLAIM_WORKLIFE = 0\nCHECK_REACTIVATE_AFTER_CHECKPOINT = {checked}\n"
    with personal_pool(tmp_path, knobs) as pool:
        script = work / "counts.sh"
        script.write_text(
            "#!/bin/sh\nif [ -e state ]; then echo second; exit 0; fi\n"
            "echo first; echo 1 > state; exit 85\n"
        )
        script.chmod(0o755)
        jobs = submit(
            pool,
            work / "jobs",
            f"executable = {script}\ncheckpoint_exit_code = 85\noutput = out\n"
            "transfer_checkpoint_files = state\ntransfer_output_files =\n"
            "should_transfer_files = YES\nrequest_memory = 10MB\nrequest_disk = 1MB\nqueue\n",
        )
        jobs.wait_for(5, 30)
        assert (work / "jobs" / "out").read_text() == "first\nsecond\n"
        assert jobs.record().integer("NumJobStarts") == starts
        evicted = "Job was evicted. Code 1025 Subcode 0" in jobs.log.read_text()
        assert evicted == (checked == "true")
