"""How finished jobs leave the queue: whether they may, what is written of them, when they are gone.

The order matters: first the final status is committed, then the history record (`job_records`) is
written and synced, then the ad is destroyed. A crash in between leaves a finished job in the queue,
which the next start finishes without running it again or recording it twice. Its log has its last
event before any of that. Who sees the jobs through these doors, once what they need is on disk, is
`services.departing`. Source: R081.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.schedd.job_machine import FINISHED
from kettle.schedd.outside import Outside
from kettle.schedd.queue.job_ids import CLUSTER_PROC, PRIVATE_PROC, JobId, key_of
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Cluster, Job
from kettle.schedd.queue.transaction import Transaction
from kettle.schedd.queue.user_records import count_departures
from kettle.schedd.rests import Rests, forget_rest

# Limit: jobs of one batch. The last two batches are what a power cut may leave both in the queue
# and in the history; the next start looks through as many records.
MOST_TOGETHER = 500


def may_leave(job: Job) -> bool:
    """Tell whether a finished job goes now, or stays because LeaveJobInQueue says so.

    One whose log had no room for its events stays until they are written, and one that another
    manager has until that is over: it may still bring its end.
    """
    if job.status not in FINISHED or job.is_external:
        return False
    return not job.ad.boolean("LeaveJobInQueue") and not has_unwritten_events(job)


def stays_removed(job: Job) -> bool:
    """Tell whether a removed job stays for no reason but LeaveJobInQueue: its end is news now."""
    if job.status != JobStatus.REMOVED or job.is_external:
        return False
    return job.ad.boolean("LeaveJobInQueue") is True and not has_unwritten_events(job)


def was_leaving(job: Job) -> bool:
    """Tell whether a job that was completed until now was on its way out: its log has its end.

    That of one that an edit had completed has none: nothing says when it ended.
    """
    if not job.ad.integer("CompletionDate"):
        return False
    before = ClassAd({"JobStatus": int(JobStatus.COMPLETED)}, parent=job.ad)
    return not before.boolean("LeaveJobInQueue") or has_unwritten_events(job)


def has_unwritten_events(job: Job) -> bool:
    """Tell whether events of a job wait for room in its log."""
    return SCHEDD_EVENTS in job.ad or SHADOW_EVENTS in job.ad


def plan_departure(transaction: Transaction, queue: JobQueue, job: Job) -> None:
    """Take a job out, and with the last one its cluster."""
    transaction.destroy_ad(key_of(*job.id))
    cluster = queue.clusters.get(job.id.cluster)
    if cluster is None or job.id.proc not in cluster.procs or makes_more(cluster):
        return
    if len(transaction.destroyed_jobs(cluster.id)) >= len(cluster.procs):
        plan_cluster_departure(transaction, queue, cluster)


def plan_cluster_departure(transaction: Transaction, queue: JobQueue, cluster: Cluster) -> None:
    """Take a cluster without jobs out."""
    transaction.destroy_ad(key_of(cluster.id, CLUSTER_PROC))
    private = key_of(cluster.id, PRIVATE_PROC)
    if queue.ad(private) is not None:
        transaction.destroy_ad(private)


# JobMaterializePaused: no further job will be made.
_DONE_MAKING = frozenset((2, 3))


def makes_more(cluster: Cluster) -> bool:
    """Tell whether a cluster may still make jobs."""
    if "JobMaterializeDigestFile" not in cluster.ad:
        return False
    return (cluster.ad.integer("JobMaterializePaused") or 0) not in _DONE_MAKING


class Departures:
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
        if may_leave(job):
            self._rests.forget(job.id)
            forget_rest(job.ad)
            self._outside.departures.begin(job)
        elif stays_removed(job) and _wants_abort_event(job):
            self._outside.departures.begin(job)

    def record(self, jobs: Iterable[Job]) -> Sequence[Job]:
        """Write the last event and the history record of finished jobs, whose status is on disk.

        Returns the jobs that may be taken out once the records are on disk too. A removed job that
        is to stay has its last event, and no record before it leaves. One that the
        history does not take stays, and is tried again by `WaitingPolicy.see_out`.
        """
        there = self._queue.jobs
        present = [job for job in jobs if there.get(job.id) is job]
        finished = [job for job in present if may_leave(job)]
        staying = [job for job in present if stays_removed(job)]
        aborted = self._tell_end((*finished, *staying))
        # A log may have had no room for that.
        ready = [job for job in finished if may_leave(job)]
        now = self._now()
        for job in ready:
            _note_end(job, now)
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
            plan_departure(leaving, self._queue, job)
        if leaving:
            count_departures(leaving, self._queue, gone)
            self._queue.commit(leaving)
        # Not before: one that stays keeps its files, and is mailed of once.
        for job in gone:
            self._outside.records.clean_up(job)


def _note_end(job: Job, now: int) -> None:
    """Say in the ad of a job that leaves when that was."""
    job.ad["JobFinishedHookDone"] = now
    if job.status == JobStatus.COMPLETED and not job.ad.integer("CompletionDate"):
        # An edit completed it.
        job.ad["CompletionDate"] = now


def _wants_abort_event(job: Job) -> bool:
    """Tell whether the log of a removed job has to be told of its end."""
    return job.status == JobStatus.REMOVED and not job.ad.boolean("JobAbortEventLogged")
