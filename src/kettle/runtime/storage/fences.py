"""Keeps what is opened for a job out of the sandboxes of other jobs that run as the same account.

A starter opens what a submit file names, and what a job left, with the rights of the job's account
and in the machine's own view, where all sandboxes of that account are open to it. A name says
little: links, `..`, bind mounts and /proc/<pid>/root lead anywhere. So the kernel is asked where
the thing is that was opened, which nobody can change behind our back, and nothing is made or
emptied before that is known of its folder. Limit: folders of sandboxes that are mounted in a second
place are not known there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator

from kettle.runtime.storage.small_files import AT_EASE, require_regular

IN_ANOTHER = f"{os.strerror(errno.EACCES)}: it lies in the sandbox of another job"
NOWHERE = f"{os.strerror(errno.EACCES)}: it lies in none of this machine's own folders"
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# Limit: links on the way to a file, as the kernel has it.
_MOST_LINKS = 40
# Who renames a folder while we look has it looked at again; no more than so often.
_MOST_LOOKS = 5


class BarredError(PermissionError):
    """What has this name is not for this job."""


class Fence:
    """Around the sandbox `own` of one job; `folders` is where all sandboxes are.

    What is called as `theirs` there, and is not `own`, is barred.
    `calm` is whether nothing but we ourselves has been at work in the sandbox since it was made or
    was seen to be as it was made: then its names lead nowhere else, and are not looked at.
    """

    def __init__(self, folders: Iterable[str], own: str, theirs: re.Pattern[str]) -> None:
        self._theirs = theirs
        self._folders = {os.path.realpath(folder) for folder in folders if folder}
        # As the caller spells it, and as the kernel does.
        self._named = f"{own}/"
        self._own = f"{os.path.realpath(os.path.dirname(own))}/{os.path.basename(own)}"
        self.calm = False

    def trusts(self, path: str) -> bool:
        """Whether a name needs no look: it is one of a sandbox that is calm."""
        return self.calm and path.startswith(self._named) and ".." not in path

    def bars(self, place: str) -> bool:
        """Whether a place, without links, is in something of another starter's."""
        for folder in self._folders:
            if place.startswith(f"{folder}/"):
                first = place[len(folder) + 1 :].partition("/")[0]
                if self._theirs.fullmatch(first) and f"{folder}/{first}" != self._own:
                    return True
        return False

    def check(self, descriptor: int, path: str) -> str:
        """Return where what was opened is; BarredError if that is not for this job.

        Nor is what has no place in our own view, as what others mounted for a job (its /tmp).
        """
        for _ in range(_MOST_LOOKS):
            place = os.readlink(f"/proc/self/fd/{descriptor}")
            if place.startswith(f"{self._own}/") or place == self._own:
                return place
            if self.bars(place):
                raise BarredError(errno.EACCES, IN_ANOTHER, path)
            with contextlib.suppress(OSError):
                if os.path.samestat(os.lstat(place), os.fstat(descriptor)):
                    return place
        raise BarredError(errno.EACCES, NOWHERE, path)

    def allows(self, path: str) -> bool:
        """Whether what has this name is for this job; what is not there is."""
        if self.trusts(path):
            return True
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return True
        try:
            self.check(descriptor, path)
        except BarredError:
            return False
        finally:
            os.close(descriptor)
        return True

    def facts(self, path: str) -> tuple[os.stat_result, bool]:
        """Return what is at `path`, links followed, and whether its name is a link; OSError.

        BarredError where it is barred. It takes no longer than to ask for both.
        """
        if self.trusts(path):
            return os.stat(path), stat.S_ISLNK(os.lstat(path).st_mode)
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            place = self.check(descriptor, path)
            plain = path
            if path.startswith(self._named):
                plain = f"{self._own}/{path[len(self._named) :]}"
            # A place has no links in it: with them its name would be another.
            is_link = place != plain and stat.S_ISLNK(os.lstat(path).st_mode)
            return os.fstat(descriptor), is_link
        finally:
            os.close(descriptor)

    def open(self, path: str, flags: int) -> int:
        """Open what is there, with flags that change nothing; OSError."""
        descriptor = os.open(path, flags)
        try:
            if not self.trusts(path):
                self.check(descriptor, path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def make(self, path: str, flags: int, mode: int) -> int:
        """Open what may be made or emptied by that; OSError, and then neither has happened."""
        if self.trusts(path):
            return os.open(path, flags, mode)
        where = path
        for _ in range(_MOST_LINKS):
            with self.folder_of(where, path) as folder:
                name = os.path.basename(where)
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
        if self.trusts(path):
            os.mkdir(path, mode)
            return
        with self.folder_of(path, path) as folder:
            os.mkdir(os.path.basename(path), mode, dir_fd=folder)

    def make_directories(self, path: str) -> None:
        """Make a directory and those above it that are not there; OSError."""
        if os.path.isdir(path):
            return
        self.make_directories(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            self.make_directory(path, 0o777)

    def unlink(self, path: str) -> None:
        """Remove a file; OSError."""
        if self.trusts(path):
            os.unlink(path)
            return
        with self.folder_of(path, path) as folder:
            os.unlink(os.path.basename(path), dir_fd=folder)

    def make_executable(self, path: str) -> None:
        """Give a file its execute bits; OSError."""
        descriptor = self.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            if mode & 0o111 != 0o111:
                os.chmod(f"/proc/self/fd/{descriptor}", mode | 0o755)  # noqa: S103 - it has to be
        finally:
            os.close(descriptor)

    def names(self, path: str) -> list[str]:
        """Return the names in a directory; OSError."""
        descriptor = self.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return os.listdir(descriptor)
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def folder_of(self, where: str, path: str) -> Iterator[int]:
        """Open the folder in which a name is, to work by its descriptor; OSError.

        `path` is the name that is complained of.
        """
        descriptor = os.open(os.path.dirname(where) or ".", _FOLDER)
        try:
            self.check(descriptor, path)
            yield descriptor
        finally:
            os.close(descriptor)


def open_inside(fence: Fence | None, path: str, flags: int, mode: int = 0o644) -> int:
    """Open what a job, or its submit file, names; OSError, also where the `fence` bars it."""
    if fence is None:
        return os.open(path, flags, mode)
    return fence.make(path, flags, mode) if flags & os.O_CREAT else fence.open(path, flags)


def open_regular(fence: Fence | None, path: str, flags: int, mode: int = 0o644) -> int:
    """Open a regular file as `open_inside` does; for a pipe or a device OSError, at once."""
    return require_regular(open_inside(fence, path, flags | AT_EASE, mode))


@contextlib.contextmanager
def opened_folder(path: str, fence: Fence | None) -> Iterator[int]:
    """Open a folder, to work in it by its descriptor; OSError, also where the `fence` bars it."""
    descriptor = open_inside(fence, path, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def opener(fence: Fence | None) -> Callable[[str, int], int]:
    """Return what `open` opens a file with, inside the `fence`."""
    return lambda path, flags: open_inside(fence, path, flags | os.O_NOCTTY, 0o666)
