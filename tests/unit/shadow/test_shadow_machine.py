"""One shadow's life, row by row and as whole stories."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.errors import ImpossibleTransition
from kettle.shadow import shadow_machine
from kettle.shadow.shadow_machine import (
    CHANGES_NOTHING,
    FOUND_OUT_IN,
    TRANSITIONS,
    Effect,
    Event,
    Phase,
    Row,
    Shadow,
    begin,
    step,
)


def live(*events: Event, start: Shadow | None = None) -> tuple[Shadow, list[Effect]]:
    shadow = start or Shadow()
    effects: list[Effect] = []
    for event in events:
        shadow, more = step(shadow, event)
        effects += more
    return shadow, effects


def test_an_ordinary_job_is_activated_executed_and_reported() -> None:
    shadow, effects = live(Event.ACCEPTED, Event.EXECUTING, Event.EXITED, Event.CLAIM_TOLD)
    assert shadow.phase is Phase.DONE
    assert effects == [Effect.LOG_EXECUTE]


def test_a_refused_activation_is_reported_at_once() -> None:
    shadow, effects = live(Event.REFUSED)
    assert (shadow.phase, effects) == (Phase.DONE, [])


def test_a_job_that_is_wanted_gone_before_its_start_is_started_and_asked_to_leave() -> None:
    shadow, effects = live(Event.ASKED, Event.ACCEPTED)
    assert shadow.phase is Phase.LEAVING
    assert effects == [Effect.ASK_TO_LEAVE]


def test_suspension_is_logged_and_undone() -> None:
    shadow, effects = live(
        Event.ACCEPTED, Event.EXECUTING, Event.SUSPENDED, Event.CONTINUED, Event.EXITED
    )
    assert shadow.phase is Phase.CLOSING
    assert effects[1:] == [Effect.LOG_SUSPENDED, Effect.LOG_CONTINUED]


def test_a_lost_starter_is_looked_for_and_found() -> None:
    shadow, effects = live(Event.ACCEPTED, Event.EXECUTING, Event.CONNECTION_LOST, Event.FOUND)
    assert shadow.phase is Phase.RUNNING
    assert effects[1:] == [Effect.LOG_DISCONNECTED, Effect.LOG_RECONNECTED]


@pytest.mark.parametrize("end", [Event.GONE, Event.LEASE_OVER])
def test_a_starter_that_is_not_found_sends_the_job_back(end: Event) -> None:
    shadow, effects = live(Event.ACCEPTED, Event.EXECUTING, Event.CONNECTION_LOST, end)
    assert shadow.phase is Phase.DONE
    assert effects[-1] is Effect.LOG_RECONNECT_FAILED


def test_a_wish_while_the_starter_is_lost_is_carried_out_when_it_is_found() -> None:
    shadow, effects = live(
        Event.ACCEPTED, Event.EXECUTING, Event.CONNECTION_LOST, Event.ASKED, Event.FOUND
    )
    assert shadow.phase is Phase.LEAVING
    assert effects.count(Effect.ASK_TO_LEAVE) == 2


@pytest.mark.parametrize("end", [Event.EXITED, Event.CONNECTION_LOST, Event.OVERDUE])
def test_a_leaving_job_is_gone_when_its_starter_reports_breaks_or_hangs(end: Event) -> None:
    shadow, _ = live(Event.ACCEPTED, Event.EXECUTING, Event.ASKED, end)
    assert shadow.phase is Phase.CLOSING


def test_a_shadow_for_a_running_job_begins_by_looking_for_it() -> None:
    shadow, effects = begin(reconnect=True, executed=True)
    assert shadow.phase is Phase.LOST
    assert shadow.executed
    assert effects[-1] is Effect.LOG_DISCONNECTED
    assert live(Event.FOUND, start=shadow)[0].phase is Phase.RUNNING


def test_a_start_is_told_once_however_often_the_starter_says_that_it_begins() -> None:
    _, effects = live(Event.ACCEPTED, Event.ASKED, Event.EXECUTING, Event.EXECUTING)
    assert effects.count(Effect.LOG_EXECUTE) == 1
    taken_over, _ = begin(reconnect=True)
    _, effects = live(Event.FOUND, Event.EXECUTING, Event.EXECUTING, start=taken_over)
    assert effects.count(Effect.LOG_EXECUTE) == 1


def reaching(row: Row) -> Shadow:
    """A shadow for which exactly this row is the first that fits."""
    for asked in (False, True):
        for executed in (False, True):
            shadow = Shadow(row.source, executed=executed, asked=asked)
            _, effects = step(shadow, row.event)
            if effects == row.effects and step(shadow, row.event)[0].phase is row.target:
                return shadow
    raise AssertionError(f"no shadow reaches {row}")


@pytest.mark.parametrize("row", TRANSITIONS, ids=[f"{r.source.name}-{r.event.name}-{i}" for i, r in enumerate(TRANSITIONS)])  # fmt: skip  # noqa: E501
def test_every_row_can_be_reached(row: Row) -> None:
    shadow = reaching(row)
    assert step(shadow, row.event)[0].phase is row.target


def test_what_others_say_too_late_changes_nothing() -> None:
    closing, _ = live(Event.ACCEPTED, Event.EXECUTING, Event.ASKED, Event.OVERDUE)
    for late in (Event.ASKED, Event.OVERDUE, Event.SUSPENDED, Event.CONNECTION_LOST):
        assert step(closing, late) == (closing, ())


def test_each_event_in_each_phase_is_a_row_or_news_that_changes_nothing_or_impossible() -> None:
    rows = {(row.source, row.event) for row in TRANSITIONS}
    passed = {(phase, event) for event, phases in CHANGES_NOTHING.items() for phase in phases}
    ours = {(phase, event) for event in FOUND_OUT_IN for phase in Phase}
    assert not rows & passed
    assert rows | passed | ours == {(phase, event) for phase in Phase for event in Event}


def test_a_claim_that_cannot_be_told_is_looked_for() -> None:
    shadow, effects = live(
        Event.ACCEPTED, Event.EXECUTING, Event.ASKED, Event.CONNECTION_LOST, Event.CLAIM_SILENT
    )
    assert shadow.phase is Phase.LOST
    assert effects[-1] is Effect.LOG_DISCONNECTED
    assert step(shadow, Event.FOUND)[0].phase is Phase.LEAVING
    assert step(shadow, Event.GONE) == (shadow._replace(phase=Phase.DONE), ())


def test_a_row_that_somebody_forgot_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = dict(shadow_machine._BY_SOURCE)
    del rows[Phase.RUNNING, Event.EXITED]
    monkeypatch.setattr(shadow_machine, "_BY_SOURCE", rows)
    with pytest.raises(ImpossibleTransition):
        step(Shadow(Phase.RUNNING), Event.EXITED)


@pytest.mark.parametrize("event", FOUND_OUT_IN)
@pytest.mark.parametrize("phase", Phase)
def test_what_a_shadow_cannot_have_found_out_is_a_bug(phase: Phase, event: Event) -> None:
    if phase is FOUND_OUT_IN[event]:
        assert step(Shadow(phase), event)[0].phase is not phase
        return
    with pytest.raises(ImpossibleTransition, match=phase.value):
        step(Shadow(phase), event)


def test_a_failure_while_the_starter_is_lost_has_the_job_leave_when_it_is_found() -> None:
    shadow, _ = live(
        Event.ACCEPTED, Event.EXECUTING, Event.CONNECTION_LOST, Event.FAILED, Event.FOUND
    )
    assert shadow.phase is Phase.LEAVING


def possible(shadow: Shadow, events: Iterable[Event]) -> Shadow:
    """Apply those of the events that can happen to the shadow as it then is."""
    for event in events:
        if FOUND_OUT_IN.get(event, shadow.phase) is shadow.phase:
            was_done = shadow.phase is Phase.DONE
            shadow, effects = step(shadow, event)
            assert not was_done or (shadow.phase is Phase.DONE and effects == ())
    return shadow


@given(st.lists(st.sampled_from(list(Event)), max_size=40))
def test_from_everywhere_there_is_a_way_to_the_end_and_none_from_there(events: list[Event]) -> None:
    shadow = possible(Shadow(), events)
    finish = (Event.REFUSED, Event.ASKED, Event.OVERDUE, Event.LEASE_OVER, Event.CLAIM_TOLD)
    assert possible(shadow, finish).phase is Phase.DONE
