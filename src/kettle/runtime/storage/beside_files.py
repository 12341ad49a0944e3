"""Received files that take the place of others: what was there stays until what comes is whole.

A job that changes its input leaves its output where its next run's input is. A transfer that breaks
off must not cost it both.
"""

from __future__ import annotations

import contextlib
import os
import stat

from kettle.runtime.storage.bounds import Bounds
from kettle.runtime.storage.fences import open_inside
from kettle.runtime.storage.free_space import Reserve
from kettle.runtime.storage.small_files import AT_EASE
from kettle.runtime.storage.transfer_files import LocalFiles, LocalTarget

PART_PREFIX = ".condor_"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | AT_EASE


class BesideTarget(LocalTarget):
    """A file that is received beside the one whose place it takes at its end.

    A new file is written where it belongs. So is what has more names than one, a link, a device, a
    pipe, what this account could not give back to its owner, and what lies in a folder that is not
    ours to write into, or on a disk without room for both.

    Compat: the reference writes over what is there, and takes it away where the transfer breaks off
    (test_a_transfer_that_breaks_off_leaves_what_was_there).

    Limit: an empty file is written in place, so that those who watch it (`tail -f`) see what comes.
    It is empty again where that breaks off, but not where this process is killed meanwhile. What a
    killed one leaves of any other is a file named as `PART_PREFIX` begins. Whether a user's quota
    has room for both is not known before.
    """

    __slots__ = ("_held", "_part", "_was_empty")

    def __init__(
        self,
        path: str,
        mode: int,
        reserve: Reserve | None = None,
        size: int = 0,
        fence: Bounds | None = None,
    ) -> None:
        """Arguments as `LocalTarget` has them."""
        # The folder of it, where there is a fence: it is worked in by its descriptor.
        self._held = contextlib.ExitStack()
        # The name of what comes as long as it is not whole; nothing where it is written in place.
        self._part = ""
        self._was_empty = False
        try:
            # Whoever may not write to it may not replace it.
            self._descriptor = open_inside(fence, path, os.O_WRONLY | AT_EASE)
        except FileNotFoundError:
            super().__init__(path, mode, reserve, size, fence)
            return
        self._path, self._fence = path, fence
        try:
            if reserve is not None:
                reserve.check_new(path, size)
            before = os.fstat(self._descriptor)
            if stat.S_ISREG(before.st_mode) and before.st_size:
                self._begin_beside(before, mode, reserve, size)
            self._was_empty = stat.S_ISREG(before.st_mode) and not before.st_size
            if not self._part and stat.S_ISREG(before.st_mode):
                os.ftruncate(self._descriptor, 0)
            self._guard = reserve.guard(self._descriptor) if reserve is not None else None
            if not self._part:
                self._give_mode(mode)
        except BaseException:
            os.close(self._descriptor)
            self._drop_part()
            self._held.close()
            raise

    def _begin_beside(
        self, before: os.stat_result, mode: int, reserve: Reserve | None, size: int
    ) -> None:
        """Open a file of its own for what comes, if what was there may be replaced by one."""
        user = os.geteuid()
        if before.st_nlink != 1 or user not in (before.st_uid, 0):
            return
        path = self._path
        if self._fence is not None:
            path = self._held.enter_context(self._fence.entry(path))
        folder = os.path.dirname(path)
        # A short name: whatever the file's own is, there is room for it.
        part = os.path.join(folder, PART_PREFIX + os.urandom(8).hex())
        try:
            if not os.path.samestat(os.lstat(path), before):
                return
            facts = os.statvfs(folder or ".")
            if size > facts.f_bavail * facts.f_frsize:
                return
            if reserve is not None:
                reserve.check_new(part, size)
            descriptor = os.open(part, _NEW, 0o600)
        except OSError:
            return
        keeps = not mode or before.st_uid != user
        try:
            _make_alike(descriptor, before, stat.S_IMODE(before.st_mode) if keeps else mode)
        except OSError:
            os.close(descriptor)
            os.unlink(part)
            return
        os.close(self._descriptor)
        self._descriptor, self._part, self._path = descriptor, part, path

    def close(self) -> None:
        """Close the file and put it in its place."""
        if self._descriptor < 0:
            return
        try:
            super().close()
            if self._part:
                os.rename(self._part, self._path)
        except OSError:
            self._drop_part()
            raise
        finally:
            self._held.close()

    def discard(self) -> None:
        """Take away what has come; what was there stays."""
        if self._descriptor >= 0 and self._was_empty:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)
        elif not self._part:
            super().discard()
        elif self._descriptor >= 0:
            self._drop_part()
        with contextlib.suppress(OSError):
            super().close()
        self._held.close()

    def _drop_part(self) -> None:
        if self._part:
            with contextlib.suppress(OSError):
                os.unlink(self._part)


def _make_alike(descriptor: int, before: os.stat_result, mode: int) -> None:
    """Let a new file be whose the one before is; OSError if it cannot be, or is elsewhere."""
    facts = os.fstat(descriptor)
    if facts.st_dev != before.st_dev:
        # Something is mounted on it.
        raise OSError("a file of another file system")
    if (facts.st_uid, facts.st_gid) != (before.st_uid, before.st_gid):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, mode)


class BesideFiles(LocalFiles):
    """The local disk, where what is there stays until what takes its place is whole."""

    def open_target(self, path: str, mode: int, size: int = 0) -> LocalTarget:
        """Create a file that will have so many bytes, or begin one that replaces another."""
        return BesideTarget(path, mode, self._reserve, size)
