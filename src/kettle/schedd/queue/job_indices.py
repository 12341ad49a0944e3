"""Where the queue's jobs are found, and how many there are: by status, user and submitter.

The queue asks (`applying`) when jobs come, go or change; what is kept is each job's `status`,
`user`, `submitter` and `universe` as they were read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from kettle.attributes.codes import JobUniverse
from kettle.schedd.queue.job_ids import JobId


class Indexed(Protocol):
    """What is looked at of a job."""

    id: JobId
    status: int
    universe: int
    user: str
    submitter: str


Job = TypeVar("Job", bound=Indexed)


class Tally:
    """How many jobs of each status there are: for one submitter, in one kind of universe."""

    __slots__ = ("by_status",)

    def __init__(self) -> None:
        self.by_status = [0] * 11

    def __getitem__(self, status: int) -> int:
        return self.by_status[status]

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.by_status)


class JobIndices(Generic[Job]):
    """The jobs of a queue under what is asked of them."""

    def __init__(self) -> None:
        self.by_status: dict[int, dict[JobId, Job]] = {status: {} for status in range(11)}
        # (submitter, universe) → tally, user → all of the user's jobs, and their tallies: of those
        # of the scheduler universe (True) and of all others.
        self.tallies: dict[tuple[str, int], Tally] = {}
        self.by_user: dict[str, dict[JobId, Job]] = {}
        self.user_tallies: dict[tuple[str, bool], Tally] = {}

    def add(self, job: Job) -> None:
        """Put a job where it belongs."""
        self.by_status[job.status][job.id] = job
        jobs = self.by_user.get(job.user)
        if jobs is None:
            jobs = self.by_user[job.user] = {}
        jobs[job.id] = job
        self.user_tallies.setdefault(_side_of(job), Tally()).by_status[job.status] += 1
        tally = self.tallies.get((job.submitter, job.universe))
        if tally is None:
            tally = self.tallies[job.submitter, job.universe] = Tally()
        tally.by_status[job.status] += 1

    def remove(self, job: Job) -> None:
        """Take a job out of where it is, as it was read the last time."""
        self.by_status[job.status].pop(job.id, None)
        jobs = self.by_user.get(job.user)
        if jobs is not None and jobs.pop(job.id, None) is not None:
            self.user_tallies[_side_of(job)].by_status[job.status] -= 1
            if not jobs:
                del self.by_user[job.user]
                for beside in (False, True):
                    self.user_tallies.pop((job.user, beside), None)
        tally = self.tallies.get((job.submitter, job.universe))
        if tally is not None:
            # A submitter without jobs stays in the table, so that its ad is taken back.
            tally.by_status[job.status] -= 1

    def move(self, job: Job, status: int) -> None:
        """Put a job of which only the status has changed where it belongs now."""
        before = job.status
        job.status = status
        self.by_status[before].pop(job.id, None)
        self.by_status[status][job.id] = job
        self._count_moved(_side_of(job), (job.submitter, job.universe), before, status, 1)

    def move_all(self, jobs: Iterable[Job], status: int) -> None:
        """Put jobs of which only the status has changed, to the same one, where they belong now."""
        by_status, there = self.by_status, self.by_status[status]
        counts: dict[tuple[tuple[str, bool], tuple[str, int], int], int] = {}
        for job in jobs:
            before = job.status
            by_status[before].pop(job.id, None)
            there[job.id] = job
            job.status = status
            kind = _side_of(job), (job.submitter, job.universe), before
            counts[kind] = counts.get(kind, 0) + 1
        for (side, submitter, before), count in counts.items():
            self._count_moved(side, submitter, before, status, count)

    def _count_moved(
        self,
        side: tuple[str, bool],
        submitter: tuple[str, int],
        before: int,
        status: int,
        count: int,
    ) -> None:
        own = self.user_tallies[side].by_status
        own[before] -= count
        own[status] += count
        tally = self.tallies.get(submitter)
        if tally is None:
            tally = self.tallies[submitter] = Tally()
        else:
            tally.by_status[before] -= count
        tally.by_status[status] += count


def _side_of(job: Indexed) -> tuple[str, bool]:
    """Return which of its user's tallies a job is counted in."""
    return job.user, job.universe == JobUniverse.SCHEDULER
