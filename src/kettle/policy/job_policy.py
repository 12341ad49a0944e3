"""What a job's own expressions, and the access point's, ask to be done with it.

Decides only: hold, release, remove, vacate, send back into the queue, or nothing; with the reason
and codes that go with it. The shadow asks for running jobs and at their end, the schedd for all
others; carrying it out is theirs. Sources: R059, hold codes 3, 5, 26, 46 and 47.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.bounded_texts import bounded, bounded_reason
from kettle.choices import Choice
from kettle.classad import ClassAd, Expr, unparse


class Verdict(Choice):
    """What is to be done with a job."""

    NOTHING = "nothing"
    HOLD = "hold"
    RELEASE = "release"
    REMOVE = "remove"
    VACATE = "vacate"
    # Only at the job's end: it stays in the queue and runs again.
    REQUEUE = "requeue"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with its reason; `code` and `subcode` are hold codes where it is a hold."""

    verdict: Verdict
    reason: str = ""
    code: int = 0
    subcode: int = 0


NOTHING = Decision(Verdict.NOTHING)


@dataclass(frozen=True, slots=True)
class SystemRule:
    """One SYSTEM_PERIODIC_* expression of the configuration, with what else is said about it."""

    macro: str
    verdict: Verdict
    expression: Expr
    reason: Expr | None = None
    subcode: Expr | None = None


@dataclass(frozen=True, slots=True)
class SystemPolicy:
    """The access point's own rules, in the order in which they are asked."""

    rules: tuple[SystemRule, ...] = ()


_NO_SYSTEM_POLICY = SystemPolicy()
# The reference leaves a job whose output travels at RUNNING, so what counts there counts here.
ON_A_MACHINE = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED)
# (verdict, attribute, attribute of the reason, of the subcode); asked in this order.
_PERIODIC = (
    (Verdict.HOLD, "PeriodicHold", "PeriodicHoldReason", "PeriodicHoldSubCode"),
    (Verdict.RELEASE, "PeriodicRelease", "PeriodicReleaseReason", ""),
    (Verdict.REMOVE, "PeriodicRemove", "PeriodicRemoveReason", ""),
    (Verdict.VACATE, "PeriodicVacate", "PeriodicVacateReason", ""),
)


def _applies(verdict: Verdict, status: int | None) -> bool:
    """Tell whether a verdict makes sense for a job in this status."""
    if verdict is Verdict.HOLD:
        return status not in (JobStatus.HELD, JobStatus.REMOVED, JobStatus.COMPLETED)
    if verdict is Verdict.RELEASE:
        return status == JobStatus.HELD
    if verdict is Verdict.VACATE:
        return status in ON_A_MACHINE
    return status != JobStatus.REMOVED


def _says(ad: ClassAd, attribute: str) -> str:
    expression = bounded(ad.text(attribute) or "")
    return f"The job attribute {attribute} expression '{expression}' evaluated to"


def decide_periodic(job: ClassAd, now: float, system: SystemPolicy = _NO_SYSTEM_POLICY) -> Decision:
    """Return what is to be done with a job at this moment.

    Asked in order: TimerRemove, the allowed durations, then hold, release, remove and vacate, each
    first as the job says and then as the system says. UNDEFINED and ERROR ask for nothing.
    """
    status = job.integer("JobStatus")
    timer = job.integer("TimerRemove")
    if timer is not None and timer >= 0 and timer < now:
        return Decision(Verdict.REMOVE, f"{_says(job, 'TimerRemove')} TRUE")
    exceeded = decide_duration(job, now)
    if exceeded.verdict is not Verdict.NOTHING:
        return exceeded
    for verdict, attribute, reason, subcode in _PERIODIC:
        if not _applies(verdict, status):
            continue
        if job.boolean(attribute) is True:
            text = bounded_reason(job.string(reason) or f"{_says(job, attribute)} TRUE")
            number = (job.integer(subcode) or 0) if subcode else 0
            return Decision(verdict, text, int(HoldReasonCode.JobPolicy), number)
        for decision in _system_decisions(job, verdict, system):
            return decision
    return NOTHING


def _system_decisions(job: ClassAd, verdict: Verdict, system: SystemPolicy) -> Iterator[Decision]:
    for rule in system.rules:
        if rule.verdict is not verdict:
            continue
        if not job.satisfies(rule.expression):
            continue
        reason = job.evaluate_expression(rule.reason) if rule.reason is not None else None
        subcode = job.evaluate_expression(rule.subcode) if rule.subcode is not None else None
        said = f"The system macro {rule.macro} expression '{unparse(rule.expression)}'"
        text = reason if isinstance(reason, str) and reason else f"{said} evaluated to TRUE"
        number = subcode if isinstance(subcode, int) else 0
        yield Decision(verdict, bounded_reason(text), int(HoldReasonCode.SystemPolicy), int(number))


def duration_deadline(job: ClassAd) -> tuple[float, str, HoldReasonCode] | None:
    """Return when a running job will have run too long: the moment, the sentence, the hold code.

    AllowedJobDuration counts from the start of the shadow, AllowedExecuteDuration from the start
    of the program or its last checkpoint.
    """
    found = []
    for attribute, since, code, what in (
        ("AllowedJobDuration", _shadow_began, HoldReasonCode.JobDurationExceeded, "job"),
        ("AllowedExecuteDuration", _went_on, HoldReasonCode.JobExecuteExceeded, "execute"),
    ):
        if attribute not in job:
            continue
        allowed, started = job.integer(attribute), since(job)
        if allowed is not None and allowed >= 0 and started is not None:
            text = f"The job exceeded allowed {what} duration of {_span(allowed)}"
            found.append((float(started + allowed), text, code))
    return min(found, default=None)


def _shadow_began(job: ClassAd) -> int | None:
    return job.integer("JobCurrentStartDate") or job.integer("ShadowBday")


def _went_on(job: ClassAd) -> int | None:
    """Return when the program began, or went on after its last checkpoint was brought away."""
    began = job.integer("JobCurrentStartExecutingDate")
    if not began:
        return None
    return max(began, job.integer("TransferOutFinished") or 0)


def decide_duration(job: ClassAd, now: float) -> Decision:
    """Hold a running job that has used up its allowed duration (46, 47)."""
    if job.integer("JobStatus") not in ON_A_MACHINE:
        return NOTHING
    deadline = duration_deadline(job)
    if deadline is None or now < deadline[0]:
        return NOTHING
    return Decision(Verdict.HOLD, deadline[1], int(deadline[2]))


def _span(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    short = f"{rest // 60:02}:{rest % 60:02}"
    if hours >= 24:
        return f"{hours // 24}+{hours % 24:02}:{short}"
    return f"{hours}:{short}" if hours else short


def decide_exit(job: ClassAd, now: float, system: SystemPolicy = _NO_SYSTEM_POLICY) -> Decision:
    """Return what becomes of a job whose program has ended; its ad says how.

    REMOVE means that it leaves the queue as completed: so it does unless OnExitHold is true or
    OnExitRemove false, and what comes to neither says nothing. The periodic rules are asked first.
    """
    periodic = decide_periodic(job, now, system)
    if periodic.verdict in (Verdict.HOLD, Verdict.REMOVE):
        return periodic
    for attribute in ("OnExitHold", "OnExitRemove"):
        answer = job.boolean(attribute)
        if attribute == "OnExitHold" and answer:
            text = bounded_reason(job.string("OnExitHoldReason") or f"{_says(job, attribute)} TRUE")
            subcode = job.integer("OnExitHoldSubCode") or 0
            return Decision(Verdict.HOLD, text, int(HoldReasonCode.JobPolicy), subcode)
        if attribute == "OnExitRemove" and answer is False:
            return Decision(Verdict.REQUEUE, f"{_says(job, attribute)} FALSE")
    return Decision(Verdict.REMOVE)
