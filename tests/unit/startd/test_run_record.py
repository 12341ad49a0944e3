"""What a run leaves in the startd's history."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd
from kettle.startd.run_record import run_record

_JOB = {"ClusterId": 1, "JobStatus": 2, "JobCurrentStartDate": 1000}


def test_every_run_counts_as_completed_and_has_what_its_starter_said() -> None:
    job, final = ClassAd(_JOB), ClassAd({"ExitCode": 3})
    record = run_record(job, final, 1012)
    assert {name: record[name] for name in record.own_names()} == {
        "ExitCode": 3, "JobStatus": 4, "CompletionDate": 1012, "RemoteWallClockTime": 12,
        "StarterExitStatus": 0, "BadputCausedByDraining": False, "BadputCausedByPreemption": False,
    }  # fmt: skip
    assert record["ClusterId"] == 1
    assert (job["JobStatus"], "JobStatus" in final) == (2, False)


def test_of_a_starter_that_died_there_is_no_exit_status() -> None:
    record = run_record(ClassAd(_JOB), None, 1012)
    assert "StarterExitStatus" not in record
    assert record["BadputCausedByDraining"] is False


@pytest.mark.parametrize(
    ("reason", "badput"),
    [
        (VacateReasonCode.StartdDraining, (True, False)),
        (VacateReasonCode.StartdPreemptExpression, (False, True)),
        (VacateReasonCode.StartdPreemptingClaimUserPrio, (False, True)),
        (VacateReasonCode.UserVacateJob, (False, False)),
    ],
)
def test_whose_fault_lost_work_is(reason: VacateReasonCode, badput: tuple[bool, bool]) -> None:
    record = run_record(ClassAd(_JOB), ClassAd({"VacateReasonCode": int(reason)}), 1012)
    names = ("BadputCausedByDraining", "BadputCausedByPreemption")
    assert tuple(record[name] for name in names) == badput
