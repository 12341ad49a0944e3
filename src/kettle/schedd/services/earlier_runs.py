"""What earlier schedds left of jobs beside them, which ends before another one begins.

A starter's sandbox and notes tell of local jobs (`runtime/process/leftovers.py`), the schedd's own
notes of those of the scheduler universe (`program_census.py`); of both the queue tells whose child
a job's process was, and the environment of what it began the same.
Limit: what leaves its family and throws its environment away before it was noted, which is less
than a second after it began, is not known any more when all daemons were killed at once.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kettle.runtime.process.census import birth_of
from kettle.runtime.process.hunt import begun_by, hunt
from kettle.runtime.process.leftovers import Leftovers
from kettle.runtime.process.processes import kill_tree
from kettle.schedd.job_processes import noted_process
from kettle.schedd.services.local import execute_folder

if TYPE_CHECKING:
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.parts import Schedd


class EarlierRuns:
    """Ends them: each process at once, and what left it before `end_all` returns."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd
        # By the schedd that began them, the marks of what jobs began.
        self._marks: dict[int, list[str]] = {}
        # By folder: a reconfiguration may name another one.
        self._leftovers: dict[str, Leftovers] = {}

    @property
    def leftovers(self) -> Leftovers:
        """What ends what is left in the folder that local jobs are given now."""
        folder = execute_folder(self._schedd)
        if folder not in self._leftovers:
            self._leftovers[folder] = Leftovers(self._schedd.runtime, folder)
        return self._leftovers[folder]

    def end(self, job: Job) -> None:
        """End a job's process, if the queue knows of one; nothing that took its number since."""
        noted = noted_process(job.ad)
        if noted is None:
            return
        if birth_of(noted.pid) == noted.birth:
            kill_tree(noted.pid)
        self._marks.setdefault(noted.parent, []).extend(noted.marks(job.id))

    async def end_all(self) -> None:
        """End everything that is known to be an earlier run's, and take sandboxes away."""
        await self.leftovers.end_all()
        runtime = self._schedd.runtime
        if self._marks:
            begun = partial(begun_by, runtime.privileges, self._marks)
            staying = await hunt(begun, runtime.privileges)
            if staying:
                runtime.log(f"processes {staying} of earlier jobs cannot be killed")
        self._marks = {}
