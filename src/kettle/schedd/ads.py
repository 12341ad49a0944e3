"""The ads a schedd publishes: its own, and one for each submitter with jobs.

Pure: counts in, attributes out, under HTCondor's names. When they are sent is `services.ads`'
business. Source: wire notes, what the schedd must publish.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.classad.values import saturate_integer
from kettle.schedd.idle_jobs import MATCHED_UNIVERSES
from kettle.schedd.queue.job_queue import JobQueue

_RUNNING = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED)


@dataclass(slots=True)
class SubmitterCounts:
    """A submitter's jobs: those that machines are found for, and those beside the schedd."""

    idle: int = 0
    running: int = 0
    held: int = 0
    local_idle: int = 0
    local_running: int = 0
    scheduler_idle: int = 0
    scheduler_running: int = 0
    # The same by what they count for in fair share.
    weighted_idle: float = 0.0
    weighted_running: float = 0.0
    # Jobs that run in other pools than the one that is told.
    flocked: int = 0
    all: int = 0


def count_submitters(queue: JobQueue) -> dict[str, SubmitterCounts]:
    """Return the counts of every submitter that has, or ever had, a job."""
    found: dict[str, SubmitterCounts] = {}
    for (submitter, universe), tally in queue.tallies.items():
        counts = found.setdefault(submitter, SubmitterCounts())
        running = sum(tally[status] for status in _RUNNING)
        counts.all += tally.total
        if universe in MATCHED_UNIVERSES:
            counts.idle += tally[JobStatus.IDLE]
            counts.running += running
        elif universe == JobUniverse.LOCAL:
            counts.local_idle += tally[JobStatus.IDLE]
            counts.local_running += running
        elif universe == JobUniverse.SCHEDULER:
            counts.scheduler_idle += tally[JobStatus.IDLE]
            counts.scheduler_running += running
        counts.held += tally[JobStatus.HELD]
    return found


def submitter_ad(name: str, counts: SubmitterCounts, schedd_name: str, address: str) -> ClassAd:
    """Return the ad of one submitter; WantResAd says that we ask with lists of requests."""
    return ClassAd(
        {
            "MyType": "Submitter",
            "Name": name,
            "ScheddName": schedd_name,
            "ScheddIpAddr": address,
            "MyAddress": address,
            "SubmitterTag": "",
            "WantResAd": True,
            "IdleJobs": counts.idle,
            "RunningJobs": counts.running,
            "HeldJobs": counts.held,
            "FlockedJobs": counts.flocked,
            # The reference writes this one as a whole number.
            "WeightedIdleJobs": saturate_integer(counts.weighted_idle),
            "WeightedRunningJobs": counts.weighted_running,
            "LocalJobsIdle": counts.local_idle,
            "LocalJobsRunning": counts.local_running,
            "SchedulerJobsIdle": counts.scheduler_idle,
            "SchedulerJobsRunning": counts.scheduler_running,
        }
    )


_UNBOUNDED_KIB = 2**31 - 1


def schedd_ad(queue: JobQueue, schedd_name: str, address: str, most_running: int) -> ClassAd:
    """Return the schedd's own ad without its statistics."""
    local, scheduler = (int(JobUniverse.LOCAL),), (int(JobUniverse.SCHEDULER),)
    matched = MATCHED_UNIVERSES
    users = {submitter for (submitter, _), tally in queue.tallies.items() if tally.total}
    return ClassAd(
        {
            "MyType": "Scheduler",
            "Name": schedd_name,
            "ScheddIpAddr": address,
            "MyAddress": address,
            "JobQueueBirthdate": queue.created,
            "MaxJobsRunning": most_running,
            "NumUsers": len(users),
            "NumOwners": len({name.partition("@")[0] for name in users}),
            "TotalJobAds": len(queue.jobs),
            "TotalIdleJobs": _sum(queue, (JobStatus.IDLE,), matched),
            "TotalRunningJobs": _sum(queue, _RUNNING, matched),
            "TotalHeldJobs": len(queue.by_status[JobStatus.HELD]),
            "TotalRemovedJobs": len(queue.by_status[JobStatus.REMOVED]),
            "TotalFlockedJobs": 0,
            "TotalLocalJobsIdle": _sum(queue, (JobStatus.IDLE,), local),
            "TotalLocalJobsRunning": _sum(queue, _RUNNING, local),
            "TotalSchedulerJobsIdle": _sum(queue, (JobStatus.IDLE,), scheduler),
            "TotalSchedulerJobsRunning": _sum(queue, _RUNNING, scheduler),
            "JobsRunning": sum(queue.count(status) for status in _RUNNING),
            "ShadowsRunning": _sum(queue, _RUNNING, matched),
            "WantResAd": True,
            "SubmitAlwaysCheckCreds": False,
            # Shadows are no processes of their own, so swap bounds none: as RESERVED_SWAP = 0 says.
            "ScheddSwapExhausted": False,
            "VirtualMemory": _UNBOUNDED_KIB,
        }
    )


# Expressions that peers of a schedd evaluate in its ad, and the knobs that they are.
PUBLISHED_EXPRESSIONS = {
    "CurbMatchmaking": "CURB_MATCHMAKING",
    "StartLocalUniverse": "START_LOCAL_UNIVERSE",
    "StartSchedulerUniverse": "START_SCHEDULER_UNIVERSE",
    "TransferQueueUserExpr": "TRANSFER_QUEUE_USER_EXPR",
}


@dataclass(frozen=True, slots=True)
class Work:
    """What waits inside a schedd at one moment, and whom it tells."""

    unmaterialized: int
    starts_delayed: int
    claims_in_contact: int
    claims_in_queue: int
    collectors: str


def add_work(ad: ClassAd, work: Work) -> None:
    """Add what waits to the schedd's own ad."""
    ad["JobsUnmaterialized"] = work.unmaterialized
    ad["NumJobStartsDelayed"] = work.starts_delayed
    ad["NumPendingClaims"] = work.claims_in_contact + work.claims_in_queue
    ad["NumPendingClaimsInContact"] = work.claims_in_contact
    ad["NumPendingClaimsInQueue"] = work.claims_in_queue
    ad["CollectorHost"] = work.collectors


def _sum(queue: JobQueue, statuses: Iterable[JobStatus], universes: Iterable[int]) -> int:
    return sum(queue.count(status, universes=universes) for status in statuses)
