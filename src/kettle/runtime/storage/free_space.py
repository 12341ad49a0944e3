"""How much room a file system has left; what is done about too little is decided by who asks."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass


def read_free_kib(path: str) -> int | None:
    """Return what an ordinary user may still write where `path` is; None if it cannot be told."""
    try:
        facts = os.statvfs(path)
    except OSError:
        return None
    return facts.f_bavail * facts.f_frsize // 1024


@dataclass(frozen=True)
class Inodes:
    """A disk's inodes: those in use, and those that are free beyond what is kept (negative: eaten).

    Limit: a hundredth of a disk's inodes is kept free, but not more than a thousand.
    """

    used: int
    room: int


def read_inodes(path: str) -> Inodes | None:
    """Return the inodes of the disk that `path` is on; None if it cannot tell, or has no bound."""
    try:
        return _inodes(os.statvfs(path))
    except OSError:
        return None


def _inodes(facts: os.statvfs_result) -> Inodes | None:
    if not facts.f_files:
        return None
    kept = min(1000, facts.f_files // 100)
    return Inodes(facts.f_files - facts.f_ffree, facts.f_favail - kept)


class Reserve:
    """What is kept free, by what is received, on the disk of a folder; inodes as well as bytes."""

    def __init__(self, folder: str, kib: int) -> None:
        self._bytes = kib * 1024
        try:
            self._device: int | None = os.stat(folder).st_dev
        except OSError:
            self._device = None

    def is_for(self, device: int) -> bool:
        """Whether there is something to be kept free on a device."""
        return self._bytes > 0 and device == self._device

    def check(self, descriptor: int, size: int) -> None:
        """See that so many bytes more leave the reserve alone; OSError (ENOSPC) if not."""
        facts = os.fstatvfs(descriptor)
        if facts.f_bavail * facts.f_frsize - size < self._bytes:
            raise _no_space()

    def check_new(self, path: str) -> None:
        """See that one file or folder more leaves the inodes that are kept; OSError if not."""
        folder = os.path.dirname(path) or "."
        if not self.is_for(os.stat(folder).st_dev):
            return
        inodes = _inodes(os.statvfs(folder))
        if inodes is not None and inodes.room <= 0:
            raise _no_space()


def _no_space() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
