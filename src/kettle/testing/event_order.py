"""Which event of a job's log may follow which: the life that a log tells, as a table.

Both campaigns read whole logs with it. Sources: HTCondor's own logs in tests/data/event_logs, which
are all in order here, and the machines of jobs and shadows (`schedd/job_machine.py`,
`shadow/shadow_machine.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kettle.attributes.codes import ULogEvent
from kettle.choices import Choice
from kettle.records.event_base import Event
from kettle.records.event_cluster import FileTransferEvent


class Told(Choice):
    """Where a job is, as far as its log tells."""

    NOTHING = "it has not come yet"
    SUBMITTED = "it is in the queue, where it may have come on hold: that has no event of its own"
    WAITING = "it waits, or a run of it has not begun its program yet"
    RUNNING = "its program runs"
    SUSPENDED = "its program is stopped"
    LOST_EARLY = "a run is being looked for that had not begun its program"
    LOST = "a run is being looked for"
    GIVEN_UP = "a run was not found again"
    HELD = "it is on hold"
    SKIPPED = "its program need not run, so it ends"
    ENDED = "it has left"


_T, _E = Told, ULogEvent
_QUEUED = (_T.SUBMITTED, _T.WAITING)
_ON_A_MACHINE = (_T.RUNNING, _T.SUSPENDED)
_LOST = (_T.LOST_EARLY, _T.LOST)
_STAYING = (*_QUEUED, *_ON_A_MACHINE, *_LOST, _T.GIVEN_UP, _T.HELD)
_INPUT, _OUTPUT = "040 of input", "040 of output"


def _rows(sources: Iterable[Told], target: Told | None = None) -> dict[Told, Told]:
    """Return where an event leads to from each of some places; without a target it changes none."""
    return {source: target or source for source in sources}


# By event, where a job may be before it and is after it. What is not here may come at any time
# between 000 and the end.
# fmt: off
TABLE: Mapping[int | str, Mapping[Told, Told]] = {
    _E.SUBMIT: _rows((_T.NOTHING,), _T.SUBMITTED),
    _INPUT: _rows(_QUEUED, _T.WAITING),
    _E.EXECUTE: _rows(_QUEUED, _T.RUNNING),
    # What a plugin says of an input that it did not get may be brought home (plugin_failure.log).
    _OUTPUT: _rows((_T.WAITING, *_ON_A_MACHINE)),
    _E.CHECKPOINTED: _rows(_ON_A_MACHINE),
    _E.IMAGE_SIZE: _rows(_ON_A_MACHINE),
    _E.JOB_SUSPENDED: _rows(_ON_A_MACHINE, _T.SUSPENDED),
    _E.JOB_UNSUSPENDED: _rows((_T.SUSPENDED,), _T.RUNNING),
    # A shadow that had lost its job may die, or fail between 024 and 004; the next one looks again.
    _E.JOB_DISCONNECTED:
        _rows((*_QUEUED, _T.LOST_EARLY), _T.LOST_EARLY)
        | _rows((*_ON_A_MACHINE, _T.LOST, _T.GIVEN_UP), _T.LOST),
    _E.JOB_RECONNECTED: {_T.LOST_EARLY: _T.WAITING, _T.LOST: _T.RUNNING},
    # Where no program had begun, no eviction need be told.
    _E.JOB_RECONNECT_FAILED: {_T.LOST_EARLY: _T.WAITING, _T.LOST: _T.GIVEN_UP},
    _E.REMOTE_ERROR: _rows((*_QUEUED, *_ON_A_MACHINE)),
    _E.SHADOW_EXCEPTION: _rows((*_QUEUED, *_ON_A_MACHINE, *_LOST, _T.GIVEN_UP), _T.WAITING),
    _E.JOB_EVICTED: _rows((*_QUEUED, *_ON_A_MACHINE, *_LOST, _T.GIVEN_UP), _T.WAITING),
    # A user's hold takes the place of a policy's, which would release the job itself.
    _E.JOB_HELD: _rows(_STAYING, _T.HELD),
    # A job that is released before its run has left has no 012, but that run's 004.
    _E.JOB_RELEASED:
        _rows((_T.SUBMITTED, _T.WAITING, _T.HELD), _T.WAITING)
        | _rows((*_ON_A_MACHINE, *_LOST, _T.GIVEN_UP)),
    _E.DATAFLOW_JOB_SKIPPED: _rows(_QUEUED, _T.SKIPPED),
    _E.JOB_TERMINATED: _rows((*_ON_A_MACHINE, _T.SKIPPED), _T.ENDED),
    _E.JOB_ABORTED: _rows((*_STAYING, _T.SKIPPED), _T.ENDED),
    # It goes with any other event, the last one, too.
    _E.JOB_AD_INFORMATION: _rows((*_STAYING, _T.SKIPPED, _T.ENDED)),
}
# fmt: on
_ANY_TIME = _rows((*_STAYING, _T.SKIPPED))

# A job that runs beside its schedd. A new schedd tells nothing of a run that the last one left
# but the next start, and one that fails to start may have no 001 (killed_l.log, gone_exe_s.log).
_BESIDE: Mapping[int | str, Mapping[Told, Told]] = {
    _E.EXECUTE: _rows((*_QUEUED, _T.RUNNING), _T.RUNNING),
}

_CLUSTER: Mapping[int | str, Mapping[Told, Told]] = {
    _E.CLUSTER_SUBMIT: _rows((_T.NOTHING,), _T.WAITING),
    _E.FACTORY_PAUSED: _rows((_T.WAITING, _T.HELD), _T.HELD),
    # A release is told also of a cluster that rested by itself, as all of its jobs are made.
    _E.FACTORY_RESUMED: _rows((_T.WAITING, _T.HELD), _T.WAITING),
    _E.CLUSTER_REMOVE: _rows((_T.WAITING, _T.HELD), _T.ENDED),
}


def find_disorder(
    events: Iterable[Event],
    *,
    beside: bool = False,
    removed_after_end: bool = False,
    clock_set_back: bool = False,
) -> str:
    """Say what comes first out of order in the events of one job; "" if nothing does.

    Those of a cluster itself (proc -1) have an order of their own. A job that runs `beside` the
    schedd is of the local or scheduler universe. One that stayed in the queue may be
    `removed_after_end`. With a clock that was set back, times may go back.
    """
    place, before = Told.NOTHING, None
    for event in events:
        what = _kind_of(event)
        after = _step(place, what, event, beside=beside)
        if removed_after_end and (place, what) == (_T.ENDED, _E.JOB_ABORTED):
            after, removed_after_end = _T.ENDED, False
        if after is None:
            told = "nothing" if before is None else f"{before.header_number:03}"
            return f"{event.header_number:03} follows {told}, when {place.value}"
        if before is not None and event.time < before.time and not clock_set_back:
            back = f"{before.time - event.time:.3f} seconds"
            return f"{event.header_number:03} is {back} older than {before.header_number:03}"
        place, before = after, event
    return ""


def _step(place: Told, what: int | str, event: Event, *, beside: bool) -> Told | None:
    """Return where a job is after an event, None if that cannot follow."""
    if event.proc < 0:
        return _CLUSTER.get(what, {}).get(place)
    rows = _BESIDE.get(what) if beside else None
    return (rows or TABLE.get(what, _ANY_TIME)).get(place)


def _kind_of(event: Event) -> int | str:
    if isinstance(event, FileTransferEvent):
        return _INPUT if event.kind <= _LAST_OF_INPUT else _OUTPUT
    return event.header_number


# Of the stages of a transfer, the last one of input.
_LAST_OF_INPUT = 3
