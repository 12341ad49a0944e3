"""What lives on of jobs whose starters nobody answers for: who that is, and their end.

As root a control group holds everything; without one a process is known by the sandbox it works
in or was started for, and by its starter's notes of whom it saw (`census.py`). The next startd or
schedd of an execute folder asks here (`leftovers.py`), and so does the process that stays behind
when there is no next startd (`startd/services/procd.py`): all end the same.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection

from kettle.octets import to_bytes
from kettle.runtime.process.census import note_of, read_note
from kettle.runtime.process.cgroups import Group, Hierarchy, find_hierarchy, leftovers
from kettle.runtime.process.hunt import Find, hunt
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.processes import is_zombie, kill_tree

_SANDBOX = re.compile(r"(?:dir|\.private|\.processes)_(\d+)")
# Who has starters and ends what they leave, by its title.
_RESPONSIBLE = ("condor_schedd", "condor_startd")


class Abandoned:
    """The jobs of one execute folder that lost whoever would end them."""

    def __init__(
        self,
        execute: str,
        base_group: str,
        privileges: Privileges,
        log: Callable[[str], object],
        hierarchy: Hierarchy | None = None,
    ) -> None:
        self._execute = execute
        self._base = base_group
        self._privileges = privileges
        self._log = log
        self._hierarchy = hierarchy

    def starters(self) -> list[int]:
        """Return the starters, alive or dead, of sandboxes that nobody is responsible for.

        One that is the child of a startd or a schedd is that one's: it works in a folder that both
        have, or in another, and has the number of a dead one that worked here.
        """
        try:
            names = os.listdir(self._execute)
        except OSError:
            return []
        pids = {int(found[1]) for found in map(_SANDBOX.fullmatch, names) if found}
        return [pid for pid in pids if not title_of(parent_of(pid)).startswith(_RESPONSIBLE)]

    def kill_starter(self, pid: int) -> None:
        """End a starter that does not end by itself, and all that is below it."""
        self._log(f"starter {pid} of an earlier daemon does not end; it is killed")
        with self._privileges.as_root():
            kill_tree(pid)

    async def end(self, starters: Collection[int]) -> None:
        """End what is in the execute folder's control groups, and what these starters left."""
        if self._hierarchy is not None:
            for group in leftovers(self._hierarchy, self._base, self._execute):
                await self.empty(group)
        if starters:
            await self.hunt(lambda: self.inhabitants(starters), "earlier jobs")

    async def hunt(self, find: Find, whose: str) -> None:
        """Kill what `find` finds until it finds nothing, or what stays cannot be killed."""
        staying = await hunt(find, self._privileges)
        if staying:
            self._log(f"processes {staying} of {whose} cannot be killed")

    async def empty(self, group: Group) -> None:
        """End everything in a control group, and remove it."""

        def find() -> list[int]:
            with self._privileges.as_root():
                return [] if group.kill() else group.pids()

        await self.hunt(find, "a slot")
        with self._privileges.as_root():
            group.remove()

    def inhabitants(self, starters: Collection[int]) -> list[int]:
        """Return who works in these starters' sandboxes, was started for one, or was noted."""
        places = [f"{self._execute}/dir_{pid}/" for pid in starters]
        marks = [to_bytes(f"_CONDOR_SCRATCH_DIR={place}") for place in places]
        noted = [pid for one in starters for pid in read_note(note_of(self._execute, one))]
        found = [pid for pid in noted if not is_zombie(pid)]
        for name in filter(str.isdecimal, os.listdir("/proc")):
            if int(name) == os.getpid() or is_zombie(int(name)):
                continue
            with contextlib.suppress(OSError), self._privileges.as_root():
                here = os.readlink(f"/proc/{name}/cwd") + "/"
                if any(here.startswith(place) for place in places):
                    found.append(int(name))
                    continue
                with open(f"/proc/{name}/environ", "rb") as file:
                    environment = file.read()
                if any(mark in environment for mark in marks):
                    found.append(int(name))
        return found


def hierarchy_of(base_group: str) -> Hierarchy | None:
    """Return where control groups are, if jobs have any."""
    return find_hierarchy() if base_group else None


def is_starter(pid: int) -> bool:
    """Whether a starter has this pid and lives."""
    return title_of(pid).startswith("condor_starter")


def title_of(pid: int) -> str:
    """Return the words that a process goes by; empty if it is gone or on its way."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def parent_of(pid: int) -> int:
    """Return whose child a process is; 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0
