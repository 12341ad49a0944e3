"""Looks at EXECUTE: how much room it has, and whether sandboxes can be made there.

A folder on a server that hangs must not stop the startd, and with it every slot's timers and the
leases of its claims: such a one is looked at by a process of its own, and what was known holds
meanwhile. A change is told in the log once; while there is trouble no slot takes a job.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import mmap
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.config import Config
from kettle.config.execute_folders import own_folders
from kettle.config.knobs.startd import StartdKnobs
from kettle.errors import KettleError
from kettle.named_tuples import NamedTuple
from kettle.octets import to_bytes
from kettle.runtime import tasks
from kettle.runtime.process.privileges import Privileges
from kettle.runtime.storage.mounts import machine_mounts
from kettle.startd.slots import SlotDisk

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime

# Limit: a folder that takes longer to answer hangs.
ANSWER_SECONDS = 20


class FolderFacts(NamedTuple):
    """What is known of EXECUTE: KiB, its device, and why no job could be started there."""

    free_kib: int = 0
    total_kib: int = 0
    volume: str = "0"
    trouble: str = ""


def measure(path: str) -> FolderFacts:
    """Look at the folder, with the rights with which sandboxes are made; may hang."""
    free = total = 0
    volume = "0"
    with contextlib.suppress(OSError):
        facts = os.statvfs(path)
        free = facts.f_bavail * facts.f_frsize // 1024
        total = facts.f_blocks * facts.f_frsize // 1024
        volume = str(os.stat(path).st_dev)
    # A file that may be written and run is none: hence the dot.
    usable = os.access(os.path.join(path, "."), os.W_OK | os.X_OK, effective_ids=True)
    return FolderFacts(free, total, volume, "" if usable else "cannot be written")


def find_own_disks(config: Config, privileges: Privileges, volume: str) -> dict[int, SlotDisk]:
    """Look at what SLOT<N>_EXECUTE names, by the slots' numbers; EXECUTE is on `volume`.

    Limit: that is done once, when the startd begins, and waits for a folder that hangs.
    """
    reserved = config.value(StartdKnobs.RESERVED_DISK) * 1024
    found = {}
    for number, folder in own_folders(config).items():
        with privileges.as_root():
            facts = measure(folder)
        why = f"SLOT{number}_EXECUTE, {folder}, {facts.trouble}" if facts.trouble else ""
        elsewhere = "" if facts.volume == volume else facts.volume
        found[number] = SlotDisk(elsewhere, max(0, facts.free_kib - reserved), why)
    return found


class ExecuteFolder:
    """What is known of EXECUTE; nothing is told of one that is as it should be from the start.

    `changed` hears of it when a look that took its time found something else.
    """

    def __init__(self, runtime: Runtime, changed: Callable[[], object] = lambda: None) -> None:
        self._runtime = runtime
        self._changed = changed
        self._looking: asyncio.Task[None] | None = None
        self.facts = FolderFacts()

    @property
    def trouble(self) -> str:
        """Why no job can be started here, in words; empty if one can."""
        if not self.facts.trouble:
            return ""
        return f"EXECUTE, {self._path()}, {self.facts.trouble}"

    async def answers(self) -> None:
        """Wait until the folder has been looked at for the first time, however long that takes."""
        self.look()
        if self._looking is not None:
            await self._looking

    def look(self) -> FolderFacts:
        """Look now, or have it looked at; return what is known."""
        path = self._path()
        if not machine_mounts().is_far(path):
            with self._runtime.privileges.as_root():
                found = measure(path)
            self._take(found)
        elif self._looking is None or self._looking.done():
            self._looking = tasks.spawn(self._look_aside(path), "a look at EXECUTE")
        return self.facts

    def _path(self) -> str:
        return self._runtime.config.value(StartdKnobs.EXECUTE)

    async def _look_aside(self, path: str) -> None:
        runtime, before = self._runtime, self.facts
        hangs = before._replace(trouble="does not answer")
        late = asyncio.get_running_loop().call_later(ANSWER_SECONDS, self._take_late, hangs)
        with mmap.mmap(-1, mmap.PAGESIZE) as shared:

            def work() -> None:
                with runtime.privileges.as_root():
                    shared.write(to_bytes(json.dumps(measure(path))))

            try:
                await runtime.snapshots.run(lambda: work, "a look at EXECUTE", ANSWER_SECONDS)
                found = FolderFacts(*json.loads(shared[:].rstrip(b"\0")))
            except (KettleError, OSError, ValueError):
                found = hangs
            finally:
                late.cancel()
        self._take_late(found)

    def _take_late(self, found: FolderFacts) -> None:
        if found != self.facts:
            self._take(found)
            self._changed()

    def _take(self, found: FolderFacts) -> None:
        before, self.facts = self.facts, found
        if before.trouble == found.trouble:
            return
        if found.trouble:
            self._runtime.log.problem(f"{self.trouble}: no job can be started here")
        else:
            self._runtime.log(f"EXECUTE, {self._path()}, can be written again")
