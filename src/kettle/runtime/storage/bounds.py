"""Keeps what is opened by names that others control inside of bounds.

A name says little: links, `..`, bind mounts and /proc/<pid>/root lead anywhere, and whoever has the
folder changes what has its names at each moment. So the kernel is asked where the thing is that was
opened, which nobody can change behind our back, and nothing is made, emptied, renamed or removed
before that is known of its folder. Where the bounds are is said by `fences.py` and
`access_limits.py`.
"""

from __future__ import annotations

import abc
import contextlib
import errno
import os
import stat
from collections.abc import Iterator

NOWHERE = f"{os.strerror(errno.EACCES)}: it lies in none of this machine's own folders"
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# Limit: links on the way to a file, as the kernel has it.
_MOST_LINKS = 40
# Who renames a folder while we look has it looked at again; no more than so often.
_MOST_LOOKS = 5


class BarredError(PermissionError):
    """What has this name is not for this job."""


class Bounds(abc.ABC):
    """Opens, makes and removes what is inside; what it says of a place is `objection`'s to know."""

    @abc.abstractmethod
    def objection(self, place: str) -> str:
        """Return why a place, without links, is outside; nothing if it is not."""

    def trusts(self, path: str) -> bool:  # noqa: ARG002 - for those who know of some
        """Whether a name needs no look, as nobody else can change what it leads to."""
        return False

    def is_home(self, place: str) -> bool:  # noqa: ARG002 - for those who have one
        """Whether a place is certainly inside, whatever else may be there by now."""
        return False

    def look_at(self, path: str) -> None:  # noqa: B027 - for those who know
        """Raise BarredError if the name itself tells that it leads outside."""

    def check(self, descriptor: int, path: str, name: str = "") -> str:
        """Return where what was opened is; BarredError if that, or `name` in it, is outside.

        Nor is what has no place in our own view inside, as what others mounted for a job (its
        /tmp). `path` is the name that is complained of.
        """
        for _ in range(_MOST_LOOKS):
            place = os.readlink(f"/proc/self/fd/{descriptor}")
            if self.is_home(place):
                return place
            why = self.objection(os.path.normpath(f"{place}/{name}") if name else place)
            if why:
                raise BarredError(errno.EACCES, why, path)
            with contextlib.suppress(OSError):
                if os.path.samestat(os.lstat(place), os.fstat(descriptor)):
                    return place
        raise BarredError(errno.EACCES, NOWHERE, path)

    def facts(self, path: str) -> tuple[os.stat_result, bool]:
        """Return what is at `path`, links followed, and whether its name is a link; OSError."""
        if self.trusts(path):
            return os.stat(path), stat.S_ISLNK(os.lstat(path).st_mode)
        with self.found(path) as found:
            return os.stat(found), stat.S_ISLNK(os.lstat(path).st_mode)

    def open(self, path: str, flags: int) -> int:
        """Open what is there, with flags that change nothing; OSError."""
        self.look_at(path)
        for left in reversed(range(_MOST_LOOKS)):
            descriptor = os.open(path, flags)
            try:
                if not self.trusts(path):
                    self.check(descriptor, path)
            except BarredError:
                # What was replaced meanwhile has no place any more: what took it is meant.
                gone = os.fstat(descriptor).st_nlink == 0
                os.close(descriptor)
                if not (gone and left):
                    raise
            except BaseException:
                os.close(descriptor)
                raise
            else:
                return descriptor
        raise AssertionError("the last look returns or raises")

    def make(self, path: str, flags: int, mode: int) -> int:
        """Open what may be made or emptied by that; OSError, and then neither has happened."""
        if self.trusts(path):
            return os.open(path, flags, mode)
        where = path
        for _ in range(_MOST_LINKS):
            with self.folder_of(where, path) as (folder, name):
                try:
                    return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=folder)
                except OSError as error:
                    if error.errno != errno.ELOOP or flags & os.O_NOFOLLOW:
                        raise
                where = self._follow(where, name, folder, path)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)

    def _follow(self, link: str, name: str, folder: int, path: str) -> str:
        """Return where a link leads: to what is there, or, one step only, to what is not.

        The kernel follows it first: it may refuse to (fs.protected_symlinks).
        """
        try:
            descriptor = os.open(name, os.O_PATH | os.O_CLOEXEC, dir_fd=folder)
        except FileNotFoundError:
            return os.path.join(os.path.dirname(link), os.readlink(name, dir_fd=folder))
        try:
            return self.check(descriptor, path)
        finally:
            os.close(descriptor)

    def make_directory(self, path: str, mode: int) -> None:
        """Make a directory; OSError, FileExistsError where there is something."""
        with self.entry(path) as entry:
            os.mkdir(entry, mode)

    def make_directories(self, path: str) -> None:
        """Make a directory and those above it that are not there; OSError."""
        if os.path.isdir(path):
            return
        self.make_directories(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            self.make_directory(path, 0o777)

    def unlink(self, path: str) -> None:
        """Remove a file; OSError."""
        with self.entry(path) as entry:
            os.unlink(entry)

    def make_executable(self, path: str) -> None:
        """Give a file its execute bits; OSError."""
        with self.found(path) as found:
            mode = stat.S_IMODE(os.stat(found).st_mode)
            if mode & 0o111 != 0o111:
                os.chmod(found, mode | 0o755)  # noqa: S103 - it has to be

    @contextlib.contextmanager
    def found(self, path: str) -> Iterator[str]:
        """Give what is at `path`, links followed, a name that leads nowhere else; OSError."""
        descriptor = self.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def entry(self, path: str) -> Iterator[str]:
        """Give the name `path` another one, through its folder, which leads nowhere else; OSError.

        It is for what follows no link.
        """
        if self.trusts(path):
            yield path
            return
        with self.folder_of(path, path) as (folder, name):
            yield f"/proc/self/fd/{folder}/{name}"

    @contextlib.contextmanager
    def folder_of(self, where: str, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder in which a name is, to work by its descriptor; OSError.

        It is yielded with the name's last part. `path` is the name that is complained of.
        """
        self.look_at(where)
        folder, name = os.path.split(where.rstrip("/") or "/")
        descriptor = os.open(folder or ".", _FOLDER)
        try:
            self.check(descriptor, path, name)
            yield descriptor, name or "."
        finally:
            os.close(descriptor)
