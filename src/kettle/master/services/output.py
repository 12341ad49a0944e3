"""LOG/master.out, where the master and every process below it say what they have no log for.

All of them hold the file open, so it is not moved aside: once it is too long, its end is copied to
`master.out.old` and the file emptied. Whoever writes goes on at its new end.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import stat

from kettle.runtime.context import Runtime

# Limit: how long the file may be when it is looked at. What a loop of failures says repeats itself.
MOST_BYTES = 1 << 20
# How often the file is looked at.
ROUND_SECONDS = 60.0
_NAME = "master.out"


class Output:
    """Keeps this process's standard error short, where that is LOG/master.out."""

    def __init__(self, runtime: Runtime, descriptor: int = 2) -> None:
        self._runtime = runtime
        self._descriptor = descriptor

    async def keep_short(self) -> None:
        """Look at the file, and rest for a while."""
        self.shorten()
        await asyncio.sleep(ROUND_SECONDS)

    def shorten(self) -> None:
        """Empty the file if it is too long; its end is kept beside it, if that can be written."""
        folder = self._runtime.config.get("LOG")
        if folder is None:
            return
        path = os.path.join(folder, _NAME)
        size = _size(self._descriptor, path)
        if size <= MOST_BYTES:
            return
        with contextlib.suppress(OSError), self._runtime.privileges.as_root():
            _copy_end(path, size)
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            self._runtime.log(f"{path} had {size} bytes; the last ones are in {path}.old now")


def _size(descriptor: int, path: str) -> int:
    """Return how long a file is that a descriptor appends to; 0 if it is not the one of a path."""
    try:
        ours = os.fstat(descriptor)
        appends = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
        same = os.path.samestat(ours, os.lstat(path))
    except OSError:
        return 0
    return ours.st_size if same and appends and stat.S_ISREG(ours.st_mode) else 0


def _copy_end(path: str, size: int) -> None:
    # The folder is the daemons' account's: no link of its making is followed.
    reading = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        data = os.pread(reading, MOST_BYTES, size - MOST_BYTES)
        owner = os.fstat(reading)
        if not stat.S_ISREG(owner.st_mode):
            return
    finally:
        os.close(reading)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + ".old")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(path + ".old", flags, 0o640), "wb") as file:
        file.write(data)
        os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
