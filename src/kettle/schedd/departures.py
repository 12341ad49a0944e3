"""How a job leaves the queue: the last attributes, and the records that take it out.

Pure. The order matters and is the caller's to keep: first the final status is committed, then the
history record is written, then the ad is destroyed. A crash in between leaves a finished job in
the queue, which the next start finishes without running it again or recording it twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.records import history
from kettle.schedd.job_ids import CLUSTER_PROC, PRIVATE_PROC, key_of
from kettle.schedd.job_queue import Cluster, Job, JobQueue
from kettle.schedd.transaction import Transaction
from kettle.wire.codec import is_private_attribute


def may_leave(job: Job) -> bool:
    """Tell whether a finished job goes now, or stays because LeaveJobInQueue says so."""
    return job.status in {JobStatus.COMPLETED, JobStatus.REMOVED} and not job.ad.boolean(
        "LeaveJobInQueue"
    )


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


def history_record(
    job: Job, offset: int, now: int, left_out: AbstractSet[str] = frozenset()
) -> bytes:
    """Return the record of a finished job for a history file that has `offset` bytes.

    `left_out` are attributes, in lower case, that a history is not to keep.
    """
    completed = job.ad.integer("CompletionDate") or 0
    banner = history.render_banner(
        offset=offset,
        cluster=job.id.cluster,
        proc=job.id.proc,
        owner=job.owner,
        completed=completed if completed > 0 else -1,
        now=now,
    )
    return history.render_record(_lines(job, left_out), banner)


def render_ad(job: Job, left_out: AbstractSet[str] = frozenset()) -> str:
    """Return a finished job's ad as a file of its own."""
    return "".join(f"{line}\n" for line in _lines(job, left_out))


def _lines(job: Job, left_out: AbstractSet[str]) -> Iterator[str]:
    ad = job.ad
    for name in sorted(ad.names(), key=str.lower):
        if not is_private_attribute(name) and name.lower() not in left_out:
            yield f"{name} = {ad.text(name)}"


def epoch_record(kind: str, job: Job, now: int) -> bytes:
    """Return the record of a run of a job: SPAWN when it begins, EPOCH when it has ended.

    Runs are counted from 0. Of a beginning only the names are recorded.
    """
    ad, run = job.ad, max(0, (job.ad.integer("NumShadowStarts") or 0) - 1)
    banner = history.render_epoch_banner(
        kind, cluster=job.id.cluster, proc=job.id.proc, run=run, owner=job.owner, now=now
    )
    head = [f'EpochAdType = "{kind}"', f"RunInstanceID = {run}", f"EpochWriteDate = {now}"]
    if kind == "EPOCH":
        return history.render_record([*head, *_public_lines(ad)], banner)
    rest = [f"{name} = {ad.text(name)}" for name in _NAMES if name in ad]
    return history.render_record(head + rest, banner)


def _public_lines(ad: ClassAd) -> list[str]:
    """Return the lines of an ad without its secrets."""
    return [line for line in ad.lines() if not is_private_attribute(line.partition(" ")[0])]


_NAMES = ("ClusterId", "ProcId", "Owner", "NumShadowStarts", "GlobalJobId")
