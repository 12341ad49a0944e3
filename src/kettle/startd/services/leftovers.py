"""What jobs left behind when nobody was there to end it: processes, control groups, sandboxes.

A starter ends its job, a startd what a dead starter left. When both are killed, the next startd
does it here before it offers a slot, so that no job begins while an earlier execution of it may
still live. As root a control group holds everything; without one a process is known by the
sandbox it works in or was started for, and by its starter's notes of whom it saw (`census.py`).
Who throws its environment away, leaves its sandbox and sees its starter, startd and master die
together before it was noted cannot be told from any other process of the account; while
the master lives, it falls to the master (`master/services/orphans.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Collection

from kettle.octets import to_bytes
from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.runtime.process.census import note_of, read_note, remove_note
from kettle.runtime.process.cgroups import Group, find_hierarchy, group_name, leftovers
from kettle.runtime.process.hunt import Find, hunt
from kettle.runtime.process.processes import is_zombie, kill_tree
from kettle.runtime.storage.removal import remove_as_root

_ROUND_SECONDS = 0.02
# A starter whose startd is gone ends its job and tells the shadow; this is long for that.
_STARTER_SECONDS = 10.0
_SANDBOX = re.compile(r"(?:dir|\.private|\.processes)_(\d+)")


class Leftovers:
    """Ends what is left of this startd's jobs."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        base = (runtime.config.get("BASE_CGROUP") or "").strip("/")
        self._base = base
        self._hierarchy = find_hierarchy() if base else None

    @property
    def _execute(self) -> str:
        return (self._runtime.config.get("EXECUTE") or "").rstrip("/")

    async def end_all(self) -> None:
        """End everything that earlier startds of this execute folder left behind."""
        abandoned = self._abandoned_sandboxes()
        for pid in abandoned:
            await self._see_starter_off(pid)
        for group in self._groups():
            await self._empty(group)
        if abandoned:
            await self.hunt(lambda: self._inhabitants(abandoned), "earlier jobs")
        for pid in abandoned:
            await self.remove_sandbox(pid)

    async def end_slot(self, slot_name: str) -> None:
        """End everything in a slot's control group."""
        if self._hierarchy is not None:
            name = group_name(self._execute, slot_name)
            await self._empty(self._hierarchy.group(f"{self._base}/{name}"))

    async def remove_sandbox(self, starter_pid: int) -> None:
        """Remove a dead starter's sandbox, which may hold a million files."""
        for name in (f"dir_{starter_pid}", f".private_{starter_pid}"):
            sandbox = f"{self._execute}/{name}"
            await tasks.in_turns(remove_as_root(self._runtime.privileges, sandbox))
        with self._runtime.privileges.as_root():
            remove_note(note_of(self._execute, starter_pid))

    async def hunt(self, find: Find, whose: str) -> None:
        """Kill what `find` finds until it finds nothing, or what stays cannot be killed."""
        staying = await hunt(find, self._runtime.privileges)
        if staying:
            self._runtime.log(f"processes {staying} of {whose} cannot be killed")

    def _groups(self) -> list[Group]:
        if self._hierarchy is None:
            return []
        return leftovers(self._hierarchy, self._base, self._execute)

    async def _empty(self, group: Group) -> None:
        privileges = self._runtime.privileges

        def find() -> list[int]:
            with privileges.as_root():
                return [] if group.kill() else group.pids()

        await self.hunt(find, "a slot")
        with privileges.as_root():
            group.remove()

    def _abandoned_sandboxes(self) -> list[int]:
        """Return the starters, alive or dead, of sandboxes that nobody is responsible for.

        Those of local jobs are the schedd's.
        """
        try:
            names = os.listdir(self._execute)
        except OSError:
            return []
        pids = {int(found[1]) for found in map(_SANDBOX.fullmatch, names) if found}
        return [pid for pid in pids if not _title(_parent(pid)).startswith("condor_schedd")]

    async def _see_starter_off(self, pid: int) -> None:
        """Let a starter end its job; it has noticed that its startd is gone."""
        deadline = asyncio.get_running_loop().time() + _STARTER_SECONDS
        while _title(pid).startswith("condor_starter"):
            if asyncio.get_running_loop().time() > deadline:
                self._runtime.log(f"starter {pid} of an earlier startd does not end; it is killed")
                with self._runtime.privileges.as_root():
                    kill_tree(pid)
                return
            await asyncio.sleep(_ROUND_SECONDS)

    def _inhabitants(self, starters: Collection[int]) -> list[int]:
        """Return who works in these starters' sandboxes, was started for one, or was noted."""
        places = [f"{self._execute}/dir_{pid}/" for pid in starters]
        marks = [to_bytes(f"_CONDOR_SCRATCH_DIR={place}") for place in places]
        noted = [pid for one in starters for pid in read_note(note_of(self._execute, one))]
        found = [pid for pid in noted if not is_zombie(pid)]
        for name in filter(str.isdecimal, os.listdir("/proc")):
            if int(name) == os.getpid() or is_zombie(int(name)):
                continue
            with contextlib.suppress(OSError), self._runtime.privileges.as_root():
                here = os.readlink(f"/proc/{name}/cwd") + "/"
                if any(here.startswith(place) for place in places):
                    found.append(int(name))
                    continue
                with open(f"/proc/{name}/environ", "rb") as file:
                    environment = file.read()
                if any(mark in environment for mark in marks):
                    found.append(int(name))
        return found


def _title(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0
