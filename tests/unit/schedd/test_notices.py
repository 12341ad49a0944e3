"""Mail about jobs: only as asked (R062)."""

from __future__ import annotations

import pytest

from kettle.schedd import notices
from kettle.schedd.queue.job_queue import Job
from unit.schedd.queue_fixture import Schedd


def job_of(status: int, **attributes: str) -> Job:
    schedd = Schedd()
    (job,) = schedd.submit(Cmd='"/bin/true"', **attributes)
    schedd.queue.update(job.id, {"JobStatus": str(status)})
    return job


@pytest.mark.parametrize(
    ("notification", "completed", "failed", "removed"),
    [
        ("0", False, False, False),
        ("4", False, False, False),
        ("1", True, True, True),
        ("2", True, True, False),
        ("3", False, True, False),
    ],
)
def test_mail_is_sent_only_as_asked(
    notification: str, completed: bool, failed: bool, removed: bool
) -> None:
    assert notices.is_wanted(job_of(4, JobNotification=notification)) is completed
    signalled = job_of(4, JobNotification=notification, ExitBySignal="true")
    assert notices.is_wanted(signalled) is failed
    assert notices.is_wanted(job_of(3, JobNotification=notification)) is removed


def test_a_hold_that_nobody_wished_is_an_error() -> None:
    assert notices.is_wanted(job_of(5, JobNotification="3", HoldReasonCode="13"))
    assert not notices.is_wanted(job_of(5, JobNotification="3", HoldReasonCode="1"))


def test_an_exit_code_that_means_failure_is_an_error() -> None:
    good = {"JobNotification": "3", "JobSuccessExitCode": "1", "ExitBySignal": "false"}
    assert notices.is_wanted(job_of(4, ExitCode="0", **good))
    assert not notices.is_wanted(job_of(4, ExitCode="1", **good))


def test_a_mail_names_the_job_and_how_it_ended() -> None:
    mail = notices.compose(job_of(4, ExitCode="3"), machine="ap", uid_domain="vm")
    assert (mail.recipient, mail.subject) == ("alice@vm", "[HTCondor] HTCondor Job 1.0")
    assert "exited with status 3" in mail.body
    other = job_of(4, NotifyUser='"a@b.c"', ExitBySignal="true", ExitSignal="11")
    mail = notices.compose(other, machine="ap", uid_domain="vm")
    assert mail.recipient == "a@b.c"
    assert "signal 11" in mail.body
