"""A file that is written piece by piece as its bytes come, and on disk when it is finished."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

from kettle.errors import StorageError
from kettle.runtime.storage.free_space import read_free_kib

if TYPE_CHECKING:
    from collections.abc import Callable

# So many bytes are written before the disk is waited for: nobody else is served meanwhile.
_SYNCED_BYTES = 8 << 20


class GrowingFile:
    """A new file, in place of one of its name; every error is a StorageError."""

    def __init__(
        self, path: str, *, mode: int, room_kib: Callable[[], int | None] | None = None
    ) -> None:
        """`room_kib` says how much may still be written, None if that cannot be told."""
        self._path = path
        self._room_kib = room_kib or (lambda: read_free_kib(os.path.dirname(path)))
        self._unsynced = 0
        self._dropped = False
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            # A link that is there by now is refused, too: O_EXCL follows none.
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except OSError as error:
            raise self._failed(error) from error

    def write(self, data: bytes) -> None:
        """Append bytes."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
            self._unsynced += len(data)
            if self._unsynced >= _SYNCED_BYTES:
                self._sync()
        except OSError as error:
            raise self._failed(error) from error

    def finish(self) -> str:
        """Have it on disk, with its name; return that. Who is told of an error calls `drop`."""
        try:
            os.fsync(self._fd)
            self._close()
            folder = os.open(os.path.dirname(self._path), os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise self._failed(error) from error
        return self._path

    def drop(self) -> None:
        """Remove it, as far as it was written, or what was finished; a second time nothing."""
        if self._dropped:
            return
        self._dropped = True
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                self._close()
        with contextlib.suppress(OSError):
            os.unlink(self._path)

    def _close(self) -> None:
        # Its number may be another file's from now on, even where the kernel tells of an error.
        descriptor, self._fd = self._fd, -1
        os.close(descriptor)

    def _sync(self) -> None:
        os.fdatasync(self._fd)
        self._unsynced = 0
        room = self._room_kib()
        if room is not None and room * 1024 < _SYNCED_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _failed(self, error: OSError) -> StorageError:
        return StorageError(
            f"cannot write {self._path}: {error.strerror}", errno=error.errno or errno.EIO
        )
