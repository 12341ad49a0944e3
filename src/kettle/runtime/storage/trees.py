"""Walks and empties directory trees of any depth, relative to open folders.

A job nests folders as deep as it likes: their paths are longer than the system takes, and what
calls itself for each runs out of Python's stack. Here a folder is opened from its parent, no link
is followed, and few are open at a time. Which tree may go is decided by the caller.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Limit: who goes on making entries while a tree is emptied does not keep us for ever.
_MOST_ROUNDS = 8


def walk_tree(folder: str) -> Generator[tuple[int, os.DirEntry[str]], None, None]:
    """Yield all that is below `folder`, each as its parent's descriptor and its entry.

    Both are good until the next one is asked for; the path of an entry is its bare name. A folder
    that cannot be opened is yielded and not entered; what is moved about meanwhile may be missed.
    """
    walk = _Walk(folder)
    try:
        while walk.here >= 0:
            yield from walk.look()
            walk.step()
    finally:
        walk.close()


@dataclass
class _Level:
    """A folder on the way down: which one it is, and those in it that are still to be seen."""

    identity: tuple[int, int]
    folders: list[str] = field(default_factory=list)


class _Walk:
    """Where a walk is: one open folder, -1 at the end, and the names on the way to it."""

    def __init__(self, folder: str) -> None:
        self.here = -1
        self.levels: list[_Level] = []
        with contextlib.suppress(OSError):
            self._enter(os.open(folder, _FOLDER))

    def look(self) -> Iterator[tuple[int, os.DirEntry[str]]]:
        """Yield what is in the open folder, and keep in mind which of it are folders."""
        with os.scandir(self.here) as entries:
            for entry in entries:
                yield self.here, entry
                if entry.is_dir(follow_symlinks=False):
                    self.levels[-1].folders.append(entry.name)

    def step(self) -> None:
        """Go to the next folder: below this one, or below one of those above."""
        while self.levels:
            folders = self.levels[-1].folders
            if not folders:
                self._leave()
                continue
            with contextlib.suppress(OSError):
                return self._enter(os.open(folders.pop(), _FOLDER, dir_fd=self.here))
        return self.close()

    def close(self) -> None:
        """End here."""
        self.levels.clear()
        self._move(-1)

    def _enter(self, descriptor: int) -> None:
        self._move(descriptor)
        self.levels.append(_Level(_identity(descriptor)))

    def _leave(self) -> None:
        self.levels.pop()
        if not self.levels:
            return
        self._move(os.open("..", _FOLDER, dir_fd=self.here))
        # Somebody moved the folder in which we were: the way back is lost.
        if _identity(self.here) != self.levels[-1].identity:
            self.levels.clear()

    def _move(self, descriptor: int) -> None:
        if self.here >= 0:
            os.close(self.here)
        self.here = descriptor


def _identity(descriptor: int) -> tuple[int, int]:
    facts = os.fstat(descriptor)
    return facts.st_dev, facts.st_ino


def empty_folder(folder: str) -> Iterator[None]:
    """Remove what is in `folder` as far as it can be, however deep, whatever was closed in it.

    It is done in small steps, one whenever the next is asked for. OSError if the folder cannot be
    opened. The content of folders in it is moved up into it first, so that nothing has to be
    reached through more than two names.
    """
    top = _open_folder(folder, None)
    try:
        emptying = _Emptying(top)
        for _ in range(_MOST_ROUNDS):
            yield from emptying.remove(os.listdir(top))
            if not emptying.went:
                return
    finally:
        os.close(top)


class _Emptying:
    """One folder on its way to be empty; `went` is how much the last round removed."""

    def __init__(self, top: int) -> None:
        self._top = top
        self.went = 0
        # Names that nobody guesses, and has put something else under.
        self._prefix = f".going-{secrets.token_hex(8)}-"
        self._moved = 0

    def remove(self, names: list[str]) -> Iterator[None]:
        """Remove these and what they hold, as far as it can be."""
        self.went = 0
        while names:
            name = names.pop()
            with contextlib.suppress(OSError):
                if not _unlink(name, self._top):
                    yield from self._hoist(name, names)
                    os.rmdir(name, dir_fd=self._top)
                self.went += 1
            yield

    def _hoist(self, name: str, hoisted: list[str]) -> Iterator[None]:
        """Remove the files of a folder, move its folders to the top, and add their names."""
        folder = _open_folder(name, self._top)
        try:
            for inner in os.listdir(folder):
                with contextlib.suppress(OSError):
                    if not _unlink(inner, folder):
                        hoisted.append(self._move_up(inner, folder))
                yield
        finally:
            os.close(folder)

    def _move_up(self, name: str, parent: int) -> str:
        self._moved += 1
        fresh = f"{self._prefix}{self._moved}"
        try:
            os.rename(name, fresh, src_dir_fd=parent, dst_dir_fd=self._top)
        except PermissionError:
            _open_up(name, parent)
            os.rename(name, fresh, src_dir_fd=parent, dst_dir_fd=self._top)
        return fresh


def _unlink(name: str, parent: int) -> bool:
    """Remove anything but a folder; tell whether it was none."""
    try:
        os.unlink(name, dir_fd=parent)
    except IsADirectoryError:
        return False
    return True


def _open_folder(name: str, parent: int | None) -> int:
    """Open a folder to change what is in it; one that its owner closed is opened up first."""
    try:
        folder = os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        _open_up(name, parent)
        folder = os.open(name, _FOLDER, dir_fd=parent)
    if os.geteuid() != 0:
        with contextlib.suppress(OSError):
            os.fchmod(folder, 0o700)
    return folder


def _open_up(name: str, parent: int | None) -> None:
    """Give an account its own folder back.

    Root needs nothing opened, and must not: between the look at a name and the change of its mode
    another process of a job's account could put a link to anything in its place.
    """
    if os.geteuid() == 0:
        return
    if stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        os.chmod(name, 0o700, dir_fd=parent)
