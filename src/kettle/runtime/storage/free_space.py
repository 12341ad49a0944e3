"""How much room a file system has left; what is done about too little is decided by who asks."""

from __future__ import annotations

import errno
import os


def read_free_kib(path: str) -> int | None:
    """Return what an ordinary user may still write where `path` is; None if it cannot be told."""
    try:
        facts = os.statvfs(path)
    except OSError:
        return None
    return facts.f_bavail * facts.f_frsize // 1024


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
        # Limit: a hundredth of a disk's inodes is kept, but not more than a thousand.
        few = facts.f_files and facts.f_favail < min(1000, facts.f_files // 100)
        if few or facts.f_bavail * facts.f_frsize - size < self._bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
