"""Concurrency limits hold for all jobs of a pool, however their claims come about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import LONG, ask_queue, empty, run_tool, statuses, submit, wait_until

pytestmark = pytest.mark.timeout(90)

CONFIG = """\
NUM_CPUS = 8
NEGOTIATOR_INTERVAL = 1
LIC_LIMIT = 2
BURST_LIMIT = 5
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("limits"), CONFIG) as pool:
        yield pool


@pytest.fixture(autouse=True)
def emptied(pool: PersonalPool) -> Iterator[None]:
    yield
    empty(pool)


def test_no_more_jobs_run_at_a_time_than_their_limit_allows(pool: PersonalPool, work: Path) -> None:
    jobs = submit(pool, work, f"{LONG}concurrency_limits = lic\nqueue 4\n")
    wait_until(lambda: statuses(jobs) == ["1", "1", "2", "2"], 20)
    where = ("-claimed", "-af", "ConcurrencyLimits")
    wait_until(lambda: run_tool(pool, "condor_status", *where)[1].split() == ["lic", "lic"], 10)
    names = ("JobStatus", "LastRejMatchReason", "AutoClusterAttrs", "LastRejMatchNegotiator")

    def told() -> list[list[str]]:
        rows = ask_queue(pool, str(jobs.cluster), *names)
        return [row for row in rows if row[1] == "concurrency limit lic reached"]

    wait_until(lambda: len(told()) > 0, 10)
    [_, _, attributes, negotiator] = told()[0]
    assert {"ConcurrencyLimits", "RequestCpus", "Requirements"} <= set(attributes.split(","))
    assert negotiator not in {"", "undefined"}
    # One more finds room when one is gone, and no two.
    first = min(
        row[1] for row in ask_queue(pool, str(jobs.cluster), "JobStatus", "ProcId") if row[0] == "2"
    )
    assert run_tool(pool, "condor_rm", f"{jobs.cluster}.{first}")[0] == 0
    wait_until(lambda: statuses(jobs) == ["1", "2", "2"], 20)


def cycles_with_matches(pool: PersonalPool, cluster: int) -> list[int]:
    """Return for each cycle that matched jobs of a cluster how many it matched."""
    text = Path(pool.log_folder, "NegotiatorLog").read_text()
    cycles = text.split("Started Negotiation Cycle")
    return [found for each in cycles if (found := each.count(f" Matched {cluster}."))]


def test_a_burst_of_jobs_with_limits_starts_in_one_cycle(pool: PersonalPool, work: Path) -> None:
    jobs = submit(pool, work, f"{LONG}concurrency_limits = burst\nqueue 8\n")
    wait_until(lambda: sorted(statuses(jobs)) == [*"11122222"], 20)
    assert cycles_with_matches(pool, jobs.cluster) == [5]
