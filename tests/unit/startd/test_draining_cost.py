"""What draining a machine now would cost."""

from __future__ import annotations

from kettle.startd.draining_cost import FOREVER, Expected, RunningJob, expect
from kettle.startd.retirement import Grants

NOW = 5000.0


def test_a_job_costs_its_run_and_the_time_to_leave_for_each_core() -> None:
    # Seen of the reference: 18 seconds on one core with the usual 600 are 618.
    assert expect([RunningJob(1, 18, Grants())], Expected(), NOW) == Expected(
        618, 618, NOW + 600, NOW + 600
    )
    assert expect([RunningJob(4, 18, Grants())], Expected(), NOW).quick_badput == 4 * 618


def test_graceful_draining_waits_for_retirement() -> None:
    job = RunningJob(2, 100, Grants(machine_retirement_seconds=3700))
    found = expect([job], Expected(), NOW)
    assert found == Expected(2 * 3700, 2 * 700, NOW + 3600, NOW + 600)


def test_the_last_job_says_when_it_is_done() -> None:
    jobs = [
        RunningJob(1, 10, Grants(machine_vacate_seconds=5)),
        RunningJob(1, 20, Grants(machine_vacate_seconds=50)),
    ]
    found = expect(jobs, Expected(), NOW)
    assert found == Expected(15 + 70, 15 + 70, NOW + 50, NOW + 50)


def test_an_empty_machine_is_done_since_it_is_empty() -> None:
    empty = expect([], Expected(), NOW)
    assert empty == Expected(0, 0, NOW, NOW)
    assert expect([], empty, NOW + 100) == empty
    # Earlier than expected.
    assert expect([], Expected(9, 9, NOW + 600, NOW + 50), NOW + 10) == Expected(
        0, 0, NOW + 10, NOW + 10
    )


def test_a_job_that_may_run_for_ever_costs_what_a_number_can_say() -> None:
    found = expect([RunningJob(1, 5, Grants(float("inf")))], Expected(), NOW)
    assert (found.graceful_badput, found.graceful_at) == (FOREVER, NOW + FOREVER)
