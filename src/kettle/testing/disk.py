"""A disk in memory that can say at every moment what a crash would leave of it.

It keeps what was written apart from what was synced, for bytes and for names. A killed process
leaves everything written; a power cut leaves what was synced and any part of the rest, and a
kernel may have made a name durable before the bytes below it. `CrashingDisk` stands in for
`runtime.disk.SystemDisk`, `DiskSynchronizer` for the fsync worker.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

FOLDER = -1


@dataclass(slots=True)
class _Content:
    """A file below its names."""

    data: bytearray = field(default_factory=bytearray)
    durable: bytes = b""


Image = dict[str, bytes]


class CrashingDisk:
    """Files in memory; `on_step` is called after every call that changes something.

    `room` is how many bytes may still be written; None is no limit. `fails` names a call that
    raises EIO from now on.
    """

    def __init__(self) -> None:
        self._names: dict[str, _Content] = {}
        self._durable_names: dict[str, _Content] = {}
        self._open: dict[int, _Content | None] = {}
        self._next_fd = 1000
        self.on_step: Callable[[str], None] = lambda step: None  # noqa: ARG005
        self.room: int | None = None
        self.fails = ""

    def seed(self, path: str, data: bytes) -> None:
        """Have a file that has been there for long."""
        self._names[path] = self._durable_names[path] = _Content(bytearray(data), data)

    def images(self) -> Iterator[tuple[str, Image]]:
        """Yield what a crash now could leave: a word for its kind, and the files by name."""
        yield "killed", {name: bytes(each.data) for name, each in self._names.items()}
        for kind, names in (("cut", self._durable_names), ("cut, names first", self._names)):
            yield kind, {name: each.durable for name, each in names.items()}
            yield f"{kind}, half", {name: _half(each) for name, each in names.items()}

    # -- the calls of `runtime.disk.Disk` ----------------------------------------------------

    def open(self, path: str, mode: int) -> int:
        """Open (or make) a file."""
        del mode
        self._check("open")
        return self._opened(self._names.setdefault(path, _Content()), f"open {path}")

    def open_folder(self, path: str) -> int:
        """Open the one folder there is."""
        return self._opened(None, f"open {path}")

    def _opened(self, content: _Content | None, step: str) -> int:
        self._next_fd += 1
        self._open[self._next_fd] = content
        self.on_step(step)
        return self._next_fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Append as much as there is room for."""
        self._check("write")
        taken = len(data) if self.room is None else min(self.room, len(data))
        if data and not taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.room is not None:
            self.room -= taken
        self._file(fd).data.extend(data[:taken])
        self.on_step("write")
        return taken

    def read_at(self, fd: int, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from `offset` on."""
        return bytes(self._file(fd).data[offset : offset + size])

    def size(self, fd: int) -> int:
        """Return the bytes in the file."""
        return len(self._file(fd).data)

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file off."""
        self._check("truncate")
        del self._file(fd).data[size:]
        self.on_step("truncate")

    def overwrite(self, path: str, offset: int, data: bytes | memoryview) -> None:
        """Write over what a file has."""
        self._check("overwrite")
        self._names[path].data[offset : offset + len(data)] = data
        self.on_step("overwrite")

    def sync(self, fd: int) -> None:
        """Make a file's bytes, or the names, durable."""
        self._check("sync")
        content = self._open[fd]
        if content is None:
            self._durable_names = dict(self._names)
        else:
            content.durable = bytes(content.data)
        self.on_step("sync")

    def rename(self, source: str, target: str) -> None:
        """Give a file another's name."""
        self._check("rename")
        self._names[target] = self._names.pop(source)
        self.on_step("rename")

    def remove(self, path: str) -> None:
        """Take a name away."""
        if self._names.pop(path, None) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self.on_step("remove")

    def same(self, fd: int, path: str) -> bool:
        """Return whether a name is the open file's."""
        if path not in self._names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self._names[path] is self._open[fd]

    def close(self, fd: int) -> None:
        """Close a descriptor; KeyError if it is not open."""
        del self._open[fd]
        self.on_step("close")

    def _file(self, fd: int) -> _Content:
        content = self._open[fd]
        assert content is not None, "a folder has no bytes"
        return content

    def _check(self, call: str) -> None:
        if self.fails == call:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


class DiskSynchronizer:
    """Syncs files of a `CrashingDisk`, taking some virtual time, as a worker would."""

    def __init__(self, disk: CrashingDisk, seconds: float = 0.01) -> None:
        self._disk = disk
        self._seconds = seconds

    async def sync(self, fd: int) -> None:
        """Return when what was written before the call is durable."""
        await asyncio.sleep(self._seconds)
        self._disk.sync(fd)

    async def idle(self) -> None:
        """Nothing runs in the background."""

    def hold(self, count: int) -> None:
        """Nothing to keep."""


def _half(content: _Content) -> bytes:
    """Return the synced bytes and half of those behind them."""
    synced = len(content.durable)
    if not content.data.startswith(content.durable):
        return content.durable
    return bytes(content.data[: synced + (len(content.data) - synced) // 2])
