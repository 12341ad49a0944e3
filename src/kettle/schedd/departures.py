"""How a job leaves the queue: the last attributes, and the records that take it out.

Pure. The order matters and is the caller's to keep: first the final status is committed, then the
history record is written, then the ad is destroyed. A crash in between leaves a finished job in
the queue, which the next start finishes without running it again or recording it twice.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.records import history
from kettle.schedd.queue.job_ids import CLUSTER_PROC, PRIVATE_PROC, key_of
from kettle.schedd.queue.job_queue import Cluster, Job, JobQueue
from kettle.schedd.queue.transaction import Transaction
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


class HistoryRecords:
    """Records of jobs that leave together; what those of a cluster have in common is rendered once.

    `left_out` are attributes, in lower case, that a history is not to keep. To be used for the jobs
    of one moment: what it remembers of a cluster, the cluster's ad may say otherwise later.
    """

    def __init__(self, left_out: AbstractSet[str] = frozenset()) -> None:
        self._left_out = left_out
        # (cluster, the job's own names) → what stands before each of its own texts, and at the end.
        self._layouts: dict[tuple[int, tuple[str, ...]], _Layout] = {}

    def render_ad(self, job: Job) -> str:
        """Return a finished job's lines, in the order of their names."""
        table = job.ad.table
        key = (job.id.cluster, tuple(job.ad.own_names()))
        layout = self._layouts.get(key)
        if layout is None:
            layout = self._layouts[key] = self._make_layout(job)
        own, end = layout
        pieces: list[str] = []
        for before, name in own:
            text = table[name]
            pieces += (before, text if isinstance(text, str) else text.text(old=True))
        pieces.append(end)
        return "".join(pieces)

    def render(self, job: Job, offset: int, now: int) -> bytes:
        """Return the record of a finished job for a history file that has `offset` bytes."""
        completed = job.ad.integer("CompletionDate") or 0
        banner = history.render_banner(
            offset=offset,
            cluster=job.id.cluster,
            proc=job.id.proc,
            owner=job.owner,
            completed=completed if completed > 0 else -1,
            now=now,
        )
        return (self.render_ad(job) + banner).encode("utf-8", "surrogateescape")

    def _make_layout(self, job: Job) -> _Layout:
        ad, own, before = job.ad, [], ""
        for name in sorted(ad.names(), key=str.lower):
            lower = name.lower()
            if is_private_attribute(name) or lower in self._left_out:
                continue
            if lower in ad.table:
                own.append((f"{before}{name} = ", lower))
                before = "\n"
            else:
                before += f"{name} = {ad.text(name)}\n"
        return own, before


# The text before each of a job's own values, with that value's name in lower case; the last text.
_Layout = tuple[list[tuple[str, str]], str]


def epoch_record(kind: str, job: Job, now: int, left_out: AbstractSet[str] = frozenset()) -> bytes:
    """Return the record of a run of a job: SPAWN when it begins, EPOCH when it has ended.

    Runs are counted from 0. Of a beginning only the names are recorded. `left_out` as in
    `history_record`.
    """
    ad, run = job.ad, max(0, (job.ad.integer("NumShadowStarts") or 0) - 1)
    banner = history.render_epoch_banner(
        kind, cluster=job.id.cluster, proc=job.id.proc, run=run, owner=job.owner, now=now
    )
    head = [f'EpochAdType = "{kind}"', f"RunInstanceID = {run}", f"EpochWriteDate = {now}"]
    if kind == "EPOCH":
        return history.render_record([*head, *_public_lines(ad, left_out)], banner)
    rest = [f"{name} = {ad.text(name)}" for name in _NAMES if name in ad]
    return history.render_record(head + rest, banner)


def _public_lines(ad: ClassAd, left_out: AbstractSet[str]) -> list[str]:
    """Return the lines of an ad without its secrets, and without what is not to be kept."""
    named = ((line, line.partition(" ")[0]) for line in ad.lines())
    return [
        line
        for line, name in named
        if not is_private_attribute(name) and name.lower() not in left_out
    ]


_NAMES = ("ClusterId", "ProcId", "Owner", "NumShadowStarts", "GlobalJobId")
