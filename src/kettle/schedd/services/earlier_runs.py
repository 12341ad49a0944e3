"""What earlier schedds left of jobs beside them, which ends before another one begins.

A starter's sandbox and notes tell of local jobs (`runtime/process/leftovers.py`); of both universes
the queue tells whose child a job's process was, and the environment of what it began the same.
Limit: what a scheduler-universe job begins, and leaves its family and throws its environment away,
is not known any more when all daemons were killed at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse
from kettle.runtime.process.census import birth_of
from kettle.runtime.process.hunt import hunt, marked
from kettle.runtime.process.leftovers import Leftovers
from kettle.runtime.process.processes import kill_tree
from kettle.schedd import job_runs
from kettle.schedd.services.local import execute_folder, job_mark, starter_mark

if TYPE_CHECKING:
    from kettle.schedd.queue.job_queue import Job
    from kettle.schedd.services.parts import Schedd


class EarlierRuns:
    """Ends them: each process at once, and what left it before `end_all` returns."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd
        self._marks: list[str] = []

    @property
    def leftovers(self) -> Leftovers:
        """What ends what is left in the folder that local jobs are given now."""
        return Leftovers(self._schedd.runtime, execute_folder(self._schedd))

    def end(self, job: Job) -> None:
        """End a job's process, if the queue knows of one; nothing that took its number since."""
        noted, schedd = job_runs.noted_process(job.ad), job_runs.noted_parent(job.ad)
        if noted is None:
            return
        pid, birth = noted
        if birth_of(pid) == birth:
            kill_tree(pid)
        if schedd:
            is_local = job.universe == JobUniverse.LOCAL
            self._marks.append(starter_mark(pid, schedd) if is_local else job_mark(job, schedd))

    async def end_all(self) -> None:
        """End everything that is known to be an earlier run's, and take sandboxes away."""
        await self.leftovers.end_all()
        runtime, marks = self._schedd.runtime, self._marks
        if marks:
            staying = await hunt(lambda: marked(runtime.privileges, *marks), runtime.privileges)
            if staying:
                runtime.log(f"processes {staying} of earlier jobs cannot be killed")
        self._marks = []
