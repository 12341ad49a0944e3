"""Which job gets which slot (R054, R060), and the records of those that ended (R070)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit, wait_until

shows = pytest.mark.shows

CONFIG = """\
NUM_CPUS = 2
MEMORY = 3000
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_1 = cpus=1, mem=1000
SLOT_TYPE_1_PARTITIONABLE = false
NUM_SLOTS_TYPE_2 = 1
SLOT_TYPE_2 = cpus=1, mem=2000
SLOT_TYPE_2_PARTITIONABLE = false
MAX_HISTORY_LOG = 5000
MAX_HISTORY_ROTATIONS = 2
"""
QUICK = """\
executable = /bin/true
transfer_executable = false
request_memory = 10MB
request_disk = 1MB
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("matching"), CONFIG) as pool:
        yield pool


@shows("R054")
def test_a_job_runs_where_its_rank_is_highest(pool: PersonalPool, work: Path) -> None:
    for number in range(5):
        jobs = submit(pool, work / str(number), f"{QUICK}rank = Memory\nqueue\n")
        jobs.wait_for(5, 15)
        assert "SlotName: slot2@" in jobs.log.read_text()
    # A job that does not care gets the smaller slot, as in the reference.
    jobs = submit(pool, work / "any", f"{QUICK}queue\n")
    jobs.wait_for(5, 15)
    assert "SlotName: slot1@" in jobs.log.read_text()


@shows("R060")
def test_nice_jobs_run_after_the_others_whatever_the_order(pool: PersonalPool, work: Path) -> None:
    only = "requirements = SlotID == 1\n"
    block = submit(
        pool,
        work / "block",
        f"executable = /bin/sh\narguments = \"-c 'while [ ! -e {work}/go ]; do sleep 0.1; done'\"\n"
        f"transfer_executable = false\nrequest_memory = 10MB\nrequest_disk = 1MB\n{only}queue\n",
    )
    block.wait_for(1, 15)
    tell = QUICK.replace("/bin/true", "/bin/sh") + only
    order = work / "order"
    nice, normal = (
        submit(
            pool,
            work / name,
            f"{tell}arguments = \"-c 'echo {name} >> {order}'\"\n{more}queue\n",
        )
        for name, more in (("nice", "nice_user = true\n"), ("normal", ""))
    )
    (work / "go").touch()
    for jobs in (block, normal, nice):
        jobs.wait_for(5, 20)
    assert order.read_text() == "normal\nnice\n"


@shows("R064")
@shows("R070")
def test_history_is_shown_and_rotates(pool: PersonalPool, work: Path) -> None:
    jobs = submit(pool, work, f"{QUICK}queue 6\n")
    jobs.wait_for(5, 20)
    spool = Path(pool.folder, "spool")

    def rotated() -> list[Path]:
        return [path for path in spool.glob("history.*") if path.name[8:9].isdigit()]

    wait_until(lambda: len(rotated()) == 2, 5)
    words = ("condor_history", str(jobs.cluster), "-limit", "1")
    wait_until(lambda: " C " in run_tool(pool, *words)[1], 5)
    text = run_tool(pool, "condor_history", "-file", str(rotated()[0]), "-af", "JobStatus")[1]
    assert set(text.split()) == {"4"}
    removed = submit(pool, work / "removed", f"{QUICK}hold = true\nqueue\n")
    assert run_tool(pool, "condor_rm", str(removed.cluster))[0] == 0
    removed.wait_for(9, 10)
    words = ("condor_history", "-constraint", f"ClusterId == {removed.cluster}")
    wait_until(lambda: " X " in run_tool(pool, *words)[1], 5)
    assert "JobStatus = 3\n" in run_tool(pool, *words, "-l")[1]
    assert len(rotated()) == 2
