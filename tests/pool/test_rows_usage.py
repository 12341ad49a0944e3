"""Usage that counts while slots are held and decays when they are not (R072)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import LONG, empty, run_tool, statuses, submit, wait_until

pytestmark = pytest.mark.timeout(90)
shows = pytest.mark.shows

CONFIG = """\
NUM_CPUS = 8
NEGOTIATOR_INTERVAL = 1
PRIORITY_HALFLIFE = 3
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("limits"), CONFIG) as pool:
        yield pool


@pytest.fixture(autouse=True)
def emptied(pool: PersonalPool) -> Iterator[None]:
    yield
    empty(pool)


@shows("R072")
def test_usage_counts_while_slots_are_held_and_decays_when_they_are_not(
    pool: PersonalPool, work: Path
) -> None:
    def priority() -> float:
        said = run_tool(pool, "condor_userprio", "-allusers", "-af", "Name", "Priority")[1]
        found = dict(line.split() for line in said.splitlines())
        return next((float(each) for name, each in found.items() if name.startswith("eve@")), 0.0)

    jobs = submit(pool, work, f"{LONG}accounting_group_user = eve\nqueue 3\n")
    wait_until(lambda: statuses(jobs) == ["2"] * 3, 20)
    # Three slots for several half-lives: the real priority comes near 3, times the factor 1000.
    wait_until(lambda: priority() > 2500, 30)
    assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
    wait_until(lambda: priority() < 700, 30)
    said = run_tool(pool, "condor_userprio", "-allusers", "-af", "Name", "AccumulatedUsage")[1]
    usage = {
        line.split()[0].partition("@")[0]: float(line.split()[1]) for line in said.splitlines()
    }
    assert usage["eve"] > 10
