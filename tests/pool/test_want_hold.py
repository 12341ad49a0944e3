"""A machine that wants a job held which its PREEMPT drives away (WANT_HOLD)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool, print_logs
from pool_jobs import ask_queue, is_killed, run_tool, submit, wait_until

pytestmark = pytest.mark.timeout(240)

POLICY = """NUM_CPUS = 2
POLLING_INTERVAL = 1
WANT_VACATE = true
MachineMaxVacateTime = 8
PREEMPT = Greedy =?= true && time() - EnteredCurrentActivity > 1
WANT_HOLD = Greedy =?= true
WANT_HOLD_REASON = "too greedy"
WANT_HOLD_SUBCODE = 104
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("holds"), POLICY) as pool:
        yield pool


STUBBORN = """#!/bin/sh
trap '' TERM
while :; do sleep 0.1; done
"""


def live(word: str) -> list[int]:
    """Return the programs that were started with a word and are not killed."""
    found = [each.pid for each in psutil.process_iter() if word in arguments(each)]
    return [pid for pid in found if not is_killed(pid)]


def arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_a_job_that_its_machine_wants_held_is_held_at_once_and_starts_again_when_it_has_left(
    pool: PersonalPool, tmp_path: Path
) -> None:
    """It has heard SIGTERM, and has until MachineMaxVacateTime; released meanwhile it waits."""
    tmp_path.chmod(0o777)
    program = tmp_path / "stubborn.sh"
    program.write_text(STUBBORN)
    program.chmod(0o755)
    text = f"executable = {program}\nrequest_memory = 10\nrequest_disk = 10MB\n+Greedy = true\n"
    jobs = submit(pool, tmp_path, f"{text}arguments = {tmp_path}\nqueue\n")
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
    [first] = live(str(tmp_path))
    wait_until(lambda: jobs.count_events(12) == {0: 1}, 5, describe)
    held = [event.number for event in jobs.events() if event.number not in (6, 40)]
    assert held == [0, 1, 21, 4, 12]
    run_tool(pool, "condor_qedit", cluster, "Greedy", "false")
    assert run_tool(pool, "condor_release", cluster)[0] == 0
    assert live(str(tmp_path)) == [first], describe()
    jobs.wait_for(1, 60, each=2)
    # The second one begins when the first is dead, and not before.
    wait_until(lambda: live(str(tmp_path)) not in ([], [first]), 10, describe)
    assert is_killed(first), describe()
    run_tool(pool, "condor_rm", cluster)
    jobs.wait_until_gone()
    numbers = [event.number for event in jobs.events() if event.number not in (6, 40)]
    assert numbers == [0, 1, 21, 4, 12, 13, 1, 4, 9]
