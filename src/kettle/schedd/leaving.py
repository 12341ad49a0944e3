"""How finished jobs leave the queue: when they may, what is written of them, when they are gone.

What decides and what it changes is `departures.py`'s; who sees the jobs through the doors, once
what they need is on disk, is `services.departing`. Source: R081.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from kettle.attributes.codes import JobStatus
from kettle.schedd import departures
from kettle.schedd.outside import Outside
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import Job, JobQueue
from kettle.schedd.rests import Rests, forget_rest


class Leaving:
    """Finished jobs on their way."""

    def __init__(
        self, queue: JobQueue, rests: Rests, outside: Outside, now: Callable[[], int]
    ) -> None:
        self._queue = queue
        self._rests = rests
        self._outside = outside
        self._now = now

    def let_go(self, job: Job) -> None:
        """Let a finished job leave; of one that is to stay its log is told."""
        if departures.may_leave(job):
            self._rests.forget(job.id)
            forget_rest(job.ad)
            self._outside.departures.begin(job)
        elif departures.stays_removed(job) and _wants_abort_event(job):
            self._outside.departures.begin(job)

    def record(self, jobs: Iterable[Job]) -> Sequence[Job]:
        """Write the last event and the history record of finished jobs, whose status is on disk.

        Returns the jobs that may be taken out once the records are on disk too. A removed job that
        is to stay has its last event, and no record before it leaves. One that the
        history does not take stays, and is tried again by `WaitingPolicy.see_out`.
        """
        there = self._queue.jobs
        present = [job for job in jobs if there.get(job.id) is job]
        finished = [job for job in present if departures.may_leave(job)]
        staying = [job for job in present if departures.stays_removed(job)]
        aborted = self._tell_end((*finished, *staying))
        # A log may have had no room for that.
        ready = [job for job in finished if departures.may_leave(job)]
        now = self._now()
        for job in ready:
            job.ad["JobFinishedHookDone"] = now
        recorded = self._outside.records.finished(ready) if ready else ()
        for job in recorded:
            job.recorded = True
        if staying or len(recorded) < len(finished):
            self._note_told(aborted, {job.id for job in recorded})
        return recorded

    def _tell_end(self, jobs: Iterable[Job]) -> list[Job]:
        """Write the event of a removed job's end where it is due; return those jobs."""
        aborted = [job for job in jobs if _wants_abort_event(job)]
        if aborted:
            self._outside.owners.aborted(aborted)
            for job in aborted:
                job.ad["JobAbortEventLogged"] = 1
        return aborted

    def _note_told(self, aborted: Iterable[Job], leaving: Container[JobId]) -> None:
        """Note of those that stay that their event is written: the next try must write no other."""
        for job in aborted:
            if job.id not in leaving:
                self._queue.update(job.id, {"JobAbortEventLogged": "1"})

    def take_out(self, jobs: Iterable[Job]) -> None:
        """Take jobs out of the queue, whose records are on disk."""
        leaving = self._queue.transaction()
        gone = [job for job in jobs if self._queue.jobs.get(job.id) is job]
        for job in gone:
            departures.plan_departure(leaving, self._queue, job)
        if leaving:
            self._queue.commit(leaving)
        # Not before: one that stays keeps its files, and is mailed of once.
        for job in gone:
            self._outside.records.clean_up(job)


def _wants_abort_event(job: Job) -> bool:
    """Tell whether the log of a removed job has to be told of its end."""
    return job.status == JobStatus.REMOVED and not job.ad.boolean("JobAbortEventLogged")
