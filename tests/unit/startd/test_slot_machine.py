"""The table of states and activities, as scripts of events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.attributes.codes import VacateReasonCode
from kettle.errors import ImpossibleTransition
from kettle.startd import slot_events as ev
from kettle.startd.slot_machine import (
    TRANSITIONS,
    Destination,
    Phase,
    Slot,
    advance,
    check,
    find_row,
    is_current,
    step,
    story,
    tell_change,
)
from kettle.startd.slot_policy import Timers, decide_event, killing_left, read_verdict

P = Phase
# What a machine without a policy says.
VERDICT = read_verdict(lambda _name: None)

# The letter of each change of state in the state diagram, by (from, to).
LETTERS = {
    ("Owner", "Unclaimed"): "A",
    ("Unclaimed", "Owner"): "B",
    ("Unclaimed", "Matched"): "C",
    ("Unclaimed", "Claimed"): "D",
    ("Unclaimed", "Backfill"): "E",
    ("Matched", "Owner"): "F",
    ("Matched", "Claimed"): "G",
    ("Claimed", "Preempting"): "H",
    ("Preempting", "Claimed"): "I",
    ("Preempting", "Owner"): "J",
    ("Backfill", "Owner"): "K",
    ("Backfill", "Matched"): "L",
    ("Backfill", "Claimed"): "M",
    ("Owner", "Drained"): "N",
    ("Drained", "Owner"): "O",
    ("Unclaimed", "Drained"): "P",
}


def play(slot: Slot, *events: ev.Event) -> tuple[Slot, list[ev.Effect]]:
    effects: list[ev.Effect] = []
    for event in events:
        slot, more = advance(slot, event, slot.entered_activity_at + 1)
        check([slot])
        effects += more
    return slot, effects


def busy(**changes: object) -> Slot:
    slot, _ = play(Slot("slot1"), ev.OwnerLeft(), ev.ClaimAccepted(), ev.ClaimActivated(7))
    return slot._replace(**changes)  # type: ignore[arg-type]


def test_there_are_sixteen_pairs_of_state_and_activity() -> None:
    assert len(Phase) == 16


def test_every_edge_of_the_manual_has_a_row() -> None:
    assert {row.edge for row in TRANSITIONS} >= {str(number) for number in range(1, 38)}


def test_every_letter_of_the_state_diagram_has_a_row_and_no_other_change_of_state_exists() -> None:
    changes = {
        (row.source.state, row.target.state)
        for row in TRANSITIONS
        if row.source.state != row.target.state
    }
    assert changes == set(LETTERS)
    assert sorted(LETTERS.values()) == list("ABCDEFGHIJKLMNOP")


@pytest.mark.shows("B051")
def test_claimed_is_left_through_preempting_only() -> None:
    targets = {row.target.state for row in TRANSITIONS if row.source.state == "Claimed"}
    assert targets == {"Claimed", "Preempting"}


def test_a_slot_begins_in_owner_and_leaves_when_is_owner_is_not_true() -> None:
    slot, effects = play(Slot("slot1"), ev.OwnerLeft())
    assert slot.phase is P.UNCLAIMED_IDLE
    assert effects == []


def test_a_job_comes_and_goes() -> None:
    slot = busy()
    assert slot.phase is P.CLAIMED_BUSY
    slot, effects = play(slot, ev.StarterExited(7), ev.ClaimActivated(8), ev.StarterExited(8))
    assert slot.phase is P.CLAIMED_IDLE
    assert effects == []


def test_a_slot_whose_job_is_done_cleans_until_its_starter_is_gone() -> None:
    slot, effects = play(busy(), ev.JobEnded(7))
    assert slot.phase is P.CLAIMED_CLEANING
    assert tell_change(P.CLAIMED_BUSY, slot.phase) == "Changing activity: Busy -> Cleaning"
    assert decide_event(slot, VERDICT, Timers(retirement_left=-1.0)) is None
    slot, more = play(slot, ev.StarterExited(7))
    assert slot.phase is P.CLAIMED_IDLE
    assert effects + more == []


def test_a_claim_that_is_broken_while_its_slot_cleans_ends_with_the_starter() -> None:
    for event in (ev.ShutdownStarted(), ev.DrainStarted()):
        slot, effects = play(busy(), ev.JobEnded(7), event)
        assert (slot.phase, effects) == (P.CLAIMED_CLEANING, [])
        assert play(slot, ev.StarterExited(7))[0].phase.state in {"Owner", "Drained"}
    slot, _ = play(busy(), ev.JobEnded(7), ev.BetterClaimArrived())
    after, effects = play(slot, ev.StarterExited(7))
    assert after.phase is P.CLAIMED_IDLE
    assert isinstance(effects[-1], ev.SwitchClaim)


def test_a_starter_that_hangs_while_it_cleans_is_killed_in_the_end() -> None:
    slot, _ = play(busy(), ev.PreemptBecameTrue(), ev.JobEnded(7))
    assert slot.phase is P.CLAIMED_CLEANING
    due = decide_event(slot, VERDICT, Timers(retirement_left=0.0))
    assert isinstance(due, ev.RetirementOver)
    slot, _ = play(slot, due, ev.VacateTimeOver())
    assert slot.phase is P.PREEMPTING_KILLING
    assert play(busy(), ev.JobEnded(7), ev.VacateAsked())[0].phase is P.PREEMPTING_VACATING


def test_a_released_idle_claim_passes_preempting_and_ends_in_owner() -> None:
    slot, effects = play(busy(), ev.StarterExited(7), ev.ClaimReleased())
    assert slot.phase is P.OWNER_IDLE
    assert effects == [ev.DropClaim(0)]
    assert [s.edge for s in slot.past][-2:] == ["10", "22"]


def test_a_job_that_drains_away_is_still_looked_at_by_preempt_which_then_is_why_it_leaves() -> None:
    slot, _ = play(busy(), ev.DrainStarted())
    assert slot.phase is P.CLAIMED_RETIRING
    greedy = read_verdict(lambda name: name == "PREEMPT")
    for left in (200.0, -1.0):
        due = decide_event(slot, greedy, Timers(retirement_left=left))
        assert isinstance(due, ev.PreemptBecameTrue)
    assert decide_event(slot, VERDICT, Timers(retirement_left=200.0)) is None
    slot, effects = play(slot, ev.PreemptBecameTrue())
    assert (slot.phase, effects) == (P.CLAIMED_RETIRING, [])
    # Once is enough.
    assert decide_event(slot, greedy, Timers(retirement_left=200.0)) is None
    due = decide_event(slot, greedy, Timers(retirement_left=-1.0))
    assert isinstance(due, ev.RetirementOver)
    slot, effects = play(slot, due)
    code = VacateReasonCode.StartdPreemptExpression
    assert effects == [ev.AskJobToLeave(7, code, "PREEMPT expression evaluated to true")]


def test_preempt_waits_for_retirement_then_vacates_then_kills() -> None:
    slot, effects = play(busy(), ev.PreemptBecameTrue(), ev.RetirementOver(), ev.VacateTimeOver())
    code = VacateReasonCode.StartdPreemptExpression
    assert slot.phase is P.PREEMPTING_KILLING
    assert [(type(e), e.activation, e.code) for e in effects] == [  # type: ignore[attr-defined]
        (ev.AskJobToLeave, 7, code),
        (ev.KillJob, 7, code),
    ]
    slot, effects = play(slot, ev.StarterExited(7))
    assert slot.phase is P.OWNER_IDLE
    assert effects == [ev.DropClaim(7)]
    assert [s.edge for s in slot.past] == ["1", "5", "11", "13", "18", "21", "25"]


def test_without_want_vacate_the_job_is_killed_at_once() -> None:
    slot, effects = play(busy(want_vacate=False), ev.VacateAsked())
    assert slot.phase is P.PREEMPTING_KILLING
    assert isinstance(effects[0], ev.KillJob)


@pytest.mark.shows("B121")
def test_a_fast_shutdown_skips_retirement_and_a_graceful_one_does_not() -> None:
    assert play(busy(), ev.ShutdownStarted(fast=True))[0].phase is P.PREEMPTING_KILLING
    assert play(busy(), ev.ShutdownStarted())[0].phase is P.CLAIMED_RETIRING


@pytest.mark.shows("C009")
def test_draining_quickly_skips_retirement_and_keeps_the_vacate_time() -> None:
    assert play(busy(), ev.DrainStarted(0))[0].phase is P.CLAIMED_RETIRING
    assert play(busy(), ev.DrainStarted(10))[0].phase is P.PREEMPTING_VACATING
    assert play(busy(), ev.DrainStarted(20))[0].phase is P.PREEMPTING_KILLING


def test_a_drained_job_ends_in_drained_and_comes_back_when_all_is_over() -> None:
    slot, _ = play(busy(), ev.DrainStarted(), ev.RetirementOver(), ev.StarterExited(7))
    assert slot.phase is P.DRAINED_RETIRING
    slot, _ = play(slot, ev.AllSlotsDrained(), ev.DrainEnded(), ev.OwnerLeft())
    assert slot.phase is P.UNCLAIMED_IDLE
    assert not slot.draining


def test_a_better_claim_gets_the_slot_after_retirement() -> None:
    slot, effects = play(busy(), ev.BetterClaimArrived(), ev.RetirementOver(), ev.StarterExited(7))
    assert slot.phase is P.CLAIMED_IDLE
    assert isinstance(effects[-1], ev.SwitchClaim)
    assert not slot.better_match


@pytest.mark.shows("B085")
def test_retirement_ends_when_the_better_claim_was_its_only_reason() -> None:
    slot, _ = play(busy(), ev.BetterClaimArrived(), ev.BetterClaimLeft())
    assert slot.phase is P.CLAIMED_BUSY
    assert slot.leaving_code == 0
    slot, _ = play(busy(), ev.BetterClaimArrived(), ev.PreemptBecameTrue())
    slot, _ = play(slot, ev.BetterClaimLeft())
    assert slot.phase is P.CLAIMED_RETIRING
    assert not slot.better_match


def test_suspension_is_lifted_by_continue_but_not_when_a_person_asked_for_it() -> None:
    slot, effects = play(busy(), ev.SuspendBecameTrue(), ev.ContinueBecameTrue())
    assert slot.phase is P.CLAIMED_BUSY
    assert effects == [ev.SuspendJob(7), ev.ContinueJob(7)]
    slot, _ = play(busy(), ev.SuspendAsked())
    assert find_row(slot, ev.ContinueBecameTrue()) is None
    assert play(slot, ev.ContinueAsked())[0].phase is P.CLAIMED_BUSY


@pytest.mark.shows("B082", "B086")
def test_a_job_suspended_during_retirement_returns_to_retirement() -> None:
    slot, _ = play(busy(), ev.PreemptBecameTrue(), ev.SuspendBecameTrue(), ev.ContinueBecameTrue())
    assert slot.phase is P.CLAIMED_RETIRING


@pytest.mark.shows("B136")
def test_a_stuck_starter_is_killed_with_its_tree() -> None:
    slot, effects = play(busy(), ev.VacateAsked(fast=True), ev.KillingTimeOver())
    assert slot.phase is P.PREEMPTING_KILLING
    assert effects[-1] == ev.KillStarterTree(7)


def test_what_does_not_end_is_killed_once_in_each_killing_timeout() -> None:
    slot, _ = play(busy(), ev.VacateAsked(fast=True))
    due = slot.entered_activity_at + 30
    assert killing_left(slot, 30, due) == 0
    slot, _ = play(slot, ev.KillingTimeOver())
    assert killing_left(slot, 30, due) == 30
    slot, _ = play(slot, ev.KillingTimeOver())
    assert killing_left(slot, 30, due) == 60


def test_backfill_makes_room_for_a_claim() -> None:
    idle, _ = play(Slot("slot1"), ev.OwnerLeft(), ev.StartBackfillBecameTrue())
    slot, effects = play(idle, ev.BackfillStarted(), ev.ClaimAccepted())
    assert slot.phase is P.BACKFILL_KILLING
    assert slot.backfill_goes_to is Destination.CLAIMED
    assert effects == [ev.StopBackfill()]
    assert play(slot, ev.BackfillExited())[0].phase is P.CLAIMED_IDLE


def test_an_event_of_an_older_activation_is_known_as_such() -> None:
    assert not is_current(busy(), ev.StarterExited(6))
    assert is_current(busy(), ev.StarterExited(7))


def test_an_impossible_event_tells_the_slots_story() -> None:
    with pytest.raises(ImpossibleTransition, match="OwnerLeft: Owner/Idle -> Unclaimed/Idle"):
        step(play(Slot("slot1"), ev.OwnerLeft())[0], ev.KillBecameTrue(), 5.0)


@pytest.mark.shows("B039")
def test_only_a_change_of_state_moves_the_state_timer() -> None:
    slot, _ = step(busy(), ev.PreemptBecameTrue(), 50.0)
    assert (slot.entered_state_at, slot.entered_activity_at) == (2.0, 50.0)
    assert "edge 13" in story(slot)


EVENTS = sorted(
    {
        row.on
        for row in TRANSITIONS
        if row.on not in {ev.ClaimActivated, ev.JobEnded, ev.StarterExited}
    },
    key=lambda kind: kind.__name__,
)


@given(
    st.lists(
        st.sampled_from([*EVENTS, ev.ClaimActivated, ev.JobEnded, ev.StarterExited]), max_size=60
    )
)
def test_no_sequence_of_events_breaks_the_invariants(kinds: list[type[ev.Event]]) -> None:
    slot = Slot("slot1")
    for now, kind in enumerate(kinds, start=1):
        if kind is ev.ClaimActivated:
            event: ev.Event = ev.ClaimActivated(now)
        elif kind in {ev.StarterExited, ev.JobEnded}:
            event = kind(slot.activation)
        else:
            event = kind()
        if find_row(slot, event) is None:
            continue
        was_claimed = slot.phase.state == "Claimed"
        slot, _ = advance(slot, event, float(now))
        check([slot])
        first = [s.target.state for s in slot.past if s.at == now]
        assert not was_claimed or first[0] in {"Claimed", "Preempting"}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (Phase.OWNER_IDLE, Phase.UNCLAIMED_IDLE, "state: Owner -> Unclaimed"),
        (Phase.CLAIMED_IDLE, Phase.CLAIMED_BUSY, "activity: Idle -> Busy"),
        (
            Phase.CLAIMED_BUSY,
            Phase.PREEMPTING_VACATING,
            "state and activity: Claimed/Busy -> Preempting/Vacating",
        ),
    ],
)
def test_the_log_names_what_changes(before: Phase, after: Phase, told: str) -> None:
    assert tell_change(before, after) == f"Changing {told}"
