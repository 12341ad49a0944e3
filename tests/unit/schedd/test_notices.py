"""Mail about jobs: only as asked (R062); and the notes of their submit events."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.records.event_kinds import SubmitEvent
from kettle.records.event_log import read_events, render_event
from kettle.schedd import notices
from kettle.schedd.queue.jobs import Job
from unit.schedd.queue_fixture import Schedd

EVENT_LOGS = Path(__file__).parents[2] / "data" / "event_logs"


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


def test_a_mail_goes_to_few() -> None:
    many = " ".join(f"u{number}@b.c" for number in range(50))
    mail = notices.compose(job_of(4, NotifyUser=f'"{many}"'), machine="ap", uid_domain="vm")
    assert (len(mail.recipients), mail.left_out) == (notices.MOST_RECIPIENTS, 40)
    assert mail.recipients[0] == "u0@b.c"
    twice = notices.compose(job_of(4, NotifyUser='"a a@vm b"'), machine="ap", uid_domain="vm")
    assert (twice.recipients, twice.left_out) == (("a@vm", "b@vm"), 0)


def test_a_mail_names_the_job_and_how_it_ended() -> None:
    mail = notices.compose(job_of(4, ExitCode="3"), machine="ap", uid_domain="vm")
    assert (mail.recipients, mail.subject) == (("alice@vm",), "[HTCondor] HTCondor Job 1.0")
    assert "exited with status 3" in mail.body
    other = job_of(4, NotifyUser='"a@b.c"', ExitBySignal="true", ExitSignal="11")
    mail = notices.compose(other, machine="ap", uid_domain="vm")
    assert mail.recipients == ("a@b.c",)
    assert "signal 11" in mail.body


def test_no_line_of_a_mail_is_a_command_to_the_mailer() -> None:
    job = job_of(5)
    job.ad["Args"], job.ad["HoldReason"] = "a\n~!touch x", "b\n~r /etc/passwd"
    body = notices.compose(job, machine="ap", uid_domain="vm").body
    assert "\n ~!touch x\n" in body
    assert "\n ~r /etc/passwd\n" in body


@pytest.mark.parametrize(
    ("notify_user", "recipients"),
    [
        ("a@b.c, d  é@f", ("a@b.c", "d@vm", "é@f")),
        ("-Smta=/tmp/x@y", ()),
        ("a -Smta=/tmp/x@y", ("a@vm",)),
        ("|/tmp/x@y", ()),
        ("/tmp/x@y", ()),
        ("+folder@y", ()),
        ("a\n-v@y", ("a@vm",)),
        (" , ", ()),
    ],
)
def test_only_what_is_an_address_is_told_to_the_mailer(
    notify_user: str, recipients: tuple[str, ...]
) -> None:
    job = job_of(4)
    job.ad["NotifyUser"] = notify_user
    assert notices.compose(job, machine="ap", uid_domain="vm").recipients == recipients


def test_the_notes_of_a_submit_event_are_values_and_the_node_and_batch_are_always_among_them() -> (
    None
):
    ad = ClassAd({"DAGNodeName": "nodeA", "JobBatchName": "B", "a": 2, "ZZ": 1, "List": [1]})
    ad.insert_text("SubmitEventNotesAttrs", '"ZZ,a,List,Absent"')
    ad["SubmitEventNotes"] = "hello"
    event = notices.add_notes(SubmitEvent(), ad)
    assert event.structured == '[ a = 2; ZZ = 1; DAGNodeName = "nodeA"; JobBatchName = "B" ]'
    assert (event.log_notes, event.user_notes) == ("hello", None)
    assert notices.add_notes(SubmitEvent(), ClassAd()).structured is None


def test_the_submit_event_of_a_job_with_named_notes_is_the_reference_s() -> None:
    """The job of structured_notes.log, which a real pool wrote."""
    recorded = (EVENT_LOGS / "structured_notes.log").read_bytes()
    first = recorded[: recorded.index(b"...\n") + 4]
    [event] = read_events(first)
    ad = ClassAd({"ZZ": 1, "Owner": "tester", "a": 2, "RequestCpus": 1, "Real": 1.5})
    ad["Quoted"], ad["List"] = 'a "b" c', [1, 2]
    ad["SubmitEventNotesAttrs"] = "ZZ,Owner,a,RequestCpus,List,Nope,Real,Quoted"
    ad["SubmitEventNotes"], ad["SubmitEventUserNotes"] = "hello", "there"
    assert isinstance(event, SubmitEvent)
    ours = notices.add_notes(SubmitEvent(host=event.host), ad)
    ours.cluster, ours.time = event.cluster, event.time
    assert render_event(ours) == first
