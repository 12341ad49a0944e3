"""What must hold whatever goes wrong.

- No job ever has two live executions, or one after its end (the witness says so at once).
- What was acknowledged is in the queue, or in the history (looked at after every step).
- What was acknowledged ends: in the history once, in its log once, and out of the queue.
- Its log tells a life that there is: no event where it cannot follow, and no time that goes back.
- A job that says it ended well did run to its end, and its exit code is the program's.
- Afterwards the pool works as before: a job submitted last ends too, and no slot stays claimed.
- Every run of the program is announced: at least one 001 for a job that ran, and one start counted
  for each run that went to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kettle.attributes.codes import ULogEvent
from kettle.records.event_base import Event
from kettle.records.event_log import read_events
from kettle.records.history import read_forwards
from kettle.testing.event_order import find_disorder
from kettle.testing.simulation.jobs import Execution
from kettle.testing.simulation.users import User, Wish

if TYPE_CHECKING:
    from kettle.schedd.queue.job_queue import JobQueue
    from kettle.testing.simulation.machines import Machine
    from kettle.testing.simulation.pool import SimulatedPool

_COMPLETED, _REMOVED = "4", "3"


def history_of(folder: Path) -> list[dict[str, str]]:
    """Return the records of a spool's history."""
    paths = [*sorted(folder.glob("history.*")), folder / "history"]
    return [
        dict(line.split(" = ", 1) for line in record.lines)
        for path in paths
        if path.exists()
        for record in read_forwards(path.read_bytes())
    ]


class Watch:
    """Looks after every step of a simulation; only at what has changed since the last one."""

    def __init__(self, pool: SimulatedPool) -> None:
        self._pool = pool
        # Of each access point, the queue that was seen last and how many jobs it had.
        self._seen: dict[str, tuple[int, int]] = {}

    def look(self) -> None:
        """See that every acknowledged job is in its queue, or in the history and never run again.

        What runs twice at a time, or after its end, is the witness's to see.
        """
        for machine in self._pool.access_points:
            schedd = machine.service("SCHEDD")
            if schedd is None:
                continue
            seen = (id(schedd), len(schedd.queue.jobs))
            if self._seen.get(machine.name) != seen:
                self._seen[machine.name] = seen
                self._look_at(machine, schedd.queue)

    def _look_at(self, machine: Machine, queue: JobQueue) -> None:
        witness = self._pool.witness
        missing = [
            wish
            for user, wish in self._pool.wishes()
            if user.machine is machine
            and wish.acknowledged
            and wish.procs == 1
            and wish.name not in witness.gone
            and queue.job(wish.cluster, 0) is None
        ]
        if not missing:
            return
        recorded = {record.get("ClusterId") for record in history_of(machine.folder / "spool")}
        for wish in missing:
            witness.gone.add(wish.name)
            if str(wish.cluster) not in recorded:
                name = f"job {wish.cluster}.0 of {machine.name} ({wish.name})"
                witness.violations.append(f"{name} is neither in the queue nor in the history")


def is_finished(pool: SimulatedPool) -> bool:
    """Whether every acknowledged job is out of its queue."""
    return all(machine.service("SCHEDD") is not None for machine in pool.access_points) and all(
        wish.cluster not in user.machine.service("SCHEDD").queue.clusters
        for user, wish in pool.wishes()
        if wish.acknowledged
    )


def find_violations(pool: SimulatedPool) -> list[str]:
    """Return everything that does not hold at the end of a simulation."""
    found = [*pool.witness.violations, *pool.failures]
    histories = {
        machine.name: history_of(machine.folder / "spool") for machine in pool.access_points
    }
    for user, wish in pool.wishes():
        if wish.acknowledged:
            found += _check_wish(pool, user, wish, histories[user.machine.name])
    for execution in pool.witness.executions:
        if execution.ended is None:
            found.append(f"job {execution.job} still runs on {execution.machine} at the end")
    return found


def is_at_rest(pool: SimulatedPool) -> bool:
    """Whether nothing runs, nothing is claimed, and every daemon is there."""
    return not find_unrest(pool)


def find_unrest(pool: SimulatedPool) -> list[str]:
    """Return what a pool that has nothing to do still does or holds, and which daemons it lacks."""
    found = [
        f"{process.name} (pid {process.pid}) is left on {process.machine}"
        for process in pool.table.living()
        if process.name.startswith(("condor_starter", "job "))
    ]
    for machine in pool.machines:
        for subsystem, daemon in machine.daemons.items():
            if not daemon.alive:
                found.append(f"{machine.name} has no {subsystem} in the end")
    for machine in pool.execution_points:
        found += _claimed_slots(machine)
    for machine in pool.access_points:
        schedd = machine.service("SCHEDD")
        if schedd is not None:
            found += [
                f"the schedd of {machine.name} keeps claim {claim.public_id} ({claim.phase.value})"
                for claim in schedd.scheduler.claims.by_id.values()
            ]
    return found


def _claimed_slots(machine: Machine) -> Iterator[str]:
    """Yield the slots that are still claimed."""
    service = machine.service("STARTD")
    if service is None:
        return
    for record in service.machine.slots.values():
        state, activity = record.slot.phase.value
        if state in ("Claimed", "Preempting", "Matched"):
            yield f"{record.name} of {machine.name} stays {state}/{activity}"


def _check_wish(
    pool: SimulatedPool, user: User, wish: Wish, history: list[dict[str, str]]
) -> Iterator[str]:
    """Yield what is wrong with the jobs of a cluster that has left the queue."""
    was_removed = _was_removed(wish, history)
    log = _read_log(user.machine.folder / f"{wish.name}.log")
    for problem in _check_order(user.machine, wish, [event for event in log if event.proc < 0]):
        yield f"cluster {wish.cluster} of {user.machine.name} ({wish.name}) {problem}"
    for proc, job in enumerate(wish.jobs):
        records = [
            each
            for each in history
            if (each.get("ClusterId"), each.get("ProcId")) == (str(wish.cluster), str(proc))
        ]
        name = f"job {wish.cluster}.{proc} of {user.machine.name} ({job})"
        if was_removed and not records and wish.procs > 1 and not pool.witness.runs_of(job):
            # It was never made.
            continue
        if len(records) == 1:
            problems = _check_job(pool, user, wish, job, records[0], log)
            yield from (f"{name} {problem}" for problem in problems)
        else:
            yield f"{name} is {len(records)} times in the history"


def _was_removed(wish: Wish, history: list[dict[str, str]]) -> bool:
    """Whether a user removed a cluster: the answer may have been lost on its way, when it was."""
    return wish.removed or (
        wish.to_be_removed
        and any(
            (each.get("ClusterId"), each.get("JobStatus")) == (str(wish.cluster), _REMOVED)
            for each in history
        )
    )


def _check_job(
    pool: SimulatedPool,
    user: User,
    wish: Wish,
    job: str,
    record: dict[str, str],
    log: list[Event],
) -> Iterator[str]:
    """Yield what is wrong with one job, whose events are among those of its cluster's log."""
    runs = pool.witness.runs_of(job)
    finished = [run for run in runs if run.code is not None]
    folder = user.machine.folder
    events = [event for event in log if event.proc == int(record["ProcId"])]
    if not wish.spools:
        yield from _check_log(user.machine, wish, events, record, ran=bool(runs))
    yield from _check_record(record, wish, len(finished))
    # Of a cluster those are removed that have not ended before.
    late = [run for run in finished if run.ended is None or run.ended > wish.removal_asked_at]
    if record.get("JobStatus") == _COMPLETED and wish.removed and (wish.procs == 1 or late):
        yield "was removed, as its user was told, and is completed"
    yield from _check_output(folder / f"{wish.name}.out", record, wish, finished)


def _check_output(
    path: Path, record: dict[str, str], wish: Wish, finished: list[Execution]
) -> Iterator[str]:
    """Yield what is wrong with the output of a job that was completed."""
    if not wish.transfers or record.get("JobStatus") != _COMPLETED:
        return
    written = path.read_text() if path.exists() else None
    if written not in {run.output for run in finished}:
        yield f"has an output that no run of it wrote to its end: {written!r}"


def _read_log(path: Path) -> list[Event]:
    """Return the events of a log, all of which say their year; none if it is not there."""
    return list(read_events(path.read_bytes(), year=0)) if path.exists() else []


def _check_order(
    machine: Machine, wish: Wish, events: list[Event], *, removed_after_end: bool = False
) -> Iterator[str]:
    """Yield that the events of a job, or of a cluster itself, are out of order."""
    disorder = find_disorder(
        events,
        beside="JobUniverse" in wish.more,
        removed_after_end=removed_after_end,
        clock_set_back=machine.was_set_back,
    )
    if disorder:
        yield f"has events in no order: {disorder}: {_story(events)}"


def _story(events: Iterable[Event]) -> str:
    return " ".join(f"{event.number:03}" for event in events)


def _check_log(
    machine: Machine, wish: Wish, events: list[Event], record: dict[str, str], *, ran: bool
) -> Iterator[str]:
    """Yield what is wrong with a finished job's events."""
    # One that stays in the queue after its end may be removed from there, as the reference's log
    # tells, too.
    stayed = "LeaveJobInQueue" in record and record.get("JobStatus") == _REMOVED
    yield from _check_order(machine, wish, events, removed_after_end=stayed)
    counts = Counter(event.number for event in events)
    ends = counts[ULogEvent.JOB_TERMINATED], counts[ULogEvent.JOB_ABORTED]
    if sum(ends) != 1 and not (stayed and ends == (1, 1)):
        yield f"ends {sum(ends)} times in its log: {_story(events)}"
    if counts[ULogEvent.SUBMIT] != 1:
        yield f"is submitted {counts[ULogEvent.SUBMIT]} times in its log"
    if ran and not counts[ULogEvent.EXECUTE]:
        yield f"ran, and its log does not say so: {_story(events)}"


def _check_record(record: dict[str, str], wish: Wish, finished: int) -> Iterator[str]:
    """Yield what is wrong with a finished job's history record."""
    status = record.get("JobStatus")
    if status == _COMPLETED:
        if not finished:
            yield "is completed, and never ran to its end"
        if record.get("ExitCode") != str(wish.code):
            yield f"exited {wish.code}, its record says {record.get('ExitCode')}"
    elif status == _REMOVED and not (wish.to_be_removed or wish.removes_itself):
        yield "was removed by nobody"
    starts = int(record.get("NumJobStarts", "0"))
    if starts < finished:
        yield f"ran to its end {finished} times and counts {starts} starts"
