"""Which state and activity a slot is in, and what each event does to it.

The table is the manual's diagram (manual, State and Activity Transitions): every row carries
the edge number of the text, and each change of state its letter. When an expression becomes
true is decided in `slot_policy.py`; what a claim is allowed is decided in `claim_machine.py`;
`service.py` delivers the events and performs the effects.
"""

# ruff: noqa: E501 - the rows of the table are read as columns

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kettle.attributes.codes import VacateReasonCode
from kettle.choices import Choice
from kettle.errors import ImpossibleTransition
from kettle.named_tuples import NamedTuple
from kettle.startd.slot_events import (
    AllSlotsDrained,
    AskJobToLeave,
    BackfillExited,
    BackfillStarted,
    BenchmarksDue,
    BenchmarksFinished,
    BetterClaimArrived,
    BetterClaimLeft,
    ClaimAccepted,
    ClaimActivated,
    ClaimReleased,
    ContinueAsked,
    ContinueBecameTrue,
    ContinueJob,
    DrainEnded,
    DrainStarted,
    DropClaim,
    Effect,
    Event,
    EvictBackfillBecameTrue,
    JobEnded,
    KillBecameTrue,
    KillingTimeOver,
    KillJob,
    KillStarterTree,
    LeaseExpired,
    MatchNotified,
    MatchTimedOut,
    OwnerLeft,
    OwnerReturned,
    PreemptBecameTrue,
    RetirementOver,
    ShutdownStarted,
    StartBackfill,
    StartBackfillBecameTrue,
    StartBecameFalse,
    StartBenchmarks,
    StarterExited,
    StopBackfill,
    StopBenchmarks,
    SuspendAsked,
    SuspendBecameTrue,
    SuspendJob,
    SwitchClaim,
    VacateAsked,
    VacateTimeOver,
)


class Phase(Choice):
    """The sixteen legal pairs of State and Activity; no other can be written down."""

    OWNER_IDLE = ("Owner", "Idle")
    UNCLAIMED_IDLE = ("Unclaimed", "Idle")
    UNCLAIMED_BENCHMARKING = ("Unclaimed", "Benchmarking")
    MATCHED_IDLE = ("Matched", "Idle")
    CLAIMED_IDLE = ("Claimed", "Idle")
    CLAIMED_BUSY = ("Claimed", "Busy")
    CLAIMED_SUSPENDED = ("Claimed", "Suspended")
    CLAIMED_RETIRING = ("Claimed", "Retiring")
    CLAIMED_CLEANING = ("Claimed", "Cleaning")
    PREEMPTING_VACATING = ("Preempting", "Vacating")
    PREEMPTING_KILLING = ("Preempting", "Killing")
    BACKFILL_IDLE = ("Backfill", "Idle")
    BACKFILL_BUSY = ("Backfill", "Busy")
    BACKFILL_KILLING = ("Backfill", "Killing")
    DRAINED_IDLE = ("Drained", "Idle")
    DRAINED_RETIRING = ("Drained", "Retiring")

    def __init__(self, state: str, activity: str) -> None:
        # The values of the attributes State and Activity.
        self.state = state
        self.activity = activity

    # There is one object a member; by the name, as enumerations have it, takes a call each time.
    __hash__ = object.__hash__


def tell_change(before: Phase, after: Phase) -> str:
    """Return what the log says of a change: of the state, of the activity, or of both."""
    if before.activity == after.activity:
        return f"Changing state: {before.state} -> {after.state}"
    if before.state == after.state:
        return f"Changing activity: {before.activity} -> {after.activity}"
    pairs = [f"{phase.state}/{phase.activity}" for phase in (before, after)]
    return f"Changing state and activity: {' -> '.join(pairs)}"


P = Phase

# How many past rows a slot remembers for `story`. Limit: what a person reads, times slots.
_STORY_LENGTH = 20


# ---- the slot's own part ----------------------------------------------------------------------


class Destination(Choice):
    """Where a slot goes when its backfill client is dead."""

    OWNER = "Owner"
    MATCHED = "Matched"
    CLAIMED = "Claimed"


class Step(NamedTuple):
    """One applied row, as `story` tells it."""

    at: float
    edge: str
    source: Phase
    target: Phase
    event: str


class Slot(NamedTuple):
    """A slot as the table sees it; replaced, never patched.

    `leaving_code` is the VacateReasonCode that broke the claim, 0 while nothing did;
    `want_vacate` is the last value of WANT_VACATE, looked at on entering Preempting only.
    """

    name: str
    phase: Phase = Phase.OWNER_IDLE
    entered_state_at: float = 0.0
    entered_activity_at: float = 0.0
    activation: int = 0
    leaving_code: int = 0
    leaving_reason: str = ""
    better_match: bool = False
    only_for_better_match: bool = False
    suspended_by_command: bool = False
    want_vacate: bool = True
    skip_vacate: bool = False
    # How often the starter's whole tree was killed since the job was.
    tree_kills: int = 0
    draining: bool = False
    backfill_goes_to: Destination | None = None
    past: tuple[Step, ...] = ()


Guard = Callable[[Slot, Event], bool]
Do = Callable[[Slot, Event], tuple[Slot, list[Effect]]]


@dataclass(frozen=True, slots=True)
class Row:
    """One edge: in `source`, on an event of class `on` for which `when` holds."""

    edge: str
    source: Phase
    on: type[Event]
    when: Guard
    target: Phase
    do: Do


# ---- guards -----------------------------------------------------------------------------------


def always(_slot: Slot, _event: Event) -> bool:
    """Every time."""
    return True


def gently(slot: Slot, event: Event) -> bool:
    """WANT_VACATE is true and nobody asked for a fast end."""
    if getattr(event, "fast", False) or getattr(event, "how_fast", 0) >= 20 or slot.skip_vacate:
        return False
    return slot.want_vacate


def at_once(_slot: Slot, event: Event) -> bool:
    """A fast command: retirement does not count."""
    return bool(getattr(event, "fast", False)) or getattr(event, "how_fast", 0) >= 10


def at_once_gently(slot: Slot, event: Event) -> bool:
    """Retirement does not count, the vacate time does."""
    return at_once(slot, event) and gently(slot, event)


def better_match(slot: Slot, _event: Event) -> bool:
    """Another claim waits for the slot."""
    return slot.better_match


def retirement_can_end(slot: Slot, _event: Event) -> bool:
    """The waiting claim was the only reason to retire (edge 19)."""
    return slot.only_for_better_match


def is_not_preempted(slot: Slot, _event: Event) -> bool:
    """The owner's PREEMPT has not broken the claim, whatever else has."""
    code = VacateReasonCode.StartdPreemptExpression
    return slot.only_for_better_match or slot.leaving_code != code


def claim_is_broken(slot: Slot, _event: Event) -> bool:
    """The claim was preempted while the job was suspended."""
    return slot.leaving_code != 0


def may_continue_broken(slot: Slot, event: Event) -> bool:
    """CONTINUE counts, and the claim is broken."""
    return not slot.suspended_by_command and claim_is_broken(slot, event)


def may_continue(slot: Slot, _event: Event) -> bool:
    """CONTINUE does not thaw what a person froze."""
    return not slot.suspended_by_command


def goes_to_owner(slot: Slot, _event: Event) -> bool:
    """Backfill was ended for the owner, by command or by shutdown."""
    return slot.backfill_goes_to is Destination.OWNER


def goes_to_claimed(slot: Slot, _event: Event) -> bool:
    """Backfill was ended for a claim."""
    return slot.backfill_goes_to is Destination.CLAIMED


def goes_to_matched(slot: Slot, _event: Event) -> bool:
    """Backfill was ended for a match."""
    return slot.backfill_goes_to is Destination.MATCHED


# ---- actions ----------------------------------------------------------------------------------

_REASONS: dict[type[Event], tuple[int, str]] = {
    PreemptBecameTrue: (
        VacateReasonCode.StartdPreemptExpression,
        "PREEMPT expression evaluated to true",
    ),
    VacateAsked: (VacateReasonCode.StartdVacateCommand, "startd was told to vacate the job"),
    ClaimReleased: (VacateReasonCode.StartdReleaseCommand, "the claim was released"),
    LeaseExpired: (VacateReasonCode.StartdReleaseCommand, "the claim lease expired"),
    ShutdownStarted: (VacateReasonCode.StartdShutdown, "startd was told to shut down"),
    DrainStarted: (VacateReasonCode.StartdDraining, "startd is draining"),
    StartBecameFalse: (VacateReasonCode.StartdPreemptExpression, "START became false"),
    # Compat: the reference's evicted job hears code 1005 and "Unspecified job interruption"
    # (test_rows_preemption).
    BetterClaimArrived: (
        VacateReasonCode.StartdPreemptingClaimRank,
        "preempted by a better claim",
    ),
}


def _blame(slot: Slot, event: Event) -> Slot:
    """Remember the first reason for which the claim is broken; PREEMPT comes before others.

    Its job may be held: a job that drains away may still misbehave.
    """
    better = isinstance(event, BetterClaimArrived)
    changed = slot._replace(
        better_match=slot.better_match or better,
        only_for_better_match=(better and not slot.leaving_code)
        or (slot.only_for_better_match and better),
        draining=slot.draining or isinstance(event, DrainStarted),
    )
    known = slot.leaving_code and not slot.only_for_better_match
    if type(event) not in _REASONS or (known and not isinstance(event, PreemptBecameTrue)):
        return changed
    code, reason = _REASONS[type(event)]
    return changed._replace(leaving_code=getattr(event, "code", code), leaving_reason=reason)


def nothing(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """Change the phase only."""
    return slot, []


def note_draining(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """The slot takes part in a drain."""
    return slot._replace(draining=True), []


def end_draining(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """The slot goes back to service."""
    return slot._replace(draining=False), []


def run_job(slot: Slot, event: Event) -> tuple[Slot, list[Effect]]:
    """Remember which activation runs."""
    assert isinstance(event, ClaimActivated)
    return slot._replace(activation=event.activation, suspended_by_command=False), []


def forget_job(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """No activation runs any more."""
    return slot._replace(activation=0, suspended_by_command=False), []


def await_retirement(slot: Slot, event: Event) -> tuple[Slot, list[Effect]]:
    """The claim is broken; the job may use up its retirement."""
    return _blame(slot, event), []


def freeze(slot: Slot, event: Event) -> tuple[Slot, list[Effect]]:
    """Suspend the job."""
    changed = slot._replace(suspended_by_command=isinstance(event, SuspendAsked))
    return changed, [SuspendJob(slot.activation)]


def thaw(slot: Slot, event: Event) -> tuple[Slot, list[Effect]]:
    """Continue the job."""
    changed = _blame(slot, event)._replace(suspended_by_command=False)
    return changed, [ContinueJob(slot.activation)]


def unretire(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """The better claim went away: the job keeps the slot (edge 19)."""
    return slot._replace(
        better_match=False,
        only_for_better_match=False,
        leaving_code=0,
        leaving_reason="",
    ), []


def forget_better_match(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """The waiting claim is gone; the eviction goes on."""
    return slot._replace(better_match=False, only_for_better_match=False), []


def ask_job_to_leave(slot: Slot, event: Event) -> tuple[Slot, list[Effect]]:
    """Start vacating; a frozen job is thawed by the starter."""
    gone = isinstance(event, StarterExited)
    slot = _blame(slot._replace(activation=0 if gone else slot.activation), event)
    if not slot.activation:
        return slot, []
    return slot, [AskJobToLeave(slot.activation, slot.leaving_code, slot.leaving_reason)]


def kill_job(slot: Slot, event: Event) -> tuple[Slot, list[Effect]]:
    """Start killing."""
    gone = isinstance(event, StarterExited)
    slot = _blame(slot._replace(activation=0 if gone else slot.activation, tree_kills=0), event)
    if not slot.activation:
        return slot, []
    return slot, [KillJob(slot.activation, slot.leaving_code, slot.leaving_reason)]


def kill_starter_tree(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """The starter itself does not end; KILLING_TIMEOUT counts anew."""
    return slot._replace(tree_kills=slot.tree_kills + 1), [KillStarterTree(slot.activation)]


def switch_claim(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """Hand the slot to the claim that waits."""
    clean = slot._replace(
        activation=0,
        leaving_code=0,
        leaving_reason="",
        better_match=False,
        only_for_better_match=False,
        skip_vacate=False,
    )
    return clean, [SwitchClaim(slot.activation)]


def drop_claim(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """The claim is over and nobody waits."""
    clean = slot._replace(
        activation=0, leaving_code=0, leaving_reason="", only_for_better_match=False
    )
    return clean._replace(skip_vacate=False), [DropClaim(slot.activation)]


def start_benchmarks(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """Run the benchmarks."""
    return slot, [StartBenchmarks()]


def stop_benchmarks(slot: Slot, event: Event) -> tuple[Slot, list[Effect]]:
    """Something better came up."""
    return slot._replace(draining=slot.draining or isinstance(event, DrainStarted)), [
        StopBenchmarks()
    ]


def start_backfill(slot: Slot, _event: Event) -> tuple[Slot, list[Effect]]:
    """Spawn the backfill client."""
    return slot._replace(backfill_goes_to=None), [StartBackfill()]


def stop_backfill(slot: Slot, event: Event) -> tuple[Slot, list[Effect]]:
    """Kill the backfill client and remember for whom."""
    where = {ClaimAccepted: Destination.CLAIMED, MatchNotified: Destination.MATCHED}
    goes_to = where.get(type(event), Destination.OWNER)
    draining = slot.draining or isinstance(event, DrainStarted)
    return slot._replace(backfill_goes_to=goes_to, draining=draining), [StopBackfill()]


def _leave(edge: str, source: Phase, *events: type[Event]) -> tuple[Row, ...]:
    """Two rows per event into Preempting: Vacating if WANT_VACATE, else Killing."""
    rows = []
    for event in events:
        rows.append(Row(edge, source, event, gently, P.PREEMPTING_VACATING, ask_job_to_leave))
        rows.append(Row(edge, source, event, always, P.PREEMPTING_KILLING, kill_job))
    return tuple(rows)


def _fast(source: Phase) -> tuple[Row, ...]:
    """Rows for commands that skip retirement; a fast shutdown skips the vacate time as well."""
    return (
        Row("H", source, ShutdownStarted, at_once, P.PREEMPTING_KILLING, kill_job),
        Row("H", source, DrainStarted, at_once_gently, P.PREEMPTING_VACATING, ask_job_to_leave),
        Row("H", source, DrainStarted, at_once, P.PREEMPTING_KILLING, kill_job),
    )


# fmt: off
TRANSITIONS: tuple[Row, ...] = (
    #   edge  from                      on                       when                 to                        do
    Row("1",  P.OWNER_IDLE,             OwnerLeft,               always,              P.UNCLAIMED_IDLE,         nothing),
    Row("36", P.OWNER_IDLE,             DrainStarted,            always,              P.DRAINED_RETIRING,       note_draining),

    Row("2",  P.UNCLAIMED_IDLE,         OwnerReturned,           always,              P.OWNER_IDLE,             nothing),
    Row("3",  P.UNCLAIMED_IDLE,         BenchmarksDue,           always,              P.UNCLAIMED_BENCHMARKING, start_benchmarks),
    Row("4",  P.UNCLAIMED_BENCHMARKING, BenchmarksFinished,      always,              P.UNCLAIMED_IDLE,         nothing),
    Row("2",  P.UNCLAIMED_BENCHMARKING, OwnerReturned,           always,              P.OWNER_IDLE,             stop_benchmarks),
    Row("5",  P.UNCLAIMED_BENCHMARKING, ClaimAccepted,           always,              P.CLAIMED_IDLE,           stop_benchmarks),
    Row("6",  P.UNCLAIMED_BENCHMARKING, MatchNotified,           always,              P.MATCHED_IDLE,           stop_benchmarks),
    Row("37", P.UNCLAIMED_BENCHMARKING, DrainStarted,            always,              P.DRAINED_RETIRING,       stop_benchmarks),
    Row("5",  P.UNCLAIMED_IDLE,         ClaimAccepted,           always,              P.CLAIMED_IDLE,           nothing),
    Row("6",  P.UNCLAIMED_IDLE,         MatchNotified,           always,              P.MATCHED_IDLE,           nothing),
    Row("7",  P.UNCLAIMED_IDLE,         StartBackfillBecameTrue, always,              P.BACKFILL_IDLE,          start_backfill),
    Row("37", P.UNCLAIMED_IDLE,         DrainStarted,            always,              P.DRAINED_RETIRING,       note_draining),

    Row("8",  P.MATCHED_IDLE,           MatchTimedOut,           always,              P.OWNER_IDLE,             nothing),
    Row("8",  P.MATCHED_IDLE,           StartBecameFalse,        always,              P.OWNER_IDLE,             nothing),
    Row("8",  P.MATCHED_IDLE,           VacateAsked,             always,              P.OWNER_IDLE,             nothing),
    Row("8",  P.MATCHED_IDLE,           DrainStarted,            always,              P.OWNER_IDLE,             note_draining),
    Row("9",  P.MATCHED_IDLE,           ClaimAccepted,           always,              P.CLAIMED_IDLE,           nothing),

    *_leave("10", P.CLAIMED_IDLE,       VacateAsked, StartBecameFalse, ClaimReleased, LeaseExpired, ShutdownStarted, DrainStarted,
                                        BetterClaimArrived, PreemptBecameTrue),
    Row("11", P.CLAIMED_IDLE,           ClaimActivated,          always,              P.CLAIMED_BUSY,           run_job),

    Row("12", P.CLAIMED_BUSY,           JobEnded,                always,              P.CLAIMED_CLEANING,       nothing),
    Row("12", P.CLAIMED_BUSY,           StarterExited,           always,              P.CLAIMED_IDLE,           forget_job),
    *_leave("H", P.CLAIMED_BUSY,        VacateAsked, ClaimReleased, LeaseExpired),
    *_fast(P.CLAIMED_BUSY),
    Row("13", P.CLAIMED_BUSY,           PreemptBecameTrue,       always,              P.CLAIMED_RETIRING,       await_retirement),
    Row("13", P.CLAIMED_BUSY,           BetterClaimArrived,      always,              P.CLAIMED_RETIRING,       await_retirement),
    Row("13", P.CLAIMED_BUSY,           ShutdownStarted,         always,              P.CLAIMED_RETIRING,       await_retirement),
    Row("13", P.CLAIMED_BUSY,           DrainStarted,            always,              P.CLAIMED_RETIRING,       await_retirement),
    Row("14", P.CLAIMED_BUSY,           SuspendBecameTrue,       always,              P.CLAIMED_SUSPENDED,      freeze),
    Row("14", P.CLAIMED_BUSY,           SuspendAsked,            always,              P.CLAIMED_SUSPENDED,      freeze),

    Row("12", P.CLAIMED_SUSPENDED,      JobEnded,                always,              P.CLAIMED_CLEANING,       nothing),
    Row("17", P.CLAIMED_SUSPENDED,      StarterExited,           claim_is_broken,     P.PREEMPTING_VACATING,    ask_job_to_leave),
    Row("12", P.CLAIMED_SUSPENDED,      StarterExited,           always,              P.CLAIMED_IDLE,           forget_job),
    *_leave("H", P.CLAIMED_SUSPENDED,   VacateAsked, ClaimReleased, LeaseExpired),
    *_fast(P.CLAIMED_SUSPENDED),
    Row("16", P.CLAIMED_SUSPENDED,      ContinueBecameTrue,      may_continue_broken, P.CLAIMED_RETIRING,       thaw),
    Row("15", P.CLAIMED_SUSPENDED,      ContinueBecameTrue,      may_continue,        P.CLAIMED_BUSY,           thaw),
    Row("16", P.CLAIMED_SUSPENDED,      ContinueAsked,           claim_is_broken,     P.CLAIMED_RETIRING,       thaw),
    Row("15", P.CLAIMED_SUSPENDED,      ContinueAsked,           always,              P.CLAIMED_BUSY,           thaw),
    Row("16", P.CLAIMED_SUSPENDED,      PreemptBecameTrue,       always,              P.CLAIMED_RETIRING,       thaw),
    Row("16", P.CLAIMED_SUSPENDED,      BetterClaimArrived,      always,              P.CLAIMED_RETIRING,       thaw),
    Row("16", P.CLAIMED_SUSPENDED,      ShutdownStarted,         always,              P.CLAIMED_RETIRING,       thaw),
    Row("16", P.CLAIMED_SUSPENDED,      DrainStarted,            always,              P.CLAIMED_RETIRING,       thaw),
    *_leave("17", P.CLAIMED_SUSPENDED,  RetirementOver),
    Row("",   P.CLAIMED_SUSPENDED,      BetterClaimLeft,         retirement_can_end,  P.CLAIMED_SUSPENDED,      unretire),
    Row("",   P.CLAIMED_SUSPENDED,      BetterClaimLeft,         always,              P.CLAIMED_SUSPENDED,      forget_better_match),

    Row("12", P.CLAIMED_RETIRING,       JobEnded,                always,              P.CLAIMED_CLEANING,       nothing),
    *_leave("18", P.CLAIMED_RETIRING,   RetirementOver, StarterExited),
    *_leave("H", P.CLAIMED_RETIRING,    VacateAsked, ClaimReleased, LeaseExpired),
    *_fast(P.CLAIMED_RETIRING),
    Row("13", P.CLAIMED_RETIRING,       PreemptBecameTrue,       is_not_preempted,    P.CLAIMED_RETIRING,       await_retirement),
    Row("13", P.CLAIMED_RETIRING,       BetterClaimArrived,      always,              P.CLAIMED_RETIRING,       await_retirement),
    Row("13", P.CLAIMED_RETIRING,       ShutdownStarted,         always,              P.CLAIMED_RETIRING,       await_retirement),
    Row("13", P.CLAIMED_RETIRING,       DrainStarted,            always,              P.CLAIMED_RETIRING,       await_retirement),
    Row("19", P.CLAIMED_RETIRING,       BetterClaimLeft,         retirement_can_end,  P.CLAIMED_BUSY,           unretire),
    Row("",   P.CLAIMED_RETIRING,       BetterClaimLeft,         always,              P.CLAIMED_RETIRING,       forget_better_match),
    Row("20", P.CLAIMED_RETIRING,       SuspendBecameTrue,       always,              P.CLAIMED_SUSPENDED,      freeze),
    Row("20", P.CLAIMED_RETIRING,       SuspendAsked,            always,              P.CLAIMED_SUSPENDED,      freeze),

    # Compat: the reference lets a starter that cleans up end even where it is told to go, and kills
    # it by timers of its own. Here it is preempted like any other: one that hangs is got rid of
    # (test_a_starter_that_hangs_while_it_cleans_is_killed_in_the_end).
    Row("18", P.CLAIMED_CLEANING,       StarterExited,           claim_is_broken,     P.PREEMPTING_VACATING,    ask_job_to_leave),
    Row("12a", P.CLAIMED_CLEANING,      StarterExited,           always,              P.CLAIMED_IDLE,           forget_job),
    *_leave("H", P.CLAIMED_CLEANING,    VacateAsked, ClaimReleased, LeaseExpired, RetirementOver),
    *_fast(P.CLAIMED_CLEANING),
    Row("",   P.CLAIMED_CLEANING,       BetterClaimArrived,      always,              P.CLAIMED_CLEANING,       await_retirement),
    Row("",   P.CLAIMED_CLEANING,       ShutdownStarted,         always,              P.CLAIMED_CLEANING,       await_retirement),
    Row("",   P.CLAIMED_CLEANING,       DrainStarted,            always,              P.CLAIMED_CLEANING,       await_retirement),
    Row("",   P.CLAIMED_CLEANING,       BetterClaimLeft,         retirement_can_end,  P.CLAIMED_CLEANING,       unretire),
    Row("",   P.CLAIMED_CLEANING,       BetterClaimLeft,         always,              P.CLAIMED_CLEANING,       forget_better_match),

    Row("21", P.PREEMPTING_VACATING,    KillBecameTrue,          always,              P.PREEMPTING_KILLING,     kill_job),
    Row("21", P.PREEMPTING_VACATING,    VacateTimeOver,          always,              P.PREEMPTING_KILLING,     kill_job),
    Row("21", P.PREEMPTING_VACATING,    VacateAsked,             at_once,             P.PREEMPTING_KILLING,     kill_job),
    Row("21", P.PREEMPTING_VACATING,    ShutdownStarted,         at_once,             P.PREEMPTING_KILLING,     kill_job),
    Row("23", P.PREEMPTING_VACATING,    StarterExited,           better_match,        P.CLAIMED_IDLE,           switch_claim),
    Row("22", P.PREEMPTING_VACATING,    StarterExited,           always,              P.OWNER_IDLE,             drop_claim),
    Row("24", P.PREEMPTING_KILLING,     StarterExited,           better_match,        P.CLAIMED_IDLE,           switch_claim),
    Row("25", P.PREEMPTING_KILLING,     StarterExited,           always,              P.OWNER_IDLE,             drop_claim),
    Row("",   P.PREEMPTING_VACATING,    DrainStarted,            always,              P.PREEMPTING_VACATING,    note_draining),
    Row("",   P.PREEMPTING_KILLING,     DrainStarted,            always,              P.PREEMPTING_KILLING,     note_draining),
    Row("",   P.PREEMPTING_VACATING,    BetterClaimLeft,         always,              P.PREEMPTING_VACATING,    forget_better_match),
    Row("",   P.PREEMPTING_KILLING,     BetterClaimLeft,         always,              P.PREEMPTING_KILLING,     forget_better_match),
    Row("",   P.PREEMPTING_KILLING,     KillingTimeOver,         always,              P.PREEMPTING_KILLING,     kill_starter_tree),

    Row("26", P.BACKFILL_IDLE,          BackfillStarted,         always,              P.BACKFILL_BUSY,          nothing),
    Row("27", P.BACKFILL_BUSY,          BackfillExited,          always,              P.BACKFILL_IDLE,          start_backfill),
    Row("28", P.BACKFILL_BUSY,          EvictBackfillBecameTrue, always,              P.BACKFILL_KILLING,       stop_backfill),
    Row("28", P.BACKFILL_BUSY,          VacateAsked,             always,              P.BACKFILL_KILLING,       stop_backfill),
    Row("28", P.BACKFILL_BUSY,          ShutdownStarted,         always,              P.BACKFILL_KILLING,       stop_backfill),
    Row("28", P.BACKFILL_BUSY,          DrainStarted,            always,              P.BACKFILL_KILLING,       stop_backfill),
    Row("28", P.BACKFILL_BUSY,          MatchNotified,           always,              P.BACKFILL_KILLING,       stop_backfill),
    Row("28", P.BACKFILL_BUSY,          ClaimAccepted,           always,              P.BACKFILL_KILLING,       stop_backfill),
    Row("",   P.BACKFILL_KILLING,       DrainStarted,            always,              P.BACKFILL_KILLING,       note_draining),
    Row("29", P.BACKFILL_KILLING,       BackfillExited,          always,              P.BACKFILL_IDLE,          nothing),
    Row("30", P.BACKFILL_IDLE,          EvictBackfillBecameTrue, always,              P.OWNER_IDLE,             nothing),
    Row("30", P.BACKFILL_IDLE,          VacateAsked,             always,              P.OWNER_IDLE,             nothing),
    Row("30", P.BACKFILL_IDLE,          ShutdownStarted,         always,              P.OWNER_IDLE,             nothing),
    Row("30", P.BACKFILL_IDLE,          DrainStarted,            always,              P.OWNER_IDLE,             note_draining),
    Row("31", P.BACKFILL_IDLE,          ClaimAccepted,           always,              P.CLAIMED_IDLE,           nothing),
    Row("32", P.BACKFILL_IDLE,          MatchNotified,           always,              P.MATCHED_IDLE,           nothing),
    Row("30", P.BACKFILL_IDLE,          BackfillExited,          goes_to_owner,       P.OWNER_IDLE,             nothing),
    Row("31", P.BACKFILL_IDLE,          BackfillExited,          goes_to_claimed,     P.CLAIMED_IDLE,           nothing),
    Row("32", P.BACKFILL_IDLE,          BackfillExited,          goes_to_matched,     P.MATCHED_IDLE,           nothing),

    Row("33", P.DRAINED_RETIRING,       AllSlotsDrained,         always,              P.DRAINED_IDLE,           nothing),
    Row("34", P.DRAINED_IDLE,           DrainEnded,              always,              P.OWNER_IDLE,             end_draining),
    Row("35", P.DRAINED_RETIRING,       DrainEnded,              always,              P.OWNER_IDLE,             end_draining),
)
# fmt: on

_BY_SOURCE: dict[tuple[Phase, type[Event]], tuple[Row, ...]] = {}
for _row in TRANSITIONS:
    _key = (_row.source, _row.on)
    _BY_SOURCE[_key] = (*_BY_SOURCE.get(_key, ()), _row)


def find_row(slot: Slot, event: Event) -> Row | None:
    """Return the row that would apply, or None: the event means nothing in this phase."""
    for row in _BY_SOURCE.get((slot.phase, type(event)), ()):
        if row.when(slot, event):
            return row
    return None


def is_current(slot: Slot, event: Event) -> bool:
    """Whether the event is about the activation that runs now; a late one is to be dropped."""
    activation = getattr(event, "activation", None)
    return activation is None or isinstance(event, ClaimActivated) or activation == slot.activation


def step(slot: Slot, event: Event, now: float) -> tuple[Slot, list[Effect]]:
    """Apply one event; the first row whose guard holds wins.

    Raises ImpossibleTransition where the table has no row.
    """
    row = find_row(slot, event)
    if row is None:
        raise ImpossibleTransition(
            f"{slot.name}: {event} in {'/'.join(slot.phase.value)}; {story(slot)}"
        )
    changed, effects = row.do(slot, event)
    new_state = row.target.state != row.source.state
    new_activity = row.target is not row.source
    past = (*changed.past, Step(now, row.edge, row.source, row.target, type(event).__name__))
    changed = changed._replace(
        phase=row.target,
        entered_state_at=now if new_state else slot.entered_state_at,
        entered_activity_at=now if new_activity else slot.entered_activity_at,
        past=past[-_STORY_LENGTH:],
    )
    return changed, effects


def advance(slot: Slot, event: Event, now: float) -> tuple[Slot, list[Effect]]:
    """Apply one event and what follows from it without waiting for anything.

    A slot that enters Preempting with no starter leaves it at once; one whose backfill client
    is dead goes on to where it was wanted; one that comes to Owner during a drain is drained.
    """
    slot, effects = step(slot, event, now)
    while (follow := _consequence(slot)) is not None:
        slot, more = step(slot, follow, now)
        effects += more
    return slot, effects


def _consequence(slot: Slot) -> Event | None:
    if slot.phase.state == "Preempting" and not slot.activation:
        return StarterExited(0)
    if slot.phase is P.BACKFILL_IDLE and slot.backfill_goes_to is not None:
        return BackfillExited()
    if slot.phase is P.OWNER_IDLE and slot.draining:
        return DrainStarted()
    return None


def story(slot: Slot) -> str:
    """Say how the slot came to be where it is, newest last."""
    return "; ".join(
        f"{s.event}: {'/'.join(s.source.value)} -> {'/'.join(s.target.value)}"
        + (f" (edge {s.edge})" if s.edge else "")
        for s in slot.past
    )


def check(slots: Sequence[Slot]) -> None:
    """Restate the invariants; raises AssertionError where one does not hold."""
    for slot in slots:
        running = slot.phase in {
            P.CLAIMED_BUSY,
            P.CLAIMED_SUSPENDED,
            P.CLAIMED_RETIRING,
            P.CLAIMED_CLEANING,
            P.PREEMPTING_VACATING,
            P.PREEMPTING_KILLING,
        }
        assert running == bool(slot.activation), f"{slot.name}: {slot.phase} and {slot.activation}"
        assert not (slot.better_match and slot.phase.state not in {"Claimed", "Preempting"})
        assert slot.entered_state_at <= slot.entered_activity_at
