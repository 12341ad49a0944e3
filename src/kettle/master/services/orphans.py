"""What falls to the master when a daemon dies that runs jobs: its starters, and jobs' processes.

The master is a subreaper. A starter whose daemon is gone ends its job by itself; when it was
killed as well, the job's processes become the master's children, whatever they did to their
environment, session or working directory. All of that has ended before the daemon is started
again: no job ever has two live executions.

Who is ended is decided by what a child is not: not the master's own, not one of those that are
known to outlive their daemon. To recognise what is to be ended would not do: a dying starter
has lost its name already, and still has its job below it.
"""

from __future__ import annotations

from collections.abc import Iterable

from kettle.runtime.context import Runtime
from kettle.runtime.process.abandoned import is_starter, see_off
from kettle.runtime.process.census import birth_of
from kettle.runtime.process.hunt import hunt, outlives_its_daemon
from kettle.runtime.process.liveness import is_ending


class Orphans:
    """The master's children that it did not start."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        # What daemons that run no jobs left behind lives on: by its number, when each began.
        self._spared: dict[int, int] = {}

    def spare(self, with_jobs: Iterable[int]) -> None:
        """Remember those who are here now as none of a job's; a daemon without jobs has ended.

        Not if one that runs jobs (`with_jobs`, all of them that have not been reaped) is on its
        way out, too: then they may be its, before it has ended itself.
        """
        here = self._find()
        # Asked after looking: who is here now fell past a daemon that was ending before.
        if here is not None and not any(map(is_ending, with_jobs)):
            self._spared.update((pid, birth_of(pid)) for pid in here)

    async def end(self) -> None:
        """A daemon that runs jobs has died: see its starters off, and kill what jobs left."""
        if staying := await see_off(self._starters):
            self._runtime.log(f"starters {staying} do not end without their daemon")
        found = self._find()
        if found:
            self._runtime.log(f"killing what a daemon and its jobs left: {found}")
        staying = await hunt(self._find, self._runtime.privileges)
        if staying:
            self._runtime.log(f"processes {staying} of a daemon's jobs cannot be killed")

    def _starters(self) -> list[int]:
        return [pid for pid in self._find() or () if is_starter(pid)]

    def _find(self) -> list[int] | None:
        """Return who is to be ended, who is dying and who has ended included; None: not known."""
        orphans = self._runtime.processes.orphans()
        if orphans is None:
            return None
        # A number that comes again, days later, is another's.
        self._spared = {
            pid: began
            for pid in orphans
            if (began := self._spared.get(pid)) is not None and birth_of(pid) == began
        }
        return [pid for pid in orphans if pid not in self._spared and not outlives_its_daemon(pid)]
