"""Where a job is in its life: the one owner of JobStatus, as a table.

`step` takes what happened and gives the attributes that change with it. Whoever makes something
happen (a request, a shadow's report, a policy) turns it into an event here; nobody else writes
JobStatus. Writing the attributes to the queue and telling the event log are the caller's effects.
Sources: wire notes, ACT_ON_JOBS state rules and the queue log of a real schedd (R064, R067).
"""

# ruff: noqa: E501 - the table's rows are read across
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.bounded_texts import bounded_reason
from kettle.classad import ClassAd
from kettle.classad.text import quote_line
from kettle.errors import ImpossibleTransition
from kettle.schedd.tallies import count_hold

# Attributes to set (text in old syntax) or, where None, to remove.
Attributes = dict[str, str | None]

# By where a job is in its life: a shadow or starter has it, it waits without one, it is over.
_ON_A_MACHINE = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED)
ON_A_MACHINE = frozenset(int(status) for status in _ON_A_MACHINE)
WAITING = frozenset((int(JobStatus.IDLE), int(JobStatus.HELD)))
FINISHED = frozenset((int(JobStatus.COMPLETED), int(JobStatus.REMOVED)))


# What a job's ad says of its hold.
HOLD_WORDS = ("HoldReason", "HoldReasonCode", "HoldReasonSubCode")


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody or a policy put the job on hold."""

    reason: str
    code: int = HoldReasonCode.UserRequest
    subcode: int = 0


@dataclass(frozen=True, slots=True)
class Released:
    """The hold is over."""

    reason: str


@dataclass(frozen=True, slots=True)
class Removed:
    """The job is to leave the queue."""

    reason: str


@dataclass(frozen=True, slots=True)
class Started:
    """A shadow (or, for local and scheduler jobs, the schedd) took the job."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """The job's processes were stopped."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The job's processes go on, or its output transfer turned out not to be its last."""


@dataclass(frozen=True, slots=True)
class OutputStarted:
    """The job's program has ended and its output is on the way back."""


@dataclass(frozen=True, slots=True)
class Requeued:
    """The job left its machine and waits for another one."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The job has ended and its output is back."""


Event = (
    Held
    | Released
    | Removed
    | Started
    | Suspended
    | Continued
    | OutputStarted
    | Requeued
    | Completed
)

_Guard = Callable[[ClassAd], bool]
_Effect = Callable[[ClassAd, Event, int], Attributes]


@dataclass(frozen=True, slots=True)
class Row:
    """One edge: from these statuses, on this event, if the guard holds, to that status."""

    sources: tuple[JobStatus, ...]
    event: type[Event]
    when: _Guard
    target: JobStatus
    do: _Effect


def _always(_ad: ClassAd) -> bool:
    return True


def _to_be_removed(ad: ClassAd) -> bool:
    return ad.integer("JobStatusOnRelease") == JobStatus.REMOVED


def _to_be_completed(ad: ClassAd) -> bool:
    return ad.integer("JobStatusOnRelease") == JobStatus.COMPLETED


def _record_hold(ad: ClassAd, event: Event, _now: int) -> Attributes:
    assert isinstance(event, Held)
    changes: Attributes = {
        "HoldReason": quote_line(bounded_reason(event.reason)),
        **count_hold(ad, event.code),
        "HoldReasonCode": str(int(event.code)),
        "HoldReasonSubCode": str(event.subcode),
        "LastSuspensionTime": "0",
    }
    if "ReleaseReason" in ad:
        changes["ReleaseReason"] = None
    if ad.integer("JobStatus") == JobStatus.REMOVED:
        changes["JobStatusOnRelease"] = str(int(JobStatus.REMOVED))
    return changes


def _record_release(ad: ClassAd, event: Event, _now: int) -> Attributes:
    assert isinstance(event, Released)
    return {"ReleaseReason": _reason(event), **_past_hold(ad)}


def _reason(event: Released | Removed) -> str | None:
    """Return why, as an expression; None where nobody has said it."""
    return quote_line(bounded_reason(event.reason)) if event.reason else None


def _past_hold(ad: ClassAd) -> Attributes:
    changes: Attributes = {"JobStatusOnRelease": None}
    for name in HOLD_WORDS:
        text = ad.text(name)
        if text is not None:
            changes[f"Last{name}"] = text
        changes[name] = None
    return changes


def _record_removal(ad: ClassAd, event: Event, _now: int) -> Attributes:
    assert isinstance(event, Removed)
    past = _past_hold(ad) if ad.integer("JobStatus") == JobStatus.HELD else {}
    return {**past, "RemoveReason": _reason(event), "JobStatusOnRelease": None}


def _record_start(_ad: ClassAd, _event: Event, _now: int) -> Attributes:
    return {"LastSuspensionTime": "0", "CurrentHosts": "1"}


def _record_suspension(ad: ClassAd, _event: Event, now: int) -> Attributes:
    return {
        "LastSuspensionTime": str(now),
        "TotalSuspensions": str((ad.integer("TotalSuspensions") or 0) + 1),
    }


def _record_continuation(ad: ClassAd, _event: Event, now: int) -> Attributes:
    since = ad.integer("LastSuspensionTime") or 0
    changes: Attributes = {"LastSuspensionTime": "0"}
    if since > 0:
        total = (ad.integer("CumulativeSuspensionTime") or 0) + max(0, now - since)
        changes["CumulativeSuspensionTime"] = str(total)
    return changes


def _record_requeue(_ad: ClassAd, _event: Event, _now: int) -> Attributes:
    return {"LastSuspensionTime": "0", "CurrentHosts": "0"}


def _record_completion(_ad: ClassAd, _event: Event, now: int) -> Attributes:
    return {"CurrentHosts": "0", "CompletionDate": str(now)}


def _record_completion_in_spite_of_a_hold(ad: ClassAd, event: Event, now: int) -> Attributes:
    return {**_past_hold(ad), **_record_completion(ad, event, now)}


def _nothing(_ad: ClassAd, _event: Event, _now: int) -> Attributes:
    return {}


_S = JobStatus

# fmt: off
TRANSITIONS = (
    #   from                                  on             when              to                      do
    Row((_S.IDLE,),                           Started,       _always,          _S.RUNNING,             _record_start),
    Row((_S.IDLE, *_ON_A_MACHINE, _S.HELD, _S.REMOVED),
                                              Held,          _always,          _S.HELD,                _record_hold),
    Row((_S.IDLE, *_ON_A_MACHINE, _S.HELD, _S.COMPLETED),
                                              Removed,       _always,          _S.REMOVED,             _record_removal),
    Row((_S.HELD,),                           Released,      _to_be_removed,   _S.REMOVED,             _record_release),
    Row((_S.HELD,),                           Released,      _to_be_completed, _S.COMPLETED,           _record_release),
    Row((_S.HELD,),                           Released,      _always,          _S.IDLE,                _record_release),
    Row((_S.RUNNING, _S.TRANSFERRING_OUTPUT), Suspended,     _always,          _S.SUSPENDED,           _record_suspension),
    Row((_S.SUSPENDED,),                      Continued,     _always,          _S.RUNNING,             _record_continuation),
    Row((_S.TRANSFERRING_OUTPUT,),            Continued,     _always,          _S.RUNNING,             _nothing),
    Row((_S.RUNNING, _S.SUSPENDED),           OutputStarted, _always,          _S.TRANSFERRING_OUTPUT, _nothing),
    Row(_ON_A_MACHINE,                        Requeued,      _always,          _S.IDLE,                _record_requeue),
    Row(_ON_A_MACHINE,                        Completed,     _always,          _S.COMPLETED,           _record_completion),
    # Held and released before the end of its run was heard of.
    Row((_S.IDLE,),                           Completed,     _always,          _S.COMPLETED,           _record_completion),
    # The hold came too late: its shadow had told the user's log of the end already.
    Row((_S.HELD,),                           Completed,     _to_be_removed,   _S.REMOVED,             _record_completion_in_spite_of_a_hold),
    Row((_S.HELD,),                           Completed,     _always,          _S.COMPLETED,           _record_completion_in_spite_of_a_hold),
)
# fmt: on

_BY_EDGE = {
    (int(source), row.event): tuple(
        each for each in TRANSITIONS if source in each.sources and each.event is row.event
    )
    for row in TRANSITIONS
    for source in row.sources
}


def step(ad: ClassAd, event: Event, now: int) -> Attributes:
    """Return the attributes that change when `event` happens to the job at `now`, epoch seconds.

    The first row that fits wins. Raises ImpossibleTransition where none does.
    """
    status = ad.integer("JobStatus") or 0
    for row in _BY_EDGE.get((status, type(event)), ()):
        if row.when(ad):
            return {
                "LastJobStatus": str(_last_status(status)),
                "JobStatus": str(int(row.target)),
                "EnteredCurrentStatus": str(now),
                **row.do(ad, event, now),
            }
    raise ImpossibleTransition(
        f"a job of status {status} cannot become {type(event).__name__.lower()}"
    )


def _last_status(status: int) -> int:
    """Return what LastJobStatus says of a status that is left.

    A real queue knows no TRANSFERRING_OUTPUT: to it the job runs until its output is there.
    """
    return int(JobStatus.RUNNING) if status == JobStatus.TRANSFERRING_OUTPUT else status


def may(status: int, event: type[Event]) -> bool:
    """Tell whether the table has an edge for the event from this status."""
    return (status, event) in _BY_EDGE
