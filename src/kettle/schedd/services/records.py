"""What is kept of jobs and their runs, and what is thrown away of those that leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kettle.classad.text import quote_line
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.schedd.run_records import SHADOW_ADDRESS
from kettle.schedd.services.checkpoint_clearing import CheckpointClearing

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.schedd.job_machine import Attributes
    from kettle.schedd.queue.job_ids import JobId
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.mail import Mailer
    from kettle.schedd.services.parts import Schedd


class Records:
    """The records of one schedd; the files are `HistoryFiles`'."""

    def __init__(self, schedd: Schedd, mailer: Mailer) -> None:
        self._schedd = schedd
        self._mailer = mailer
        self._clearing = CheckpointClearing(schedd)

    def run_began(self, job: Job) -> None:
        """Append to the epoch history that a run began."""
        self._schedd.history.append_epoch("SPAWN", job, self._schedd.now())

    def run_ended(self, job: Job, was: Attributes) -> None:
        """Append an ended run to the epoch history; `was` is what the job had otherwise then."""
        schedd = self._schedd
        schedd.trace(job, Step.SETTLED)
        if SHADOW_ADDRESS in was:
            settings = schedd.queue_settings
            was = was | {
                "ShadowVersion": quote_line(settings.version),
                "UidDomain": quote_line(settings.uid_domain),
                "OsUser": quote_line(job.owner),
            }
        schedd.history.append_epoch("EPOCH", job, schedd.now(), was)

    def transferred(self, job_id: JobId, kind: str, record: ClassAd) -> None:
        """Append what URL plug-ins did in a run to the epoch history."""
        schedd = self._schedd
        job = schedd.queue.jobs.get(job_id)
        if job is not None and kind in schedd.settings.epoch_attributes:
            schedd.history.append_transfer(kind, job, record, schedd.now())

    def finished(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Append finished jobs to the history; return those that it has taken."""
        recorded = self._schedd.history.append(jobs, self._schedd.now())
        for job in recorded:
            with tasks.reported("The trace of a job"):
                self._schedd.trace(job, Step.LEFT)
        return recorded

    def has(self, job: Job) -> bool:
        """Tell whether the history has a job that a crash left in the queue."""
        return self._schedd.history.has(job)

    def clean_up(self, job: Job) -> None:
        """Remove what a finished job left in the spool; mail its owner.

        Nothing that is odd about one job keeps it, or those that leave with it, in the queue.
        """
        with tasks.reported("Cleaning up after a job"):
            self._mailer.notify(job)
            if not self._clearing.takes(job):
                self._schedd.spool.remove_job(job.id)

    def begin_anew(self, job: Job) -> None:
        """Remove what the runs of a job left whose files were spooled once more."""
        left = self._schedd.spool.take_left(job.id)
        if left and not self._clearing.takes_left(job, left):
            self._schedd.spool.remove_aside(left)

    async def settle(self) -> None:
        """Return when what says where a finished job left checkpoints is in a safe place."""
        await self._clearing.settle()
