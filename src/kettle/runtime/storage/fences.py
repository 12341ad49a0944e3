"""Keeps what is opened for a job out of the sandboxes of other jobs that run as the same account.

A starter opens what a submit file names, and what a job left, with the rights of the job's account
and in the machine's own view, where all sandboxes of that account are open to it. What was opened
is asked where it is (`bounds.py`). Limit: folders of sandboxes that are mounted in a second place
are not known there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator

from kettle.runtime.storage.bounds import BarredError, Bounds
from kettle.runtime.storage.small_files import AT_EASE, require_regular

IN_ANOTHER = f"{os.strerror(errno.EACCES)}: it lies in the sandbox of another job"
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


class Fence(Bounds):
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

    def is_home(self, place: str) -> bool:
        """Whether a place is in the job's own sandbox."""
        return place.startswith(f"{self._own}/") or place == self._own

    def objection(self, place: str) -> str:
        """Return why a place, without links, is not for this job; nothing if it is."""
        return IN_ANOTHER if self.bars(place) else ""

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


def open_inside(fence: Bounds | None, path: str, flags: int, mode: int = 0o644) -> int:
    """Open what a job, or its submit file, names; OSError, also where the `fence` bars it."""
    if fence is None:
        return os.open(path, flags, mode)
    changes = flags & (os.O_CREAT | os.O_TRUNC)
    return fence.make(path, flags, mode) if changes else fence.open(path, flags)


def open_regular(fence: Bounds | None, path: str, flags: int, mode: int = 0o644) -> int:
    """Open a regular file as `open_inside` does; for a pipe or a device OSError, at once."""
    return require_regular(open_inside(fence, path, flags | AT_EASE, mode))


@contextlib.contextmanager
def opened_folder(path: str, fence: Bounds | None) -> Iterator[int]:
    """Open a folder, to work in it by its descriptor; OSError, also where the `fence` bars it."""
    descriptor = open_inside(fence, path, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def opener(fence: Bounds | None) -> Callable[[str, int], int]:
    """Return what `open` opens a file with, inside the `fence`."""
    return lambda path, flags: open_inside(fence, path, flags | os.O_NOCTTY, 0o666)
