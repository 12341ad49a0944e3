"""Which attributes a job has at hand beside its ad, and how they are read out of it.

What most of a cluster's jobs have in common is read once, of the cluster's ad (`Shared`).
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.classad.state import FAULT
from kettle.classad.text import read_count
from kettle.policy.job_owner import user_of
from kettle.schedd.queue.jobs import NO_PRIORITY, Cluster, Job, Priority, Shared

# Attributes whose values a `Job` keeps at hand.
KEPT = frozenset(
    (
        "jobstatus",
        "jobuniverse",
        "user",
        "owner",
        "accountinggroup",
        "niceuser",
        "jobprio",
        "prejobprio1",
        "prejobprio2",
        "postjobprio1",
        "postjobprio2",
        "qdate",
    )
)

# A job's own attributes of these kinds are read one by one; what else is kept, its cluster says.
_OFTEN_OWN = frozenset(("jobstatus", "qdate"))
_NOT_SHARED = KEPT - _OFTEN_OWN
# The one that changes alone, and often.
STATUS = frozenset(("jobstatus",))


def read_kept(job: Job, clusters: Mapping[int, Cluster], uid_domain: str) -> None:
    """Take the kept attributes out of a job's ad.

    What is in the log already must not stop what is behind it, nor the next start: where
    something raises the job keeps what was known of it.
    """
    try:
        _read_all(job, clusters, uid_domain)
    except FAULT:
        raw = job.ad.table.get("jobstatus")
        job.status = job.status or small_status(read_count(raw) if isinstance(raw, str) else None)
        job.user = job.user or f"{job.owner}@{uid_domain}"
        job.submitter = job.submitter or job.user


def _read_all(job: Job, clusters: Mapping[int, Cluster], uid_domain: str) -> None:
    own = job.ad.table
    cluster = clusters[job.id.cluster]
    shared = cluster.shared
    if shared is None:
        shared = cluster.shared = _share(cluster.ad, uid_domain)
    said = shared if _NOT_SHARED.isdisjoint(own) else _share(job.ad, uid_domain)
    job.universe, job.owner, job.user = said.universe, said.owner, said.user
    job.submitter, job.priority = said.submitter, said.priority
    job.status = _number(own.get("jobstatus"), job.ad, "JobStatus", shared.status)
    job.status = small_status(job.status)
    job.submitted_at = _number(own.get("qdate"), job.ad, "QDate", shared.submitted_at)


def _share(ad: ClassAd, uid_domain: str) -> Shared:
    user = user_of(ad, uid_domain)
    group = ad.string("AccountingGroup")
    submitter = f"{group}@{uid_domain}" if group else user
    if not group and ad.boolean("NiceUser"):
        submitter = f"nice-user.{user}"
    return Shared(
        status=ad.integer("JobStatus") or 0,
        universe=ad.integer("JobUniverse") or JobUniverse.VANILLA,
        owner=ad.string("Owner") or "",
        user=user,
        submitter=submitter,
        priority=_priority(ad),
        submitted_at=ad.integer("QDate") or 0,
    )


def read_own_status(ad: ClassAd) -> int:
    """Return the status that a job's own ad says; the FAULT of one that cannot be read."""
    return small_status(_number(ad.table["jobstatus"], ad, "JobStatus", 0))


def small_status(status: int | None) -> int:
    """Return a status that the indices have; what is none counts as waiting."""
    return status if status is not None and 0 <= status <= 10 else JobStatus.IDLE


def _number(own: object, ad: ClassAd, name: str, shared: int) -> int:
    """Return an integer attribute, without parsing what is plainly one."""
    if own is None:
        return shared
    plain = read_count(own) if isinstance(own, str) else None
    if plain is not None:
        return plain
    return ad.integer(name) or 0


def _priority(ad: ClassAd) -> Priority:
    found = (
        -(ad.integer("PreJobPrio1") or 0),
        -(ad.integer("PreJobPrio2") or 0),
        -(ad.integer("JobPrio") or 0),
        -(ad.integer("PostJobPrio1") or 0),
        -(ad.integer("PostJobPrio2") or 0),
    )
    return found if any(found) else NO_PRIORITY
