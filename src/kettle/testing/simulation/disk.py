"""A simulated disk: what was not synced may be lost with the power, and it may be full.

The bytes are in real files, which nobody else looks at. What this adds is memory of how much of
each durable file the disk has promised to keep. (`kettle.testing.disk` is stricter, for one file.)
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import stat

from kettle.errors import StorageError
from kettle.runtime.storage.disk import SystemDisk
from kettle.runtime.storage.files import Files


class SimulatedDisk(SystemDisk):
    """One machine's disk; names are kept at once, bytes when they are synced."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.full = False
        self.sync_seconds = (0.0005, 0.02)
        # By inode, the length that survives a power cut; what has none was never a durable file.
        self._kept: dict[int, int] = {}
        self._paths: dict[int, str] = {}

    def open(self, path: str, mode: int) -> int:
        """Open a durable file; what a file had when it was first seen is on the disk."""
        fd = super().open(path, mode)
        facts = os.fstat(fd)
        self._kept.setdefault(facts.st_ino, facts.st_size)
        self._paths[facts.st_ino] = path
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Append, if there is room."""
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, data)

    def rename(self, source: str, target: str) -> None:
        """Give a file another's name."""
        super().rename(source, target)
        self._paths[os.stat(target).st_ino] = target

    async def promise(self, fd: int) -> None:
        """Sync a file in virtual time."""
        facts = os.fstat(fd)
        await asyncio.sleep(self.random.uniform(*self.sync_seconds))
        if not stat.S_ISDIR(facts.st_mode):
            self._kept[facts.st_ino] = max(facts.st_size, self._kept.get(facts.st_ino, 0))

    def note_written(self, path: str) -> None:
        """Promise to keep a file that was written durably in one step."""
        facts = os.stat(path)
        self._kept[facts.st_ino], self._paths[facts.st_ino] = facts.st_size, path

    def lose_power(self) -> list[str]:
        """Cut every durable file somewhere behind what was synced; return what was lost."""
        lost = []
        for inode, kept in self._kept.items():
            path = self._paths[inode]
            with contextlib.suppress(OSError):
                facts = os.stat(path)
                if facts.st_ino == inode and facts.st_size > kept:
                    length = self.random.randint(kept, facts.st_size)
                    os.truncate(path, length)
                    self._kept[inode] = length
                    gone = facts.st_size - length
                    lost.append(f"{os.path.basename(path)}: {gone} of {facts.st_size} bytes")
        return lost


class _Synchronizer:
    """Syncs in virtual time."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self._disk = disk

    async def sync(self, fd: int) -> None:
        """Promise to keep what is written now."""
        await self._disk.promise(fd)

    async def idle(self) -> None:
        """There is no thread."""

    def hold(self, count: int) -> None:
        """Nothing is ever forked."""


class SimulatedFiles(Files):
    """The file system of a simulated daemon."""

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__(_Synchronizer(disk), disk)
        self._simulated = disk

    def append(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Append, unless the disk is full."""
        self._check(path)
        super().append(path, data, mode=mode)

    def write_atomically(
        self, path: str, data: bytes | str, *, mode: int = 0o644, durable: bool = False
    ) -> None:
        """Replace a file, unless the disk is full."""
        self._check(path)
        super().write_atomically(path, data, mode=mode, durable=False)
        if durable:
            self._simulated.note_written(path)

    def sync_folder(self, path: str) -> None:
        """Names are kept at once."""

    def _check(self, path: str) -> None:
        if self._simulated.full:
            raise StorageError(f"cannot write {path}: {os.strerror(errno.ENOSPC)}")
