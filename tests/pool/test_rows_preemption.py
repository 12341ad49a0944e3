"""Slots change hands for a better priority or a job that the machine prefers (R079)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, run_tool, submit, wait_until

pytestmark = pytest.mark.timeout(90)
shows = pytest.mark.shows

CONFIG = """\
NUM_CPUS = 2
NUM_SLOTS_TYPE_1 = 2
SLOT_TYPE_1 = cpus=1
SLOT_TYPE_1_PARTITIONABLE = false
NEGOTIATOR_INTERVAL = 1
PRIORITY_HALFLIFE = 3
PREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 1.2
RANK = TARGET.Wanted =?= true
MachineMaxVacateTime = 5
"""
LONG = """\
executable = /bin/sleep
transfer_executable = false
request_memory = 10MB
request_disk = 1MB
arguments = 300
"""


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path, CONFIG) as pool:
        yield pool


def queue(pool: PersonalPool, work: Path, user: str, count: int, lines: str = "") -> Jobs:
    text = f"{LONG}accounting_group_user = {user}\n{lines}queue {count}\n"
    return submit(pool, work / user, text)


def numbers(jobs: Jobs, proc: int) -> list[int]:
    """The job's events without those of its transfers and its size."""
    return [
        event.number
        for event in jobs.events()
        if event.proc == proc and event.number not in {6, 40}
    ]


def begun(jobs: Jobs) -> list[int]:
    """Return the procs of the jobs that have begun to run."""
    return [event.proc for event in jobs.events() if event.number == 1]


def holders(pool: PersonalPool) -> list[str]:
    said = run_tool(pool, "condor_status", "-claimed", "-af", "AccountingGroup")[1]
    return sorted(name.partition("@")[0] for name in said.split())


def states(pool: PersonalPool) -> list[str]:
    """Return whose job is in which state, of every job."""
    said = run_tool(pool, "condor_q", "-nobatch", "-af", "AcctGroupUser", "JobStatus")[1]
    return sorted(said.splitlines())


@shows("R079")
def test_two_users_come_to_share_the_slots_evenly(pool: PersonalPool, work: Path) -> None:
    first = queue(pool, work, "ann", 4)
    # A slot that is claimed and runs nothing yet would be given away without an eviction.
    wait_until(lambda: holders(pool) == ["ann", "ann"] and len(begun(first)) == 2, 20)
    second = queue(pool, work, "ben", 4)
    # Ann's priority gets worse with what she uses, until one of her slots goes to Ben: not both.
    wait_until(lambda: holders(pool) == ["ann", "ben"], 40)
    # A slot changes its holder before the queue and the logs say so.
    shared = ["ann 1"] * 3 + ["ann 2"] + ["ben 1"] * 3 + ["ben 2"]
    wait_until(lambda: states(pool) == shared, 20, lambda: str(states(pool)))
    evicted = [proc for proc in range(4) if 4 in numbers(first, proc)]
    assert len(evicted) == 1
    assert numbers(first, evicted[0])[:3] == [0, 1, 4]

    def used() -> dict[str, str]:
        said = run_tool(pool, "condor_userprio", "-af", "Name", "ResourcesUsed")[1]
        lines = dict(line.split() for line in said.splitlines())
        return {name.partition("@")[0]: count for name, count in lines.items() if "@" in name}

    # The books follow the slots' ads, which may be a moment behind.
    wait_until(lambda: used() == {"ann": "1", "ben": "1"}, 40, lambda: str(used()))
    wait_until(lambda: numbers(second, 0) == [0, 1], 20, lambda: str(numbers(second, 0)))


@shows("R079")
def test_a_job_that_the_machine_prefers_takes_a_slot_from_another(
    pool: PersonalPool, work: Path
) -> None:
    first = queue(pool, work, "ann", 2)
    # A slot that is claimed and runs nothing yet would be given away without an eviction.
    wait_until(lambda: holders(pool) == ["ann", "ann"] and len(begun(first)) == 2, 20)
    second = queue(pool, work, "ben", 1, "+Wanted = true\n")
    second.wait_for(1, 20)
    evicted = [proc for proc in range(2) if 4 in numbers(first, proc)]
    assert len(evicted) == 1
    assert "Job was evicted. Code 1018 Subcode 0" in first.log.read_text()
    assert "Reason: preempted by a better claim" in first.log.read_text()
    said = run_tool(pool, "condor_status", "-af", "AccountingGroup", "CurrentRank")[1]
    ranks = {
        line.split()[0].partition("@")[0]: float(line.split()[1]) for line in said.splitlines()
    }
    assert ranks == {"ann": 0.0, "ben": 1.0}
