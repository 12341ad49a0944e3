"""How runs are judged: exit reason, last events, attributes."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import HoldReasonCode, ShadowExit, VacateReasonCode
from kettle.bounded_texts import MOST_OF_A_REASON
from kettle.classad import ClassAd
from kettle.policy.job_policy import SystemPolicy
from kettle.shadow.endings import (
    Ending,
    ExitReport,
    Last,
    Request,
    Wish,
    core_attributes,
    decide_ending,
    exit_attributes,
    known_reason,
    transfer_reason,
)
from kettle.shadow.job_events import evicted_event
from kettle.shadow.job_updates import texts


def judge(
    report: ExitReport | None = None, request: Request | None = None, **expressions: str
) -> Ending:
    job = ClassAd({"JobStatus": 2})
    if report is not None:
        for name, value in exit_attributes(report).items():
            job[name] = value
    for name, text in expressions.items():
        job.insert_text(name, text)
    return decide_ending(job, report, request, 1000.0, SystemPolicy())


def exited(status: int = 0, reason: int = 100, **info: object) -> ExitReport:
    return ExitReport(status, reason, ClassAd(info))


def test_an_ended_job_gets_its_termination_event() -> None:
    ending = judge(exited(768))
    assert ending.exit is ShadowExit.EXITED
    assert ending.events == (Last.TERMINATED,)
    assert ending.attributes == {"TerminationPending": True}


def test_a_core_dump_keeps_its_exit_reason() -> None:
    assert judge(exited(139, 103)).exit is ShadowExit.CORED


def test_a_core_file_has_the_job_s_name_in_its_directory_and_belongs_to_one_run() -> None:
    job = ClassAd({"Iwd": "/home/u", "ClusterId": 26, "ProcId": 1})
    cored = core_attributes(job, exited(139, 103))
    assert cored == {"JobCoreFileName": "/home/u/core.26.1"}
    assert core_attributes(job, exited(139, 100)) == {}
    job.update(cored)
    assert core_attributes(job, exited(139, 100)) == {"JobCoreFileName": None}


@pytest.mark.parametrize(
    ("status", "info", "expected"),
    [
        (768, {}, {"ExitBySignal": False, "ExitCode": 3}),
        (9, {}, {"ExitBySignal": True, "ExitSignal": 9}),
        (139, {}, {"ExitBySignal": True, "ExitSignal": 11, "JobCoreDumped": True}),
        (139, {"JobCoreDumped": False}, {"ExitBySignal": True, "ExitSignal": 11}),
        (0, {"ExitBySignal": True, "ExitSignal": 6}, {"ExitBySignal": True, "ExitSignal": 6}),
        (0, {"ExitCode": 4}, {"ExitBySignal": False, "ExitCode": 4}),
    ],
)
def test_the_wait_status_says_what_the_final_ad_does_not(
    status: int, info: dict[str, object], expected: dict[str, object]
) -> None:
    assert exit_attributes(ExitReport(status, 100, ClassAd(info))) == expected


def test_an_exit_expression_may_hold_or_requeue() -> None:
    held = judge(exited(), OnExitHold="true")
    assert (held.exit, held.events) == (ShadowExit.SHOULD_HOLD, (Last.HELD,))
    assert held.attributes["HoldReasonCode"] == 3
    back = judge(exited(), OnExitRemove="false")
    assert (back.exit, back.events) == (ShadowExit.SHOULD_REQUEUE, (Last.REQUEUED,))
    assert not back.has_code
    assert back.attributes == {"RequeueReason": back.reason}
    removed = judge(exited(), PeriodicRemove="true")
    assert (removed.exit, removed.events) == (ShadowExit.SHOULD_REMOVE, ())
    assert removed.attributes["RemoveReason"] == removed.reason


HOLD = Request(Wish.HOLD, "via condor_hold (by user u)", 1)


def test_a_users_hold_takes_the_job_off_its_machine_and_holds_it() -> None:
    ending = judge(exited(9, 107, VacateReason="Claim deactivated", VacateReasonCode=1009), HOLD)
    assert ending.exit is ShadowExit.SHOULD_HOLD
    assert ending.events == (Last.EVICTED, Last.HELD)
    assert (ending.reason, ending.code) == ("via condor_hold (by user u)", 1)


def test_where_nobody_gives_a_reason_the_machines_is_told() -> None:
    # The wheel's act() passes no reason on that is a plain text; as the real shadow's logs say it.
    told = {"VacateReason": "Claim deactivated", "VacateReasonCode": 1009, "VacateReasonSubCode": 0}
    held, removed = judge(None, Request(Wish.HOLD, "", 1)), judge(None, Request(Wish.REMOVE))
    assert held.attributes == {
        "HoldReason": "", "HoldReasonCode": 1, "HoldReasonSubCode": 0, **told,
    }  # fmt: skip
    assert removed.attributes == told
    for ending in (held, removed):
        event = evicted_event(ClassAd(), ending, 0, 0, 1.0)
        assert (event.reason, event.reason_code) == ("Claim deactivated", 1009)


@pytest.mark.parametrize("reason", [4, 105, 109, 111, 999])
def test_a_starter_that_fails_without_a_word_of_why_is_a_fault(reason: int) -> None:
    ending = judge(exited(0, reason))
    assert ending.exit is ShadowExit.SHOULD_REQUEUE
    assert ending.code == VacateReasonCode.StarterError
    assert judge(exited(0, 107)).code == VacateReasonCode.ClaimDeactivated
    assert judge(exited(0, 108)).code == VacateReasonCode.JobNotStarted


def test_a_policy_hold_writes_no_eviction() -> None:
    wish = Request(Wish.POLICY_HOLD, "peri", 3, 7)
    told = {"VacateReason": "Claim deactivated", "VacateReasonCode": 1009}
    ending = judge(exited(9, 107, **told), wish)
    assert ending.events == (Last.HELD,)
    assert ending.attributes["HoldReasonSubCode"] == 7
    # But it was taken off its machine, if it had one.
    assert ending.attributes["VacateReasonCode"] == VacateReasonCode.ClaimDeactivated
    assert "VacateReasonCode" not in judge(None, wish).attributes


def test_a_removal_is_an_eviction_with_its_own_code() -> None:
    ending = judge(exited(9, 107), Request(Wish.REMOVE, "no more"))
    assert (ending.exit, ending.code) == (ShadowExit.KILLED, VacateReasonCode.JobRemoved)
    assert ending.events == (Last.EVICTED,)


def test_a_vacated_job_goes_back_with_the_schedds_reason() -> None:
    ending = judge(exited(9, 107), Request(Wish.VACATE))
    assert ending.exit is ShadowExit.SHOULD_REQUEUE
    assert (ending.reason, ending.code) == ("Job vacated by schedd", 1022)


def test_who_was_told_that_a_job_leaves_was_told_the_truth_though_its_program_had_ended() -> None:
    assert judge(exited(0), HOLD).events == (Last.EVICTED, Last.HELD)
    assert judge(exited(0), Request(Wish.VACATE)).events == (Last.EVICTED,)
    assert judge(exited(0), Request(Wish.POLICY_HOLD, "peri", 3)).events == (Last.HELD,)
    assert judge(exited(0), Request(Wish.REMOVE)).exit is ShadowExit.KILLED


def test_the_machines_reason_is_kept_where_nobody_here_asked() -> None:
    info = {"VacateReason": "PREEMPT", "VacateReasonCode": 1011, "VacateReasonSubCode": 2}
    ending = judge(exited(9, 107, **info))
    assert (ending.reason, ending.code, ending.subcode) == ("PREEMPT", 1011, 2)
    assert ending.attributes["VacateReasonCode"] == 1011


def test_a_checkpointed_job_is_evicted_as_such() -> None:
    ending = judge(exited(0, 101))
    assert ending.checkpointed
    assert ending.exit is ShadowExit.SHOULD_REQUEUE


@pytest.mark.parametrize("reason", [108, 110])
def test_a_job_that_could_not_be_started_goes_back(reason: int) -> None:
    ending = judge(exited(0, reason))
    assert ending.code == VacateReasonCode.JobNotStarted


def test_a_machines_hold_has_its_code() -> None:
    ending = judge(exited(9, 112, HoldReason="too big", HoldReasonCode=34))
    assert (ending.reason, ending.code) == ("too big", 34)
    assert judge(exited(9, 112)).code == HoldReasonCode.StartdHeldJob


def test_a_missed_deferral_holds_the_job() -> None:
    assert judge(exited(0, 114)).code == HoldReasonCode.MissedDeferredExecutionTime


def test_an_error_with_a_hold_code_holds_and_any_other_requeues() -> None:
    held = judge(None, Request(Wish.ERROR, "Failed to execute", 6, 13))
    assert held.events == (Last.EVICTED, Last.HELD)
    assert (held.code, held.subcode) == (6, 13)
    back = judge(None, Request(Wish.ERROR, "starter broke"))
    assert back.exit is ShadowExit.SHOULD_REQUEUE
    assert back.code == VacateReasonCode.StarterError


def test_a_reason_to_hold_is_bounded_whoever_gives_it() -> None:
    held = judge(None, Request(Wish.ERROR, "x" * 200_000 + " (errno 2)", 6, 7))
    assert len(held.reason) == MOST_OF_A_REASON
    assert held.attributes["HoldReason"] == held.reason
    assert held.reason.endswith("x (errno 2)")


def test_without_a_report_or_a_wish_the_job_goes_back() -> None:
    assert judge().exit is ShadowExit.SHOULD_REQUEUE


def test_old_exit_reasons_are_known_and_unknown_ones_are_exceptions() -> None:
    assert known_reason(0) is ShadowExit.EXITED
    assert known_reason(7) is ShadowExit.SHOULD_REQUEUE
    assert known_reason(999) is ShadowExit.EXCEPTION


@pytest.mark.parametrize(
    ("direction", "here", "expected"),
    [
        ("input", True, "at access point ap while sending files to execution point slot1@ep"),
        ("input", False, "at execution point slot1@ep while receiving files from access point ap"),
        ("output", False, "at execution point slot1@ep while sending files to access point ap"),
        ("output", True, "at access point ap while receiving files from execution point slot1@ep"),
    ],
)
def test_a_failed_transfer_is_worded_as_the_reference_does(
    direction: str, here: bool, expected: str
) -> None:
    text = transfer_reason(direction, "ap", "slot1@ep", here_failed=here, detail="why")
    assert text == f"Transfer {direction} files failure {expected}. Details: why"


def test_a_plug_in_s_failure_is_told_by_the_protocol_instead_of_the_way() -> None:
    # Observed of a real shadow.
    why = "no room ( URL file = shelf://tmp/x )|"
    text = transfer_reason("output", "ap", "slot1@ep", here_failed=False, detail=why)
    where = "execution point slot1@ep using protocol shelf"
    assert text == f"Transfer output files failure at {where}. Details: {why}"


def test_a_policy_removal_too_says_that_its_job_was_taken_off_its_machine() -> None:
    wish = Request(Wish.POLICY_REMOVE, "peri")
    told = {"VacateReason": "Claim deactivated", "VacateReasonCode": 1009}
    ending = judge(exited(9, 107, **told), wish)
    assert ending.exit is ShadowExit.SHOULD_REMOVE
    assert ending.attributes["VacateReasonCode"] == VacateReasonCode.ClaimDeactivated
    assert ending.attributes["RemoveReason"] == "peri"


def test_a_job_that_used_too_much_and_asks_for_more_next_is_queued_and_not_held() -> None:
    more = {
        "RequestMemory": "100",
        "TransformOnEvict": '"RequestMemory"',
        "TransformBody_RequestMemory": (
            '"REQUIREMENTS VacateReasonCode == 34\x1eSET RequestMemory 400"'
        ),
    }
    said = {"HoldReason": "too much memory", "HoldReasonCode": 34, "HoldReasonSubCode": 102}
    ending = judge(exited(9, 112, **said), **more)
    assert (ending.exit, ending.events) == (ShadowExit.SHOULD_REQUEUE, (Last.EVICTED,))
    assert ending.attributes["VacateReasonSubCode"] == 102
    assert "HoldReason" not in ending.attributes
    assert texts(ending.attributes)["RequestMemory"] == "400"
    again = judge(exited(9, 112, **said), **{**more, "RequestMemory": "400"})
    assert again.events == (Last.EVICTED, Last.HELD)
    held = judge(exited(9, 112, **said), Request(Wish.HOLD, "mine", 1), **more)
    assert held.exit is ShadowExit.SHOULD_HOLD


def test_what_a_change_sets_keeps_its_backslashes() -> None:
    """What a body says is in the syntax of queue and submit file, where a backslash is one."""
    more = {
        "RequestMemory": "100",
        "TransformOnEvict": '"x"',
        "TransformBody_x": (
            '"SET RequestMemory 400\x1eSET Note \\"C:\\new\\test\\"\x1e'
            'EVALSET Other strcat(\\"C:\\new\\", \\"test\\")"'
        ),
    }
    said = {"HoldReason": "too much memory", "HoldReasonCode": 34, "HoldReasonSubCode": 102}
    changed = texts(judge(exited(9, 112, **said), **more).attributes)
    assert changed["Note"] == '"C:\\new\\test"'
