"""How much room a file system has left; what is done about too little is decided by who asks."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import Final

_NO_SPACE: Final = os.strerror(errno.ENOSPC)
# Limit: one part in so many of a disk that is not the pool's own is kept free there.
_USERS_SHARE: Final = 100
# Limit: what one file may take of such a disk between two looks at it.
_STRIDE: Final = 1 << 20


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
    """What is kept free on the disks that received files come to, in bytes and in inodes.

    On the disk of `folder` that is `kib`; on any other, which is its users' own, no more than a
    hundredth of it. With 0 KiB nothing is kept, and a disk that does not say how large it is has
    no reserve.
    """

    def __init__(self, folder: str, kib: int) -> None:
        self._bytes = kib * 1024
        try:
            self._device: int | None = os.stat(folder).st_dev
        except OSError:
            self._device = None

    def guard(self, descriptor: int) -> Guard | None:
        """Return what sees to the reserve while an open file is written; None if there is none."""
        if self._bytes <= 0:
            return None
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return None
        is_ours = facts.st_dev == self._device
        kept = self._kept(os.fstatvfs(descriptor), is_ours=is_ours)
        return Guard(descriptor, kept, 0 if is_ours else _STRIDE) if kept else None

    def check_new(self, path: str, size: int = 0) -> None:
        """See that a file of `size` bytes, or a folder, fits at `path`; OSError (ENOSPC) if not.

        What the file takes the place of counts as free; a device or a pipe holds nothing.
        """
        if self._bytes <= 0:
            return
        try:
            old: os.stat_result | None = os.stat(path)
        except FileNotFoundError:
            old = None
        if old is not None and not stat.S_ISREG(old.st_mode):
            return
        folder = path if old is not None else os.path.dirname(path) or "."
        device = old.st_dev if old is not None else os.stat(folder).st_dev
        facts = os.statvfs(folder)
        if old is None:
            _check_inodes(facts)
        kept = self._kept(facts, is_ours=device == self._device)
        gained = old.st_blocks * 512 if old is not None and old.st_nlink == 1 else 0
        if size and kept and facts.f_bavail * facts.f_frsize + gained - size < kept:
            raise _no_space(kept)

    def check_below(self, folder: str) -> None:
        """See that there is an inode for something below a folder; OSError (ENOSPC) if not."""
        if self._bytes > 0:
            _check_inodes(os.statvfs(folder))

    def check_disk(self, folder: str, size: int) -> None:
        """See that so many bytes may fit into a folder; OSError (ENOSPC) if they cannot.

        What is in a folder may be replaced by what comes, so the whole disk may be for that. Into
        an empty one, as each checkpoint gets, comes no more than is free.
        """
        facts = os.statvfs(folder)
        kept = self._kept(facts, is_ours=os.stat(folder).st_dev == self._device)
        blocks = facts.f_bavail if _is_empty(folder) else facts.f_blocks
        if kept and size > blocks * facts.f_frsize - kept:
            raise _no_space(kept)

    def _kept(self, facts: os.statvfs_result, *, is_ours: bool) -> int:
        if self._bytes <= 0:
            return 0
        share = facts.f_blocks * facts.f_frsize // _USERS_SHARE
        return self._bytes if is_ours else min(self._bytes, share)


class Guard:
    """Sees, before each write to one open file, that `kept` bytes stay free on its disk.

    So many bytes as `stride` are granted at a time: on a file server each look is a question.
    """

    __slots__ = ("_descriptor", "_granted", "_kept", "_stride")

    def __init__(self, descriptor: int, kept: int, stride: int) -> None:
        self._descriptor = descriptor
        self._kept = kept
        self._stride = stride
        self._granted = 0

    def check(self, size: int) -> None:
        """See that so many bytes more leave the reserve alone; OSError (ENOSPC) if not."""
        if size <= self._granted:
            self._granted -= size
            return
        facts = os.fstatvfs(self._descriptor)
        room = facts.f_bavail * facts.f_frsize - self._kept - size
        if room < 0:
            raise _no_space(self._kept)
        self._granted = min(room, self._stride)


def _is_empty(folder: str) -> bool:
    """Tell whether a folder is seen to be empty; one that may not be read is not."""
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _check_inodes(facts: os.statvfs_result) -> None:
    inodes = _inodes(facts)
    if inodes is not None and inodes.room <= 0:
        raise OSError(errno.ENOSPC, f"{_NO_SPACE}; some inodes are kept free")


def _no_space(kept: int) -> OSError:
    return OSError(errno.ENOSPC, f"{_NO_SPACE}; {kept >> 10} KiB are kept free")
