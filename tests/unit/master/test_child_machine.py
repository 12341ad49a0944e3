"""The life of one daemon under its master, edge by edge and in random order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.master.child_machine import (
    TRANSITIONS,
    BecameReady,
    DaemonState,
    Effect,
    Event,
    Exited,
    How,
    Hung,
    Phase,
    RestartAsked,
    SetTimer,
    StartDaemon,
    Started,
    StartFailed,
    StopDaemon,
    Tell,
    TimeUp,
    TurnedOff,
    TurnedOn,
    check,
    step,
)
from kettle.policy.exit_codes import EXIT_NO_RESTART


def play(*events: tuple[float, Event]) -> tuple[DaemonState, list[Effect]]:
    """Apply events at their moments; return the state and what the last one asks for."""
    state, effects = DaemonState("SCHEDD"), []
    for now, event in events:
        state, effects = step(state, event, now)
        check(state)
    return state, effects


RUNNING = ((0.0, TurnedOn()), (0.1, Started(1, 42)))


def test_a_daemon_that_is_turned_on_is_started() -> None:
    state, effects = play((0.0, TurnedOn()))
    assert state.phase is Phase.STARTING
    assert effects == [StartDaemon("SCHEDD", 1)]


def test_a_daemon_that_runs_and_is_turned_on_goes_on_as_it_is() -> None:
    state, effects = play(*RUNNING, (1.0, TurnedOn()))
    assert (state.phase, effects) == (Phase.RUNNING, [])


def test_a_daemon_that_dies_starts_again_after_constant_plus_one() -> None:
    state, effects = play(*RUNNING, (5.0, Exited(1, -9)))
    assert state.phase is Phase.WAITING
    assert SetTimer("SCHEDD", state.timer, 15.0) in effects
    state, effects = step(state, TimeUp(state.timer), 15.0)
    assert effects == [StartDaemon("SCHEDD", 2)]


def test_what_a_daemon_without_a_log_ended_for_is_said_by_its_status() -> None:
    said = [
        effect.text
        for code in (1, 44)
        for effect in play(*RUNNING, (5.0, Exited(1, code)))[1]
        if isinstance(effect, Tell)
    ]
    assert said[0] == "The SCHEDD (pid 42) exited with status 1"
    assert "exited with status 44 (its configuration or its log file is not right" in said[2]


def test_each_quick_death_doubles_what_is_added_to_the_constant() -> None:
    state, effects = play(*RUNNING)
    delays = []
    now = 0.0
    for _ in range(4):
        state, effects = step(state, Exited(state.run, 1), now)
        delays.append(next(e.at for e in effects if isinstance(e, SetTimer)) - now)
        now += delays[-1]
        state, _ = step(state, TimeUp(state.timer), now)
        state, _ = step(state, Started(state.run, 43), now)
    assert delays == [10.0, 11.0, 13.0, 17.0]


def test_a_daemon_that_ran_long_enough_has_a_clean_sheet() -> None:
    state, _ = play(*RUNNING, (1.0, Exited(1, 1)))
    state, _ = step(state, TimeUp(state.timer), 11.0)
    state, _ = step(state, Started(2, 43), 11.0)
    state, effects = step(state, Exited(2, 1), 311.0)
    assert any(isinstance(effect, SetTimer) and effect.at == 321.0 for effect in effects)


def test_a_daemon_may_ask_not_to_be_started_again() -> None:
    state, effects = play(*RUNNING, (5.0, Exited(1, EXIT_NO_RESTART)))
    assert state.phase is Phase.OFF
    assert effects == [
        Tell("The SCHEDD (pid 42) exited with status 99 (daemon will not restart automatically)")
    ]
    state, effects = step(state, TurnedOn(), 9.0)
    assert effects == [StartDaemon("SCHEDD", 2)]


def test_a_graceful_stop_becomes_fast_and_then_a_kill() -> None:
    state, effects = play(*RUNNING, (10.0, TurnedOff(How.GRACEFUL)))
    seen = [(10.0, effects)]
    for _ in range(2):
        timer = next(effect for effect in effects if isinstance(effect, SetTimer))
        state, effects = step(state, TimeUp(timer.timer), timer.at)
        seen.append((timer.at, effects))
    stops = [
        (now, effect.how) for now, each in seen for effect in each if isinstance(effect, StopDaemon)
    ]
    assert stops == [(10.0, How.GRACEFUL), (1810.0, How.FAST), (2110.0, How.KILL)]


def test_a_peaceful_stop_has_no_deadline() -> None:
    _, effects = play(*RUNNING, (10.0, TurnedOff(How.PEACEFUL)))
    assert effects == [StopDaemon("SCHEDD", 42, How.PEACEFUL)]


def test_a_faster_stop_overrules_a_slower_one_and_not_the_other_way_round() -> None:
    state, effects = play(*RUNNING, (1.0, TurnedOff(How.GRACEFUL)), (2.0, TurnedOff(How.FAST)))
    assert effects[0] == StopDaemon("SCHEDD", 42, How.FAST)
    state, effects = step(state, TurnedOff(How.GRACEFUL), 3.0)
    assert effects == []
    assert state.how is How.FAST


def test_a_restart_starts_once_the_old_process_has_ended() -> None:
    state, effects = play(*RUNNING, (1.0, RestartAsked()), (2.0, Exited(1, 0)))
    assert state.phase is Phase.STARTING
    assert effects[-1] == StartDaemon("SCHEDD", 2)


def test_a_faster_restart_overrules_a_slower_stop_and_starts_again_afterwards() -> None:
    state, effects = play(*RUNNING, (1.0, TurnedOff(How.PEACEFUL)), (2.0, RestartAsked(How.FAST)))
    assert effects[0] == StopDaemon("SCHEDD", 42, How.FAST)
    state, effects = step(state, Exited(1, 0), 3.0)
    assert effects[-1] == StartDaemon("SCHEDD", 2)


def test_turning_on_a_daemon_that_is_stopping_starts_it_afterwards() -> None:
    state, _ = play(*RUNNING, (1.0, TurnedOff()), (2.0, TurnedOn()), (3.0, Exited(1, 0)))
    assert state.phase is Phase.STARTING


def test_a_stop_during_the_start_is_carried_out_as_soon_as_there_is_a_process() -> None:
    state, effects = play((0.0, TurnedOn()), (0.1, TurnedOff(How.FAST)), (0.2, Started(1, 42)))
    assert state.phase is Phase.STOPPING
    assert StopDaemon("SCHEDD", 42, How.FAST) in effects


def test_a_process_that_cannot_be_made_is_tried_again_later() -> None:
    state, effects = play((0.0, TurnedOn()), (0.0, StartFailed(1, "no memory")))
    assert state.phase is Phase.WAITING
    assert any(isinstance(effect, SetTimer) for effect in effects)


def test_turning_on_does_not_wait_for_the_backoff() -> None:
    state, _ = play(*RUNNING, (1.0, Exited(1, 1)), (2.0, TurnedOn()))
    assert state.phase is Phase.STARTING


def test_a_hung_daemon_is_killed() -> None:
    state, effects = play(*RUNNING, (1.0, Hung(1)))
    assert StopDaemon("SCHEDD", 42, How.KILL) in effects
    assert state.phase is Phase.RUNNING


@pytest.mark.parametrize(
    "late", [Exited(1, 0), Started(1, 7), TimeUp(1), BecameReady(42), Hung(1), StartFailed(1, "")]
)
def test_news_of_an_earlier_run_changes_nothing(late: Event) -> None:
    state, _ = play(*RUNNING, (1.0, RestartAsked()), (2.0, Exited(1, 0)), (2.1, Started(2, 50)))
    assert step(state, late, 3.0) == (state, [])


def test_ready_is_remembered_until_the_process_ends() -> None:
    state, _ = play(*RUNNING, (1.0, BecameReady(42)))
    assert state.ready
    state, _ = step(state, Exited(1, 0), 2.0)
    assert not state.ready


def test_every_edge_is_numbered_once_in_order() -> None:
    assert [row.edge for row in TRANSITIONS] == list(range(1, len(TRANSITIONS) + 1))


STARTING = ((0.0, TurnedOn()),)
WAITING = (*RUNNING, (1.0, Exited(1, 1)))
STOPPING = (*RUNNING, (1.0, TurnedOff()))


@pytest.mark.parametrize(
    ("events", "phase", "again"),
    [
        (((0.0, RestartAsked()),), Phase.STARTING, False),
        ((*WAITING, (2.0, RestartAsked())), Phase.STARTING, False),
        ((*WAITING, (2.0, TurnedOff())), Phase.OFF, False),
        ((*STARTING, (0.1, RestartAsked())), Phase.STARTING, True),
        ((*STARTING, (0.1, TurnedOff()), (0.2, TurnedOn())), Phase.STARTING, False),
        ((*STARTING, (0.1, TurnedOff()), (0.2, StartFailed(1, "full"))), Phase.OFF, False),
        ((*STARTING, (0.1, RestartAsked()), (0.2, StartFailed(1, "full"))), Phase.WAITING, None),
        ((*STOPPING, (2.0, BecameReady(42))), Phase.STOPPING, False),
        ((*STOPPING, (2.0, Hung(1))), Phase.STOPPING, None),
        ((*STOPPING, (2.0, RestartAsked())), Phase.STOPPING, None),
    ],
)
def test_wishes_that_come_while_another_is_carried_out(
    events: tuple[tuple[float, Event], ...], phase: Phase, again: bool | None
) -> None:
    """`again` is whether it starts after its stop; None where that is another test's."""
    state, _ = play(*events)
    assert state.phase is phase
    assert again is None or state.start_again is again


@given(st.data())
def test_no_order_of_events_breaks_the_machine_or_leaves_a_process_unwatched(
    data: st.DataObject,
) -> None:
    state = DaemonState("SCHEDD")
    living: dict[int, int] = {}
    timers: list[int] = []
    now, pids = 0.0, 100
    for _ in range(data.draw(st.integers(1, 40))):
        choices: list[Event] = [TurnedOn(), TurnedOff(), TurnedOff(How.FAST), RestartAsked()]
        choices += [Exited(run, code) for run in living for code in (0, -9, EXIT_NO_RESTART)]
        choices += [BecameReady(pid) for pid in living.values()] + [Hung(run) for run in living]
        choices += [TimeUp(timer) for timer in timers]
        if state.phase is Phase.STARTING:
            choices += [Started(state.run, pids), StartFailed(state.run, "no")]
        event = data.draw(st.sampled_from(choices))
        now += 1.0
        if isinstance(event, Started):
            living[event.run], pids = event.pid, pids + 1
        if isinstance(event, Exited):
            del living[event.run]
        state, effects = step(state, event, now)
        check(state)
        assert set(living.values()) == ({state.pid} if state.pid else set())
        timers += [effect.timer for effect in effects if isinstance(effect, SetTimer)]
