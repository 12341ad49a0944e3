"""What a run leaves in STARTD_HISTORY beside the job's ad and its starter's last words.

Pure. Source: records of real startds, of jobs that completed, were held, vacated and removed: each
run counts as completed there, whatever becomes of its job.
"""

from __future__ import annotations

from kettle.attributes.codes import JobStatus, VacateReasonCode
from kettle.classad import ClassAd

# What starter and shadow have told us, and shadow and starter each other: no part of the record.
PASSING = frozenset(("ShadowIpAddr", "ShadowVersion", "Stays", "UidDomain"))

_FOR_BETTER_ONES = frozenset(
    (
        VacateReasonCode.StartdPreemptExpression,
        VacateReasonCode.StartdPreemptingClaimRank,
        VacateReasonCode.StartdPreemptingClaimUserPrio,
    )
)


def run_record(job: ClassAd, final: ClassAd | None, now: int) -> ClassAd:
    """Return the record of a run that ended now; `final` is empty where the starter died."""
    record = ClassAd(parent=job) if final is None else final.copy()
    record.parent = job
    reason = record.integer("VacateReasonCode") if final is not None else None
    record["JobStatus"] = int(JobStatus.COMPLETED)
    record["CompletionDate"] = now
    began = job.integer("JobCurrentStartDate")
    if began is not None:
        record["RemoteWallClockTime"] = max(0, now - began)
    if final is not None:
        record["StarterExitStatus"] = 0
    record["BadputCausedByDraining"] = reason == VacateReasonCode.StartdDraining
    record["BadputCausedByPreemption"] = reason in _FOR_BETTER_ONES
    return record
