"""The few calls with which a durable file touches the disk, so that a test can stand in for it.

`SystemDisk` is the kernel; `kettle.testing.disk` remembers what a crash at each call would leave.
What is written, and in which order, is decided in `durable.py`.
"""

from __future__ import annotations

import os
import stat
from typing import Protocol


class Disk(Protocol):
    """Calls on files; every one may raise OSError."""

    def open(self, path: str, mode: int) -> int:
        """Open (or make) a file for reading and appending; return its descriptor."""
        ...

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Append; return how many bytes were taken."""
        ...

    def read_at(self, fd: int, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from `offset` on."""
        ...

    def size(self, fd: int) -> int:
        """Return the bytes in the file."""
        ...

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file off."""
        ...

    def sync(self, fd: int) -> None:
        """Make a file's bytes, or a folder's names, durable; this blocks."""
        ...

    def overwrite(self, path: str, offset: int, data: bytes | memoryview) -> None:
        """Write all of it at `offset` of a file that there is."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Give a file another's name, which it replaces."""
        ...

    def remove(self, path: str) -> None:
        """Take a name away; a missing one is an OSError."""
        ...

    def same(self, fd: int, path: str) -> bool:
        """Return whether `path` names the open file; FileNotFoundError if it names none."""
        ...

    def open_folder(self, path: str) -> int:
        """Open a folder, so that its names can be made durable."""
        ...

    def close(self, fd: int) -> None:
        """Close a descriptor."""
        ...


class SystemDisk:
    """The machine's own file systems."""

    def open(self, path: str, mode: int) -> int:
        """Open (or make) a file for reading and appending; return its descriptor."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Append; return how many bytes were taken."""
        return os.write(fd, data)

    def read_at(self, fd: int, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from `offset` on."""
        return os.pread(fd, size, offset)

    def size(self, fd: int) -> int:
        """Return the bytes in the file."""
        return os.fstat(fd).st_size

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file off."""
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        """Make a file's bytes, or a folder's names, durable; this blocks."""
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            os.fsync(fd)
        else:
            os.fdatasync(fd)

    def overwrite(self, path: str, offset: int, data: bytes | memoryview) -> None:
        """Write all of it at `offset` of a file that there is."""
        # A descriptor that appends would append this, too.
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            view = memoryview(data)
            while view:
                taken = os.pwrite(fd, view, offset)
                offset, view = offset + taken, view[taken:]
        finally:
            os.close(fd)

    def rename(self, source: str, target: str) -> None:
        """Give a file another's name, which it replaces."""
        os.rename(source, target)

    def remove(self, path: str) -> None:
        """Take a name away; a missing one is an OSError."""
        os.unlink(path)

    def same(self, fd: int, path: str) -> bool:
        """Return whether `path` names the open file; FileNotFoundError if it names none."""
        return os.path.samestat(os.fstat(fd), os.stat(path))

    def open_folder(self, path: str) -> int:
        """Open a folder, so that its names can be made durable."""
        return os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self, fd: int) -> None:
        """Close a descriptor."""
        os.close(fd)
