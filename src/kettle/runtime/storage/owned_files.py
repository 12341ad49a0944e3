"""The local disk with the rights of a job's owner, or of the account its job runs as.

Where this process cannot switch, everything is its own account's anyway. Nothing here may await:
the switch is the whole process's.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from kettle.runtime.process.privileges import Account, Privileges
from kettle.runtime.storage.access_limits import AccessLimits
from kettle.runtime.storage.fences import Fence
from kettle.runtime.storage.free_space import Reserve
from kettle.runtime.storage.mounts import machine_mounts
from kettle.runtime.storage.transfer_files import LocalFiles, LocalSource, LocalTarget
from kettle.runtime.storage.trees import walk_tree
from kettle.transfer.items import Look

# Files that are touched at once.
_AT_ONCE = 100


class OwnedFiles(LocalFiles):
    """The files of one account; `reserve` is kept free, and the `fence` is around them."""

    def __init__(
        self,
        privileges: Privileges,
        account: Account,
        reserve: Reserve | None = None,
        fence: Fence | None = None,
    ) -> None:
        super().__init__(reserve=reserve, fence=fence)
        self._privileges = privileges
        self._account = account

    def as_owner(self) -> contextlib.AbstractContextManager[None]:
        """Be the owner for a moment."""
        return self._privileges.as_account(self._account)

    def look(self, path: str) -> Look | None:
        """Return what is at `path`, as the owner would see it."""
        with self.as_owner():
            return super().look(path)

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, as the owner would see them; OSError."""
        with self.as_owner():
            return super().names(path)

    def open_source(self, path: str) -> LocalSource:
        """Open a file for sending, with the owner's rights."""
        with self.as_owner():
            return super().open_source(path)

    def open_target(self, path: str, mode: int, size: int = 0) -> LocalTarget:
        """Create or replace a file, which is the owner's."""
        with self.as_owner():
            return super().open_target(path, mode, size)

    def make_directory(self, path: str, mode: int) -> None:
        """Make a directory, which is the owner's."""
        with self.as_owner():
            super().make_directory(path, mode)

    def make_executable(self, path: str) -> None:
        """Give a program its execute bits; what is no file, or not the owner's, stays as it is."""
        with self.as_owner(), contextlib.suppress(OSError):
            facts = os.lstat(path)
            if stat.S_ISREG(facts.st_mode) and facts.st_mode & 0o111 != 0o111:
                os.chmod(path, stat.S_IMODE(facts.st_mode) | 0o755)  # noqa: S103 - see above

    def date_back(self, folder: str, second: int) -> Iterator[None]:
        """Let everything in a folder be older than a second of the epoch; the owner's rights.

        What is older already keeps its time. It is done some files at a time, the next whenever
        they are asked for.
        """
        latest = second * 1_000_000_000 - 1
        with contextlib.closing(walk_tree(folder)) as walk:
            more = True
            while more:
                with self.as_owner():
                    more = _date_some(walk, latest)
                yield

    def give(self, path: str) -> None:
        """Make the owner the owner of a folder."""
        if self._privileges.can_switch:
            with self._privileges.as_root():
                os.chown(path, self._account.uid, self._account.gid)


class NearFiles(OwnedFiles):
    """The files of one account where nothing can hang: on no server, whatever links lead there.

    What is outside `limits` is seen and not read.
    """

    def __init__(
        self, privileges: Privileges, account: Account, limits: AccessLimits | None = None
    ) -> None:
        super().__init__(privileges, account)
        self._limits = limits

    def look(self, path: str) -> Look | None:
        """Return what is at `path`, None also of what is far."""
        return None if machine_mounts().is_far(path) else super().look(path)

    def names(self, path: str) -> list[str]:
        """Return the names in a directory; OSError, also if it is far (EREMOTE)."""
        _require_near(path)
        return super().names(path)

    def open_source(self, path: str) -> LocalSource:
        """Open a file for sending; OSError if it is far (EREMOTE) or outside (EACCES)."""
        _require_near(path)
        with self.as_owner():
            return LocalSource(path, self._limits)


def _require_near(path: str) -> None:
    if machine_mounts().is_far(path):
        raise OSError(errno.EREMOTE, os.strerror(errno.EREMOTE), path)


def _date_some(walk: Iterator[tuple[int, os.DirEntry[str]]], latest: int) -> bool:
    """Date the next files of a walk back; tell whether there are more."""
    for _ in range(_AT_ONCE):
        found = next(walk, None)
        if found is None:
            return False
        parent, entry = found
        facts = entry.stat(follow_symlinks=False)
        if facts.st_mtime_ns > latest:
            times = (facts.st_atime_ns, latest)
            os.utime(entry.name, ns=times, dir_fd=parent, follow_symlinks=False)
    return True
