"""Jobs that find no machine at home run in another pool (FLOCK_TO)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit, wait_until

pytestmark = pytest.mark.timeout(90)

JOB = """\
executable = /bin/sleep
transfer_executable = false
request_memory = 10MB
request_disk = 1MB
"""


@pytest.fixture
def pools(tmp_path: Path) -> Iterator[tuple[PersonalPool, PersonalPool]]:
    """A pool with one core, and one with two to which it flocks."""
    with personal_pool(tmp_path / "there", "NUM_CPUS = 2\n") as there:
        address = run_tool(there, "condor_status", "-collector", "-af", "MyAddress")[1]
        host = address.strip().strip("<>").partition("?")[0]
        with personal_pool(tmp_path / "here", f"NUM_CPUS = 1\nFLOCK_TO = {host}\n") as here:
            yield here, there


def claimed(pool: PersonalPool) -> list[str]:
    said = run_tool(pool, "condor_status", "-claimed", "-af", "RemoteScheddName")[1]
    return said.split()


def test_what_starves_at_home_runs_in_the_other_pool(
    pools: tuple[PersonalPool, PersonalPool], work: Path
) -> None:
    here, there = pools
    jobs = submit(here, work, f"{JOB}arguments = 300\nqueue 3\n")
    wait_until(lambda: (len(claimed(here)), len(claimed(there))) == (1, 2), 30)
    said = run_tool(here, "condor_q", "-af", "JobStatus", "RemotePool")[1]
    assert sorted(line.split()[1] == "undefined" for line in said.splitlines()) == [
        False,
        False,
        True,
    ]
    counts = ("-submitters", "-af", "RunningJobs", "FlockedJobs")
    wait_until(lambda: run_tool(here, "condor_status", *counts)[1].split() == ["1", "2"], 10)
    assert run_tool(here, "condor_rm", str(jobs.cluster))[0] == 0
    wait_until(lambda: not claimed(here) and not claimed(there), 20)


def test_what_finds_a_machine_at_home_stays_there(
    pools: tuple[PersonalPool, PersonalPool], work: Path
) -> None:
    here, there = pools
    submit(here, work, f"{JOB}arguments = 0\nqueue\n").wait_for(5, 20)
    assert run_tool(there, "condor_status", "-submitters", "-af", "Name")[1].split() == []
