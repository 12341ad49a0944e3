"""What the schedd knows of one user's shadow host: its process, its jobs, what waits for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.records.unwritten_events import SHADOW_EVENTS
from kettle.schedd.kept_ads import KeptAds
from kettle.schedd.queue.job_ids import JobId
from kettle.wire.messages.shadow_host import HostMessage, JobMessage, StartShadow

if TYPE_CHECKING:
    from kettle.runtime.process.privileges import Account
    from kettle.runtime.process.processes import Child
    from kettle.runtime.sockets.stream import Stream

# A host that dies again and again is not replaced at once.
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 60.0
# So many hosts in a row that never began may be a moment's trouble; then their jobs' runs fail.
_FREE_DEATHS = 2


@dataclass(slots=True, eq=False)
class UserHost:
    """One user's host; messages wait until it is ready and reads."""

    user: str
    # As whom it works; None until that can be said, of one whose jobs run already.
    account: Account | None
    stream: Stream | None = None
    child: Child | None = None
    ready: bool = False
    # Where its shadows listen, once it is ready.
    address: str = ""
    # Whether there was a process the last time, and it was ever ready; what it says that it cannot.
    forked: bool = False
    began_well: bool = False
    trouble: str = ""
    # Whether it gets no further jobs, and ends with its last one.
    leaving: bool = False
    waiting: deque[HostMessage] = field(default_factory=deque)
    # The first of them, if its sending has begun.
    begun: HostMessage | None = None
    # What the present process has been sent of ads that jobs have in common.
    kept: KeptAds = field(default_factory=KeptAds)
    pump: asyncio.Task[None] | None = None
    idle_timer: asyncio.TimerHandle | None = None
    jobs: set[JobId] = field(default_factory=set)
    # Without an account: until when its jobs may be running, by the steady clock, and whether the
    # log has that they wait.
    leases: dict[JobId, float] = field(default_factory=dict)
    waits: bool = False
    # Jobs, running or not, of which the present process has events that wait for room.
    unwritten: set[JobId] = field(default_factory=set)
    # When it gets no further jobs, by the steady clock (SHADOW_WORKLIFE).
    old_at: float = 0.0
    began: float = 0.0

    def stop_timer(self) -> None:
        """There is something to do, or no host any more."""
        if self.idle_timer is not None:
            self.idle_timer.cancel()
            self.idle_timer = None

    def take_unsent(self) -> set[JobId]:
        """Return the jobs whose start its process never got; no other words wait any more.

        A start that it never got is still a start; of the others the starters may be alive, also of
        the one whose sending had begun: it may have come to its end.
        """
        words = [
            word for word in self.waiting if isinstance(word, JobMessage) and word is not self.begun
        ]
        self.begun = None
        unsent = {job_of(word) for word in words if isinstance(word, StartShadow)}
        self.waiting = deque(word for word in words if job_of(word) in unsent)
        return unsent

    def take_in_vain(self, deaths: int) -> list[JobId]:
        """Return the jobs whose run is over before it began, after so many deaths in a row.

        None of them runs anywhere: what may run is looked for, however long that takes.
        """
        if self.began_well or not self.forked or deaths <= _FREE_DEATHS:
            return []
        starts = [word for word in self.waiting if isinstance(word, StartShadow)]
        jobs = {job_of(word) for word in starts if not word.reconnect}
        self.drop_words(jobs)
        return sorted(jobs)

    def drop_words(self, jobs: Container[JobId]) -> None:
        """Let no word about these jobs wait any more."""
        self.waiting = deque(
            word
            for word in self.waiting
            if not (isinstance(word, JobMessage) and job_of(word) in jobs)
        )

    def note_unwritten(self, job: JobId, attributes: Mapping[str, str]) -> None:
        """Note whether it has events of a job that wait, if that is what it says."""
        text = attributes.get(SHADOW_EVENTS)
        if text is not None:
            (self.unwritten.discard if text == "undefined" else self.unwritten.add)(job)


def job_of(message: JobMessage) -> JobId:
    """Return which job a word is about."""
    return JobId(message.cluster, message.proc)


def pause_seconds(deaths: int) -> float:
    """Return how long a host that died so often in a row is not replaced: longer each time."""
    # As a real a large power is infinite, or no number at all.
    doublings = min(deaths, 16)
    return min(_FIRST_PAUSE_SECONDS * 2.0**doublings, _LONGEST_PAUSE_SECONDS)
