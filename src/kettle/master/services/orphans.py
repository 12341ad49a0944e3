"""What falls to the master when a startd dies: its starters, and processes of their jobs.

The master is a subreaper. A starter whose startd is gone ends its job by itself; when it was
killed as well, the job's processes become the master's children, whatever they did to their
environment, session or working directory. All of that has ended before the startd is started
again: no job ever has two live executions.
"""

from __future__ import annotations

import asyncio
import os

from kettle.runtime.context import Runtime
from kettle.runtime.process.processes import (
    children_of,
    is_zombie,
    kill_together,
    kill_tree,
    strays,
)

# A starter whose startd is gone ends its job and tells the shadow; this is long for that.
_STARTER_SECONDS = 10.0
_ROUND_SECONDS = 0.02
# Limit: rounds of killing what forks while it is being killed.
_ROUNDS = 50


class Orphans:
    """The master's children that it did not start."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        # Programs of a schedd that ended live on; they are not a startd's.
        self._spared: set[int] = set()

    def spare(self) -> None:
        """Remember those who are here now as none of a startd's."""
        self._spared = set(self._find())

    async def end(self) -> None:
        """A startd has died: see its starters off, and kill what their jobs left."""
        await self._see_starters_off()
        for _ in range(_ROUNDS):
            found = [pid for pid in self._find() if pid not in self._spared]
            if not found:
                return
            self._runtime.log(f"killing what a startd's jobs left: {found}")
            with self._runtime.privileges.as_root():
                kill_together(found)
            await asyncio.sleep(_ROUND_SECONDS)

    async def _see_starters_off(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _STARTER_SECONDS
        while starters := self._starters():
            if loop.time() > deadline:
                self._runtime.log(f"starters {starters} do not end without their startd; killed")
                with self._runtime.privileges.as_root():
                    for pid in starters:
                        kill_tree(pid)
                return
            await asyncio.sleep(_ROUND_SECONDS)

    def _known(self) -> set[int]:
        return {child.pid for child in self._runtime.processes.children()}

    def _find(self) -> list[int]:
        return strays(self._known())

    def _starters(self) -> list[int]:
        known = self._known()
        return [
            pid
            for pid in children_of(os.getpid())
            if pid not in known and not is_zombie(pid) and _is_starter(pid)
        ]


def _is_starter(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read(64).startswith(b"condor_starter")
    except OSError:
        return False
