"""When the owner's expressions become events of a slot.

`read_verdict` evaluates the expressions of one slot; `decide_event` turns a verdict and the
timers into the one event that is due in the slot's phase, or none. The table that acts on the
event is `slot_machine.py` (manual, State and Activity Transitions, Expression Summary).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kettle.named_tuples import NamedTuple
from kettle.startd.slot_events import (
    BenchmarksDue,
    ContinueBecameTrue,
    Event,
    EvictBackfillBecameTrue,
    KillBecameTrue,
    KillingTimeOver,
    LeaseExpired,
    MatchTimedOut,
    OwnerLeft,
    OwnerReturned,
    PreemptBecameTrue,
    RetirementOver,
    StartBackfillBecameTrue,
    StartBecameFalse,
    SuspendBecameTrue,
    VacateTimeOver,
)
from kettle.startd.slot_machine import Phase, Slot, is_not_preempted

Truth = Callable[[str], bool | None]
"""Evaluates one expression by name in the slot's scope; None for undefined, error or absent."""


@dataclass(frozen=True)
class Verdict:
    """What the expressions say now; anything but true counts as false, except START.

    `start` is three-valued: None means it depends on the job.
    """

    start: bool | None = True
    is_owner: bool = False
    want_suspend: bool = False
    want_vacate: bool = True
    suspend: bool = False
    may_continue: bool = True
    preempt: bool = False
    kill: bool = False
    run_benchmarks: bool = False
    start_backfill: bool = False
    evict_backfill: bool = False


class Timers(NamedTuple):
    """Seconds left until each limit of the slot's present phase; None where none runs."""

    match_left: float | None = None
    retirement_left: float | None = None
    vacate_left: float | None = None
    killing_left: float | None = None
    lease_left: float | None = None


def read_verdict(truth: Truth, *, backfill: bool = False) -> Verdict:
    """Evaluate the policy; `backfill` says whether ENABLE_BACKFILL is on."""
    return Verdict(
        start=truth("START"),
        is_owner=truth("IS_OWNER") is True,
        want_suspend=truth("WANT_SUSPEND") is True,
        want_vacate=truth("WANT_VACATE") is True,
        suspend=truth("SUSPEND") is True,
        may_continue=truth("CONTINUE") is True,
        preempt=truth("PREEMPT") is True,
        kill=truth("KILL") is True,
        run_benchmarks=truth("RUNBENCHMARKS") is True,
        start_backfill=backfill and truth("START_BACKFILL") is True,
        evict_backfill=backfill and truth("EVICT_BACKFILL") is True,
    )


def is_over(seconds_left: float | None) -> bool:
    """Whether a timer runs and has run out."""
    return seconds_left is not None and seconds_left <= 0


def decide_event(slot: Slot, verdict: Verdict, timers: Timers) -> Event | None:
    """Return the event that is due in the slot's phase, the most urgent one first."""
    if slot.phase.state == "Claimed" and is_over(timers.lease_left):
        return LeaseExpired()
    decide = _BY_PHASE.get(slot.phase)
    return decide(slot, verdict, timers) if decide else None


def _owner(_slot: Slot, verdict: Verdict, _timers: Timers) -> Event | None:
    return None if verdict.is_owner else OwnerLeft()


def _unclaimed(_slot: Slot, verdict: Verdict, _timers: Timers) -> Event | None:
    if verdict.is_owner:
        return OwnerReturned()
    if verdict.run_benchmarks:
        return BenchmarksDue()
    return StartBackfillBecameTrue() if verdict.start_backfill else None


def _benchmarking(_slot: Slot, verdict: Verdict, _timers: Timers) -> Event | None:
    return OwnerReturned() if verdict.is_owner else None


def _matched(_slot: Slot, verdict: Verdict, timers: Timers) -> Event | None:
    if verdict.start is False:
        return StartBecameFalse()
    return MatchTimedOut() if is_over(timers.match_left) else None


def _claimed_idle(_slot: Slot, verdict: Verdict, _timers: Timers) -> Event | None:
    return StartBecameFalse() if verdict.start is False else None


def _busy(_slot: Slot, verdict: Verdict, _timers: Timers) -> Event | None:
    # While WANT_SUSPEND is true PREEMPT is not looked at.
    if verdict.want_suspend:
        return SuspendBecameTrue() if verdict.suspend else None
    return PreemptBecameTrue() if verdict.preempt else None


def _suspended(slot: Slot, verdict: Verdict, timers: Timers) -> Event | None:
    if slot.leaving_code and is_over(timers.retirement_left):
        return RetirementOver()
    if not slot.leaving_code and verdict.preempt:
        return PreemptBecameTrue()
    if verdict.may_continue and not slot.suspended_by_command:
        return ContinueBecameTrue()
    return None


def _retiring(slot: Slot, verdict: Verdict, timers: Timers) -> Event | None:
    over = is_over(timers.retirement_left)
    # From now on the slot is lost for the job whatever becomes of the better claim, and it is held
    # if the owner wants that (WANT_HOLD), though it leaves for a drain.
    if (
        verdict.preempt
        and (over or not verdict.want_suspend)
        and is_not_preempted(slot, PreemptBecameTrue())
    ):
        return PreemptBecameTrue()
    if over:
        return RetirementOver()
    return SuspendBecameTrue() if verdict.want_suspend and verdict.suspend else None


def _cleaning(slot: Slot, _verdict: Verdict, timers: Timers) -> Event | None:
    # No expression counts any more, but a starter that hangs must not keep a broken claim.
    return RetirementOver() if slot.leaving_code and is_over(timers.retirement_left) else None


def _vacating(_slot: Slot, verdict: Verdict, timers: Timers) -> Event | None:
    if verdict.kill:
        return KillBecameTrue()
    return VacateTimeOver() if is_over(timers.vacate_left) else None


def killing_left(slot: Slot, limit_seconds: float, now: float) -> float:
    """Return how long a job that was killed, and a tree each time that was, may take to end."""
    return slot.entered_activity_at + limit_seconds * (1 + slot.tree_kills) - now


def _killing(_slot: Slot, _verdict: Verdict, timers: Timers) -> Event | None:
    return KillingTimeOver() if is_over(timers.killing_left) else None


def _backfill(_slot: Slot, verdict: Verdict, _timers: Timers) -> Event | None:
    return EvictBackfillBecameTrue() if verdict.evict_backfill else None


_BY_PHASE: dict[Phase, Callable[[Slot, Verdict, Timers], Event | None]] = {
    Phase.OWNER_IDLE: _owner,
    Phase.UNCLAIMED_IDLE: _unclaimed,
    Phase.UNCLAIMED_BENCHMARKING: _benchmarking,
    Phase.MATCHED_IDLE: _matched,
    Phase.CLAIMED_IDLE: _claimed_idle,
    Phase.CLAIMED_BUSY: _busy,
    Phase.CLAIMED_SUSPENDED: _suspended,
    Phase.CLAIMED_RETIRING: _retiring,
    Phase.CLAIMED_CLEANING: _cleaning,
    Phase.PREEMPTING_VACATING: _vacating,
    Phase.PREEMPTING_KILLING: _killing,
    Phase.BACKFILL_IDLE: _backfill,
    Phase.BACKFILL_BUSY: _backfill,
}
