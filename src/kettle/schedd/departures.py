"""How a job leaves the queue: whether it may, and the changes that take it out.

Pure. The order matters and is the caller's to keep: first the final status is committed, then the
history record (`job_records`) is written and synced, then the ad is destroyed. A crash in between
leaves a finished job in the queue, which the next start finishes without running it again or
recording it twice. Its log has its last event before any of that.
"""

from __future__ import annotations

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.schedd.job_machine import FINISHED
from kettle.schedd.queue.job_ids import CLUSTER_PROC, PRIVATE_PROC, key_of
from kettle.schedd.queue.job_queue import Cluster, Job, JobQueue
from kettle.schedd.queue.transaction import Transaction

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
    """Tell whether a job that was completed until now was on its way out: its log has its end."""
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
