"""What lives on of jobs whose starters nobody answers for: who that is, and their end.

As root a control group holds everything; without one a process is known by the sandbox it works
in or was started for, and by its starter's notes of whom it saw (`census.py`). The next startd or
schedd of an execute folder asks here (`leftovers.py`), and so does the process that stays behind
when there is no next startd (`startd/services/procd.py`): all end the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Callable, Collection

from kettle.runtime.process.census import birth_moment_of, note_of, read_note
from kettle.runtime.process.cgroups import Group, Hierarchy, find_hierarchy, leftovers
from kettle.runtime.process.hunt import Find, has_mark, hunt
from kettle.runtime.process.liveness import is_zombie
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.process.processes import kill_tree, parent_of, title_of

_SANDBOX = re.compile(r"(?:dir|\.private|\.processes)_(\d+)")
# Who has starters and ends what they leave, by its title.
_KEEPERS = ("condor_schedd", "condor_startd")
# How much later than its sandbox a starter may seem to have begun, as clocks are set.
_CLOCK_SECONDS = 60.0
_ROUND_SECONDS = 0.02
# A starter whose daemon is gone ends its job and tells the shadow; this is long for that.
_STARTER_SECONDS = 10.0


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

        One that is the child of a startd or a schedd is that one's, in a folder that both have, and
        so is the note of a schedd that lives.
        """
        try:
            names = os.listdir(self._execute)
        except OSError:
            return []
        pids = {int(found[1]) for found in map(_SANDBOX.fullmatch, names) if found}
        return [pid for pid in pids if not (_is_kept(pid) and self._is_its_own(pid))]

    def lives(self, pid: int) -> bool:
        """Whether the starter of one of these sandboxes lives: not who took its number since."""
        return is_starter(pid) and not _is_kept(pid)

    def _is_its_own(self, pid: int) -> bool:
        """Whether a sandbox is that of the starter that has the number now.

        One of another folder's daemon that came to that number began when this was long there.
        """
        return birth_moment_of(pid) < self._changed_at(pid) + _CLOCK_SECONDS

    def _changed_at(self, pid: int) -> float:
        """Return when a starter last changed what stands first in its sandbox, or its note."""
        latest = 0.0
        with self._privileges.as_root():
            for name in (f"dir_{pid}", f".private_{pid}", f".processes_{pid}"):
                with contextlib.suppress(OSError):
                    latest = max(latest, os.lstat(f"{self._execute}/{name}").st_mtime)
        return latest

    async def see_off(self, starters: Collection[int]) -> None:
        """Let starters end their jobs, and end those that do not."""
        for pid in await see_off(lambda: list(filter(self.lives, starters))):
            self.kill_starter(pid)

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
        folders = {self._execute, os.path.realpath(self._execute)}
        places = tuple(f"{folder}/dir_{pid}/" for folder in folders for pid in starters)
        marks = [f"_CONDOR_SCRATCH_DIR={place}" for place in places]
        noted = [pid for one in starters for pid in read_note(note_of(self._execute, one))]
        others = set(map(int, filter(str.isdecimal, os.listdir("/proc")))) - {os.getpid(), *noted}
        with self._privileges.as_root():
            there = [pid for pid in others if _works_in(pid, places) or has_mark(pid, *marks)]
        return [pid for pid in (*noted, *there) if not is_zombie(pid)]


def _works_in(pid: int, places: tuple[str, ...]) -> bool:
    """Whether a process stands in, or below, one of these folders."""
    try:
        return f"{os.readlink(f'/proc/{pid}/cwd')}/".startswith(places)
    except OSError:
        return False


async def see_off(living: Callable[[], list[int]]) -> list[int]:
    """Let starters, which have noticed that their daemon is gone, end; return who has not in time.

    `living` says which of them are left.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _STARTER_SECONDS
    while left := living():
        if loop.time() > deadline:
            return left
        await asyncio.sleep(_ROUND_SECONDS)
    return []


def hierarchy_of(base_group: str) -> Hierarchy | None:
    """Return where control groups are, if jobs have any."""
    return find_hierarchy() if base_group else None


def _is_kept(pid: int) -> bool:
    """Whether a process is a daemon that answers for its starters, or the child of one."""
    return any(title_of(each).startswith(_KEEPERS) for each in (pid, parent_of(pid)))


def is_starter(pid: int) -> bool:
    """Whether a starter has this pid and lives."""
    return title_of(pid).startswith("condor_starter")
