"""What the parts of the schedd are given: the facts they share, each with its owner.

`service.ScheddService` is one; a test may be another. What a part needs of another part beyond this
it is given by name when it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kettle.records.job_trace import Step
    from kettle.runtime.context import Runtime
    from kettle.runtime.sockets.stream import Stream
    from kettle.schedd.idle_jobs import IdleJobs
    from kettle.schedd.queue.actors import Actor
    from kettle.schedd.queue.job_queue import JobQueue
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.scheduler import Scheduler
    from kettle.schedd.services.events import ScheddEvents
    from kettle.schedd.services.history import HistoryFiles
    from kettle.schedd.services.journal import QueueJournal
    from kettle.schedd.services.on_disk import OnDisk
    from kettle.schedd.services.owner_accounts import OwnerAccounts
    from kettle.schedd.services.spool import SpoolFolder
    from kettle.schedd.settings import QueueSettings, ServiceSettings
    from kettle.schedd.statistics import Statistics


class Schedd(Protocol):
    """The schedd, as its parts see it."""

    runtime: Runtime
    settings: ServiceSettings
    queue_settings: QueueSettings
    statistics: Statistics
    queue: JobQueue
    # The queue on disk, and what waits until it is there.
    journal: QueueJournal
    on_disk: OnDisk
    # From the start of the service on: the jobs that wait, and who decides what happens to jobs.
    idle: IdleJobs
    scheduler: Scheduler
    spool: SpoolFolder
    accounts: OwnerAccounts
    history: HistoryFiles
    events: ScheddEvents

    @property
    def name(self) -> str:
        """The schedd's name in the pool."""
        ...

    def now(self) -> int:
        """Return the time in epoch seconds."""
        ...

    def actor(self, stream: Stream) -> Actor:
        """Return who is at the other end, as far as the queue is concerned."""
        ...

    def want_matches(self) -> None:
        """Note that jobs wait and a negotiation would help."""
        ...

    def trace(self, job: Job, step: Step, detail: str = "", *, coming: bool = False) -> None:
        """Leave a line of a job's step in the log, where that is wanted."""
        ...
