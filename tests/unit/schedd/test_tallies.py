"""What is counted of holds and of runs that ended early, beside what a real schedd has counted."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import HoldReasonCode, ShadowExit, VacateReasonCode
from kettle.classad import ClassAd
from kettle.schedd.tallies import count_end, count_hold

NOW = 1000
RAN = {"JobCurrentStartExecutingDate": "900"}


def ad(**texts: str) -> ClassAd:
    made = ClassAd()
    for name, text in texts.items():
        made.insert_text(name, text)
    return made


def test_a_hold_is_counted_by_the_name_of_its_code() -> None:
    assert count_hold(ad(), 1) == {"NumHolds": "1", "NumHoldsByReason": "[ UserRequest = 1 ]"}
    again = ad(NumHolds="2", NumHoldsByReason="[ UserRequest = 1; JobPolicy = 1 ]")
    assert count_hold(again, 3) == {
        "NumHolds": "3",
        "NumHoldsByReason": "[ UserRequest = 1; JobPolicy = 2 ]",
    }
    assert count_hold(ad(), 36)["NumHoldsByReason"] == "[ FailedToCheckpoint = 1 ]"
    assert count_hold(ad(), 999)["NumHoldsByReason"] == "[ Unspecified = 1 ]"


@pytest.mark.parametrize(
    ("code", "universe", "counts"),
    [
        (HoldReasonCode.UserRequest, 5, False),
        (HoldReasonCode.SubmittedOnHold, 5, False),
        (HoldReasonCode.JobPolicy, 5, False),
        (HoldReasonCode.TransferOutputError, 5, False),
        (HoldReasonCode.FailedToCheckpoint, 5, False),
        (HoldReasonCode.FailedToCreateProcess, 5, False),
        (HoldReasonCode.FailedToCreateProcess, 7, True),
        (HoldReasonCode.JobPolicyUndefined, 5, True),
        (HoldReasonCode.InvalidCronSettings, 5, True),
        (HoldReasonCode.FailedToAccessUserAccount, 12, True),
    ],
)
def test_a_hold_of_the_system_is_one_for_a_fault_that_the_schedd_found(
    code: HoldReasonCode, universe: int, *, counts: bool
) -> None:
    changes = count_hold(ad(JobUniverse=str(universe), NumSystemHolds="4"), code)
    assert changes.get("NumSystemHolds") == ("5" if counts else None)


@pytest.mark.parametrize(
    ("code", "reason", "labels"),
    [
        (1, "via condor_hold (by user u)", "UserRequest = 1"),
        (36, "Error from s: Starter failed to upload checkpoint", "FailedToCheckpoint = 1"),
        (1000, "PeriodicVacate", "VacateBase = 1"),
        (1002, "Shadow exception", "ShadowException = 1"),
        (1008, "Job not found at execution machine", "ReconnectFailed = 1"),
        (1009, "Claim deactivated", "ClaimDeactivated = 1"),
        (1010, "Claim vacated by the administrator", "StartdVacateCommand = 1"),
        (1022, "Job vacated by schedd", "ScheddVacate = 1"),
        (1023, "via condor_rm (by user u)", "JobRemoved = 1"),
        (12, "(errno 2) No such file", "TransferOutputError = 1; TransferOutputErrorCedar = 1"),
        (13, "ck://x/y is gone", "TransferInputError = 1; TransferInputErrorCk = 1"),
        (13, "osdf:///y is gone", "TransferInputError = 1; TransferInputErrorPelican = 1"),
    ],
)
def test_a_run_that_ended_early_is_counted_by_the_name_of_its_code(
    code: int, reason: str, labels: str
) -> None:
    report = {"VacateReasonCode": str(code), "VacateReason": f'"{reason}"'}
    exit_reason = ShadowExit.SHOULD_REQUEUE
    assert count_end(ad(**RAN), report, exit_reason, NOW) == {
        "LastVacateTime": "1000",
        "NumVacates": "1",
        "NumVacatesByReason": f"[ {labels} ]",
    }


def test_what_was_counted_before_is_added_to() -> None:
    before = ad(**RAN, NumVacates="3", NumVacatesByReason="[ ScheddVacate = 2; JobRemoved = 1 ]")
    changes = count_end(before, {"VacateReasonCode": "1022"}, ShadowExit.SHOULD_REQUEUE, NOW)
    assert changes["NumVacates"] == "4"
    assert changes["NumVacatesByReason"] == "[ ScheddVacate = 3; JobRemoved = 1 ]"


def test_a_program_that_had_not_begun_is_counted_apart_too() -> None:
    report = {"VacateReasonCode": "13", "VacateReason": '"gone"'}
    changes = count_end(ad(), report, ShadowExit.SHOULD_HOLD, NOW)
    both = "[ TransferInputError = 1; TransferInputErrorCedar = 1 ]"
    assert changes["NumVacatesPreExecution"] == changes["NumVacates"] == "1"
    assert changes["NumVacatesByReasonPreExecution"] == changes["NumVacatesByReason"] == both
    # The start may be news of the last report itself.
    later = count_end(ad(), {**report, **RAN}, ShadowExit.SHOULD_HOLD, NOW)
    assert "NumVacatesPreExecution" not in later


def test_a_machine_that_refused_the_job_was_not_left() -> None:
    code = str(int(VacateReasonCode.ActivationRefusedNotIdle))
    changes = count_end(ad(), {"VacateReasonCode": code}, ShadowExit.NOT_STARTED, NOW)
    assert changes["NumVacatesByReason"] == "[ ActivationRefusedNotIdle = 1 ]"
    assert "LastVacateTime" not in changes


def test_a_run_that_ended_by_itself_is_no_vacation() -> None:
    assert count_end(ad(**RAN), {}, ShadowExit.EXITED, NOW) == {}
    assert count_end(ad(**RAN), {"RequeueReason": '"r"'}, ShadowExit.SHOULD_REQUEUE, NOW) == {}


def test_a_report_of_endless_digits_is_no_vacation() -> None:
    assert (
        count_end(ClassAd(), {"VacateReasonCode": "9" * 5000}, int(ShadowExit.SHOULD_REQUEUE), 5)
        == {}
    )


def test_a_shadow_that_failed_is_counted_beside() -> None:
    report = {"VacateReasonCode": "1002", "VacateReason": '"bug"'}
    changes = count_end(ad(NumShadowExceptions="1", **RAN), report, ShadowExit.EXCEPTION, NOW)
    assert changes["NumShadowExceptions"] == "2"
    assert changes["NumVacatesByReason"] == "[ ShadowException = 1 ]"
