"""How a run is judged once it is over: the exit reason, the last events, the queue's attributes.

Pure. In goes what the starter reported (or that it did not), what was asked of the job, and what
became of its files; out comes an `Ending`. Rules: wire notes, Life of a vanilla job, and what a
real pool's logs show: an ended job gets event 005, one sent back by its own expression 004 with
its exit, a held one 012 (after 004 if it was taken off its machine by somebody else than its
policy).
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from kettle.attributes.codes import HoldReasonCode, ShadowExit, VacateReasonCode, sends_back
from kettle.bounded_texts import bounded_reason
from kettle.choices import Choice
from kettle.classad import ClassAd, parse_expression
from kettle.policy.evict_changes import next_request
from kettle.policy.job_policy import Decision, SystemPolicy, Verdict, decide_exit
from kettle.transfer.plan import core_name


class Wish(Choice):
    """Who wants the job to leave, and for what."""

    REMOVE = "remove"
    # The job has left the queue whatever becomes of it here, and its log has its end.
    FORGET = "forget"
    HOLD = "hold"
    VACATE = "vacate"
    # The job's or the system's own expressions; these write no event 004.
    POLICY_HOLD = "policy hold"
    POLICY_REMOVE = "policy remove"
    # A starter's error, or files that did not travel: 004 and then 012.
    ERROR = "error"


# What the queue's ad of a job says of its hold.
HOLD_ATTRIBUTES = ("HoldReason", "HoldReasonCode", "HoldReasonSubCode")

# A removal that the queue has told of beats every other wish, and the job's own end.
PROMISED = frozenset((Wish.REMOVE, Wish.FORGET))


def outranks(wish: Wish, earlier: Wish) -> bool:
    """Tell whether a wish takes the place of one that is being carried out.

    So does a hold: the queue has told of it, and the log has to have it when the job is gone.
    """
    return wish in PROMISED or (wish is Wish.HOLD and earlier is Wish.VACATE)


@dataclass(frozen=True, slots=True)
class Request:
    """A wish with its reason. `code` is a hold code, or a vacate code for VACATE.

    `brings_output` is whether the job's output is wanted as if it had ended by itself.
    """

    wish: Wish
    reason: str = ""
    code: int = 0
    subcode: int = 0
    fast: bool = False
    brings_output: bool = False


@dataclass(frozen=True, slots=True)
class ExitReport:
    """What job_exit said: wait status, exit reason, final ad."""

    status: int
    reason: int
    info: ClassAd


class Last(Choice):
    """The last events of a run, in order."""

    TERMINATED = "005"
    REQUEUED = "004 with the exit"
    EVICTED = "004"
    HELD = "012"
    EXCEPTION = "007"


@dataclass(slots=True)
class Ending:
    """The judgement: what the schedd is told, which events are written, and why."""

    exit: ShadowExit
    events: tuple[Last, ...] = ()
    reason: str = ""
    code: int = 0
    subcode: int = 0
    # Whether the reason has a code at all: a requeue by OnExitRemove has none.
    has_code: bool = False
    checkpointed: bool = False
    attributes: dict[str, object] = field(default_factory=dict)


_ENDED = frozenset({ShadowExit.EXITED, ShadowExit.CORED, ShadowExit.EXITED_CLAIM_CLOSING})
# Starters from before the exit reasons moved sent them 100 lower.
_OLD_REASONS = 28
_BY_NUMBER = {int(member): member for member in ShadowExit}


def exit_attributes(report: ExitReport) -> dict[str, object]:
    """Return how the program ended, from the wait status where the final ad does not say."""
    info, status = report.info, report.status
    by_signal = info.boolean("ExitBySignal")
    if by_signal is None:
        by_signal = status & 0x7F != 0
    attributes: dict[str, object] = {"ExitBySignal": by_signal}
    if by_signal:
        attributes["ExitSignal"] = info.integer("ExitSignal") or status & 0x7F
    else:
        code = info.integer("ExitCode")
        attributes["ExitCode"] = status >> 8 & 0xFF if code is None else code
    if status & 0x80 and info.lookup("JobCoreDumped") is None:
        attributes["JobCoreDumped"] = True
    return attributes


def core_attributes(job: ClassAd, report: ExitReport) -> dict[str, object]:
    """Return where the core file is that the program left; an earlier run's is none of this one."""
    if known_reason(report.reason) is ShadowExit.CORED:
        return {"JobCoreFileName": posixpath.join(job.string("Iwd") or "/", core_name(job))}
    return {"JobCoreFileName": None} if "JobCoreFileName" in job else {}


def completion_attributes(job: ClassAd, report: ExitReport) -> dict[str, object]:
    """Return the count of completions if the program ended by itself, nothing otherwise.

    It is counted before the job's own expressions look at the exit: `max_retries` compares it.
    So is the start, if a crash kept the schedd from hearing of it.
    """
    if not has_ended(report):
        return {}
    counts: dict[str, object] = {"NumJobCompletions": (job.integer("NumJobCompletions") or 0) + 1}
    if not is_start_counted(job):
        counts |= counted_start(job, (job.integer("NumJobStarts") or 0) + 1)
    return counts


def has_ended(report: ExitReport) -> bool:
    """Tell whether the program ended by itself, as the starter has it."""
    return known_reason(report.reason) in _ENDED


def is_start_counted(job: ClassAd) -> bool:
    """Tell whether the queue knows that this run's program was started."""
    run_began = job.integer("JobCurrentStartDate")
    return run_began is None or (job.integer("JobCurrentStartExecutingDate") or 0) >= run_began


def counted_start(job: ClassAd, starts: int) -> dict[str, object]:
    """Return the count of starts, for a start whose moment was not kept: the run's own is taken."""
    began = job.integer("JobCurrentStartDate")
    return {"NumJobStarts": starts, "JobCurrentStartExecutingDate": began}


def known_reason(reason: int) -> ShadowExit:
    """Return an exit reason as one of ours; what nobody knows is an exception."""
    if 0 <= reason < _OLD_REASONS:
        reason += 100
    return _BY_NUMBER.get(reason, ShadowExit.EXCEPTION)


def decide_ending(
    job: ClassAd,
    report: ExitReport | None,
    request: Request | None,
    now: float,
    system: SystemPolicy,
) -> Ending:
    """Judge a run that is over; `job` has the exit attributes already.

    Without a report the starter was lost or never came. A request counts also where the program
    had ended by itself and only its files travelled: whoever made it was told that it is done.
    A job that would be held and asks for something else next (`policy.evict_changes`) is queued.
    """
    ending = _decide(job, report, request, now, system)
    of_user = request is not None and request.wish is not Wish.ERROR
    if of_user or ending.exit is not ShadowExit.SHOULD_HOLD or Last.EVICTED not in ending.events:
        return ending
    changes = next_request(job, ending.attributes)
    if not changes:
        return ending
    again = _evicted(ShadowExit.SHOULD_REQUEUE, ending.reason, ending.code, ending.subcode)
    again.attributes |= {name: parse_expression(text, old=True) for name, text in changes.items()}
    return again


def _decide(
    job: ClassAd,
    report: ExitReport | None,
    request: Request | None,
    now: float,
    system: SystemPolicy,
) -> Ending:
    reason = known_reason(report.reason) if report is not None else None
    if request is not None and request.wish is Wish.ERROR:
        return _hold_or_requeue(request)
    if request is None and reason is not None and reason in _ENDED:
        return _ended(job, reason, now, system)
    if reason is ShadowExit.MISSED_DEFERRAL:
        text = "Job missed deferred execution time"
        code = int(HoldReasonCode.MissedDeferredExecutionTime)
        return _held((Last.HELD,), text, code, 0)
    if request is not None:
        return _requested(request, report)
    if report is None:
        return Ending(ShadowExit.SHOULD_REQUEUE)
    return _starters_reason(report, reason or ShadowExit.EXCEPTION)


def _ended(job: ClassAd, reason: ShadowExit, now: float, system: SystemPolicy) -> Ending:
    decision = decide_exit(job, now, system)
    if decision.verdict is Verdict.HOLD:
        return _held((Last.HELD,), decision.reason, decision.code, decision.subcode)
    if decision.verdict is Verdict.REQUEUE:
        return Ending(
            ShadowExit.SHOULD_REQUEUE,
            (Last.REQUEUED,),
            decision.reason,
            # It has left by itself: no VacateReason.
            attributes={"RequeueReason": decision.reason},
        )
    if decision.reason:
        return _removed(decision)
    return Ending(reason, (Last.TERMINATED,), attributes={"TerminationPending": True})


def _held(events: tuple[Last, ...], reason: str, code: int, subcode: int) -> Ending:
    reason = bounded_reason(reason)
    attributes: dict[str, object] = {
        "HoldReason": reason,
        "HoldReasonCode": code,
        "HoldReasonSubCode": subcode,
    }
    if Last.EVICTED in events:
        attributes |= _vacated(reason, code, subcode)
    return Ending(
        ShadowExit.SHOULD_HOLD, events, reason, code, subcode, has_code=True, attributes=attributes
    )


def _removed(decision: Decision) -> Ending:
    return Ending(
        ShadowExit.SHOULD_REMOVE,
        reason=decision.reason,
        attributes={"RemoveReason": decision.reason},
    )


def why_it_left(reason: str, code: int, subcode: int) -> tuple[str, int, int]:
    """Return why a job left its machine: what the machine says where nobody has given a reason."""
    if reason:
        return reason, code, subcode
    return "Claim deactivated", int(VacateReasonCode.ClaimDeactivated), 0


def _vacated(reason: str, code: int, subcode: int) -> dict[str, object]:
    reason, code, subcode = why_it_left(reason, code, subcode)
    return {
        "VacateReason": reason,
        "VacateReasonCode": code,
        "VacateReasonSubCode": subcode,
    }


def _evicted(exit_: ShadowExit, reason: str, code: int, subcode: int) -> Ending:
    return Ending(
        exit_,
        (Last.EVICTED,),
        reason,
        code,
        subcode,
        has_code=True,
        attributes=_vacated(reason, code, subcode),
    )


def _requested(request: Request, report: ExitReport | None) -> Ending:
    reason, code, subcode = request.reason, request.code, request.subcode
    match request.wish:
        case Wish.HOLD:
            return _held((Last.EVICTED, Last.HELD), reason, code, subcode)
        case Wish.POLICY_HOLD | Wish.POLICY_REMOVE:
            if request.wish is Wish.POLICY_HOLD:
                ending = _held((Last.HELD,), reason, code, subcode)
            else:
                ending = _removed(Decision(Verdict.REMOVE, reason))
            # It left a machine only if a starter says so: that its claim was taken back.
            if report is not None and "VacateReason" in report.info:
                ending.attributes |= _vacated(*_said_reason(report, ""))
            return ending
        case Wish.FORGET:
            return Ending(ShadowExit.KILLED)
        case Wish.REMOVE:
            code = int(VacateReasonCode.JobRemoved)
            return _evicted(ShadowExit.KILLED, reason, code, 0)
        case _:
            reason = reason or "Job vacated by schedd"
            code = code or int(VacateReasonCode.ScheddVacate)
            return _evicted(ShadowExit.SHOULD_REQUEUE, reason, code, subcode)


def _hold_or_requeue(request: Request) -> Ending:
    if not sends_back(request.code, request.subcode):
        return _held((Last.EVICTED, Last.HELD), request.reason, request.code, request.subcode)
    code = request.code or int(VacateReasonCode.StarterError)
    return _evicted(ShadowExit.SHOULD_REQUEUE, request.reason, code, request.subcode)


def _said_reason(report: ExitReport, otherwise: str) -> tuple[str, int, int]:
    """Return why a starter says that its job left, or what is `otherwise` said, with the codes."""
    info = report.info
    return (
        info.string("VacateReason") or otherwise,
        info.integer("VacateReasonCode") or 0,
        info.integer("VacateReasonSubCode") or 0,
    )


# What a starter's reason is called where it says no more; any other is a fault of its own.
_REASONS = {
    ShadowExit.NOT_STARTED: VacateReasonCode.JobNotStarted,
    ShadowExit.EXEC_FAILED: VacateReasonCode.JobNotStarted,
    ShadowExit.SHOULD_REQUEUE: VacateReasonCode.ClaimDeactivated,
    ShadowExit.CHECKPOINTED: VacateReasonCode.ClaimDeactivated,
    ShadowExit.KILLED: VacateReasonCode.ClaimDeactivated,
    ShadowExit.SHOULD_REMOVE: VacateReasonCode.ClaimDeactivated,
}


def _starters_reason(report: ExitReport, reason: ShadowExit) -> Ending:
    """Judge a run that the starter ended for a reason of its own (the machine wanted it so)."""
    info = report.info
    if reason is ShadowExit.SHOULD_HOLD:
        return _held(
            (Last.EVICTED, Last.HELD),
            info.string("HoldReason") or "The starter put the job on hold",
            info.integer("HoldReasonCode") or int(HoldReasonCode.StartdHeldJob),
            info.integer("HoldReasonSubCode") or 0,
        )
    text, code, subcode = _said_reason(report, f"The job left its machine: {reason.doc}")
    if not code:
        code = int(_REASONS.get(reason, VacateReasonCode.StarterError))
    ending = _evicted(ShadowExit.SHOULD_REQUEUE, text, code, subcode)
    ending.checkpointed = reason is ShadowExit.CHECKPOINTED
    return ending


def transfer_reason(direction: str, host: str, slot: str, *, here_failed: bool, detail: str) -> str:
    """Return the hold reason of a transfer that failed, `direction` "input" or "output".

    `here_failed` says whether it was the access point; the wording is the reference's.
    """
    here, there = f"access point {host}", f"execution point {slot}"
    failed, other = (here, there) if here_failed else (there, here)
    sending = (direction == "input") == here_failed
    doing = f"sending files to {other}" if sending else f"receiving files from {other}"
    _, _, url = detail.partition("URL file = ")
    scheme = url.partition("://")[0].rpartition("+")[2]
    if url and scheme.isalnum() and not here_failed:
        # A plug-in's failure there: what matters is which kind of URL it was.
        where = f"{there} using protocol {scheme}"
    else:
        where = f"{failed} while {doing}"
    return f"Transfer {direction} files failure at {where}. Details: {detail}"
