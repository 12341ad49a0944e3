"""Finished jobs on their way out of the queue, in batches that share their syncs.

A job goes through three doors: its last status is on disk (`on_disk.py`), then its last event and
its history record are written and are on disk, and only then is it taken out of the queue. A crash
anywhere leaves it in the queue, in the history, or in both, which the next start sees
(`HistoryFiles.has`); never in neither. What is written is `departures.py`'s. Source: R081.
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from kettle.errors import StorageError
from kettle.runtime import tasks
from kettle.schedd.departures import MOST_TOGETHER

if TYPE_CHECKING:
    from kettle.schedd.queue.job_ids import JobId
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.parts import Schedd

# How long a batch gathers the jobs that end at about the same time: they share two syncs.
GATHER_SECONDS = 0.05
# Jobs that are written, or taken out, before others have their turn.
_SLICE = 100


class DepartingJobs:
    """The jobs that leave; nobody can fetch the files of those `leaving` any more."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd
        self.leaving: set[JobId] = set()
        self._ready: dict[JobId, Job] = {}
        self._serving: asyncio.Task[None] | None = None
        # How many jobs were ever admitted, and how many of them have left, or could not.
        self._admitted = self._seen_out = 0
        self._batch_over = asyncio.Event()
        # Set while somebody waits, and how many do.
        self._hurried = asyncio.Event()
        self._hurrying = 0

    def begin(self, job: Job) -> None:
        """Let a job leave once what was committed before this call is on disk."""
        if job.id not in self.leaving:
            self.leaving.add(job.id)
            self._schedd.on_disk.then(partial(self._admit, job))

    def _admit(self, job: Job) -> None:
        self._ready[job.id] = job
        self._admitted += 1
        if self._serving is None:
            self._batch_over = asyncio.Event()
            self._serving = tasks.spawn(self._serve(), "departures")

    async def settle(self) -> None:
        """Return when all whose last status is on disk now have left, or cannot.

        Not those that come after them: where many jobs end, some always leave.
        """
        last = self._admitted
        self._hurrying += 1
        self._hurried.set()
        try:
            while self._serving is not None and self._seen_out < last:
                await self._batch_over.wait()
        finally:
            self._hurrying -= 1
            if not self._hurrying:
                self._hurried.clear()

    def forget(self) -> None:
        """Take nobody out any more: the schedd is gone."""
        self._ready.clear()
        if self._serving is not None:
            self._serving.cancel()

    async def _serve(self) -> None:
        try:
            while self._ready:
                await self._gather()
                batch = list(islice(self._ready.values(), MOST_TOGETHER))
                for job in batch:
                    del self._ready[job.id]
                try:
                    with tasks.reported("The departure of finished jobs"):
                        await self._see_out(batch)
                finally:
                    self.leaving.difference_update(job.id for job in batch)
                    self._end_batch(len(batch))
        finally:
            self._serving = None
            self._batch_over.set()

    def _end_batch(self, count: int) -> None:
        """Let those look again who wait for jobs to leave."""
        self._seen_out += count
        over, self._batch_over = self._batch_over, asyncio.Event()
        over.set()

    async def _gather(self) -> None:
        """Wait for others that end at about the same time, unless somebody waits for these."""
        if len(self._ready) >= MOST_TOGETHER:
            return
        try:
            async with asyncio.timeout(GATHER_SECONDS):
                await self._hurried.wait()
        except TimeoutError:
            pass

    async def _see_out(self, jobs: list[Job]) -> None:
        """Take jobs through the last two doors; one that cannot pass is found by the policy."""
        schedd = self._schedd
        for start in range(0, len(jobs), _SLICE):
            part = jobs[start : start + _SLICE]
            tasks.do_with_each(self._record, part, "Recording a finished job")
            await asyncio.sleep(0)
        recorded = [job for job in jobs if job.recorded]
        try:
            # The batch before is out for good before this one goes; both share a turn of the disk.
            await asyncio.gather(schedd.journal.flush(), schedd.history.sync())
        except StorageError as error:
            schedd.runtime.log.problem(f"{len(recorded)} finished jobs stay: {error}")
            return
        for start in range(0, len(recorded), _SLICE):
            part = recorded[start : start + _SLICE]
            take_out = schedd.scheduler.departures.take_out
            tasks.do_with_each(take_out, part, "The departure of a finished job")
            await asyncio.sleep(0)

    def _record(self, jobs: list[Job]) -> None:
        """Have those of the jobs recorded that are not: one may stay after that, and try again."""
        self._schedd.scheduler.departures.record([job for job in jobs if not job.recorded])
