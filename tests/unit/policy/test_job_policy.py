"""What job and system expressions ask for."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.bounded_texts import MOST_OF_A_REASON
from kettle.classad import ClassAd, parse_expression
from kettle.policy.job_policy import (
    NOTHING,
    Decision,
    SystemPolicy,
    SystemRule,
    Verdict,
    decide_exit,
    decide_periodic,
    duration_deadline,
)


def job(status: JobStatus = JobStatus.RUNNING, **expressions: str) -> ClassAd:
    ad = ClassAd({"JobStatus": int(status)})
    for name, text in expressions.items():
        ad.insert_text(name, text)
    return ad


def test_without_expressions_nothing_is_asked_for() -> None:
    assert decide_periodic(job(), 100.0) == NOTHING


@pytest.mark.parametrize(
    ("attribute", "status", "verdict"),
    [
        ("PeriodicHold", JobStatus.RUNNING, Verdict.HOLD),
        ("PeriodicHold", JobStatus.IDLE, Verdict.HOLD),
        ("PeriodicHold", JobStatus.HELD, Verdict.NOTHING),
        ("PeriodicRelease", JobStatus.HELD, Verdict.RELEASE),
        ("PeriodicRelease", JobStatus.IDLE, Verdict.NOTHING),
        ("PeriodicRemove", JobStatus.HELD, Verdict.REMOVE),
        ("PeriodicRemove", JobStatus.REMOVED, Verdict.NOTHING),
        ("PeriodicVacate", JobStatus.RUNNING, Verdict.VACATE),
        ("PeriodicVacate", JobStatus.TRANSFERRING_OUTPUT, Verdict.VACATE),
        ("PeriodicVacate", JobStatus.IDLE, Verdict.NOTHING),
    ],
)
def test_each_periodic_expression_speaks_only_where_it_makes_sense(
    attribute: str, status: JobStatus, verdict: Verdict
) -> None:
    decision = decide_periodic(job(status, **{attribute: "1 + 1 == 2"}), 100.0)
    assert decision.verdict is verdict
    if verdict is not Verdict.NOTHING:
        said = f"The job attribute {attribute} expression '1 + 1 == 2' evaluated to TRUE"
        assert decision.reason == said


def test_a_long_expression_is_not_repeated_as_a_whole() -> None:
    reason = decide_periodic(job(PeriodicHold=" || ".join(["1 == 1"] * 9000)), 100.0).reason
    assert len(reason) < 1200
    assert reason.endswith(" characters in all)' evaluated to TRUE")


@pytest.mark.parametrize("what", ["Hold", "Release", "Remove", "Vacate"])
def test_a_long_reason_of_a_jobs_own_is_bounded(what: str) -> None:
    status = JobStatus.HELD if what == "Release" else JobStatus.RUNNING
    rules = {f"Periodic{what}": "true", f"Periodic{what}Reason": f'"{"x" * 60_000}."'}
    reason = decide_periodic(job(status, **rules), 1.0).reason
    assert len(reason) == MOST_OF_A_REASON
    assert reason.endswith("x.")


@pytest.mark.parametrize("value", ["undefined", "error", "nosuch > 3"])
def test_a_periodic_expression_without_an_answer_asks_for_nothing(value: str) -> None:
    assert decide_periodic(job(PeriodicHold=value, PeriodicRemove=value), 1.0) == NOTHING


def test_the_jobs_own_reason_and_subcode_are_kept() -> None:
    ad = job(PeriodicHold="true", PeriodicHoldReason='"peri"', PeriodicHoldSubCode="7")
    assert decide_periodic(ad, 1.0) == Decision(Verdict.HOLD, "peri", 3, 7)


def test_hold_is_asked_before_remove_and_the_job_before_the_system() -> None:
    system = SystemPolicy(
        (SystemRule("SYSTEM_PERIODIC_HOLD", Verdict.HOLD, parse_expression("JobStatus == 2")),)
    )
    decision = decide_periodic(job(PeriodicRemove="true"), 1.0, system)
    assert decision.verdict is Verdict.HOLD
    assert decision.code == HoldReasonCode.SystemPolicy
    assert decision.reason == (
        "The system macro SYSTEM_PERIODIC_HOLD expression 'JobStatus == 2' evaluated to TRUE"
    )
    assert decide_periodic(job(PeriodicHold="true"), 1.0, system).code == 3


def test_a_timer_in_the_past_removes_the_job() -> None:
    assert decide_periodic(job(TimerRemove="50"), 100.0).verdict is Verdict.REMOVE
    assert decide_periodic(job(TimerRemove="150"), 100.0) == NOTHING


def test_an_allowed_duration_holds_the_job_when_it_is_over() -> None:
    ad = job(AllowedJobDuration="4", JobCurrentStartDate="100")
    assert decide_periodic(ad, 103.9) == NOTHING
    decision = decide_periodic(ad, 104.0)
    assert decision.code == HoldReasonCode.JobDurationExceeded
    assert decision.reason == "The job exceeded allowed job duration of 00:04"
    ad = job(AllowedExecuteDuration="7200", JobCurrentStartExecutingDate="100")
    deadline = duration_deadline(ad)
    assert deadline is not None
    assert deadline == (
        7300.0,
        "The job exceeded allowed execute duration of 2:00:00",
        HoldReasonCode.JobExecuteExceeded,
    )


def test_an_ended_job_leaves_the_queue_by_default() -> None:
    assert decide_exit(job(), 1.0).verdict is Verdict.REMOVE
    assert decide_exit(job(OnExitRemove="true", OnExitHold="false"), 1.0).verdict is Verdict.REMOVE


def test_an_ended_job_may_be_held_or_go_back() -> None:
    held = decide_exit(job(OnExitHold="true", OnExitHoldSubCode="42"), 1.0)
    assert held == Decision(
        Verdict.HOLD, "The job attribute OnExitHold expression 'true' evaluated to TRUE", 3, 42
    )
    back = decide_exit(job(OnExitRemove="NumJobStarts > 1", NumJobStarts="1"), 1.0)
    assert back == Decision(
        Verdict.REQUEUE,
        "The job attribute OnExitRemove expression 'NumJobStarts > 1' evaluated to FALSE",
    )


@pytest.mark.parametrize("attribute", ["OnExitRemove", "OnExitHold"])
@pytest.mark.parametrize("text", ["nosuch", "undefined", "error", '"abc"'])
def test_an_exit_expression_without_an_answer_lets_the_job_leave(attribute: str, text: str) -> None:
    assert decide_exit(job(**{attribute: text}), 1.0).verdict is Verdict.REMOVE


@pytest.mark.parametrize(("text", "verdict"), [("0", Verdict.REQUEUE), ("2", Verdict.REMOVE)])
def test_an_exit_expression_may_be_a_number(text: str, verdict: Verdict) -> None:
    assert decide_exit(job(OnExitRemove=text), 1.0).verdict is verdict


def test_periodic_rules_are_asked_at_the_end_too() -> None:
    assert decide_exit(job(PeriodicHold="true"), 1.0).verdict is Verdict.HOLD


def test_a_checkpoint_gives_the_program_its_whole_time_again() -> None:
    ad = job(
        AllowedExecuteDuration="60", JobCurrentStartExecutingDate="100", TransferOutFinished="150"
    )
    deadline = duration_deadline(ad)
    assert deadline is not None
    assert deadline[0] == 210.0
    # That of an earlier run says nothing.
    ad.insert_text("TransferOutFinished", "50")
    deadline = duration_deadline(ad)
    assert deadline is not None
    assert deadline[0] == 160.0
