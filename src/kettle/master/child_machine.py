"""The life of one daemon under its master: started, watched, stopped, started again.

A table and its step function; forking, signalling and waiting are performed by `service.py`, and
how long to wait is decided in `backoff.py`. Every daemon of DAEMON_LIST has one `DaemonState`.
Events about an earlier process or an earlier timer of the same daemon are dropped here, before
the table sees them: they carry the number of the run they belong to (R076, R044).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum, auto

from kettle.errors import ImpossibleTransition
from kettle.master.backoff import Backoff
from kettle.policy.exit_codes import EXIT_BAD_CONFIGURATION, EXIT_NO_RESTART

# What a daemon says by its exit status: one that may have no log to tell it in, and one that asks
# for rest, in the words that programs look for.
_REASONS = {
    EXIT_BAD_CONFIGURATION: (
        "its configuration or its log file is not right, as it says on its standard error"
    ),
    EXIT_NO_RESTART: "daemon will not restart automatically",
}


class Phase(Enum):
    """Where a daemon stands."""

    OFF = auto()
    WAITING = auto()
    STARTING = auto()
    RUNNING = auto()
    STOPPING = auto()


class How(IntEnum):
    """How a daemon is stopped; a larger one is faster and overrules a smaller one."""

    PEACEFUL = 0
    GRACEFUL = 1
    FAST = 2
    KILL = 3


@dataclass(frozen=True, slots=True)
class StopTimes:
    """Seconds until a stop is hurried: SHUTDOWN_GRACEFUL_TIMEOUT and SHUTDOWN_FAST_TIMEOUT."""

    graceful: float = 1800.0
    fast: float = 300.0


@dataclass(frozen=True, slots=True)
class DaemonState:
    """One daemon. `run` counts its processes, `timer` its timers; both only grow.

    `failures` is the number of starts since it last ran long enough. `how` is how it is being
    stopped, or will be once it is there; `start_again` whether it starts after the stop.
    """

    name: str
    backoff: Backoff = field(default_factory=Backoff)
    stop_times: StopTimes = field(default_factory=StopTimes)
    phase: Phase = Phase.OFF
    run: int = 0
    timer: int = 0
    pid: int = 0
    started_at: float = 0.0
    failures: int = 0
    ready: bool = False
    how: How | None = None
    start_again: bool = False
    last_status: int | None = None
    story: tuple[str, ...] = ()


# Events: what happened.


@dataclass(frozen=True, slots=True)
class TurnedOn:
    """Somebody wants the daemon to run."""


@dataclass(frozen=True, slots=True)
class TurnedOff:
    """Somebody wants the daemon to stop and stay off."""

    how: How = How.GRACEFUL


@dataclass(frozen=True, slots=True)
class RestartAsked:
    """Somebody wants the daemon to stop and start again."""

    how: How = How.GRACEFUL


@dataclass(frozen=True, slots=True)
class Started:
    """Its process exists."""

    run: int
    pid: int


@dataclass(frozen=True, slots=True)
class StartFailed:
    """Its process could not be made."""

    run: int
    reason: str


@dataclass(frozen=True, slots=True)
class Exited:
    """Its process has ended; `code` is the exit code, negative the signal that killed it."""

    run: int
    code: int


@dataclass(frozen=True, slots=True)
class BecameReady:
    """It says that it serves requests."""

    pid: int


@dataclass(frozen=True, slots=True)
class Hung:
    """It has not said that it is alive for NOT_RESPONDING_TIMEOUT."""

    run: int


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The timer that an earlier effect set has run out."""

    timer: int


Event = (
    TurnedOn
    | TurnedOff
    | RestartAsked
    | Started
    | StartFailed
    | Exited
    | BecameReady
    | Hung
    | TimeUp
)

# Effects: what the service shall do.


@dataclass(frozen=True, slots=True)
class StartDaemon:
    """Make its process and report Started or StartFailed with this run."""

    name: str
    run: int


@dataclass(frozen=True, slots=True)
class StopDaemon:
    """Tell the process to stop: a word for PEACEFUL, SIGTERM, SIGQUIT, SIGKILL to its group."""

    name: str
    pid: int
    how: How


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Deliver TimeUp(timer) at this moment."""

    name: str
    timer: int
    at: float


@dataclass(frozen=True, slots=True)
class Tell:
    """Write a line to the log."""

    text: str


Effect = StartDaemon | StopDaemon | SetTimer | Tell
Outcome = tuple[DaemonState, list[Effect]]


# Guards.


def _always(state: DaemonState, event: Event) -> bool:
    del state, event
    return True


def _asks_for_rest(state: DaemonState, event: Event) -> bool:
    del state
    return isinstance(event, Exited) and event.code == EXIT_NO_RESTART


def _stop_wanted(state: DaemonState, event: Event) -> bool:
    del event
    return state.how is not None


def _again_wanted(state: DaemonState, event: Event) -> bool:
    del event
    return state.start_again


def _is_faster(state: DaemonState, event: Event) -> bool:
    return isinstance(event, TurnedOff | RestartAsked) and event.how > (state.how or How.PEACEFUL)


# Actions: the target phase is entered before they run.


def _nothing(state: DaemonState, event: Event, now: float) -> Outcome:
    del event, now
    return state, []


def _give_up(state: DaemonState, event: Event, now: float) -> Outcome:
    del event, now
    return replace(state, timer=state.timer + 1, how=None, start_again=False), []


def _start(state: DaemonState, event: Event, now: float) -> Outcome:
    """Begin a new run; what an earlier run left behind is forgotten."""
    del event, now
    state = replace(
        state,
        run=state.run + 1,
        timer=state.timer + 1,
        pid=0,
        ready=False,
        how=None,
        start_again=False,
    )
    return state, [StartDaemon(state.name, state.run)]


def _started(state: DaemonState, event: Event, now: float) -> Outcome:
    assert isinstance(event, Started)
    state = replace(state, pid=event.pid, started_at=now)
    return state, [Tell(f'Started DaemonCore process "{state.name}", pid {event.pid}')]


def _started_too_late(state: DaemonState, event: Event, now: float) -> Outcome:
    how = state.how
    assert how is not None
    state, effects = _started(state, event, now)
    state, more = _ask_to_stop(state, how, now)
    return state, effects + more


def _remember_stop(state: DaemonState, event: Event, now: float) -> Outcome:
    del now
    assert isinstance(event, TurnedOff | RestartAsked)
    how = event.how if state.how is None else How(max(state.how, event.how))
    return replace(state, how=how, start_again=isinstance(event, RestartAsked)), []


def _forget_stop(state: DaemonState, event: Event, now: float) -> Outcome:
    del event, now
    return replace(state, how=None, start_again=False), []


def _stop(state: DaemonState, event: Event, now: float) -> Outcome:
    assert isinstance(event, TurnedOff | RestartAsked)
    state = replace(state, start_again=isinstance(event, RestartAsked))
    return _ask_to_stop(state, event.how, now)


def _ask_to_stop(state: DaemonState, how: How, now: float) -> Outcome:
    """Ask, and set the time after which asking becomes ordering."""
    state = replace(state, how=how, timer=state.timer + 1, ready=False)
    effects: list[Effect] = [StopDaemon(state.name, state.pid, how)]
    if how is How.GRACEFUL:
        effects.append(SetTimer(state.name, state.timer, now + state.stop_times.graceful))
    elif how is How.FAST:
        effects.append(SetTimer(state.name, state.timer, now + state.stop_times.fast))
    return state, effects


def _hurry(state: DaemonState, event: Event, now: float) -> Outcome:
    del event
    state, effects = _ask_to_stop(state, How.FAST if state.how is How.GRACEFUL else How.KILL, now)
    return state, [Tell(f"{state.name} (pid {state.pid}) did not stop in time"), *effects]


def _kill_hung(state: DaemonState, event: Event, now: float) -> Outcome:
    del event, now
    line = f"ERROR: Child pid {state.pid} appears hung! Killing it hard."
    return state, [Tell(line), StopDaemon(state.name, state.pid, How.KILL)]


def _want_again(state: DaemonState, event: Event, now: float) -> Outcome:
    del event, now
    return replace(state, start_again=True), []


def _want_not_again(state: DaemonState, event: Event, now: float) -> Outcome:
    del now
    return replace(state, start_again=isinstance(event, RestartAsked)), []


def _set_ready(state: DaemonState, event: Event, now: float) -> Outcome:
    del event, now
    return replace(state, ready=True), []


def _ended(state: DaemonState, event: Event, now: float) -> Outcome:
    del now
    assert isinstance(event, Exited)
    line = f"The {state.name} (pid {state.pid}) {describe_exit(event.code)}"
    state = replace(
        state, pid=0, ready=False, how=None, last_status=event.code, timer=state.timer + 1
    )
    return state, [Tell(line)]


def _ended_and_start(state: DaemonState, event: Event, now: float) -> Outcome:
    state, effects = _ended(state, event, now)
    state, more = _start(state, event, now)
    return state, effects + more


def _back_off(state: DaemonState, event: Event, now: float) -> Outcome:
    """Count the failure and wait longer after each, unless it ran for long."""
    effects: list[Effect] = []
    if isinstance(event, Exited):
        long_enough = now - state.started_at >= state.backoff.recover_seconds
        state = replace(state, failures=0 if long_enough else state.failures)
        state, effects = _ended(state, event, now)
    elif isinstance(event, StartFailed):
        effects = [Tell(f"ERROR: cannot start {state.name}: {event.reason}")]
    delay = state.backoff.delay(state.failures)
    state = replace(
        state, failures=state.failures + 1, timer=state.timer + 1, how=None, start_again=False
    )
    effects.append(Tell(f"restarting {state.name} in {delay:g} seconds"))
    effects.append(SetTimer(state.name, state.timer, now + delay))
    return state, effects


@dataclass(frozen=True, slots=True)
class Row:
    """One edge of the machine."""

    edge: int
    source: Phase
    event: type
    when: Callable[[DaemonState, Event], bool]
    target: Phase
    do: Callable[[DaemonState, Event, float], Outcome]


P = Phase
# fmt: off
TRANSITIONS = (
    #   edge from       on            when            to          do
    Row(1,  P.OFF,      TurnedOn,     _always,        P.STARTING, _start),
    Row(2,  P.OFF,      TurnedOff,    _always,        P.OFF,      _nothing),
    Row(3,  P.OFF,      RestartAsked, _always,        P.STARTING, _start),
    Row(4,  P.WAITING,  TurnedOn,     _always,        P.STARTING, _start),
    Row(5,  P.WAITING,  TurnedOff,    _always,        P.OFF,      _give_up),
    Row(6,  P.WAITING,  RestartAsked, _always,        P.STARTING, _start),
    Row(7,  P.WAITING,  TimeUp,       _always,        P.STARTING, _start),
    Row(8,  P.STARTING, Started,      _stop_wanted,   P.STOPPING, _started_too_late),
    Row(9,  P.STARTING, Started,      _always,        P.RUNNING,  _started),
    Row(10, P.STARTING, StartFailed,  _again_wanted,  P.WAITING,  _back_off),
    Row(11, P.STARTING, StartFailed,  _stop_wanted,   P.OFF,      _give_up),
    Row(12, P.STARTING, StartFailed,  _always,        P.WAITING,  _back_off),
    Row(13, P.STARTING, TurnedOff,    _always,        P.STARTING, _remember_stop),
    Row(14, P.STARTING, RestartAsked, _always,        P.STARTING, _remember_stop),
    Row(15, P.STARTING, TurnedOn,     _always,        P.STARTING, _forget_stop),
    Row(16, P.RUNNING,  TurnedOn,     _always,        P.RUNNING,  _nothing),
    Row(17, P.RUNNING,  TurnedOff,    _always,        P.STOPPING, _stop),
    Row(18, P.RUNNING,  RestartAsked, _always,        P.STOPPING, _stop),
    Row(19, P.RUNNING,  BecameReady,  _always,        P.RUNNING,  _set_ready),
    Row(20, P.RUNNING,  Hung,         _always,        P.RUNNING,  _kill_hung),
    Row(21, P.RUNNING,  Exited,       _asks_for_rest, P.OFF,      _ended),
    Row(22, P.RUNNING,  Exited,       _always,        P.WAITING,  _back_off),
    Row(23, P.STOPPING, Exited,       _again_wanted,  P.STARTING, _ended_and_start),
    Row(24, P.STOPPING, Exited,       _always,        P.OFF,      _ended),
    Row(25, P.STOPPING, TimeUp,       _always,        P.STOPPING, _hurry),
    Row(26, P.STOPPING, TurnedOff,    _is_faster,     P.STOPPING, _stop),
    Row(27, P.STOPPING, RestartAsked, _is_faster,     P.STOPPING, _stop),
    Row(28, P.STOPPING, TurnedOff,    _always,        P.STOPPING, _want_not_again),
    Row(29, P.STOPPING, RestartAsked, _always,        P.STOPPING, _want_not_again),
    Row(30, P.STOPPING, TurnedOn,     _always,        P.STOPPING, _want_again),
    Row(31, P.STOPPING, Hung,         _always,        P.STOPPING, _kill_hung),
    Row(32, P.STOPPING, BecameReady,  _always,        P.STOPPING, _nothing),
)
# fmt: on

_STORY_LENGTH = 20


def step(state: DaemonState, event: Event, now: float) -> Outcome:
    """Apply one event; the first row whose guard holds wins, a late event changes nothing."""
    if _is_late(state, event):
        return state, []
    for row in TRANSITIONS:
        if row.source is state.phase and row.event is type(event) and row.when(state, event):
            line = f"{now:.3f} edge {row.edge}: {type(event).__name__} → {row.target.name}"
            state = replace(
                state, phase=row.target, story=(*state.story[1 - _STORY_LENGTH :], line)
            )
            return row.do(state, event, now)
    story = "; ".join(state.story)
    raise ImpossibleTransition(f"{state.name}: {event} in {state.phase.name} after: {story}")


def _is_late(state: DaemonState, event: Event) -> bool:
    """Tell whether the event belongs to an earlier process or timer of this daemon."""
    if isinstance(event, Hung):
        return event.run != state.run or not state.pid
    if isinstance(event, Started | StartFailed | Exited):
        return event.run != state.run
    if isinstance(event, TimeUp):
        return event.timer != state.timer
    return isinstance(event, BecameReady) and event.pid != state.pid


def describe_exit(code: int) -> str:
    """Say in words how a process ended."""
    if code < 0:
        return f"died due to signal {-code}"
    reason = _REASONS.get(code)
    return f"exited with status {code}" + (f" ({reason})" if reason else "")


def check(state: DaemonState) -> None:
    """Hold the invariants: for tests, after every step."""
    alive = state.phase in {Phase.RUNNING, Phase.STOPPING}
    assert (state.pid != 0) == alive, f"{state.name}: pid {state.pid} in {state.phase.name}"
    assert not state.ready or state.phase is Phase.RUNNING
    assert state.how is None or state.phase in {Phase.STOPPING, Phase.STARTING}
