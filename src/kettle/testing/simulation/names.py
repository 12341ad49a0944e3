"""What becomes of names when the power goes: what no sync of their folder asked for may be lost.

A file system that keeps a journal (ext4, XFS) brings changes of names to the disk in the order in
which they were made: what a power cut leaves of them is a beginning, which is at least as long as
up to the last one that a sync has asked for. Other than those two, and as POSIX has it, this one
promises a name only to who syncs its folder: a sync of the file itself is none. The folders that an
administrator may put on disks of their own are file systems of their own here.

The names are real ones in real folders. What a change took away has a second name in a grave until
the change is on the disk.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kettle.runtime.process import kernel
from kettle.testing.simulation.processes import act

_rename_by_flags = kernel._rename  # noqa: SLF001 - it is stood in for, as the others are
_open, _rename, _link, _unlink = os.open, os.rename, os.link, os.unlink
_mkdir, _rmdir, _fsync = os.mkdir, os.rmdir, os.fsync


@dataclass(frozen=True)
class _Change:
    """A change of names that a power cut may undo; `grave` is where what it took away is."""

    folders: tuple[str, ...]
    what: str
    undo: Callable[[], None]
    grave: str = ""


class NameJournal:
    """The names of one file system; `graves` is a folder for what has lost its own."""

    def __init__(self, graves: str) -> None:
        self._graves = graves
        self._count = 0
        # Since the last one that is on the disk for certain.
        self._changes: list[_Change] = []
        # Whether changes are being undone, which are none themselves.
        self.undoes = False

    def made(self, path: str) -> None:
        """Note that there is a file or folder now where there was none."""
        inode = os.lstat(path).st_ino

        def undo() -> None:
            facts = os.lstat(path)
            if facts.st_ino != inode:
                return
            if stat.S_ISDIR(facts.st_mode):
                shutil.rmtree(path)
            else:
                _unlink(path)

        self._note(path, f"{path} is made", undo)

    def remove(self, path: str) -> None:
        """Take a file's name away."""
        grave = self._bury(path)
        _unlink(path)
        self._note(path, f"{path} is removed", lambda: self._bring_back(grave, path), grave)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        mode = stat.S_IMODE(os.stat(path).st_mode)
        _rmdir(path)
        self._note(path, f"{path} is removed", lambda: _mkdir(path, mode))

    def rename(self, source: str, target: str) -> None:
        """Give a file or folder another name, which something may have."""
        grave = self._bury(target)
        _rename(source, target)

        def undo() -> None:
            _rename(target, source)
            self._bring_back(grave, target)

        self._note(source, f"{source} becomes {target}", undo, grave, os.path.dirname(target))

    def renamed_by_flags(self, source: str, target: str, flags: int) -> None:
        """Note that two names were exchanged, or that one is another now that was nobody's."""

        def undo() -> None:
            _rename_by_flags(target, source, flags)

        self._note(source, f"{source} becomes {target}", undo, "", os.path.dirname(target))

    def _bury(self, path: str) -> str:
        try:
            if stat.S_ISDIR(os.lstat(path).st_mode):
                return ""
        except OSError:
            return ""
        self._count += 1
        grave = f"{self._graves}/{self._count}"
        os.makedirs(self._graves, exist_ok=True)
        _link(path, grave, follow_symlinks=False)
        return grave

    def _bring_back(self, grave: str, path: str) -> None:
        if grave:
            _rename(grave, path)

    def _note(
        self, path: str, what: str, undo: Callable[[], None], grave: str = "", *more: str
    ) -> None:
        folders = (os.path.dirname(path), *more)
        self._changes.append(_Change(folders, what, undo, grave))

    def promise(self, folder: str) -> None:
        """Keep what a folder's names are now, and with that everything that was done before."""
        last = len(self._changes)
        while last and folder not in self._changes[last - 1].folders:
            last -= 1
        for change in self._changes[:last]:
            if change.grave:
                _unlink(change.grave)
        del self._changes[:last]

    def lose_power(self, source: random.Random) -> list[str]:
        """Undo what came behind some moment since the last promise; return what is lost."""
        count = len(self._changes)
        kept = source.choice((0, source.randint(0, count), count)) if count else 0
        lost = self._changes[kept:]
        self.undoes = True
        for change in reversed(lost):
            with contextlib.suppress(OSError):
                change.undo()
        self.undoes = False
        del self._changes[kept:]
        # What is there when the machine starts has long been on the disk.
        for change in self._changes:
            if change.grave:
                _unlink(change.grave)
        self._changes.clear()
        return [change.what for change in lost]


class WatchedNames:
    """Has `os` tell the journals of all machines, by the folders that are file systems.

    Each change is an act of the process that makes it.
    """

    def __init__(self, journals: Mapping[str, NameJournal]) -> None:
        self._journals = journals
        self._depth = {folder.count("/") for folder in journals}

    def install(self) -> None:
        """From here on, in this process."""
        for name in ("open", "rename", "unlink", "mkdir", "rmdir", "link", "fsync"):
            setattr(os, name, getattr(self, name))
        setattr(os, "replace", self.rename)  # noqa: B010 - it is not our own
        setattr(os, "remove", self.unlink)  # noqa: B010
        setattr(kernel, "_rename", self.rename_by_flags)  # noqa: B010

    def journal_of(self, path: str) -> NameJournal | None:
        """Return the journal of a path's file system; None for one that keeps all at once."""
        parts = path.split("/")
        for depth in self._depth:
            if len(parts) > depth + 1:
                journal = self._journals.get("/".join(parts[: depth + 1]))
                if journal is not None:
                    return None if journal.undoes else journal
        return None

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """Open a file, which may be new."""
        if not flags & os.O_CREAT:
            return _open(path, flags, mode, dir_fd=dir_fd)
        place, journal = self._find(path, dir_fd)
        is_new = journal is not None and not os.path.lexists(place)
        fd = _open(path, flags, mode, dir_fd=dir_fd)
        if journal is not None and is_new:
            journal.made(place)
        return fd

    def rename(
        self,
        source: Any,
        target: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
    ) -> None:
        """Rename."""
        old, journal = self._find(source, src_dir_fd)
        new, _ = self._find(target, dst_dir_fd)
        if journal is None:
            _rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        else:
            journal.rename(old, new)

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        """Take a name away."""
        place, journal = self._find(path, dir_fd)
        if journal is None:
            _unlink(path, dir_fd=dir_fd)
        else:
            journal.remove(place)

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        """Make a folder."""
        place, journal = self._find(path, dir_fd)
        _mkdir(path, mode, dir_fd=dir_fd)
        if journal is not None:
            journal.made(place)

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        """Remove a folder."""
        place, journal = self._find(path, dir_fd)
        if journal is None:
            _rmdir(path, dir_fd=dir_fd)
        else:
            journal.remove_folder(place)

    def link(self, source: Any, target: Any, **how: Any) -> None:
        """Give a file a second name."""
        place, journal = self._find(target, how.get("dst_dir_fd"))
        _link(source, target, **how)
        if journal is not None:
            journal.made(place)

    def rename_by_flags(self, source: str, target: str, flags: int) -> None:
        """Rename without replacing, or exchange two names."""
        _, journal = self._find(source, None)
        _rename_by_flags(source, target, flags)
        if journal is not None:
            journal.renamed_by_flags(source, target, flags)

    def fsync(self, fd: int) -> None:
        """Sync a file, or promise a folder's names."""
        act()
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            self.promise(path_of(fd))
        else:
            _fsync(fd)

    def promise(self, folder: str) -> None:
        """Keep what a folder's names are now."""
        journal = self.journal_of(f"{folder}/")
        if journal is not None:
            journal.promise(folder)

    def _find(self, path: Any, dir_fd: int | None) -> tuple[str, NameJournal | None]:
        place = os.fspath(path)
        if isinstance(place, bytes):
            place = os.fsdecode(place)
        if dir_fd is not None and not place.startswith("/"):
            place = f"{path_of(dir_fd)}/{place}"
        journal = self.journal_of(place)
        if journal is not None:
            act()
        return place, journal


def path_of(fd: int) -> str:
    """Return where an open folder is."""
    return os.readlink(f"/proc/self/fd/{fd}")
