"""What `kettle why` says of a job that a cluster makes later and has not made yet.

Its ad is nowhere: what keeps it are the numbers of its cluster (manual, Late materialization).
"""

from __future__ import annotations

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.client.jobs import query_jobs
from kettle.tools.reach import Reach

# What JobMaterializePaused says of a cluster that makes jobs, and of one that is held.
_MAKING, _HELD = 0, 1
# What the schedd has as limit where the description has none, and not the number of all jobs.
_NO_LIMIT = 2**31 - 1


def describe_unmade(reach: Reach, word: str) -> str:
    """Return why a job that is nowhere has not been made yet; empty if it is none of these.

    `word` is CLUSTER.PROC, or CLUSTER for the next one.
    """
    number, _, proc = word.partition(".")
    constraint = f"ClusterId == {number}"
    for cluster in query_jobs(
        reach.connector,
        reach.schedd().address,
        constraint=constraint,
        IncludeClusterAd=True,
        NoProcAds=True,
    ):
        if "ProcId" not in cluster and "JobMaterializeDigestFile" in cluster:
            return describe_later(cluster, int(proc) if proc else None)
    return ""


def describe_later(cluster: ClassAd, proc: int | None) -> str:
    """Return why a cluster has not made a job yet, None for the next one; empty if it ever did.

    So it is, too, of one that it never will make.
    """
    number = cluster.integer("ClusterId")
    made = cluster.integer("JobMaterializeNextProcId") or 0
    total = cluster.integer("TotalSubmitProcs")
    wanted = made if proc is None else proc
    if wanted < made or (total is not None and wanted >= total):
        return ""
    told = f"It has not been made yet: cluster {number} makes its jobs as there is room for them. "
    if total is None:
        told += f"{made} are made, and how many are to come is not known yet"
    else:
        told += f"{made} of {total} are made, {total - made} are still to come"
    return f"{told}. {_describe_limits(cluster)}"


def _describe_limits(cluster: ClassAd) -> str:
    """Return what keeps a cluster from making more now."""
    number = cluster.integer("ClusterId")
    paused = cluster.integer("JobMaterializePaused") or _MAKING
    why = (cluster.string("JobMaterializePauseReason") or "").rstrip(".")
    if paused == _HELD or cluster.integer("JobStatus") == JobStatus.HELD:
        because = f": {why}" if why else ""
        return f"It makes none while it is held{because}. Then: condor_release {number}"
    if paused != _MAKING:
        because = f": {why}" if why else "; SchedLog says why"
        return f"It makes no more{because}."
    unlimited = min(cluster.integer("TotalSubmitProcs") or _NO_LIMIT, _NO_LIMIT)
    limits = [
        f"{most} {what} ({command})"
        for name, what, command in (
            ("JobMaterializeLimit", "in the queue", "max_materialize"),
            ("JobMaterializeMaxIdle", "idle", "max_idle"),
        )
        if (most := cluster.integer(name)) is not None and 0 <= most < unlimited
    ]
    if not limits:
        return "Nothing limits them but how fast they are made."
    there = " and ".join(limits)
    return f"At most {there} may be there at a time."
