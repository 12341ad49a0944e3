"""Telling the owners of jobs that do not run what became of them: by event, and by mail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.events import ScheddEvents
    from kettle.schedd.services.mail import Mailer
    from kettle.schedd.services.unwritten_events import UnwrittenEvents


class Owners:
    """Those who own jobs."""

    def __init__(self, events: ScheddEvents, mailer: Mailer, unwritten: UnwrittenEvents) -> None:
        self._events = events
        self._unwritten = unwritten
        self._mailer = mailer

    def held(self, job: Job, reason: str, code: int, subcode: int) -> None:
        """Write event 012."""
        self._mailer.notify(job)
        self._events.held(job, reason, code, subcode)

    def held_running(self, job: Job) -> None:
        """Mail that a job's shadow held it."""
        self._mailer.notify(job)

    def released(self, job: Job, reason: str) -> None:
        """Write event 013."""
        self._events.released(job, reason)

    def aborted(self, jobs: Sequence[Job]) -> None:
        """Write events 009."""
        self._events.all_aborted(jobs)

    def recall(self, job: Job) -> None:
        """Write the events for which an earlier process had no room."""
        self._unwritten.recall(job)

    def was_told(self, job: Job) -> bool:
        """Tell whether the log has the end of a job that a crash left in the queue."""
        return self._events.tell_of_end(job)
