"""A simulated disk: what was not synced may be lost with the power, and it may be full.

The bytes are in real files, which nobody else looks at. What this adds is memory of how much of
each durable file the disk has promised to keep.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random

from kettle.errors import StorageError
from kettle.runtime.durable import DurableFile
from kettle.runtime.files import Files


class SimulatedDisk:
    """One machine's disk."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.full = False
        self.sync_seconds = (0.0005, 0.02)
        # By path, the length that survives a power cut.
        self.kept: dict[str, int] = {}

    def lose_power(self) -> list[str]:
        """Cut every durable file somewhere behind what was synced; return what was lost."""
        lost = []
        for path, kept in self.kept.items():
            with contextlib.suppress(OSError):
                size = os.stat(path).st_size
                if size > kept:
                    length = self.random.randint(kept, size)
                    os.truncate(path, length)
                    lost.append(f"{os.path.basename(path)}: {size - length} of {size} bytes")
        return lost


class _Synchronizer:
    """Syncs in virtual time."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self._disk = disk

    async def sync(self, fd: int) -> None:
        """Promise to keep what is written now."""
        size = os.fstat(fd).st_size
        path = os.readlink(f"/proc/self/fd/{fd}")
        await asyncio.sleep(self._disk.random.uniform(*self._disk.sync_seconds))
        if path in self._disk.kept:
            self._disk.kept[path] = max(size, self._disk.kept[path])

    async def idle(self) -> None:
        """There is no thread."""

    def hold(self, count: int) -> None:
        """Nothing is ever forked."""


class _SimulatedFile(DurableFile):
    """A durable file on a disk that may be full."""

    def __init__(self, path: str, disk: SimulatedDisk, mode: int) -> None:
        super().__init__(path, _Synchronizer(disk), mode=mode)
        self._disk = disk
        disk.kept.setdefault(os.path.realpath(path), self.size)

    def append(self, data: bytes) -> None:
        """Write at the end; StorageError if the disk is full."""
        if self._disk.full:
            raise StorageError(f"cannot write {self.path}: No space left on device")
        super().append(data)


class SimulatedFiles(Files):
    """The file system of a simulated daemon."""

    def __init__(self, disk: SimulatedDisk) -> None:
        super().__init__(_Synchronizer(disk))
        self._disk = disk

    def open_durable(self, path: str, *, mode: int = 0o600) -> DurableFile:
        """Open a file for durable appending."""
        return _SimulatedFile(path, self._disk, mode)

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
            self._disk.kept[os.path.realpath(path)] = os.stat(path).st_size

    def sync_folder(self, path: str) -> None:
        """Names are kept at once."""

    def _check(self, path: str) -> None:
        if self._disk.full:
            raise StorageError(f"cannot write {path}: No space left on device")
