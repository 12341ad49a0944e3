"""A job as it was in a run, whatever the queue made of the run's end."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.schedd.run_records import as_it_ran

_RUNS = {
    "JobStatus": 2,
    "LastJobStatus": 1,
    "EnteredCurrentStatus": 1000,
    "JobCurrentStartDate": 1000,
    "RemoteHost": "slot1@x",
    "ShadowBday": 1000,
    "CurrentHosts": 1,
}
# What ends every run.
_ENDS: dict[str, str | None] = {
    "RemoteHost": None,
    "ShadowBday": None,
    "LastRemoteHost": '"slot1@x"',
    "CurrentHosts": "0",
    "EnteredCurrentStatus": "1010",
}
_ADDRESS = '"<127.0.0.1:9>"'


def test_a_completed_job_runs_in_the_record_of_its_run_and_has_what_the_shadow_said() -> None:
    reported: dict[str, str | None] = {"ExitCode": "3", "ImageSize": "5092"}
    changes: dict[str, str | None] = {
        **reported, **_ENDS,
        "JobStatus": "4", "LastJobStatus": "2", "CompletionDate": "1010",
        "ImageSize": "7500", "ImageSize_RAW": "5092",
    }  # fmt: skip
    ad = ClassAd({**_RUNS, "TransferInFinished": 1001, "ImageSize": 125, "ImageSize_RAW": 123})
    was = as_it_ran(ad, changes, reported, _ADDRESS)
    assert was == {
        "ImageSize": "5092", "ImageSize_RAW": "123",
        "RemoteHost": '"slot1@x"', "ShadowBday": "1000", "LastRemoteHost": None,
        "CurrentHosts": "1", "EnteredCurrentStatus": "1000", "JobStatus": "2",
        "LastJobStatus": "1", "CompletionDate": None, "TerminationPending": None,
        "KettleRunLease": None, "KettleJobPid": None, "KettleJobPidBirth": None,
        "ShadowIpAddr": _ADDRESS, "MyAddress": _ADDRESS, "TransferSocket": _ADDRESS,
        "TransferQueued": "false", "TransferringInput": "false",
    }  # fmt: skip


@pytest.mark.parametrize(
    "decided",
    [
        {"JobStatus": 5, "HoldReason": "by hand", "HoldReasonCode": 1, "HoldReasonSubCode": 0},
        {"JobStatus": 3, "RemoveReason": "by hand"},
    ],
)
def test_what_a_user_decided_of_a_running_job_is_not_in_the_record_of_its_run(
    decided: dict[str, object],
) -> None:
    ad = ClassAd({**_RUNS, **decided, "LastJobStatus": 2, "EnteredCurrentStatus": 1009})
    was = as_it_ran(ad, dict(_ENDS), {})
    assert (was["JobStatus"], was["LastJobStatus"], was["EnteredCurrentStatus"]) == (
        "2", "1", "1000",
    )  # fmt: skip
    assert [was[name] for name in decided if name != "JobStatus"] == [None] * (len(decided) - 1)
    assert "ShadowIpAddr" not in was


def test_why_a_run_put_its_job_on_hold_stays_in_its_record() -> None:
    changes: dict[str, str | None] = {
        **_ENDS, "JobStatus": "5", "HoldReason": '"its policy"', "HoldReasonCode": "3",
        "NumHolds": "1",
    }  # fmt: skip
    was = as_it_ran(ClassAd(_RUNS), changes, {})
    assert was["JobStatus"] == "2"
    assert was["NumHolds"] is None
    assert not {"HoldReason", "HoldReasonCode"} & set(was)
