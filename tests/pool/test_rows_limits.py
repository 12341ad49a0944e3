"""Concurrency limits, quotas of groups, and usage that decays (R072, R079)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, ask_queue, run_tool, submit, wait_until

pytestmark = pytest.mark.timeout(90)
shows = pytest.mark.shows

CONFIG = """\
NUM_CPUS = 8
NEGOTIATOR_INTERVAL = 1
PRIORITY_HALFLIFE = 3
LIC_LIMIT = 2
GROUP_NAMES = physics, chem
GROUP_QUOTA_physics = 3
GROUP_QUOTA_DYNAMIC_chem = 0.2
"""
LONG = """\
executable = /bin/sleep
transfer_executable = false
request_memory = 10MB
request_disk = 1MB
arguments = 300
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("limits"), CONFIG) as pool:
        yield pool


@pytest.fixture(autouse=True)
def emptied(pool: PersonalPool) -> Iterator[None]:
    yield
    run_tool(pool, "condor_rm", "-all")
    wait_until(
        lambda: not run_tool(pool, "condor_status", "-claimed", "-af", "Name")[1].strip(), 20
    )


def statuses(jobs: Jobs) -> list[str]:
    return sorted(row[0] for row in ask_queue(jobs.pool, str(jobs.cluster), "JobStatus"))


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


def test_a_group_has_its_quota_and_is_listed_before_it_uses_any(
    pool: PersonalPool, work: Path
) -> None:
    said = run_tool(pool, "condor_userprio", "-quotas", "-allusers")[1]
    assert {"<none>", "physics", "chem"} <= {line.split()[0] for line in said.splitlines() if line}
    group = "accounting_group = physics\naccounting_group_user = ann\n"
    physics = submit(pool, work / "physics", f"{LONG}{group}queue 5\n")
    wait_until(lambda: statuses(physics).count("2") == 3, 20)
    held = run_tool(pool, "condor_status", "-claimed", "-af", "AccountingGroup", "RemoteGroup")[1]
    groups = [line.split() for line in held.splitlines() if line.startswith("physics.ann@")]
    assert [group for _, group in groups] == ["physics"] * 3


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
