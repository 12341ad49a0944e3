"""A batch of jobs that a `kettle` subcommand submits and waits for.

Submission goes through `condor_submit`, progress comes from the jobs' event log, and actions are
`condor_rm`'s: the front door has no private road into the schedd. `Tally` is what the events say
so far; showing it is `progress.py`'s.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kettle.errors import KettleError
from kettle.octets import AS_IS
from kettle.patterns import late_pattern
from kettle.records.event_base import Event
from kettle.records.event_ends import JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_kinds import (
    ExecuteEvent,
    JobAbortedEvent,
    JobHeldEvent,
    JobReleasedEvent,
    SubmitEvent,
)
from kettle.records.event_log import EventReader
from kettle.tools.programs import Streams, load_tool

# A pool that has not answered for so long, in which it was asked again and again, is gone.
GONE_SECONDS = 20.0
_ASKED_SECONDS = 4.0
POLL_SECONDS = (0.02, 0.25)
_TERSE = late_pattern(r"\b(\d+)\.(\d+) - \d+\.(\d+)")


@dataclass
class Ending:
    """How a job ended: its exit code, or the signal that killed it, or that it was removed."""

    code: int | None = None
    signal: int | None = None
    removed: bool = False

    @property
    def good(self) -> bool:
        """Whether it did what it was asked."""
        return self.code == 0

    @property
    def sentence(self) -> str:
        """What a person would say."""
        if self.removed:
            return "was removed"
        if self.signal is not None:
            return f"was killed by signal {self.signal}"
        return f"ended with code {self.code}"


@dataclass
class Tally:
    """What the events of a batch say so far; jobs are known by their proc numbers."""

    total: int
    running: set[int] = field(default_factory=set)
    held: dict[int, str] = field(default_factory=dict)
    ended: dict[int, Ending] = field(default_factory=dict)
    started_at: dict[int, float] = field(default_factory=dict)
    submitted_at: dict[int, float] = field(default_factory=dict)

    @property
    def idle(self) -> int:
        """How many neither run, nor are held, nor have ended."""
        return self.total - len(self.running) - len(self.held) - len(self.ended)

    @property
    def failed(self) -> int:
        """How many ended without success."""
        return sum(not ending.good for ending in self.ended.values())

    @property
    def done(self) -> bool:
        """Whether nothing more will happen by itself: all have ended or are held."""
        return len(self.ended) + len(self.held) >= self.total

    def take(self, event: Event) -> None:
        """Count one event."""
        proc = event.proc
        if isinstance(event, SubmitEvent):
            self.submitted_at.setdefault(proc, event.time)
        elif isinstance(event, ExecuteEvent):
            self.running.add(proc)
            self.started_at.setdefault(proc, event.time)
        elif isinstance(event, JobHeldEvent):
            self.running.discard(proc)
            self.held[proc] = event.reason or "no reason was given"
        elif isinstance(event, JobReleasedEvent):
            self.held.pop(proc, None)
        elif isinstance(event, JobEvictedEvent):
            self.running.discard(proc)
        elif isinstance(event, JobTerminatedEvent):
            self.running.discard(proc)
            self.held.pop(proc, None)
            code = event.return_value if event.normal else None
            self.ended[proc] = Ending(code, None if event.normal else event.signal)
        elif isinstance(event, JobAbortedEvent):
            self.running.discard(proc)
            self.held.pop(proc, None)
            self.ended[proc] = Ending(removed=True)


class PoolGoneError(KettleError):
    """The pool went away while its jobs were waited for; `for_ever` if its queue went with it."""

    def __init__(self, message: str, *, hint: str = "", for_ever: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.for_ever = for_ever


@dataclass
class Presence:
    """Whether the pool still answers; asked now and then while nothing happens.

    `since` is when it was there for sure.
    """

    since: float
    asked: float = 0.0

    def is_gone(self, answers: Callable[[], bool], now: float) -> bool:
        """Tell whether the pool has gone, by what it says if it is time to ask."""
        if now - max(self.since, self.asked) < _ASKED_SECONDS:
            return False
        self.asked = now
        if answers():
            self.since = now
        return now - self.since >= GONE_SECONDS


@dataclass(frozen=True, slots=True)
class Removal:
    """Whether jobs are removed, and a sentence about it."""

    said: str
    done: bool


class Batch:
    """One cluster, submitted from `folder`, where its event log is."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.environment = dict(environment)
        self.folder = folder
        self.cluster = 0
        self.count = 0
        # What condor_submit said of it though it took it, a line each.
        self.warnings: list[str] = []

    @property
    def log(self) -> Path:
        """The event log of the batch."""
        return self.folder / "log"

    def submit(self, description: str, *, cwd: str = "") -> None:
        """Submit the jobs of a submit file's text; KettleError says what is wrong with it."""
        path = self.folder / "submit"
        path.write_text(description, encoding="utf-8", errors=AS_IS)
        code, said, complaint = call_tool(
            "condor_submit", ["-terse", str(path)], self.environment, cwd=cwd
        )
        found = _TERSE.search(said)
        # Whoever asked has not written that file and never sees it.
        lines = complaint.replace(str(path), "the jobs' description").splitlines()
        lines = [line.strip() for line in lines if line.strip()]
        if code or found is None:
            raise KettleError("; ".join(lines).replace(":; ", ": ") or said.strip())
        self.warnings = lines
        self.cluster = int(found[1])
        self.count = int(found[3]) - int(found[2]) + 1

    def events(self) -> Iterator[list[Event]]:
        """Yield the new events of the log, again and again, an empty list when there are none."""
        reader = EventReader(year=time.localtime().tm_year)
        offset = 0
        pause = POLL_SECONDS[0]
        while True:
            piece = b""
            with contextlib.suppress(FileNotFoundError), self.log.open("rb") as file:
                file.seek(offset)
                piece = file.read()
            offset += len(piece)
            events = [one for one in reader.feed(piece) if one.cluster == self.cluster]
            yield events
            pause = POLL_SECONDS[0] if events else min(pause * 1.3, POLL_SECONDS[1])
            time.sleep(pause)

    def remove(self) -> Removal:
        """Remove what has not ended, and return what became of that."""
        words = [str(self.cluster)]
        if self.is_purged():
            said = f"The pool is gone, and the jobs of cluster {self.cluster} with it."
            return Removal(said, done=True)
        code, _, complaint = call_tool("condor_rm", words, self.environment)
        if code and self.is_queued():
            said = f"The jobs of cluster {self.cluster} are still queued: {complaint.strip()}"
            return Removal(said, done=False)
        return Removal(f"The jobs of cluster {self.cluster} have been removed.", done=True)

    def answers(self) -> bool:
        """Tell whether the queue that has the jobs can be asked."""
        words = [str(self.cluster), "-limit", "1", "-af", "ProcId"]
        return call_tool("condor_q", words, self.environment)[0] == 0

    def is_purged(self) -> bool:
        """Tell whether the pool's own configuration is gone, as after `kettle down --purge`."""
        config = self.environment.get("CONDOR_CONFIG", "")
        return os.path.isabs(config) and not os.path.lexists(config)

    def is_queued(self) -> bool:
        """Tell whether jobs of it are queued, or whether that cannot be known."""
        words = [str(self.cluster), "-af", "ProcId"]
        code, said, _ = call_tool("condor_q", words, self.environment)
        return bool(code or said.strip())


def call_tool(
    name: str, words: list[str], environment: Mapping[str, str], *, cwd: str = ""
) -> tuple[int, str, str]:
    """Run a tool in this process; return its exit code and what it said on the two streams."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    before = os.getcwd()
    if cwd:
        os.chdir(cwd)
    try:
        code = load_tool(name)([name, *words], environment, streams)
    finally:
        os.chdir(before)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()
