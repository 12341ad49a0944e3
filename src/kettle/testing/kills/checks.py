"""What must hold when the last job of a campaign is out of the queue.

- No two executions of a job ever overlapped, and each that ended did so with everything it began.
- What was acknowledged ended once in its log, which tells a life that there is, and once in the
  history, with its program's exit code, and its output is that of an execution that ran to its
  end.
- Every execution that ran to its end is counted as a start; retries were taken as often as asked.
- Nobody was put on hold but by the user, and no daemon failed at anything.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from kettle.classad import ClassAd, parse_old_ad
from kettle.records.event_base import Event
from kettle.records.event_log import read_events
from kettle.records.history import read_forwards
from kettle.testing.event_order import find_disorder
from kettle.testing.kills.jobs import Execution, Notes, Wish, Workshop

_SUBMITTED, _EXECUTING, _TERMINATED, _ABORTED, _HELD = 0, 1, 5, 9, 12
_REMOVED, _COMPLETED = 3, 4


def find_violations(
    workshop: Workshop, wishes: Iterable[Wish], pool_folder: Path, held_by_user: str
) -> list[str]:
    """Return everything that does not hold; `held_by_user` is what the user's own holds say."""
    notes = workshop.read_notes()
    found = [f"{name} began while it ran" for name in notes.overlaps]
    found += _find_intervals_that_overlap(notes)
    history = read_history(pool_folder / "spool")
    logs: dict[str, list[Event]] = {}
    for wish in wishes:
        batch = wish.name.partition(".")[0]
        if batch not in logs:
            logs[batch] = read_log(workshop.log_of(batch))
        events = [
            event
            for event in logs[batch]
            if (event.cluster, event.proc) == (wish.cluster, wish.proc)
        ]
        executions = notes.executions.get(wish.name, [])
        records = history.get((wish.cluster, wish.proc), [])
        problems = [
            *_check_events(wish, events, held_by_user),
            *_check_records(wish, records, executions, events),
            *([] if wish.removed else _check_output(workshop.output_of(wish.name), executions)),
        ]
        name = f"{wish.cluster}.{wish.proc} ({wish.name}, {wish.kind.name})"
        found += [f"{name} {problem}" for problem in problems]
    return [*found, *_find_failures(pool_folder / "log")]


def read_history(spool: Path) -> dict[tuple[int, int], list[ClassAd]]:
    """Return the records of a spool's history by job."""
    found: dict[tuple[int, int], list[ClassAd]] = {}
    for path in (*sorted(spool.glob("history.2*")), spool / "history"):
        for record in read_forwards(path.read_bytes()) if path.exists() else ():
            ad = parse_old_ad(record.lines)
            place = (ad.integer("ClusterId") or 0, ad.integer("ProcId") or 0)
            found.setdefault(place, []).append(ad)
    return found


def read_log(path: Path) -> list[Event]:
    """Return the events of a log, none if it is not there."""
    year = time.localtime().tm_year
    return list(read_events(path.read_bytes(), year=year)) if path.exists() else []


def _find_intervals_that_overlap(notes: Notes) -> Iterator[str]:
    for name, executions in notes.executions.items():
        for earlier, later in itertools.pairwise(executions):
            if earlier.ended is not None and later.began < earlier.ended:
                yield f"{name} began at {later.began} before it ended at {earlier.ended}"


def _check_events(wish: Wish, events: list[Event], held_by_user: str) -> Iterator[str]:
    counts = Counter(event.number for event in events)
    story = " ".join(f"{event.number:03}" for event in events)
    if disorder := find_disorder(events):
        yield f"has events in no order: {disorder}: {story}"
    ends = counts[_TERMINATED] + counts[_ABORTED]
    if ends != 1:
        yield f"ends {ends} times in its log: {story}"
    if counts[_SUBMITTED] != 1:
        yield f"is submitted {counts[_SUBMITTED]} times in its log: {story}"
    for event in events:
        if event.number == _HELD and held_by_user not in str(event) and not wish.kind.lines:
            yield f"was put on hold: {event}"


def _check_records(
    wish: Wish, records: list[ClassAd], executions: list[Execution], events: list[Event]
) -> Iterator[str]:
    if len(records) != 1:
        yield f"is {len(records)} times in the history"
        return
    record = records[0]
    status, code = record.integer("JobStatus"), record.integer("ExitCode")
    if status == _REMOVED and wish.removed:
        return
    if (status, code) != (_COMPLETED, wish.kind.code) or wish.removed:
        wanted = "removed" if wish.removed else f"completed with exit code {wish.kind.code}"
        yield f"is in status {status} with exit code {code}, not {wanted}"
    ended = sum(execution.ended is not None for execution in executions)
    announced = sum(event.number == _EXECUTING for event in events)
    starts = record.integer("NumJobStarts") or 0
    if ended < wish.kind.ends:
        yield f"ran to its end {ended} times, not {wish.kind.ends}"
    if not ended <= starts <= announced:
        yield f"ran to its end {ended} times, counts {starts} starts and tells of {announced}"


def _check_output(path: Path, executions: list[Execution]) -> Iterator[str]:
    said = path.read_text(encoding="ascii").split() if path.exists() else []
    ended = [execution.run for execution in executions if execution.ended is not None]
    if len(said) != 1 or said[0] not in ended:
        yield f"brought home {said}, and ran to its end as {ended}"


def _find_failures(logs: Path) -> Iterator[str]:
    for path in sorted(logs.iterdir()):
        if path.is_file() and "Traceback" in path.read_text(errors="replace"):
            yield f"{path.name} tells of an error of the program"
