"""A simulated disk: what was not synced may be lost with the power, and it may be full or broken.

The bytes are in real files, which nobody else looks at. What this adds is memory of how much of
each durable file the disk has promised to keep, and of which names (`names.py`).
(`kettle.testing.disk` is stricter, for one file.)
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import stat
from collections.abc import Callable, Mapping
from typing import Any

from kettle.errors import StorageError
from kettle.runtime import tasks
from kettle.runtime.storage import event_logs, small_files
from kettle.runtime.storage.disk import SystemDisk
from kettle.runtime.storage.durable import WorkerSynchronizer
from kettle.runtime.storage.files import Files
from kettle.testing.simulation.names import NameJournal, path_of
from kettle.testing.simulation.processes import SimulatedProcess, act, current_process

# Room on a disk that is not full.
PLENTY = 1 << 60
_ALL_KEPT: Mapping[str, NameJournal] = {}
# How long a sync takes.
SYNC_SECONDS = (0.0005, 0.02)


class SimulatedDisk(SystemDisk):
    """One machine's disk, whose file systems are `names`; elsewhere names are kept at once."""

    def __init__(self, source: random.Random, names: Mapping[str, NameJournal] = _ALL_KEPT) -> None:
        self.random = source
        self.names = names
        # Bytes that it still takes, and what every write or every sync fails with.
        self.room = PLENTY
        self.write_error = 0
        self.sync_error = 0
        self.sync_seconds = SYNC_SECONDS
        # By inode, the length that survives a power cut; what has none was never a durable file.
        self._kept: dict[int, int] = {}
        self._paths: dict[int, str] = {}
        # Files of which a sync failed: those bytes are lost until they are written anew, whatever
        # later syncs say.
        self._lost: set[int] = set()

    def open(self, path: str, mode: int) -> int:
        """Open a durable file; what a file had when it was first seen is on the disk."""
        act()
        fd = super().open(path, mode)
        facts = os.fstat(fd)
        self._note(facts.st_ino, path, facts.st_size)
        return fd

    def _note(self, inode: int, path: str, size: int) -> None:
        """Remember a file that has `size` bytes on the disk, unless it is known."""
        # An empty file is new, and its inode may have been another's.
        if not size:
            self._kept[inode] = 0
            self._lost.discard(inode)
        self._kept.setdefault(inode, size)
        self._paths[inode] = path

    def kept_bytes(self, path: str) -> int:
        """Return how many bytes of a file a power cut would leave at least."""
        try:
            return self._kept.get(os.stat(path).st_ino, 0)
        except FileNotFoundError:
            return 0

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Append as much as there is room for."""
        return super().write(fd, data[: self.take(len(data))])

    def take(self, size: int, *, whole: bool = False) -> int:
        """Return how many of so many bytes there is room for, and take it; OSError if for none.

        Who needs a place for the `whole` gets that or nothing.
        """
        act()
        if self.write_error:
            raise OSError(self.write_error, os.strerror(self.write_error))
        taken = min(size, self.room)
        if taken < size and (whole or not taken):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= taken
        return taken

    def truncate(self, fd: int, size: int) -> None:
        """Cut a file off; what comes behind is not on the disk yet."""
        act()
        super().truncate(fd, size)
        inode = os.fstat(fd).st_ino
        kept = self._kept.get(inode, size)
        self._kept[inode] = min(size, kept)
        if size <= kept:
            self._lost.discard(inode)

    def overwrite(self, path: str, offset: int, data: bytes | memoryview) -> None:
        """Write over what there is, which needs no room."""
        self.take(0)
        super().overwrite(path, offset, data)
        inode = os.stat(path).st_ino
        if offset <= self._kept.get(inode, 0):
            self._lost.discard(inode)

    def remove(self, path: str) -> None:
        """Take a name away."""
        act()
        super().remove(path)

    def rename(self, source: str, target: str) -> None:
        """Give a file another's name."""
        act()
        super().rename(source, target)
        self._paths[os.stat(target).st_ino] = target

    async def promise(self, fd: int) -> None:
        """Sync a file in virtual time."""
        act()
        facts = os.fstat(fd)
        await asyncio.sleep(self.random.uniform(*self.sync_seconds))
        if self.sync_error:
            self._lost.add(facts.st_ino)
            raise OSError(self.sync_error, os.strerror(self.sync_error))
        if stat.S_ISDIR(facts.st_mode):
            self.promise_names(path_of(fd))
        elif facts.st_ino not in self._lost:
            self._kept[facts.st_ino] = max(facts.st_size, self._kept.get(facts.st_ino, 0))

    def promise_names(self, folder: str) -> None:
        """Keep the names that a folder has now."""
        for top, journal in self.names.items():
            if folder == top or folder.startswith(f"{top}/"):
                journal.promise(folder)

    def lose(self, path: str) -> None:
        """Lose what of a file is not on the disk, which a sync told somebody who is gone."""
        self._lost.add(os.stat(path).st_ino)

    def note_appended(self, path: str, size: int) -> None:
        """Remember a file that was appended to and not synced: it had `size` bytes before."""
        self._note(os.stat(path).st_ino, path, size)

    def note_written(self, path: str) -> None:
        """Promise to keep a file that was written durably in one step."""
        facts = os.stat(path)
        self._kept[facts.st_ino], self._paths[facts.st_ino] = facts.st_size, path
        self._lost.discard(facts.st_ino)

    def lose_power(self) -> list[str]:
        """Lose names, and cut every durable file somewhere behind what was synced; say what."""
        lost = []
        for journal in self.names.values():
            lost += journal.lose_power(self.random)
        self._paths |= {
            entry.inode(): entry.path
            for top in self.names
            for entry in os.scandir(top)
            if entry.inode() in self._paths
        }
        for inode, kept in self._kept.items():
            path = self._paths.get(inode)
            if path is None:
                # It was written beside this disk, which does not know what of it was not synced.
                continue
            with contextlib.suppress(OSError):
                facts = os.stat(path)
                if facts.st_ino == inode and facts.st_size > kept:
                    length = self.random.randint(kept, facts.st_size)
                    os.truncate(path, length)
                    self._kept[inode] = length
                    gone = facts.st_size - length
                    lost.append(f"{os.path.basename(path)}: {gone} of {facts.st_size} bytes")
        return lost


class _Synchronizer(WorkerSynchronizer):
    """Syncs in virtual time, one batch after the other."""

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__()
        self._disk = disk

    def _start_batch(self) -> None:
        self._batch, self._waiting = self._waiting, {}
        self._in_flight = True
        tasks.spawn(self._sync_batch(list(self._batch)), "syncs")

    async def _sync_batch(self, descriptors: list[int]) -> None:
        failures: dict[int, OSError] = {}
        for fd in descriptors:
            try:
                await self._disk.promise(fd)
            except OSError as error:
                failures[fd] = error
        self._on_synced(failures)


class SimulatedFiles(Files):
    """The file system of a simulated daemon."""

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__(_Synchronizer(disk), disk)
        self._simulated = disk

    def append(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Append, if there is room for all of it."""
        self._take(path, len(data))
        super().append(path, data, mode=mode)
        self._simulated.note_appended(path, os.stat(path).st_size - len(data))

    def write_atomically(
        self, path: str, data: bytes | str, *, mode: int = 0o644, durable: bool = False
    ) -> None:
        """Replace a file, if there is room."""
        self._take(path, len(data))
        super().write_atomically(path, data, mode=mode, durable=False)
        if durable:
            self._simulated.note_written(path)
            self._simulated.promise_names(os.path.dirname(path))

    def rename(self, source: str, target: str) -> None:
        """Rename."""
        act()
        super().rename(source, target)

    def remove(self, path: str) -> None:
        """Remove a file."""
        act()
        super().remove(path)

    def sync_folder(self, path: str) -> None:
        """Keep the names that a folder has now."""
        act()
        self._simulated.promise_names(path)

    def _take(self, path: str, size: int) -> None:
        try:
            self._simulated.take(size, whole=True)
        except OSError as error:
            problem = f"cannot write {path}: {error.strerror}"
            raise StorageError(problem, errno=error.errno or 0) from error


class _OsOnDisk:
    """The module `os` for code that writes with it, on the disk of the process that runs."""

    def __init__(self, disk_of: Callable[[SimulatedProcess], SimulatedDisk]) -> None:
        self._disk_of = disk_of

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, fd: int, data: bytes) -> int:
        """Write as much as there is room for."""
        process = current_process()
        if process is None:
            return os.write(fd, data)
        return os.write(fd, data[: self._disk_of(process).take(len(data))])


def watch_event_logs(disk_of: Callable[[SimulatedProcess], SimulatedDisk]) -> None:
    """Have event logs, which are written without a disk of their own, written on the machine's."""
    for module in (event_logs, small_files):
        setattr(module, "os", _OsOnDisk(disk_of))  # noqa: B010 - what it imports is not its own
