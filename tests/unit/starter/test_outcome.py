"""What is sent when a job's processes are gone."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.starter.outcome import (
    Sending,
    Vacate,
    choose_sending,
    is_success,
    told_code,
    told_reason,
)
from kettle.transfer.outcome import Failure, Outcome

FINAL = Sending("TransferOutput", final=True)
KEPT = Sending("TransferOutput", final=False)
FAILURE = Sending("FailureFiles", final=True)
CHECKPOINT = Sending("TransferCheckpoint", final=False)
LEAVE = Vacate("no more")
LEAVE_WITH_OUTPUT = Vacate("no more", brings_output=True)
EXIT_1, KILLED = 1 << 8, 9


@pytest.mark.parametrize(
    ("when", "status", "vacate", "expected"),
    [
        ("ON_EXIT", 0, None, FINAL),
        ("ON_EXIT", EXIT_1, None, FINAL),
        ("ON_EXIT", KILLED, None, FINAL),
        ("ON_EXIT", None, None, None),
        ("ON_EXIT", KILLED, LEAVE, None),
        ("ON_EXIT", 85 << 8, LEAVE, CHECKPOINT),
        ("ON_EXIT_OR_EVICT", 0, None, FINAL),
        ("ON_EXIT_OR_EVICT", KILLED, LEAVE, KEPT),
        ("ON_EXIT_OR_EVICT", None, LEAVE, None),
        ("ON_SUCCESS", 0, None, FINAL),
        ("ON_SUCCESS", EXIT_1, None, FAILURE),
        ("ON_SUCCESS", KILLED, None, FAILURE),
        ("ON_SUCCESS", KILLED, LEAVE, None),
        ("ON_EXIT", KILLED, LEAVE_WITH_OUTPUT, FINAL),
        ("ON_EXIT", None, LEAVE_WITH_OUTPUT, None),
    ],
)
def test_files_are_sent_as_the_job_wants_it_for_this_end(
    when: str, status: int | None, vacate: Vacate | None, expected: Sending | None
) -> None:
    job = ClassAd(
        {"WhenToTransferOutput": when, "SuccessCheckpointExitCode": 85, "JobSuccessExitCode": 0}
    )
    assert choose_sending(job, status, vacate) == expected


def test_a_job_that_failed_loses_no_output_that_comes_on_exit() -> None:
    job = ClassAd({"WhenToTransferOutput": "ON_EXIT", "JobSuccessExitCode": 0})
    assert choose_sending(job, EXIT_1, None) == FINAL


@pytest.mark.parametrize("status", [0, EXIT_1, KILLED])
def test_where_nothing_says_what_success_is_every_end_brings_the_output(status: int) -> None:
    job = ClassAd({"WhenToTransferOutput": "ON_SUCCESS"})
    assert choose_sending(job, status, None) == FINAL


def test_a_job_may_be_meant_to_end_by_a_signal() -> None:
    job = ClassAd({"JobSuccessExitBySignal": True, "JobSuccessExitSignal": 9})
    assert is_success(job, KILLED)
    assert not is_success(job, 0)
    assert not is_success(job, 15)


def test_success_is_what_the_job_says() -> None:
    job = ClassAd({"JobSuccessExitCode": 1})
    assert is_success(job, EXIT_1)
    assert not is_success(job, 0)
    assert not is_success(job, KILLED)


@pytest.mark.parametrize(
    ("code", "sender_failed", "told"),
    [(12, True, 13), (12, False, 12), (13, True, 13), (33, True, 33)],
)
def test_a_file_that_could_not_be_sent_is_told_with_code_13(
    code: int, sender_failed: bool, told: int
) -> None:
    # As missing_output.log and unwritable_output.log, recorded, have it.
    assert told_code(Outcome(Failure("why", code, 2), sender_failed=sender_failed)) == told


def test_what_a_plug_in_could_not_bring_is_told_as_the_plug_ins_failure() -> None:
    # As plugin_failure.log, recorded, has it.
    ours = Outcome(Failure("STARTER - |Error: why", 13, 2), detail="why", plugin_failed=True)
    assert told_code(ours) == 12
    assert told_reason(ours) == "FILETRANSFER:1:|Error: why"
    theirs = Outcome(Failure("both", 13, 2), sender_failed=True, plugin_failed=True)
    assert (told_code(theirs), told_reason(theirs)) == (13, "both")
    assert told_reason(Outcome()) == ""


def test_a_transfer_that_worked_has_no_code() -> None:
    assert told_code(Outcome()) == 0
