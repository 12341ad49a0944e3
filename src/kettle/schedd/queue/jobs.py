"""Jobs and clusters as the queue has them in memory: their ads, and what is asked of them often.

What is kept beside an ad is read in `kept_attributes.py`; the tables of all are `job_table.py`.

Limit: memory is meant for 100,000 jobs in 300 MB, so a job has few objects of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd
from kettle.schedd.queue.job_ids import JobId

# Pre-priorities, JobPrio, post-priorities, each negated.
Priority = tuple[int, int, int, int, int]
NO_PRIORITY: Priority = (0, 0, 0, 0, 0)

# What Managed says of a job that another manager runs.
EXTERNAL = "External"


@dataclass(slots=True, eq=False)
class Job:
    """One job: its ad and what is asked of it so often that it is kept beside the ad."""

    id: JobId
    ad: ClassAd
    status: int = 0
    universe: int = JobUniverse.VANILLA
    owner: str = ""
    user: str = ""
    # Whose fair share it uses: the accounting group's or the user's name with the domain.
    submitter: str = ""
    # What orders a submitter's jobs; smaller runs first. One object for all alike.
    priority: Priority = NO_PRIORITY
    submitted_at: int = 0
    autocluster: int = 0
    # Whether the history has it: it is only in the queue until that is on disk.
    recorded: bool = False

    @property
    def is_external(self) -> bool:
        """Whether another manager runs it."""
        return "Managed" in self.ad and self.ad.string("Managed") == EXTERNAL

    @property
    def waits(self) -> bool:
        """Whether it may be started here: it is idle, and nobody else's."""
        return self.status == JobStatus.IDLE and not self.is_external

    @property
    def age(self) -> tuple[int, int, int]:
        """What orders jobs of one priority; smaller runs first."""
        return self.submitted_at, self.id.cluster, self.id.proc


@dataclass(frozen=True, slots=True)
class Shared:
    """What a cluster's jobs have at hand, unless their own ads say otherwise."""

    status: int
    universe: int
    owner: str
    user: str
    submitter: str
    priority: Priority
    submitted_at: int


@dataclass(slots=True, eq=False)
class Cluster:
    """What a cluster's jobs have in common."""

    id: int
    ad: ClassAd
    procs: dict[int, Job] = field(default_factory=dict)
    # What the cluster's ad says of the kept attributes; None if it has to be read again.
    shared: Shared | None = None
