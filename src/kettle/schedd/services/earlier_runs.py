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
        # By the schedd that began them, the marks of what jobs began.
        self._marks: dict[int, list[str]] = {}
        # By folder: a reconfiguration may name another one.
        self._leftovers: dict[str, Leftovers] = {}

    @property
    def leftovers(self) -> Leftovers:
        """What ends what is left in the folder that local jobs are given now."""
        folder = execute_folder(self._schedd)
        if folder not in self._leftovers:
            others = ("condor_schedd", "condor_startd")
            self._leftovers[folder] = Leftovers(self._schedd.runtime, folder, others)
        return self._leftovers[folder]

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
            mark = starter_mark(pid, schedd) if is_local else job_mark(job, schedd)
            self._marks.setdefault(schedd, []).append(mark)

    async def end_all(self) -> None:
        """End everything that is known to be an earlier run's, and take sandboxes away."""
        await self.leftovers.end_all()
        runtime = self._schedd.runtime
        if self._marks:
            staying = await hunt(self._marked, runtime.privileges)
            if staying:
                runtime.log(f"processes {staying} of earlier jobs cannot be killed")
        self._marks = {}

    def _marked(self) -> list[int]:
        """Return what earlier jobs began: what has a mark, and is older than who has its number.

        Another schedd may have the number of one that is gone, and jobs of the same names.
        """
        found = []
        for schedd, marks in self._marks.items():
            began = birth_of(schedd)
            living = marked(self._schedd.runtime.privileges, *marks)
            found += [pid for pid in living if not began or birth_of(pid) < began]
        return found
