"""A job whose runs fail at once waits longer each time; any other waits for nothing."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import ShadowExit, VacateReasonCode
from kettle.policy.attribute_protection import RESTS_UNTIL
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.rests import LONGEST_SECONDS, Rests
from unit.schedd.scheduler_fixture import World

FAILED = {"VacateReasonCode": "1007"}
VACATED = {"VacateReasonCode": "1004"}
JOB = JobId(1, 0)


def test_the_first_two_failures_cost_nothing_and_the_rest_double() -> None:
    rests = Rests()
    waits = [rests.after_run(JOB, FAILED, 1.0) for _ in range(10)]
    assert waits == [0, 0, 2, 4, 8, 16, 32, 64, 64, LONGEST_SECONDS]
    assert rests.after_run(JobId(1, 1), FAILED, 1.0) == 0


def test_a_run_that_got_on_or_ended_otherwise_makes_a_new_beginning() -> None:
    for report, seconds in ((VACATED, 1.0), ({}, 1.0), (FAILED, 400.0)):
        rests = Rests()
        for _ in range(5):
            rests.after_run(JOB, FAILED, 1.0)
        assert rests.after_run(JOB, report, seconds) == 0
        assert rests.after_run(JOB, FAILED, 1.0) == 0


def test_a_transfer_that_failed_and_did_not_hold_its_job_is_a_failure() -> None:
    for code in ("12", "13"):
        rests = Rests()
        failed = {"VacateReasonCode": code, "VacateReasonSubCode": "-1004"}
        assert [rests.after_run(JOB, failed, 1.0) for _ in range(4)] == [0, 0, 2, 4]
        # With such a subcode the job was held, and runs again by somebody's wish.
        assert rests.after_run(JOB, failed | {"VacateReasonSubCode": "2"}, 1.0) == 0


def test_every_end_that_nobody_wished_is_a_failure_and_a_wish_is_none() -> None:
    wished = {1000, 1001, 1004, *range(1009, 1012), *range(1013, 1020), 1022, 1023, 1025, 1037}
    for code in VacateReasonCode:
        rests = Rests()
        waits = [rests.after_run(JOB, {"VacateReasonCode": str(int(code))}, 1.0) for _ in range(3)]
        assert (waits[2] == 0) is (int(code) in wished), code.name


@pytest.mark.parametrize("code", ["-5", "1099", "1999"])
def test_what_a_starter_calls_its_fault_by_an_unknown_code_is_a_failure(code: str) -> None:
    rests = Rests()
    waits = [rests.after_run(JOB, {"VacateReasonCode": code}, 1.0) for _ in range(4)]
    assert waits == [0, 0, 2, 4]


def test_a_job_that_rests_is_matched_with_nothing_until_its_time_is_over() -> None:
    world = World()
    (job,) = world.submit()
    for number in range(3):
        assert world.idle.is_waiting(job.id)
        world.run(job, f"<c>#1#{number}#key")
        world.exit(job, int(ShadowExit.SHOULD_REQUEUE), reusable=False, VacateReasonCode=1007)
    assert not world.idle.is_waiting(job.id)
    ((resting, seconds, wake),) = world.hands.resting
    assert (resting, seconds) == (job.id, 2)
    assert job.ad.integer(RESTS_UNTIL) == int(world.now) + 2
    wanted = world.hands.wanted
    wake()
    assert RESTS_UNTIL not in job.ad
    assert world.idle.is_waiting(job.id)
    assert world.hands.wanted == wanted + 1


def test_a_job_that_leaves_while_it_rests_says_nothing_of_that_in_the_history() -> None:
    world = World()
    (job,) = world.submit()
    job.ad[RESTS_UNTIL] = 5
    world.scheduler.queue.update(job.id, {"JobStatus": "3"})
    world.scheduler.departures.let_go(job)
    assert RESTS_UNTIL not in job.ad


def test_the_failed_runs_of_a_job_that_has_left_are_forgotten() -> None:
    world = World()
    (job,) = world.submit()
    for number in range(2):
        world.run(job, f"<c>#1#{number}#key")
        world.exit(job, int(ShadowExit.SHOULD_REQUEUE), reusable=False, VacateReasonCode=1007)
    world.scheduler.orders.remove(job, "no more")
    assert job.id not in world.queue.jobs
    assert world.scheduler.rests.after_run(job.id, FAILED, 1.0) == 0


def test_a_job_whose_end_was_decided_while_it_ran_does_not_rest_after_its_run() -> None:
    world = World()
    (job,) = world.submit()
    for number in range(3):
        world.run(job, f"<c>#1#{number}#key")
        if number == 2:
            world.queue.update(job.id, {"JobStatus": "3", "RemoveReason": '"no more"'})
        world.exit(job, int(ShadowExit.SHOULD_REQUEUE), reusable=False, VacateReasonCode=1007)
    assert world.hands.resting == []
    assert RESTS_UNTIL not in job.ad


def test_a_report_of_endless_digits_is_no_failure() -> None:
    assert Rests().after_run(JOB, {"VacateReasonCode": "9" * 5000}, 1.0) == 0
