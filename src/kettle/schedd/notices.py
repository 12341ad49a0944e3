"""Mail about a job: to whom, when, and what it says; and the notes of its submit event.

Pure; the mailer is run by the service. Source: R062 (JobNotification Never, Always,
Complete, Error).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from kettle.attributes.codes import HoldReasonCode, JobStatus, Notification
from kettle.classad import ClassAd, unparse
from kettle.records.event_kinds import SubmitEvent
from kettle.schedd.queue.jobs import Job

# The notes with names that every submit event has, where the job has them.
_ALWAYS_NOTED = ("DAGNodeName", "JobBatchName")
# Compat: an address begins like a word. What begins with `-`, `|`, `/` or `+` is an option, a
# command or a file to one mailer or another; the reference hands it to the mailer all the same
# (test_only_what_is_an_address_is_told_to_the_mailer).
_ADDRESS = re.compile(r"\w[^\s,]*")
# Limit: the last moment that a date can name, the end of the year 9999. A job's owner may set its
# dates to anything; of what is none, nothing is said.
_LAST_MOMENT = 253_402_300_799
# Limit: to how many one mail goes.
MOST_RECIPIENTS = 10
# A line that begins so is a command to some mailers, and users say what stands in a mail.
_ESCAPE = re.compile("^~", re.MULTILINE)
# What decides the notes of an ad without SubmitEventNotesAttrs.
NOTE_NAMES = frozenset(("submiteventnotes", "submiteventusernotes", "dagnodename", "jobbatchname"))
NOTED_NAMES = "submiteventnotesattrs"


def add_notes(event: SubmitEvent, ad: ClassAd) -> SubmitEvent:
    """Add the notes of a job, or a cluster, to its event 000 or 035: the user's, and named ones.

    The names are SubmitEventNotesAttrs' (`submit_event_notes_attrs`) and those that are always
    noted; the values are the attributes' at the time, numbers, texts and truth values only.
    """
    names = (ad.string("SubmitEventNotesAttrs") or "").replace(",", " ").split()
    noted = ClassAd()
    for name in (*names, *_ALWAYS_NOTED):
        value = ad.evaluate(name)
        if isinstance(value, (bool, int, float, str)):
            noted[name] = value
    event.structured = unparse(noted) if len(noted) else None
    event.log_notes = ad.string("SubmitEventNotes")
    event.user_notes = ad.string("SubmitEventUserNotes")
    return event


@dataclass(frozen=True, slots=True)
class Mail:
    """One message; `left_out` are the addresses that were beyond the limit."""

    recipients: tuple[str, ...]
    subject: str
    body: str
    left_out: int = 0


def is_wanted(job: Job) -> bool:
    """Tell whether a job's owner wants mail about its present state."""
    ad = job.ad
    wanted = ad.integer("JobNotification") or 0
    if wanted in {Notification.NEVER, Notification.START}:
        return False
    success = ad.integer("JobSuccessExitCode")
    failed = bool(ad.boolean("ExitBySignal")) or success not in {None, ad.integer("ExitCode")}
    if job.status == JobStatus.HELD:
        return (
            wanted in {Notification.ALWAYS, Notification.ERROR}
            and ad.integer("HoldReasonCode") not in _WISHED
        )
    if job.status == JobStatus.COMPLETED:
        return wanted in {Notification.ALWAYS, Notification.COMPLETE} or failed
    return wanted == Notification.ALWAYS and job.status == JobStatus.REMOVED


# Holds that nobody needs to be told of: the owner asked for them.
_WISHED = frozenset(
    (
        int(HoldReasonCode.UserRequest),
        int(HoldReasonCode.SubmittedOnHold),
        int(HoldReasonCode.SpoolingInput),
    )
)


def compose(job: Job, *, machine: str, uid_domain: str) -> Mail:
    """Return the mail about a job's present state; it may have no recipient.

    Compat: the reference mails to however many people NotifyUser names; ours to the first
    MOST_RECIPIENTS (test_a_mail_goes_to_few).
    """
    ad = job.ad
    lines = [
        f"This is an automated message from the access point {machine}.",
        "",
        f"Your job {job.id}",
        f"    {_command_line(job)}",
        _outcome(job),
        "",
    ]
    for label, name in (("Submitted", "QDate"), ("Completed", "CompletionDate")):
        moment = ad.integer(name)
        if moment and 0 < moment <= _LAST_MOMENT:
            shown = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            lines.append(f"{label + ' at:':<16}{shown}")
    seconds = ad.integer("RemoteWallClockTime")
    if seconds is not None and seconds >= 0:
        lines.append(f"{'Run time:':<16}{seconds} s")
    body = _ESCAPE.sub(" ~", "\n".join(lines) + "\n")
    named = _recipients(job, uid_domain)
    return Mail(
        named[:MOST_RECIPIENTS],
        f"[HTCondor] HTCondor Job {job.id}",
        body,
        len(named[MOST_RECIPIENTS:]),
    )


def _recipients(job: Job, uid_domain: str) -> tuple[str, ...]:
    words = (job.ad.string("NotifyUser") or job.owner).replace(",", " ").split()
    addresses = [word for word in words if _ADDRESS.fullmatch(word)]
    whole = (word if "@" in word else f"{word}@{uid_domain}" for word in addresses)
    return tuple(dict.fromkeys(whole))


def _command_line(job: Job) -> str:
    arguments = job.ad.string("Args") or job.ad.string("Arguments") or ""
    return f"{job.ad.string('Cmd') or ''} {arguments}".rstrip()


def _outcome(job: Job) -> str:
    ad = job.ad
    if job.status == JobStatus.HELD:
        return f"was put on hold: {ad.string('HoldReason') or 'no reason given'}"
    if job.status == JobStatus.REMOVED:
        return f"was removed: {ad.string('RemoveReason') or 'no reason given'}"
    if ad.boolean("ExitBySignal"):
        return f"was ended by signal {ad.integer('ExitSignal') or 0}"
    return f"exited with status {ad.integer('ExitCode') or 0}"
