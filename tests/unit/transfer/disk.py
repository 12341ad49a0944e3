"""A file system in memory that speaks `FileView` and `Storage`."""

from __future__ import annotations

import errno
import os
import posixpath

from kettle.transfer.items import Look


class MemoryFile:
    def __init__(self, data: bytes, mode: int) -> None:
        self.size = len(data)
        self.mode = mode
        self._data = data
        self._at = 0
        self.closed = False

    def read(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        self._at += len(piece)
        return piece

    def close(self) -> None:
        self.closed = True


class MemoryTarget:
    def __init__(self, disk: MemoryDisk, path: str) -> None:
        self._disk = disk
        self._path = path

    def write(self, data: bytes) -> None:
        if self._path in self._disk.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path)
        self._disk.files[self._path] += data

    def close(self) -> None:
        self._disk.closed.append(self._path)

    def discard(self) -> None:
        self.close()
        del self._disk.files[self._path]


class MemoryDisk:
    """Paths to contents; directories are kept with their mode."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.modes: dict[str, int] = {}
        self.directories: dict[str, int] = {}
        self.times: dict[str, int] = {}
        self.links: set[str] = set()
        self.full: set[str] = set()
        self.denied: set[str] = set()
        self.closed: list[str] = []
        self.unlisted: set[str] = set()
        for path in self.files:
            parent = posixpath.dirname(path)
            while parent not in ("/", ""):
                self.directories.setdefault(parent, 0o40755)
                parent = posixpath.dirname(parent)

    def look(self, path: str) -> Look | None:
        path = path.rstrip("/") or "/"
        link = path in self.links
        if path in self.files:
            mode = 0o100000 | self.modes.get(path, 0o644)
            size = len(self.files[path])
            return Look(False, True, link, size, mode, self.times.get(path, 1))
        if path in self.directories:
            return Look(True, False, link, 0, self.directories[path], 1)
        return None

    def names(self, path: str) -> list[str]:
        if path in self.unlisted:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
        prefix = path.rstrip("/") + "/"
        every = [*self.files, *self.directories]
        return sorted(
            {p[len(prefix) :].split("/")[0] for p in every if p.startswith(prefix) and p != prefix}
        )

    def open_source(self, path: str) -> MemoryFile:
        if path not in self.files:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return MemoryFile(self.files[path], self.modes.get(path, 0o644))

    def open_target(self, path: str, mode: int, size: int = 0) -> MemoryTarget:
        if path in self.denied:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
        self.files[path] = b""
        self.modes[path] = mode
        return MemoryTarget(self, path)

    def make_directory(self, path: str, mode: int) -> None:
        if path in self.denied:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
        self.directories[path] = 0o40000 | mode
