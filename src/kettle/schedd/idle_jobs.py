"""The jobs that wait for a machine, in the order in which they should get one.

Kept beside the queue and changed with every commit, so that a negotiation or a freed claim never
looks through all jobs. Jobs of one submitter, one priority and one autocluster share a bucket; a
job whose claim is being requested is set aside until that is decided.

Compat: jobs of one priority are grouped by autocluster wherever they stand in the queue, while
the reference groups neighbours only; within a group the older job goes first (test_idle_jobs).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.matchmaking.autoclusters import AutoClusters
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import JobQueue
from kettle.schedd.queue.jobs import Job, Priority

# Universes whose jobs the negotiator finds machines for. A parallel job needs several at once,
# which nothing here gathers: one that comes (condor_submit refuses it, S011) is idle for ever, as
# in a pool of HTCondor without dedicated machines.
MATCHED_UNIVERSES = frozenset(
    (
        int(JobUniverse.VANILLA),
        int(JobUniverse.JAVA),
        int(JobUniverse.VM),
    )
)


@dataclass(slots=True, eq=False)
class Bucket:
    """Idle jobs alike: one submitter, one priority, one autocluster."""

    submitter: str
    priority: Priority
    autocluster: int
    live: dict[JobId, Job] = field(default_factory=dict)
    # What each of them counts for in fair share, once somebody has asked.
    weight: float | None = None
    # Jobs that came in the order of their ages, and the age of the last of them; the ages of those
    # that came behind younger ones. Who is no longer live is dropped when he comes to the front.
    _line: deque[JobId] = field(default_factory=deque)
    _youngest: tuple[int, ...] = ()
    _late: list[tuple[int, int, int]] = field(default_factory=list)

    def add(self, job: Job) -> None:
        """Take a job in."""
        self.live[job.id] = job
        age = job.age
        if age > self._youngest:
            self._line.append(job.id)
            self._youngest = age
        else:
            heapq.heappush(self._late, age)

    def first(self) -> Job | None:
        """Return the oldest job."""
        live, line, late = self.live, self._line, self._late
        oldest: Job | None = None
        while line and (oldest := live.get(line[0])) is None:
            line.popleft()
        while late:
            _, cluster, proc = late[0]
            job = live.get(JobId(cluster, proc))
            if job is not None:
                return job if oldest is None or late[0] < oldest.age else oldest
            heapq.heappop(late)
        return oldest

    @property
    def rank(self) -> tuple[Priority, tuple[int, ...]]:
        """What orders buckets: priority, then the age of the oldest job."""
        first = self.first()
        return self.priority, () if first is None else first.age


class IdleJobs:
    """All idle jobs that want a match."""

    def __init__(self, queue: JobQueue, autoclusters: AutoClusters) -> None:
        self._queue = queue
        self.autoclusters = autoclusters
        self._generation = autoclusters.generation
        self._buckets: dict[str, dict[tuple[Priority, int], Bucket]] = {}
        self._place: dict[JobId, Bucket] = {}
        # Jobs with a claim under way: they are idle, but need no further match.
        self._reserved: set[JobId] = set()
        # Those of them that do not run yet, or rest, each with what it counts for, once asked.
        self._matched: dict[JobId, float | None] = {}
        # Users none of whose jobs can be started just now.
        self._aside: set[str] = set()
        # Significant attributes in lower case, and the autocluster of clusters without own ones.
        self._significant: frozenset[str] = frozenset()
        self._of_cluster: dict[int, int] = {}
        self.rebuild()
        queue.observe(self.on_changes)

    def __len__(self) -> int:
        return len(self._place)

    def submitters(self) -> Iterable[str]:
        """Return whoever has idle jobs."""
        return self._buckets.keys()

    def count(self, submitter: str) -> int:
        """Return how many jobs of a submitter wait."""
        return sum(len(bucket.live) for bucket in self._buckets.get(submitter, {}).values())

    def weigh(
        self,
        weight: Callable[[ClassAd], float],
        whose: Callable[[Job], str] = attrgetter("submitter"),
    ) -> dict[str, float]:
        """Return what everybody's waiting jobs count for; of alike jobs the oldest is asked.

        `whose` says who is everybody: submitters, or users. Limit: users whose jobs are alike, in
        one accounting group, count as one of them.
        """
        totals: dict[str, float] = {}
        for bucket in (one for buckets in self._buckets.values() for one in buckets.values()):
            job = bucket.first()
            if job is None:
                continue
            if bucket.weight is None:
                bucket.weight = weight(job.ad)
            name = whose(job)
            totals[name] = totals.get(name, 0.0) + len(bucket.live) * bucket.weight
        for job_id, each in self._matched.items():
            matched = self._queue.jobs.get(job_id)
            if matched is None:
                continue
            if each is None:
                # The table may be walked meanwhile: it has this name already.
                each = self._matched[job_id] = weight(matched.ad)
            name = whose(matched)
            totals[name] = totals.get(name, 0.0) + each
        return totals

    def forget_weights(self) -> None:
        """Let jobs be weighed anew."""
        for buckets in self._buckets.values():
            for bucket in buckets.values():
                bucket.weight = None
        self._matched = dict.fromkeys(self._matched)

    # -- asking -----------------------------------------------------------------------------

    def buckets(self, submitter: str) -> list[Bucket]:
        """Return a submitter's groups of jobs, best first."""
        return sorted(self._buckets.get(submitter, {}).values(), key=lambda bucket: bucket.rank)

    def next_job(
        self, submitter: str, autocluster: int, fits: Callable[[Job], bool] | None = None
    ) -> Job | None:
        """Return the best waiting job of a submitter and autocluster."""
        for bucket in self.buckets(submitter):
            if bucket.autocluster != autocluster:
                continue
            job = bucket.first()
            if job is not None and (fits is None or fits(job)):
                return job
        return None

    def next_fitting(self, submitter: str, fits: Callable[[Job], bool]) -> Job | None:
        """Return the best waiting job of a submitter that fits; alike jobs are asked once."""
        for bucket in self.buckets(submitter):
            job = bucket.first()
            if job is not None and fits(job):
                return job
        return None

    def is_waiting(self, job: JobId) -> bool:
        """Tell whether a job waits and is not set aside."""
        return job in self._place

    def autocluster_of(self, job: Job) -> int:
        """Return a job's autocluster, whatever its status."""
        number = self._assign(job)
        if self.autoclusters.generation != self._generation:
            self.rebuild()
            number = self._assign(job)
        return number

    def was_edited(self, changes: Changes) -> bool:
        """Tell whether a commit changed what a waiting job asks for: it may fit a slot now."""
        last: set[str] = set()
        meant = False
        for job_id, names in changes.changed.items():
            # Jobs that were changed alike have one set.
            if names is not last:
                last, meant = names, not self._significant.isdisjoint(names)
            if meant and job_id in self._place:
                return True
        return False

    # -- changing ---------------------------------------------------------------------------

    def request(self, names: Iterable[str]) -> None:
        """Take over what a negotiator finds significant."""
        if self.autoclusters.request(names):
            self.rebuild()

    def reserve(self, job: Job) -> None:
        """Set a job aside: a claim for it is under way."""
        self._reserved.add(job.id)
        if job.status == JobStatus.IDLE:
            self._matched[job.id] = None
        self._take_out(job.id)

    def unreserve(self, job_id: JobId) -> None:
        """Let a job wait again, if it is still idle."""
        self._reserved.discard(job_id)
        self._matched.pop(job_id, None)
        job = self._queue.jobs.get(job_id)
        if job is not None:
            self._put_in(job)

    def set_aside(self, user: str) -> None:
        """Let no job of a user be matched until they are taken back."""
        self._aside.add(user)
        for job in self._queue.by_user.get(user, {}).values():
            self._take_out(job.id)

    def take_back(self, user: str) -> None:
        """Let the idle jobs of a user wait again."""
        self._aside.discard(user)
        for job in self._queue.by_user.get(user, {}).values():
            self._put_in(job)

    def rebuild(self) -> None:
        """Sort all idle jobs anew, after a change of what is significant."""
        while True:
            self._generation = self.autoclusters.generation
            self._significant = frozenset(name.lower() for name in self.autoclusters.attributes)
            self._of_cluster.clear()
            self._buckets.clear()
            self._place.clear()
            for job in list(self._queue.by_status[JobStatus.IDLE].values()):
                self._put_in(job, learn_only=True)
            if self.autoclusters.generation == self._generation:
                return

    def on_changes(self, changes: Changes) -> None:
        """Follow a commit of the queue."""
        for job in changes.gone:
            self._take_out(job.id)
            self._reserved.discard(job.id)
            self._matched.pop(job.id, None)
        for cluster in changes.gone_clusters:
            self._of_cluster.pop(cluster.id, None)
        for job in changes.new:
            self._put_in(job)
        there = self._queue.jobs.get
        for job_id, names in changes.changed.items():
            changed = there(job_id)
            if changed is None or changed.status != JobStatus.IDLE:
                if self._matched:
                    self._matched.pop(job_id, None)
                self._take_out(job_id)
                continue
            if job_id in self._reserved:
                self._matched[job_id] = None
                continue
            if (
                job_id in changes.status_before
                or "managed" in names
                or not self._significant.isdisjoint(names)
            ):
                self._of_cluster.pop(job_id.cluster, None)
                self._take_out(job_id)
                self._put_in(changed)
        if self.autoclusters.generation != self._generation:
            self.rebuild()

    # -- placing ----------------------------------------------------------------------------

    def _assign(self, job: Job) -> int:
        """Return the autocluster; jobs that differ from their cluster in nothing share its."""
        if not self._significant.isdisjoint(job.ad.table):
            return self.autoclusters.assign(job.ad)
        cluster = job.id.cluster
        number = self._of_cluster.get(cluster)
        if number is None:
            number = self.autoclusters.assign(job.ad)
            if self.autoclusters.generation == self._generation:
                self._of_cluster[cluster] = number
        return number

    def _put_in(self, job: Job, *, learn_only: bool = False) -> None:
        if (
            not job.waits
            or job.universe not in MATCHED_UNIVERSES
            or job.id in self._reserved
            or job.id in self._place
            or job.user in self._aside
        ):
            return
        number = self._assign(job)
        job.autocluster = number
        if learn_only and self.autoclusters.generation != self._generation:
            # Everything is sorted anew in a moment.
            return
        buckets = self._buckets.setdefault(job.submitter, {})
        bucket = buckets.get((job.priority, number))
        if bucket is None:
            bucket = Bucket(job.submitter, job.priority, number)
            buckets[job.priority, number] = bucket
        bucket.add(job)
        self._place[job.id] = bucket

    def _take_out(self, job_id: JobId) -> None:
        bucket = self._place.pop(job_id, None)
        if bucket is None:
            return
        bucket.live.pop(job_id, None)
        if bucket.live:
            return
        buckets = self._buckets[bucket.submitter]
        del buckets[bucket.priority, bucket.autocluster]
        if not buckets:
            del self._buckets[bucket.submitter]
