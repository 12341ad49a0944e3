"""Leases that are shorter than the pauses between a starter's reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit

pytestmark = pytest.mark.timeout(120)


def test_the_lease_of_a_job_that_is_in_touch_never_ends(tmp_path: Path, work: Path) -> None:
    """However short it is; one of no time, or less, means that a lost shadow is the end."""
    leases = (5, 1, 0, -4)
    with personal_pool(tmp_path, "NUM_CPUS = 5\nSTARTER_UPDATE_INTERVAL = 60\n") as pool:
        text = "executable = /bin/sleep\narguments = 9\nrequest_memory = 10MB\nrequest_disk = 1MB\n"
        clusters = [
            submit(pool, work / str(lease), f"{text}+JobLeaseDuration = {lease}\nqueue\n")
            for lease in leases
        ]
        edited = submit(pool, work / "edited", f"{text}queue\n")
        edited.wait_for(1, 20)
        words = (str(edited.cluster), "JobLeaseDuration", "2")
        assert run_tool(pool, "condor_qedit", *words)[0] == 0
        for jobs in (*clusters, edited):
            jobs.wait_for(5, 40)
            numbers = [event.number for event in jobs.events() if event.number not in {6, 40}]
            assert numbers == [0, 1, 5], jobs.log
