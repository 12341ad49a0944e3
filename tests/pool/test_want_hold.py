"""A machine that wants a job held which its PREEMPT drives away (WANT_HOLD)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool, print_logs
from pool_jobs import ask_queue, submit, wait_until

pytestmark = pytest.mark.timeout(240)

POLICY = """NUM_CPUS = 2
POLLING_INTERVAL = 1
WANT_VACATE = true
MachineMaxVacateTime = 3
PREEMPT = Greedy =?= true && time() - EnteredCurrentActivity > 1
WANT_HOLD = Greedy =?= true
WANT_HOLD_REASON = "too greedy"
WANT_HOLD_SUBCODE = 104
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("holds"), POLICY) as pool:
        yield pool


def test_a_job_that_does_not_leave_is_held_when_its_time_to_leave_is_over(
    pool: PersonalPool, tmp_path: Path
) -> None:
    """It has heard SIGTERM, and has until MachineMaxVacateTime; then it is killed and held."""
    tmp_path.chmod(0o777)
    program = tmp_path / "stubborn.sh"
    program.write_text("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 0.1; done\n")
    program.chmod(0o755)
    text = f"executable = {program}\nrequest_memory = 10\nrequest_disk = 10MB\n+Greedy = true\n"
    jobs = submit(pool, tmp_path, f"{text}queue\n")
    cluster = str(jobs.cluster)

    def describe() -> str:
        print_logs(pool)
        return str(jobs.events())

    wait_until(lambda: ask_queue(pool, cluster, "JobStatus") == [["5"]], 20, describe)
    asked = ask_queue(pool, cluster, "HoldReasonCode", "HoldReasonSubCode", "HoldReason")
    [[code, subcode, reason]] = asked
    assert (code, subcode) == ("21", "104")
    assert reason.startswith("Error from slot1_1@")
    assert reason.endswith(": too greedy")
