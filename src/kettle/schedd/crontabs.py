"""Jobs that run by the clock: the one writer of a CronTab job's DeferralTime.

A job with a cron attribute gets its next time when it begins to wait: as it is submitted, when a
run has ended or failed, when it is released, and when its fields are edited. A time that passed
while it waited is replaced by the next one (`renew_passed`). Fields that are no schedule hold it.
What the fields mean is `kettle.policy.crontab`'s. Source: manual, CronTab scheduling; R065.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.classad import ClassAd
from kettle.matchmaking.autoclusters import AutoClusters
from kettle.policy.crontab import RANGES, CronTabError, read_crontab
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job

_NAMES = frozenset(name.lower() for name in RANGES)

# How a job goes on hold: the scheduler's `hold`.
Hold = Callable[[Job, str, int], None]


class CronTabs:
    """The queue's CronTab jobs."""

    def __init__(
        self, queue: JobQueue, autoclusters: AutoClusters, hold: Hold, now: Callable[[], int]
    ) -> None:
        self._queue = queue
        self._autoclusters = autoclusters
        self._hold = hold
        self._now = now
        self._jobs: set[JobId] = set()

    def renew_all(self) -> None:
        """Find the CronTab jobs, and calculate anew when those that wait run next."""
        self._jobs.clear()
        for cluster in self._queue.clusters.values():
            self._jobs.update(_by_clock(cluster.procs.values(), all_of_them=_is_cron(cluster.ad)))
        self._renew(list(self._jobs))

    def renew_passed(self) -> None:
        """Calculate anew where the time and its window have passed while the job waited."""
        now = self._now()
        self._renew([job for job in self._jobs if self._has_passed(job, now)])

    def on_changes(self, changes: Changes) -> None:
        """Follow a commit; it may commit something itself."""
        due: list[JobId] = []
        if changes.new:
            of_cluster: dict[int, list[Job]] = {}
            for job in changes.new:
                of_cluster.setdefault(job.id.cluster, []).append(job)
            for jobs in of_cluster.values():
                shared = jobs[0].ad.parent
                due += _by_clock(jobs, all_of_them=shared is not None and _is_cron(shared))
        for job_id, names in changes.changed.items():
            if not names.isdisjoint(_NAMES) or (
                job_id in self._jobs and job_id in changes.status_before
            ):
                due.append(job_id)
        if self._jobs:
            self._jobs.difference_update(job.id for job in changes.gone)
        if due:
            self._jobs.update(due)
            self._renew(due)

    def _has_passed(self, job_id: JobId, now: int) -> bool:
        job = self._queue.jobs.get(job_id)
        if job is None or job.status != JobStatus.IDLE:
            return False
        window = job.ad.integer("DeferralWindow") or 0
        return now > (job.ad.integer("DeferralTime") or 0) + window

    def _renew(self, jobs: Iterable[JobId]) -> None:
        for job_id in jobs:
            job = self._queue.jobs.get(job_id)
            if job is None or not _is_cron(job.ad):
                self._jobs.discard(job_id)
            elif job.status == JobStatus.IDLE:
                self._set_time(job)

    def _set_time(self, job: Job) -> None:
        """Commit when a waiting job runs next, or hold it."""
        given = {name: job.ad.string(name) for name in RANGES}
        try:
            schedule = read_crontab(
                {name: text for name, text in given.items() if text is not None}
            )
            moment = schedule.next_time(self._now())
        except CronTabError as error:
            reason = f"Invalid cron schedule parameters: {error}"
            self._hold(job, reason, int(HoldReasonCode.InvalidCronSettings))
            return
        # Requirements were read while the job had no such attribute: negotiators need it now.
        self._autoclusters.learn("DeferralTime")
        if job.ad.integer("DeferralTime") != moment:
            self._queue.update(job.id, {"DeferralTime": str(moment)})


def _by_clock(jobs: Iterable[Job], *, all_of_them: bool) -> list[JobId]:
    """Return those of a cluster's jobs that have cron attributes; all if their cluster has."""
    return [job.id for job in jobs if all_of_them or not job.ad.table.keys().isdisjoint(_NAMES)]


def _is_cron(ad: ClassAd) -> bool:
    """Tell whether an ad has a cron attribute, itself or by its cluster."""
    return any(name in ad for name in _NAMES)
