"""The local disk as file transfer sees it: `FileView` and `Storage` of `transfer.items`.

Blocking and without asyncio, so that tools use it too. Works with the rights of the calling
process; whoever needs another user's switches before (the starter to the slot's user, a shadow
host at its start to the submitter).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable

from kettle.runtime.storage.bounds import BarredError, Bounds
from kettle.runtime.storage.fences import open_inside
from kettle.runtime.storage.free_space import Reserve
from kettle.runtime.storage.small_files import AT_EASE
from kettle.transfer.items import Look

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def open_to_read(path: str, fence: Bounds | None = None) -> int:
    """Open what somebody names, whatever it is; OSError, also where the `fence` bars it."""
    return open_inside(fence, path, os.O_RDONLY | AT_EASE)


class LocalSource:
    """An open file that is being sent."""

    __slots__ = ("_descriptor", "mode", "size")

    def __init__(self, path: str, fence: Bounds | None = None) -> None:
        """PermissionError where the `fence` bars it."""
        self._descriptor = open_to_read(path, fence)
        facts = os.fstat(self._descriptor)
        if not stat.S_ISREG(facts.st_mode):
            # A pipe or a device would have no end, or no length.
            os.close(self._descriptor)
            number = errno.EISDIR if stat.S_ISDIR(facts.st_mode) else errno.EINVAL
            raise OSError(number, os.strerror(number), path)
        self.size = facts.st_size
        self.mode = stat.S_IMODE(facts.st_mode)

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes."""
        return os.read(self._descriptor, size)

    def close(self) -> None:
        """Close the file; twice is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class LocalTarget:
    """An open file that is being received."""

    __slots__ = ("_descriptor", "_fence", "_guard", "_path")

    def __init__(
        self,
        path: str,
        mode: int,
        reserve: Reserve | None = None,
        size: int = 0,
        fence: Bounds | None = None,
    ) -> None:
        """`reserve` is not touched: a file of `size` bytes that would is not even begun.

        PermissionError where the `fence` bars it.
        """
        self._path = path
        self._fence = fence
        if reserve is not None:
            reserve.check_new(path, size)
        # A pipe that nobody reads is refused; waiting for a reader would hold up everybody else.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | AT_EASE
        self._descriptor = open_inside(fence, path, flags, mode or 0o644)
        try:
            self._guard = reserve.guard(self._descriptor) if reserve is not None else None
            self._give_mode(mode)
        except BaseException:
            LocalTarget.close(self)
            raise

    def _give_mode(self, mode: int) -> None:
        facts = os.fstat(self._descriptor)
        wrong = bool(mode) and stat.S_IMODE(facts.st_mode) != mode
        # An existing file that is not ours keeps the mode it has; so does a device.
        if wrong and stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid():
            os.fchmod(self._descriptor, mode)

    def write(self, data: bytes) -> None:
        """Append the bytes, all of them."""
        if self._guard is not None:
            self._guard.check(len(data))
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def close(self) -> None:
        """Close the file; errors of delayed writing show here."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def discard(self) -> None:
        """Take away what is not whole, as the reference does, unless it is a device or a pipe."""
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                if self._fence is None:
                    os.unlink(self._path)
                else:
                    self._fence.unlink(self._path)
        with contextlib.suppress(OSError):
            self.close()


class LocalFiles:
    """`FileView` and `Storage` on the local disk.

    `changed` is called with each path that was made; a starter gives them to the job's user.
    `reserve` is kept free. What the `fence` bars looks like an empty file, which nobody can open.
    """

    def __init__(
        self,
        changed: Callable[[str], None] | None = None,
        reserve: Reserve | None = None,
        fence: Bounds | None = None,
    ) -> None:
        self._changed = changed
        self._reserve = reserve
        self._fence = fence

    def look(self, path: str) -> Look | None:
        """Return what is at `path`, links followed; None if there is nothing to see."""
        try:
            if self._fence is None:
                facts = os.stat(path)
                is_link = stat.S_ISLNK(os.lstat(path).st_mode)
            else:
                facts, is_link = self._fence.facts(path)
        except BarredError:
            return Look(False, True, False, 0, stat.S_IFREG, 0)
        except (OSError, ValueError):
            return None
        return Look(
            stat.S_ISDIR(facts.st_mode),
            stat.S_ISREG(facts.st_mode),
            is_link,
            facts.st_size,
            facts.st_mode,
            facts.st_mtime_ns,
        )

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, sorted; OSError if it or they cannot be looked at."""
        descriptor = open_inside(self._fence, path, _FOLDER)
        try:
            names = sorted(os.listdir(descriptor))
            if names:
                # Of what is in a folder that nobody may search there is nothing but the names.
                os.stat(".", dir_fd=descriptor)
            return names
        finally:
            os.close(descriptor)

    def open_source(self, path: str) -> LocalSource:
        """Open a regular file for sending."""
        return LocalSource(path, self._fence)

    def open_target(self, path: str, mode: int, size: int = 0) -> LocalTarget:
        """Create or replace a file that will have so many bytes."""
        target = LocalTarget(path, mode, self._reserve, size, self._fence)
        if self._changed is not None:
            self._changed(path)
        return target

    def make_directory(self, path: str, mode: int) -> None:
        """Make a directory; an existing one is fine."""
        if self._reserve is not None and not os.path.isdir(path):
            self._reserve.check_new(path)
        try:
            make = os.mkdir if self._fence is None else self._fence.make_directory
            make(path, mode or 0o755)
        except FileExistsError:
            if not os.path.isdir(path):
                raise
            return
        if self._changed is not None:
            self._changed(path)
