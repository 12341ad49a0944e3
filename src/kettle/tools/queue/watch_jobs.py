"""What `condor_watch_q` knows of jobs: the state that each job's last event left it in.

Only logs are read here. Which of them, and what the schedd says beside them, is `Found`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from errno import ENOENT
from pathlib import Path
from typing import TextIO

from kettle.records.event_base import Event
from kettle.records.event_cluster import FileTransferEvent
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_kinds import SubmitEvent
from kettle.records.event_log import damage_in

# Limit: how much of a log is read at once, so that a long one is not held whole.
PIECE_BYTES = 1 << 20


class State(Enum):
    """What is shown of a job, under the name of its column."""

    REMOVED = "REMOVED"
    HELD = "HELD"
    SUSPENDED = "SUSPENDED"
    IDLE = "IDLE"
    INPUT = "INPUT"
    RUNNING = "RUN"
    OUTPUT = "OUTPUT"
    DONE = "DONE"


EXITED = frozenset({State.REMOVED, State.DONE})
# Compat: a job that goes on after a suspension is idle here until its next event, as in the
# reference (test_output_is_the_recorded_one, suspended).
_AFTER = {
    0: State.IDLE,
    1: State.RUNNING,
    4: State.IDLE,
    5: State.DONE,
    7: State.IDLE,
    9: State.REMOVED,
    10: State.SUSPENDED,
    11: State.IDLE,
    12: State.HELD,
    13: State.IDLE,
    24: State.IDLE,
}
_TRANSFER_STARTED = {2: State.INPUT, 5: State.OUTPUT}


@dataclass
class Found:
    """What is to be followed, as the options and the schedd say."""

    # The logs in their order; with True those that may come later.
    logs: dict[str, bool] = field(default_factory=dict)
    batches: dict[int, str | None] = field(default_factory=dict)
    # How many jobs each cluster has been submitted with.
    sizes: dict[int, int] = field(default_factory=dict)
    # Clusters of DAGMan itself, the batches of nodes by their log, and how many nodes there are.
    dagmans: set[int] = field(default_factory=set)
    dag_batches: dict[str, str | None] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    counted: set[int] = field(default_factory=set)
    # The clusters that count (None: all), the least that does, and whether options name clusters.
    clusters: frozenset[int] | None = None
    least: int | None = None
    named: bool = False


@dataclass
class Cluster:
    """One cluster: its jobs, and where they were met."""

    number: int
    log: str
    batch: str | None
    size: int | None
    jobs: dict[int, State] = field(default_factory=dict)
    # When its last job left the queue.
    exited_at: float | None = None

    @property
    def name(self) -> str:
        """The name of its batch, or one made of its number."""
        return self.batch or f"ID: {self.number}"

    @property
    def total(self) -> int:
        """How many jobs it has."""
        return len(self.jobs) if self.size is None else self.size

    def is_done(self) -> bool:
        """Tell whether all jobs that were met have left the queue."""
        return all(state in EXITED for state in self.jobs.values())

    def is_recent(self, seconds: float, now: float) -> bool:
        """Tell whether it is in the queue or left it no longer ago than that."""
        return not self.is_done() or self.exited_at is None or now - self.exited_at < seconds


@dataclass
class Log:
    """A log that is followed."""

    path: str
    file: Path
    reader: AnyFormReader
    read: int = 0
    skipped: int = 0

    def events(self) -> Iterator[Event]:
        """Yield the events that were added since the last time; none if the log is not there."""
        try:
            with self.file.open("rb") as file:
                file.seek(self.read)
                while data := file.read(PIECE_BYTES):
                    self.read += len(data)
                    yield from self.reader.feed(data)
        except OSError:
            return


class Tracker:
    """Follows the logs and keeps the state of every job in them."""

    def __init__(self, found: Found, complaints: TextIO, *, decays_from_reading: bool) -> None:
        self._found = found
        self._complaints = complaints
        self._decays_from_reading = decays_from_reading
        self._logs: list[Log] = []
        self._late = dict(found.logs)
        self.clusters: dict[int, Cluster] = {}
        self._open_logs()

    @property
    def has_logs(self) -> bool:
        """Whether there is anything to follow, now or later."""
        return bool(self._logs or self._late)

    def states(self) -> Iterator[State]:
        """Yield the state of every job."""
        for cluster in self.clusters.values():
            yield from cluster.jobs.values()

    def _open_logs(self) -> None:
        """Open the logs that are there; of the others those stay that may come, with no word."""
        waiting: dict[str, bool] = {}
        for path, may_come in self._late.items():
            try:
                Path(path).open("rb").close()
            except OSError as error:
                if may_come:
                    waiting[path] = may_come
                    continue
                gone = error.errno == ENOENT
                reason = "File path does not exist" if gone else error.strerror
                self._complaints.write(
                    f"WARNING: Could not open event log at {path} for reading, so it will be "
                    f"ignored. Reason: {reason}\n"
                )
            else:
                reader = AnyFormReader(year=time.localtime().tm_year)
                self._logs.append(Log(path, Path(path), reader))
        self._late = waiting

    def update(self, now: float) -> list[str]:
        """Take what was added to the logs; return a complaint for each log with what is none.

        Compat: the reference tries such a piece again without end
        (test_what_is_no_event_is_told_of_and_passed_over).
        """
        complaints = []
        for log in self._logs:
            for event in log.events():
                if damage := damage_in(event):
                    complaints.append(f"ERROR: Failed to parse event from {log.path}: {damage}")
                self._take(event, log.path, now)
            if log.reader.skipped > log.skipped:
                log.skipped = log.reader.skipped
                complaints.append(
                    f"ERROR: Failed to parse event from {log.path}. Reason: it is no event"
                )
        if self._late:
            self._open_logs()
        return complaints

    def _take(self, event: Event, path: str, now: float) -> None:
        found = self._found
        if found.clusters is not None and event.cluster not in found.clusters:
            return
        if found.least is not None and event.cluster < found.least:
            return
        if isinstance(event, FileTransferEvent):
            state = _TRANSFER_STARTED.get(event.kind)
        else:
            state = _AFTER.get(event.number)
        if state is None:
            return
        if isinstance(event, SubmitEvent) and found.batches.get(event.cluster) is None:
            found.batches[event.cluster] = batch_in(event.structured)
        cluster = self.clusters.get(event.cluster)
        if cluster is None:
            number = event.cluster
            cluster = Cluster(number, path, found.batches.get(number), found.sizes.get(number))
            self.clusters[number] = cluster
        cluster.jobs[event.proc] = state
        if state in EXITED and cluster.is_done():
            cluster.exited_at = now if self._decays_from_reading else event.time


def batch_in(notes: str | None) -> str | None:
    """Return the batch that the notes of a submit event name, if any."""
    if not notes:
        return None
    from kettle.classad import parse_ads
    from kettle.errors import ClassAdSyntaxError

    try:
        ad = next(parse_ads(notes, "new"), None)
    except ClassAdSyntaxError:
        return None
    return ad.string("JobBatchName") if ad is not None else None


def group_clusters(
    clusters: Mapping[int, Cluster], by: str, found: Found
) -> dict[str, list[Cluster]]:
    """Return the clusters of each row, by the row's name; nodes are of their DAG's batch.

    DAGMan's own job has no row, unless clusters were asked for.
    """
    groups: dict[str, list[Cluster]] = {}
    for cluster in clusters.values():
        dag = found.dag_batches.get(cluster.log)
        if by == "batch" and dag is not None:
            name = dag
        elif not found.named and cluster.number in found.dagmans:
            continue
        else:
            name = {"batch": cluster.name, "log": cluster.log, "cluster": str(cluster.number)}[by]
        groups.setdefault(name, []).append(cluster)
    return groups
