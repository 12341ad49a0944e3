"""What must hold whatever goes wrong.

- No job ever has two live executions (the witness says so at once).
- What was acknowledged ends: in the history once, in its log once, and out of the queue.
- A job that says it ended well did run to its end, and its exit code is the program's.
- Every run of the program is announced: at least one 001 for a job that ran, and one start counted
  for each run that went to its end.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kettle.records.history import read_forwards
from kettle.testing.simulation.users import Wish

if TYPE_CHECKING:
    from kettle.testing.simulation.pool import SimulatedPool

_EVENT = re.compile(r"^(\d{3}) \((\d+)\.(\d+)\.", re.MULTILINE)
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


def is_finished(pool: SimulatedPool) -> bool:
    """Whether every acknowledged job is out of the queue."""
    schedd = pool.access_point.services.get("SCHEDD")
    if schedd is None or not pool.access_point.daemons["SCHEDD"].alive:
        return False
    return all(
        schedd.queue.job(wish.cluster, 0) is None for wish in pool.user.wishes if wish.acknowledged
    )


def find_violations(pool: SimulatedPool) -> list[str]:
    """Return everything that does not hold at the end of a simulation."""
    found = [*pool.witness.violations, *pool.failures]
    history = history_of(pool.access_point.folder / "spool")
    for wish in pool.user.wishes:
        if wish.acknowledged:
            records = [each for each in history if each.get("ClusterId") == str(wish.cluster)]
            found += _check_job(pool, wish, records)
    for execution in pool.witness.executions:
        if execution.ended is None:
            found.append(f"job {execution.job} still runs on {execution.machine} at the end")
    return found


def _check_job(pool: SimulatedPool, wish: Wish, records: list[dict[str, str]]) -> list[str]:
    name = f"job {wish.cluster}.0 ({wish.name})"
    if len(records) != 1:
        return [f"{name} is {len(records)} times in the history"]
    found = []
    status = records[0].get("JobStatus")
    runs = pool.witness.runs_of(wish.name)
    finished = [run for run in runs if run.code is not None]
    log = pool.access_point.folder / f"{wish.name}.log"
    events = [match[1] for match in _EVENT.finditer(log.read_text())] if log.exists() else []
    ends = [number for number in events if number in ("005", "009")]
    if len(ends) != 1:
        found.append(f"{name} ends {len(ends)} times in its log: {' '.join(events)}")
    if events.count("000") != 1:
        found.append(f"{name} is submitted {events.count('000')} times in its log")
    if runs and "001" not in events:
        found.append(f"{name} ran, and its log does not say so: {' '.join(events)}")
    if status == _COMPLETED:
        if not finished:
            found.append(f"{name} is completed, and never ran to its end")
        if records[0].get("ExitCode") != str(wish.code):
            found.append(f"{name} exited {wish.code}, its record says {records[0].get('ExitCode')}")
        if wish.removed:
            found.append(f"{name} was removed, as its user was told, and is completed")
    elif status == _REMOVED and not wish.removed:
        found.append(f"{name} was removed by nobody")
    starts = int(records[0].get("NumJobStarts", "0"))
    if starts < len(finished):
        found.append(f"{name} ran to its end {len(finished)} times and counts {starts} starts")
    return found
