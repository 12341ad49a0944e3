"""What jobs left behind when nobody was there to end it: processes, control groups, sandboxes.

A starter ends its job, and the daemon that forked it, a startd or a schedd, what a dead starter
left. When both are killed, the next such daemon does it here before it begins a job, so that none
begins while an earlier execution of it may still live; whom it finds is told in `abandoned.py`.
Where no next startd comes, `startd/services/procd.py` has ended the processes already, and the
sandboxes are left for this.
Who throws its environment away, leaves its sandbox and sees its starter, startd and master die
together before it was noted cannot be told from any other process of the account; while
the master lives, it falls to the master (`master/services/orphans.py`).
"""

from __future__ import annotations

from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.runtime.process.abandoned import Abandoned, hierarchy_of
from kettle.runtime.process.census import note_of, remove_note
from kettle.runtime.process.cgroups import group_name
from kettle.runtime.process.hunt import Find
from kettle.runtime.storage.removal import remove_as_root


class Leftovers:
    """Ends what is left of the jobs that this daemon's starters ran in one folder, `execute`."""

    def __init__(self, runtime: Runtime, execute: str) -> None:
        self._runtime = runtime
        self.execute = execute.rstrip("/")
        self._base = (runtime.config.get("BASE_CGROUP") or "").strip("/")
        self._hierarchy = hierarchy_of(self._base)

    @property
    def base_group(self) -> str:
        """The control group that those of slots are in; empty for none."""
        return self._base

    @property
    def _abandoned(self) -> Abandoned:
        runtime = self._runtime
        return Abandoned(self.execute, self._base, runtime.privileges, runtime.log, self._hierarchy)

    async def end_all(self) -> None:
        """End everything that was left behind in this folder."""
        abandoned = self._abandoned
        starters = abandoned.starters()
        await abandoned.see_off(starters)
        await abandoned.end(starters)
        for pid in starters:
            await self.remove_sandbox(pid)

    async def end_slot(self, slot_name: str) -> None:
        """End everything in a slot's control group."""
        if self._hierarchy is not None:
            name = group_name(self.execute, slot_name)
            await self._abandoned.empty(self._hierarchy.group(f"{self._base}/{name}"))

    async def remove_sandbox(self, starter_pid: int) -> None:
        """Remove a dead starter's sandbox, which may hold a million files."""
        for name in (f"dir_{starter_pid}", f".private_{starter_pid}"):
            sandbox = f"{self.execute}/{name}"
            await tasks.in_turns(remove_as_root(self._runtime.privileges, sandbox))
        with self._runtime.privileges.as_root():
            remove_note(note_of(self.execute, starter_pid))

    async def hunt(self, find: Find, whose: str) -> None:
        """Kill what `find` finds until it finds nothing, or what stays cannot be killed."""
        await self._abandoned.hunt(find, whose)
