"""One shadow's life, from the activation of its claim to its report to the schedd, as a table.

Decides what happens next; sockets, timers and logs are `services/shadow.py`'s, and how the run is
to be judged once it is over `endings.py`'s. An event that a phase does not know is late news and
changes nothing: a lease that runs out after the job has ended, a vacate request for a job that is
leaving anyway. Sources: wire reference §5, seed 004, R082.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Phase(Enum):
    """Where a shadow is."""

    ACTIVATING = "activating"  # asking the startd to start the job
    STARTING = "starting"  # the starter prepares the sandbox, input files travel
    RUNNING = "running"
    SUSPENDED = "suspended"
    LEAVING = "leaving"  # somebody wants the job gone; the starter is being asked to end it
    LOST = "lost"  # the starter does not answer; being looked for until the lease ends
    CLOSING = "closing"  # the job's end is known; the claim is being told
    DONE = "done"


class Event(Enum):
    """What happens to a shadow."""

    ACCEPTED = "the startd started a starter"
    REFUSED = "the startd did not"
    EXECUTING = "the job's program runs"
    SUSPENDED = "the starter says that the job is suspended"
    CONTINUED = "the starter says that the job goes on"
    EXITED = "the starter reported the job's exit"
    FAILED = "the starter reported an error that ends the run"
    ASKED = "schedd, user or policy wants the job to leave"
    CONNECTION_LOST = "the starter's connection broke"
    FOUND = "the starter was found again"
    GONE = "the startd says that there is no such job"
    LEASE_OVER = "the job's lease ran out"
    OVERDUE = "the starter did not end the job in time"
    CLAIM_TOLD = "the claim knows that the activation is over"


class Effect(Enum):
    """What the shell does."""

    TAKE_CALLS = "serve the starter's calls"
    LOG_EXECUTE = "write event 001"
    LOG_SUSPENDED = "write event 010"
    LOG_CONTINUED = "write event 011"
    ASK_TO_LEAVE = "deactivate the claim, gently or at once as the request says"
    FORCE_TO_LEAVE = "deactivate the claim at once"
    LOG_DISCONNECTED = "write event 022"
    LOOK_FOR_STARTER = "locate the starter and reconnect"
    LOG_RECONNECTED = "write event 023"
    LOG_RECONNECT_FAILED = "write event 024"
    TELL_CLAIM = "tell the startd that the job is done"
    REPORT = "judge the run, write its last event, tell the schedd"


class Shadow(NamedTuple):
    """What the table looks at: the phase, and a few facts of the run."""

    phase: Phase = Phase.ACTIVATING
    # Whether the program was ever started: before that there is nothing to find again.
    executed: bool = False
    # Whether somebody asked for the end; the reason itself is kept by the shell.
    asked: bool = False
    # Whether the starter reported the end itself; then the claim may take another job.
    exit_known: bool = False
    # Whether the schedd is being closed down: leave jobs as they are, they will be found again.
    reconnecting: bool = False


Guard = Callable[[Shadow], bool]


def _always(_: Shadow) -> bool:
    return True


def _executed(shadow: Shadow) -> bool:
    return shadow.executed


def _first(shadow: Shadow) -> bool:
    return not shadow.executed


def _asked(shadow: Shadow) -> bool:
    return shadow.asked


@dataclass(frozen=True, slots=True)
class Row:
    """In `source`, on `event`, if `when`: go to `target` and do `effects`."""

    source: Phase
    event: Event
    when: Guard
    target: Phase
    effects: tuple[Effect, ...] = ()


P, V, F = Phase, Event, Effect
# fmt: off
TRANSITIONS: tuple[Row, ...] = (
    Row(P.ACTIVATING, V.ACCEPTED, _asked, P.LEAVING, (F.ASK_TO_LEAVE, F.TAKE_CALLS)),
    Row(P.ACTIVATING, V.ACCEPTED, _always, P.STARTING, (F.TAKE_CALLS,)),
    Row(P.ACTIVATING, V.REFUSED, _always, P.DONE, (F.REPORT,)),
    Row(P.ACTIVATING, V.ASKED, _always, P.ACTIVATING),
    Row(P.ACTIVATING, V.CONNECTION_LOST, _always, P.DONE, (F.REPORT,)),

    Row(P.STARTING, V.EXECUTING, _always, P.RUNNING, (F.LOG_EXECUTE,)),
    Row(P.STARTING, V.EXITED, _always, P.CLOSING, (F.TELL_CLAIM,)),
    Row(P.STARTING, V.FAILED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.STARTING, V.ASKED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.STARTING, V.CONNECTION_LOST, _always, P.LOST, (F.LOG_DISCONNECTED, F.LOOK_FOR_STARTER)),

    Row(P.RUNNING, V.SUSPENDED, _always, P.SUSPENDED, (F.LOG_SUSPENDED,)),
    Row(P.RUNNING, V.EXITED, _always, P.CLOSING, (F.TELL_CLAIM,)),
    Row(P.RUNNING, V.FAILED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.RUNNING, V.ASKED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.RUNNING, V.CONNECTION_LOST, _always, P.LOST, (F.LOG_DISCONNECTED, F.LOOK_FOR_STARTER)),

    Row(P.SUSPENDED, V.CONTINUED, _always, P.RUNNING, (F.LOG_CONTINUED,)),
    Row(P.SUSPENDED, V.EXITED, _always, P.CLOSING, (F.TELL_CLAIM,)),
    Row(P.SUSPENDED, V.FAILED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.SUSPENDED, V.ASKED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.SUSPENDED, V.CONNECTION_LOST, _always, P.LOST,
        (F.LOG_DISCONNECTED, F.LOOK_FOR_STARTER)),

    # A starter that was asked to go may report, break the connection or hang; all end it.
    Row(P.LEAVING, V.EXITED, _always, P.CLOSING, (F.TELL_CLAIM,)),
    Row(P.LEAVING, V.ASKED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    # A starter that asks twice begins once.
    Row(P.LEAVING, V.EXECUTING, _first, P.LEAVING, (F.LOG_EXECUTE,)),
    Row(P.LEAVING, V.CONNECTION_LOST, _always, P.CLOSING, (F.FORCE_TO_LEAVE,)),
    Row(P.LEAVING, V.OVERDUE, _always, P.CLOSING, (F.FORCE_TO_LEAVE,)),

    Row(P.LOST, V.FOUND, _asked, P.LEAVING, (F.LOG_RECONNECTED, F.ASK_TO_LEAVE, F.TAKE_CALLS)),
    Row(P.LOST, V.FOUND, _executed, P.RUNNING, (F.LOG_RECONNECTED, F.TAKE_CALLS)),
    Row(P.LOST, V.FOUND, _always, P.STARTING, (F.LOG_RECONNECTED, F.TAKE_CALLS)),
    Row(P.LOST, V.GONE, _asked, P.DONE, (F.REPORT,)),
    Row(P.LOST, V.GONE, _always, P.DONE, (F.LOG_RECONNECT_FAILED, F.REPORT)),
    Row(P.LOST, V.LEASE_OVER, _asked, P.DONE, (F.REPORT,)),
    Row(P.LOST, V.LEASE_OVER, _always, P.DONE, (F.LOG_RECONNECT_FAILED, F.REPORT)),
    # The startd is asked to end it while we look; it may be the network that is gone.
    Row(P.LOST, V.ASKED, _always, P.LOST, (F.ASK_TO_LEAVE,)),

    Row(P.CLOSING, V.CLAIM_TOLD, _always, P.DONE, (F.REPORT,)),
)
# fmt: on

_BY_SOURCE: dict[tuple[Phase, Event], tuple[Row, ...]] = {
    key: tuple(row for row in TRANSITIONS if (row.source, row.event) == key)
    for key in {(row.source, row.event) for row in TRANSITIONS}
}


# What an event leaves behind, whether or not a row takes it.
_LEARNED: dict[Event, Callable[[Shadow], Shadow]] = {
    Event.EXECUTING: lambda shadow: shadow._replace(executed=True),
    Event.ASKED: lambda shadow: shadow._replace(asked=True),
    Event.FAILED: lambda shadow: shadow._replace(asked=True),
    Event.EXITED: lambda shadow: shadow._replace(exit_known=True),
}


def step(shadow: Shadow, event: Event) -> tuple[Shadow, tuple[Effect, ...]]:
    """Apply one event; the first row whose guard holds wins, no row means late news.

    Guards see what was known before the event.
    """
    learn = _LEARNED.get(event)
    after = learn(shadow) if learn is not None else shadow
    for row in _BY_SOURCE.get((shadow.phase, event), ()):
        if row.when(shadow):
            return after._replace(phase=row.target), row.effects
    return after, ()


def begin(*, reconnect: bool, executed: bool = False) -> tuple[Shadow, tuple[Effect, ...]]:
    """Return a shadow at its start; one for a job that was running already has to find it.

    `executed` says whether that job's program is known to have been started.
    """
    if not reconnect:
        return Shadow(), ()
    shadow = Shadow(Phase.LOST, executed=executed, reconnecting=True)
    return shadow, (Effect.LOG_DISCONNECTED, Effect.LOOK_FOR_STARTER)
