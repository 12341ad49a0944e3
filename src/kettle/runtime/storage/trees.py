"""Walks and empties directory trees of any depth, relative to open folders.

A job nests folders as deep as it likes: their paths are longer than the system takes, and what
calls itself for each runs out of Python's stack. Here a folder is opened from its parent, no link
is followed, and few are open at a time. A folder of our own that was closed to us is opened up
before it is read. Which tree may go is decided by the caller.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from kettle.named_tuples import NamedTuple

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opens what may not be read.
_PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What a folder's owner needs to see what is in it, and to change that.
_LOOK = stat.S_IRUSR | stat.S_IXUSR
_CHANGE = stat.S_IRWXU
# What has the name of a folder by now: nothing, something else, a link, another folder.
_CHANGED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE})
# Limit: who goes on making entries while a tree is emptied does not keep us for ever.
_MOST_ROUNDS = 8


def _nothing(_: OSError) -> None:
    return None


def walk_tree(
    folder: str, missed: Callable[[OSError], object] = _nothing
) -> Generator[tuple[int, os.DirEntry[str]], None, None]:
    """Yield all that is below `folder`, each as its parent's descriptor and its entry.

    Both are good until the next one is asked for; the path of an entry is its bare name. What our
    own account closed to itself is open for as long as the walk is in it. `missed` is told of each
    folder that could not be looked into, or only in part; nothing is raised. What is moved about
    meanwhile may be missed.
    """
    walk = _Walk(folder, missed)
    try:
        while walk.here >= 0:
            yield from walk.look()
            walk.step()
    finally:
        walk.close()


@contextlib.contextmanager
def opened_up(folder: str) -> Iterator[None]:
    """Let us see meanwhile what is in a folder of our own, whatever its mode; OSError."""
    opened = _open_folder(folder, None, _LOOK)
    try:
        yield
    finally:
        _close_again(opened)
        os.close(opened.descriptor)


@dataclass
class _Level:
    """A folder on the way down: its name above, and which of those in it are still to be seen."""

    name: str
    opened: _Opened
    folders: list[str] = field(default_factory=list)


class _Walk:
    """Where a walk is: one open folder, -1 at the end, and the names on the way to it."""

    def __init__(self, folder: str, missed: Callable[[OSError], object]) -> None:
        self.here = -1
        self.levels: list[_Level] = []
        self._missed = missed
        # Where it began stays open: from there all ways lead down.
        self._top = -1
        if self._enter(folder, None):
            self._top = self.here

    def look(self) -> Iterator[tuple[int, os.DirEntry[str]]]:
        """Yield what is in the open folder, and keep in mind which of it are folders."""
        folders = self.levels[-1].folders
        try:
            with os.scandir(self.here) as entries:
                for entry in entries:
                    yield self.here, entry
                    if self._is_folder(entry):
                        folders.append(entry.name)
        except OSError as error:
            self._missed(error)

    def step(self) -> None:
        """Go to the next folder: below this one, or below one of those above."""
        while self.levels:
            folders = self.levels[-1].folders
            if not folders:
                self._leave()
            elif self._enter(folders.pop(), self.here):
                return

    def close(self) -> None:
        """End here; what was opened up on the way is closed again."""
        while any(level.opened.changed for level in self.levels):
            self._leave()
        self.levels.clear()
        self._move(-1)
        if self._top >= 0:
            os.close(self._top)
            self._top = -1

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError as error:
            self._missed(error)
            return False

    def _enter(self, name: str, parent: int | None) -> bool:
        try:
            opened = _open_folder(name, parent, _LOOK)
        except OSError as error:
            self._miss(error)
            return False
        self._move(opened.descriptor)
        self.levels.append(_Level(name, opened))
        return True

    def _leave(self) -> None:
        """Go back up, as long as this folder lets us out."""
        left = self.levels.pop()
        above = self._above() if self.levels else -1
        _close_again(left.opened._replace(descriptor=self.here))
        self._move(above)

    def _above(self) -> int:
        """Open the folder above, or the nearest one above that that is still where it was."""
        with contextlib.suppress(OSError):
            return _open_again("..", self.here, self.levels[-1])
        # This folder was moved, or closed to us meanwhile: the one above has its names, too.
        here = self._top
        for depth, level in enumerate(self.levels[1:], 1):
            try:
                below = _open_again(level.name, here, level)
            except OSError as error:
                self._miss(error)
                del self.levels[depth:]
                break
            self._close(here)
            here = below
        return here

    def _miss(self, error: OSError) -> None:
        """Tell of a folder that cannot be opened, unless it is gone or another by now."""
        if error.errno not in _CHANGED:
            self._missed(error)

    def _move(self, descriptor: int) -> None:
        self._close(self.here)
        self.here = descriptor

    def _close(self, descriptor: int) -> None:
        if descriptor not in {-1, self._top}:
            os.close(descriptor)


class _Opened(NamedTuple):
    """An open folder, what it was before, and when we changed its mode: 0 if we did not."""

    descriptor: int
    before: os.stat_result
    changed: int


def _open_again(name: str, parent: int, level: _Level) -> int:
    """Open a folder once more; OSError, also where it is another by now."""
    opened = _open_folder(name, parent, _LOOK, level.opened.before)
    if opened.changed:
        # Its mode is another than when we came.
        level.opened = opened
    return opened.descriptor


def _open_folder(
    name: str, parent: int | None, rights: int, known: os.stat_result | None = None
) -> _Opened:
    """Open a folder; one of ours is given those `rights` first that its mode keeps from its owner.

    OSError, also where it is not the `known` one. No link is followed, and what is opened up is
    what is opened: what has its name by then does not matter.
    """
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError as error:
        place = os.open(name, _PLACE, dir_fd=parent)
        try:
            path = f"/proc/self/fd/{place}"
            before = _look_at(place, known)
            if not _is_closed(before, rights):
                raise error from None
            os.chmod(path, stat.S_IMODE(before.st_mode) | rights)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.close(place)
        return _Opened(descriptor, before, os.fstat(descriptor).st_ctime_ns)
    try:
        before, changed = _look_at(descriptor, known), 0
        if _is_closed(before, rights):
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, stat.S_IMODE(before.st_mode) | rights)
                changed = os.fstat(descriptor).st_ctime_ns
    except OSError:
        os.close(descriptor)
        raise
    return _Opened(descriptor, before, changed)


def _is_closed(facts: os.stat_result, rights: int) -> bool:
    """Whether a folder is ours, and its mode keeps some of these rights from us; none from root."""
    return facts.st_mode & rights != rights and facts.st_uid == os.geteuid() != 0


def _look_at(descriptor: int, known: os.stat_result | None) -> os.stat_result:
    facts = os.fstat(descriptor)
    if known is not None and not os.path.samestat(facts, known):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
    return facts


def _close_again(opened: _Opened) -> None:
    """Give a folder the mode back that it had, unless somebody else changed it, or what is in it.

    Whoever opens it himself meanwhile must not find it closed afterwards.
    """
    if opened.changed:
        with contextlib.suppress(OSError):
            if os.fstat(opened.descriptor).st_ctime_ns == opened.changed:
                os.fchmod(opened.descriptor, stat.S_IMODE(opened.before.st_mode))


def empty_folder(folder: str) -> Iterator[None]:
    """Remove what is in `folder` as far as it can be, however deep, whatever was closed in it.

    It is done in small steps, one whenever the next is asked for. OSError if the folder cannot be
    opened. The content of folders in it is moved up into it first, so that nothing has to be
    reached through more than two names.
    """
    top = _open_folder(folder, None, _CHANGE).descriptor
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
        folder = _open_folder(name, self._top, _CHANGE).descriptor
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
            os.close(_open_folder(name, parent, _CHANGE).descriptor)
            os.rename(name, fresh, src_dir_fd=parent, dst_dir_fd=self._top)
        return fresh


def _unlink(name: str, parent: int) -> bool:
    """Remove anything but a folder; tell whether it was none."""
    try:
        os.unlink(name, dir_fd=parent)
    except IsADirectoryError:
        return False
    return True
