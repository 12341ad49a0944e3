"""One shadow's life, from the activation of its claim to its report to the schedd, as a table.

Decides what happens next; sockets, timers and logs are `services/shadow.py`'s, and how the run is
to be judged once it is over `endings.py`'s. What others say comes when it comes: where the
table has no row for it, it is late news and changes nothing, such as a vacate request for a job
whose end is known. What the shadow finds out itself has a row, or is a bug. Sources: wire notes,
Remote system calls, starter exit notes, R082.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kettle.choices import Choice
from kettle.errors import ImpossibleTransition
from kettle.named_tuples import NamedTuple


class Phase(Choice):
    """Where a shadow is, and with that what the shell is about until it changes."""

    ACTIVATING = "activating"  # asking the startd to start the job
    STARTING = "starting"  # the starter prepares the sandbox, input files travel
    RUNNING = "running"  # the starter's calls are served, as in the phases around it
    SUSPENDED = "suspended"
    LEAVING = "leaving"  # somebody wants the job gone; the starter is being asked to end it
    LOST = "lost"  # the starter does not answer; being looked for until the lease ends
    CLOSING = "closing"  # the end is known or overdue; the claim is told, or broken off
    DONE = "done"  # the run is judged, its last event written, the schedd told


class Event(Choice):
    """What happens to a shadow."""

    ACCEPTED = "the startd started a starter"
    REFUSED = "the startd did not"
    EXECUTING = "the job's program runs"
    SUSPENDED = "the starter says that the job is suspended"
    CONTINUED = "the starter says that the job goes on"
    PROGRAM_ENDED = "the starter says that the program has ended, its files are on their way"
    EXITED = "the starter reported the job's exit"
    FAILED = "the starter reported an error that ends the run"
    ASKED = "schedd, user or policy wants the job to leave"
    CONNECTION_LOST = "the starter's connection broke"
    FOUND = "the starter was found again"
    GONE = "the startd says that there is no such job"
    LEASE_OVER = "the job's lease ran out"
    OVERDUE = "the starter did not end the job in time"
    CLAIM_TOLD = "the claim knows that the activation is over"
    CLAIM_SILENT = "the claim cannot be told, and the program may be alive"


class Effect(Choice):
    """What the shell does at a transition; what it is about in a phase says `Phase`."""

    LOG_EXECUTE = "write event 001"
    LOG_SUSPENDED = "write event 010"
    LOG_CONTINUED = "write event 011"
    ASK_TO_LEAVE = "deactivate the claim, gently or at once as the request says"
    LOG_DISCONNECTED = "write event 022"
    LOG_RECONNECTED = "write event 023"
    LOG_RECONNECT_FAILED = "write event 024"


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
    Row(P.ACTIVATING, V.ACCEPTED, _asked, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.ACTIVATING, V.ACCEPTED, _always, P.STARTING),
    Row(P.ACTIVATING, V.REFUSED, _always, P.DONE),
    Row(P.ACTIVATING, V.ASKED, _always, P.ACTIVATING),
    Row(P.ACTIVATING, V.FAILED, _always, P.ACTIVATING),
    Row(P.ACTIVATING, V.CONNECTION_LOST, _always, P.DONE),

    Row(P.STARTING, V.EXECUTING, _always, P.RUNNING, (F.LOG_EXECUTE,)),
    Row(P.STARTING, V.EXITED, _always, P.CLOSING),
    Row(P.STARTING, V.FAILED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.STARTING, V.ASKED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.STARTING, V.CONNECTION_LOST, _always, P.LOST, (F.LOG_DISCONNECTED,)),

    Row(P.RUNNING, V.SUSPENDED, _always, P.SUSPENDED, (F.LOG_SUSPENDED,)),
    Row(P.RUNNING, V.EXITED, _always, P.CLOSING),
    Row(P.RUNNING, V.FAILED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.RUNNING, V.ASKED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.RUNNING, V.CONNECTION_LOST, _always, P.LOST, (F.LOG_DISCONNECTED,)),

    Row(P.SUSPENDED, V.CONTINUED, _always, P.RUNNING, (F.LOG_CONTINUED,)),
    Row(P.SUSPENDED, V.EXITED, _always, P.CLOSING),
    Row(P.SUSPENDED, V.FAILED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.SUSPENDED, V.ASKED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    Row(P.SUSPENDED, V.CONNECTION_LOST, _always, P.LOST,
        (F.LOG_DISCONNECTED,)),

    # A starter that was asked to go may report, break the connection or hang; all end it.
    Row(P.LEAVING, V.EXITED, _always, P.CLOSING),
    Row(P.LEAVING, V.ASKED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    # There may be nothing left to be waited for.
    Row(P.LEAVING, V.PROGRAM_ENDED, _always, P.LEAVING, (F.ASK_TO_LEAVE,)),
    # A starter that asks twice begins once.
    Row(P.LEAVING, V.EXECUTING, _first, P.LEAVING, (F.LOG_EXECUTE,)),
    Row(P.LEAVING, V.CONNECTION_LOST, _always, P.CLOSING),
    Row(P.LEAVING, V.OVERDUE, _always, P.CLOSING),

    Row(P.LOST, V.FOUND, _asked, P.LEAVING, (F.LOG_RECONNECTED, F.ASK_TO_LEAVE)),
    Row(P.LOST, V.FOUND, _executed, P.RUNNING, (F.LOG_RECONNECTED,)),
    Row(P.LOST, V.FOUND, _always, P.STARTING, (F.LOG_RECONNECTED,)),
    Row(P.LOST, V.GONE, _asked, P.DONE),
    Row(P.LOST, V.GONE, _always, P.DONE, (F.LOG_RECONNECT_FAILED,)),
    Row(P.LOST, V.LEASE_OVER, _asked, P.DONE),
    Row(P.LOST, V.LEASE_OVER, _always, P.DONE, (F.LOG_RECONNECT_FAILED,)),
    # The startd is asked to end it while we look; it may be the network that is gone.
    Row(P.LOST, V.ASKED, _always, P.LOST, (F.ASK_TO_LEAVE,)),
    # A transfer may fail after the connection; the job leaves once it is found.
    Row(P.LOST, V.FAILED, _always, P.LOST),

    # The starter reported, and its answer was under way when it was overdue.
    Row(P.CLOSING, V.EXITED, _always, P.CLOSING),
    Row(P.CLOSING, V.CLAIM_TOLD, _always, P.DONE),
    # It may be the network that is gone: a job that waits is not started beside itself.
    Row(P.CLOSING, V.CLAIM_SILENT, _always, P.LOST, (F.LOG_DISCONNECTED,)),
)
# fmt: on

_BY_SOURCE: dict[tuple[Phase, Event], tuple[Row, ...]] = {
    key: tuple(row for row in TRANSITIONS if (row.source, row.event) == key)
    for key in {(row.source, row.event) for row in TRANSITIONS}
}


# What an event leaves behind.
_LEARNED: dict[Event, Callable[[Shadow], Shadow]] = {
    Event.EXECUTING: lambda shadow: shadow._replace(executed=True),
    Event.ASKED: lambda shadow: shadow._replace(asked=True),
    Event.FAILED: lambda shadow: shadow._replace(asked=True),
    Event.EXITED: lambda shadow: shadow._replace(exit_known=True),
}

# What the shadow finds out by what it does itself in one phase; everything else comes from others.
FOUND_OUT_IN: Mapping[Event, Phase] = {
    Event.ACCEPTED: Phase.ACTIVATING,
    Event.REFUSED: Phase.ACTIVATING,
    Event.FOUND: Phase.LOST,
    Event.GONE: Phase.LOST,
    Event.LEASE_OVER: Phase.LOST,
    Event.CLAIM_TOLD: Phase.CLOSING,
    Event.CLAIM_SILENT: Phase.CLOSING,
}

_BEFORE_PROGRAM = frozenset((Phase.ACTIVATING, Phase.STARTING))
_OVER = frozenset((Phase.CLOSING, Phase.DONE))
_WITH_PROGRAM = frozenset((Phase.RUNNING, Phase.SUSPENDED))
_OFF = frozenset((Phase.LEAVING, Phase.LOST)) | _OVER
# News that changes nothing where it comes too late, early or twice. What is in no table is a row
# that somebody forgot.
CHANGES_NOTHING: Mapping[Event, frozenset[Phase]] = {
    # A starter says what it likes, when it likes.
    Event.EXECUTING: _WITH_PROGRAM | _OVER | {Phase.ACTIVATING, Phase.LOST},
    Event.SUSPENDED: _BEFORE_PROGRAM | _OFF | {Phase.SUSPENDED},
    Event.CONTINUED: _BEFORE_PROGRAM | _OFF | {Phase.RUNNING},
    Event.PROGRAM_ENDED: _BEFORE_PROGRAM | _WITH_PROGRAM | _OVER | {Phase.LOST},
    Event.EXITED: frozenset((Phase.ACTIVATING, Phase.LOST, Phase.DONE)),
    # A transfer ends, or somebody asks, when the end is under way.
    Event.FAILED: _OVER | {Phase.LEAVING},
    Event.ASKED: _OVER,
    Event.CONNECTION_LOST: _OVER | {Phase.LOST},
    # A timer that was not taken back in time.
    Event.OVERDUE: _BEFORE_PROGRAM | _WITH_PROGRAM | _OVER | {Phase.LOST},
}


def step(shadow: Shadow, event: Event) -> tuple[Shadow, tuple[Effect, ...]]:
    """Apply one event; the first row whose guard holds wins, and late news changes nothing.

    Guards see what was known before the event. Raises ImpossibleTransition for what the shadow
    cannot have found out, and for what no table speaks of.
    """
    rows = _BY_SOURCE.get((shadow.phase, event), ())
    for row in rows:
        if row.when(shadow):
            learn = _LEARNED.get(event)
            after = learn(shadow) if learn is not None else shadow
            return after._replace(phase=row.target), row.effects
    if event in FOUND_OUT_IN or not (rows or shadow.phase in CHANGES_NOTHING.get(event, ())):
        raise ImpossibleTransition(f"a shadow that is {shadow.phase.value}: {event.value}")
    return shadow, ()


def begin(*, reconnect: bool, executed: bool = False) -> tuple[Shadow, tuple[Effect, ...]]:
    """Return a shadow at its start; one for a job that was running already has to find it.

    `executed` says whether that job's program is known to have been started.
    """
    if not reconnect:
        return Shadow(), ()
    shadow = Shadow(Phase.LOST, executed=executed, reconnecting=True)
    return shadow, (Effect.LOG_DISCONNECTED,)
