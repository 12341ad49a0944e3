"""Users' folders with the logs of exports: everything there is done by a child of the schedd.

A folder may lie where every look at it hangs. A child ends itself after a while, and what it did is
said only when it does nothing any more. One folder of each user's at a time, and few at once that
answer; those that hang keep only their own users waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import mmap
import os
import re
import stat
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from kettle.errors import KettleError, NotFoundError, NotMade, RefusedError
from kettle.runtime.process.snapshot import stay_with_parent
from kettle.runtime.storage.files import is_placeholder
from kettle.schedd.queue.exports import LOG_NAME, SERIES, NewLog

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.schedd.services.owner_accounts import OwnerAccounts

# Limit: a queue log that comes back is no longer than this.
LONGEST_LOG = 256 * 1024 * 1024
# How long a folder may hang.
HANGING_SECONDS = 60
# What holds a name for so long holds it for nobody who still works on a log.
_LIVE_SECONDS = 2 * HANGING_SECONDS
# Limit: folders looked at at a time; after how long one counts as hanging and gives its place to
# another, and how many may hang; what one user may have asked for.
_MOST_FOLDERS = 8
_PATIENCE_SECONDS = 5
_MOST_HANGING = 64
_MOST_ASKED = 4
# What is read before others have their turn.
_PIECE_BYTES = 64 * 1024
# Where what was read ends, for the process that did not read it.
_END = struct.Struct("<Q")
# How far a child came with a log: of one that was killed there are no words.
_BEGUN, _NOT_MADE, _WAS_THERE = 1, 2, 3
# The first line of a log: its number among those that replaced each other, and what never changes.
_FIRST = re.compile(rb"107 (\d{1,18}) (CreationTimestamp \d{1,18})\n")
_LONGEST_FIRST = 64
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotBegun(RefusedError):  # noqa: N818 - the name says what happened
    """No byte of an export's log was written; `was_there` if there was something already."""

    def __init__(self, message: str, *, was_there: bool) -> None:
        super().__init__(message)
        self.was_there = was_there


class ExportFolders:
    """The folders of all users."""

    def __init__(self, runtime: Runtime, accounts: OwnerAccounts) -> None:
        self._runtime = runtime
        self._accounts = accounts
        self._turns: dict[str, asyncio.Lock] = {}
        self._asked: Counter[str] = Counter()
        self._all = asyncio.Semaphore(_MOST_FOLDERS)
        self._hanging = 0

    async def create(self, owner: str, log: NewLog, pieces: Sequence[bytes]) -> None:
        """Write the log of an export; NotBegun, or KettleError if it may be there.

        Compat: the reference appends to a log that is there already; ours refuses it. Where the
        daemon cannot switch, that one may be the queue's
        (test_an_export_replaces_nothing_and_follows_no_link).
        """
        try:
            files = self._accounts.files_of(owner)
        except NotFoundError as error:
            raise NotBegun(error.message, was_there=False) from error
        with mmap.mmap(-1, mmap.PAGESIZE) as shared:

            def write() -> None:
                with files.as_owner():
                    stay_with_parent()
                    shared[0] = _BEGUN
                    try:
                        _remove_left(os.path.dirname(log.path))
                        self._runtime.files.create(log.path, pieces, aside=log.aside)
                    except NotMade as error:
                        shared[0] = _WAS_THERE if error.errno == errno.EEXIST else _NOT_MADE
                        raise

            try:
                async with self.turn(owner):
                    await self._do(write, "export")
            except (KettleError, OSError) as error:
                if shared[0] == _BEGUN:
                    raise
                raise NotBegun(str(error), was_there=shared[0] == _WAS_THERE) from error

    async def has(self, owner: str, log: NewLog) -> bool:
        """Tell whether the log of an export is there and on disk; KettleError if nobody knows.

        What was gathered of it is taken away.
        """
        files = self._accounts.files_of(owner)
        with mmap.mmap(-1, mmap.PAGESIZE) as shared:

            def look() -> None:
                with files.as_owner():
                    shared[0] = _is_whole(log)

            async with self.turn(owner):
                await self._do(look, "look for an export")
            return shared[0] != 0

    @contextmanager
    def memory(self) -> Iterator[mmap.mmap]:
        """Give memory for one log that comes back; a page of it costs some when it is written."""
        with mmap.mmap(-1, LONGEST_LOG + _PIECE_BYTES) as shared:
            yield shared

    async def read(self, owner: str, path: str, shared: mmap.mmap) -> Iterator[bytes]:
        """Read a log that comes back into `memory()`, and return it in pieces; in one's turn."""
        files = self._accounts.files_of(owner)

        def read() -> None:
            with files.as_owner():
                file = self._runtime.files.open_to_read(path, limit=LONGEST_LOG)
            with file:
                shared.seek(_PIECE_BYTES)
                # One that grows while it is read has an end, too.
                pieces = iter(partial(file.read, _PIECE_BYTES), b"")
                for piece in islice(pieces, LONGEST_LOG // _PIECE_BYTES):
                    shared.write(piece)
            end = shared.tell()
            shared.seek(0)
            shared.write(_END.pack(end))

        await self._do(read, "import")
        (end,) = _END.unpack_from(shared)
        return (
            shared[at : min(end, at + _PIECE_BYTES)]
            for at in range(_PIECE_BYTES, end, _PIECE_BYTES)
        )

    async def _do(self, work: Callable[[], None], what: str) -> None:
        async with self._place():
            await self._runtime.snapshots.run(lambda: work, f"an {what}", HANGING_SECONDS)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """Wait until few enough are at work; RefusedError if too many hang."""
        if self._hanging >= _MOST_HANGING:
            raise RefusedError("too many folders of exports and imports hang")
        await self._all.acquire()
        hangs = False

        def give_way() -> None:
            nonlocal hangs
            hangs = True
            self._hanging += 1
            self._all.release()

        timer = asyncio.get_running_loop().call_later(_PATIENCE_SECONDS, give_way)
        try:
            yield
        finally:
            timer.cancel()
            if hangs:
                self._hanging -= 1
            else:
                self._all.release()

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        """Wait until nothing else is done for a user; RefusedError if he has asked too often."""
        if self._asked[owner] >= _MOST_ASKED:
            raise RefusedError(f"too many exports and imports of {owner} wait for a folder")
        self._asked[owner] += 1
        try:
            async with self._turns.setdefault(owner, asyncio.Lock()):
                yield
        finally:
            self._asked[owner] -= 1
            if not self._asked[owner]:
                del self._asked[owner], self._turns[owner]


def _is_whole(log: NewLog) -> bool:
    """Tell whether a log is there, and remove what was gathered of it; OSError if nobody can know.

    What has its name is all of it, or somebody else's: it came there in one step.
    """
    # What is looked at is where something is removed, whatever becomes of the folder's name.
    place, name = os.path.split(log.path)
    try:
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if not _remove_gathered(folder, log):
                return False
            fd = os.open(name, _FLAGS, dir_fd=folder)
            try:
                is_whole = _is_same(fd, log)
                if is_whole:
                    # Who made it may have been killed before its name was on disk.
                    os.fsync(folder)
            finally:
                os.close(fd)
            return is_whole
        finally:
            os.close(folder)
    except OSError as error:
        # A link there was no more made by us than nothing.
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
            return False
        raise


def _is_same(fd: int, log: NewLog) -> bool:
    """Tell whether a file is a log, perhaps written anew by who works on it already."""
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        return False
    ours = _FIRST.match(f"{log.head}\n".encode("ascii", "replace"))
    found = _FIRST.match(os.pread(fd, _LONGEST_FIRST, 0))
    if ours is None or found is None or found[2] != ours[2]:
        return False
    return 0 <= int(found[1]) - int(ours[1]) < SERIES


def _remove_gathered(folder: int, log: NewLog) -> bool:
    """Take away what was gathered of a log, and what its name was held with.

    False if something holds the name that may be another schedd's, which is about to put its log
    there: without it a third one's log would come to lie below that. Both stay until a later look.
    """
    aside, name = os.path.basename(log.aside), os.path.basename(log.path)
    with contextlib.suppress(OSError):
        # By the folder's clock, which may be a server's.
        os.utime(aside, dir_fd=folder, follow_symlinks=False)
        now = os.lstat(aside, dir_fd=folder).st_ctime
        with contextlib.suppress(OSError):
            held = os.lstat(name, dir_fd=folder)
            if is_placeholder(held):
                if now - held.st_ctime < _LIVE_SECONDS:
                    return False
                os.unlink(name, dir_fd=folder)
        os.unlink(aside, dir_fd=folder)
    return True


def _remove_left(place: str) -> None:
    """Take away what killed schedds gathered in a folder and nobody asks for any more.

    What somebody works on is locked; what is no beginning of a log, or another account's, stays.
    """
    with contextlib.suppress(OSError):
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in os.listdir(folder):
                _remove_if_left(place, folder, name)
        finally:
            os.close(folder)


def _remove_if_left(place: str, folder: int, name: str) -> None:
    log = NewLog.gathered(name)
    if log is None or not _is_left(folder, name, log):
        return
    if _remove_gathered(folder, log._replace(path=os.path.join(place, LOG_NAME))):
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _is_left(folder: int, name: str, log: NewLog) -> bool:
    """Tell whether a file is the beginning of a log that nobody gathers any more."""
    try:
        fd = os.open(name, _FLAGS, dir_fd=folder)
    except OSError:
        return False
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            return False
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        head = f"{log.head}\n".encode("ascii")
        return head.startswith(os.pread(fd, len(head), 0))
    except OSError:
        return False
    finally:
        os.close(fd)
