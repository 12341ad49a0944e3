"""Every situation a slot can come to, from its beginning by any order of events.

What is compared is the situation (phase, claim, what is asked), not times and names, so that all
are visited: some hundred. In each of them the invariants hold, and every row of the table leads
from one of them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from kettle.startd import slot_events as ev
from kettle.startd.slot_machine import (
    TRANSITIONS,
    Phase,
    Row,
    Slot,
    _consequence,
    check,
    find_row,
    is_current,
    step,
)

P = Phase
RUNS = 7
EVENTS: tuple[ev.Event, ...] = (
    ev.OwnerLeft(),
    ev.OwnerReturned(),
    ev.BenchmarksDue(),
    ev.BenchmarksFinished(),
    ev.MatchNotified(),
    ev.MatchTimedOut(),
    ev.ClaimAccepted(),
    ev.ClaimActivated(RUNS),
    ev.ClaimReleased(),
    ev.LeaseExpired(),
    ev.StartBecameFalse(),
    ev.PreemptBecameTrue(),
    ev.BetterClaimArrived(),
    ev.BetterClaimLeft(),
    ev.SuspendBecameTrue(),
    ev.ContinueBecameTrue(),
    ev.SuspendAsked(),
    ev.ContinueAsked(),
    ev.RetirementOver(),
    ev.KillBecameTrue(),
    ev.VacateTimeOver(),
    ev.KillingTimeOver(),
    ev.JobEnded(RUNS),
    ev.StarterExited(RUNS),
    ev.StartBackfillBecameTrue(),
    ev.EvictBackfillBecameTrue(),
    ev.BackfillStarted(),
    ev.BackfillExited(),
    ev.VacateAsked(),
    ev.VacateAsked(fast=True),
    ev.ShutdownStarted(),
    ev.ShutdownStarted(fast=True),
    ev.DrainStarted(0),
    ev.DrainStarted(10),
    ev.DrainStarted(20),
    ev.AllSlotsDrained(),
    ev.DrainEnded(),
)


def situation(slot: Slot) -> Slot:
    """Return what matters of a slot for what may follow."""
    return slot._replace(
        entered_state_at=0.0, entered_activity_at=0.0, tree_kills=0, past=(), leaving_reason=""
    )


def follow(slot: Slot) -> Iterator[tuple[ev.Event, Row]]:
    """Yield what may happen to a slot, and the row that says what then."""
    consequence = _consequence(slot)
    for event in EVENTS if consequence is None else (consequence,):
        # Retirement is counted from the moment at which a claim was broken.
        if isinstance(event, ev.RetirementOver) and not slot.leaving_code:
            continue
        row = find_row(slot, event)
        if row is not None and is_current(slot, event):
            yield event, row


@functools.cache
def everywhere() -> dict[Slot, list[tuple[ev.Event, Row, Slot]]]:
    """Return every situation that is reached, with what leads where from it."""
    waiting = [Slot("slot1", want_vacate=wish) for wish in (True, False)]
    found: dict[Slot, list[tuple[ev.Event, Row, Slot]]] = {}
    while waiting:
        slot = waiting.pop()
        if slot in found:
            continue
        found[slot] = []
        for event, row in follow(slot):
            after = situation(step(slot, event, 0.0)[0])
            found[slot].append((event, row, after))
            waiting.append(after)
    return found


def settled() -> list[Slot]:
    """Return the situations in which a slot waits for something outside."""
    return [slot for slot in everywhere() if _consequence(slot) is None]


def test_every_row_is_reached_from_the_beginning() -> None:
    reached = {id(row) for steps in everywhere().values() for _, row, _ in steps}
    dead = [(r.edge, r.source.name, r.on.__name__) for r in TRANSITIONS if id(r) not in reached]
    assert dead == []


def test_the_invariants_hold_everywhere() -> None:
    assert len(settled()) > 100
    check(settled())


def test_a_claim_is_broken_for_a_reason_and_no_other_slot_has_one() -> None:
    for slot in settled():
        leaves = slot.phase in {P.CLAIMED_RETIRING, P.PREEMPTING_VACATING, P.PREEMPTING_KILLING}
        assert not leaves or slot.leaving_code, slot
        assert not slot.leaving_code or slot.phase.state in {"Claimed", "Preempting"}, slot


def test_only_a_better_claim_s_leaving_takes_a_broken_claim_back() -> None:
    for slot, steps in everywhere().items():
        for event, _, after in steps:
            if slot.leaving_code and not after.leaving_code:
                over = isinstance(event, ev.StarterExited)
                assert over or isinstance(event, ev.BetterClaimLeft), (slot, event)


def test_a_fast_shutdown_and_the_starter_s_end_leave_no_claim_anywhere() -> None:
    for slot in settled():
        for event in (ev.ShutdownStarted(fast=True), ev.StarterExited(RUNS)):
            slot = _let(slot, event)
        assert slot.phase.state != "Preempting", slot
        assert not slot.activation or slot.better_match, slot


def test_a_drain_comes_to_an_end_from_everywhere() -> None:
    ends = (
        ev.DrainStarted(20),
        ev.StarterExited(RUNS),
        ev.BackfillExited(),
        ev.BetterClaimLeft(),
        ev.MatchTimedOut(),
        ev.ClaimReleased(),
        ev.AllSlotsDrained(),
    )
    for slot in settled():
        for event in ends:
            slot = _let(slot, event)
        assert slot.phase is P.DRAINED_IDLE, slot


def _let(slot: Slot, event: ev.Event) -> Slot:
    """Apply an event if it means anything, and all that follows of itself."""
    if find_row(slot, event) is not None and is_current(slot, event):
        slot, _ = step(slot, event, 0.0)
    while (after := _consequence(slot)) is not None:
        slot, _ = step(slot, after, 0.0)
    return slot
