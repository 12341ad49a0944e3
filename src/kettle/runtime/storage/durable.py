"""Appending durably: "acknowledged means on disk" is kept here.

`DurableFile.append` writes, `await commit()` returns when everything appended so far has been
synced. Commits that overlap share one fsync (group commit), which runs in the daemon's only
worker thread; `Files.quiet` ends the thread for as long as a fork needs. What is written, and
when, is decided by the owners of the formats in `records/`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import queue
import threading
from collections.abc import Sequence
from typing import Protocol

from kettle.errors import StorageError
from kettle.runtime import tasks
from kettle.runtime.storage.disk import Disk, SystemDisk

# Bytes of a file's tail that are copied to its successor between two syncs, and how little is left
# for the copy that nothing may interrupt.
_COPIED_AT_ONCE = 4 * 1024 * 1024
_LAST_COPY = 256 * 1024

_DISK = SystemDisk()


class Synchronizer(Protocol):
    """Something that makes written bytes durable."""

    async def sync(self, fd: int) -> None:
        """Return when what was written to `fd` before the call is on disk."""
        ...

    async def idle(self) -> None:
        """Return when nothing is being synced and no thread exists."""
        ...

    def hold(self, count: int) -> None:
        """Keep (+1) or let (-1) new work from starting."""
        ...


class InlineSynchronizer:
    """Syncs at once in the caller's thread: for tools, and for tests on the virtual clock."""

    def __init__(self, *, really: bool = True) -> None:
        self._really = really
        self.calls = 0

    async def sync(self, fd: int) -> None:
        """Sync now, or only count the call."""
        self.calls += 1
        if self._really:
            _DISK.sync(fd)

    async def idle(self) -> None:
        """Nothing ever runs in the background."""

    def hold(self, count: int) -> None:
        """Nothing to keep."""


class WorkerSynchronizer:
    """Syncs in one worker thread, all files that wait at that moment in one batch.

    A request that comes while a batch is on its way belongs to the next one, because its bytes
    may have been written after that batch's fsync began.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}
        self._batch: dict[int, list[asyncio.Future[None]]] = {}
        self._in_flight = False
        self._requests: queue.SimpleQueue[list[int] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._held = 0
        self._idle_waiters: list[asyncio.Future[None]] = []
        self.calls = 0

    async def sync(self, fd: int) -> None:
        """Return when what was written to `fd` before the call is on disk; OSError if it fails."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(fd, []).append(done)
        if not self._in_flight and not self._held:
            self._start_batch()
        await done

    async def idle(self) -> None:
        """Wait until nothing is being synced, and end the thread. See `hold`."""
        while self._in_flight:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._idle_waiters.append(waiter)
            await waiter
        if self._thread is not None:
            self._requests.put(None)
            self._thread.join()
            self._thread = None

    def hold(self, count: int) -> None:
        """Keep (+1) or let (-1) new batches from starting, around a fork."""
        self._held += count
        if not self._held and self._waiting and not self._in_flight:
            self._start_batch()

    def _start_batch(self) -> None:
        self._batch, self._waiting = self._waiting, {}
        self._in_flight = True
        loop = asyncio.get_running_loop()
        if self._thread is None:
            thread = threading.Thread(target=self._work, args=(loop,), name="fsync", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # The system grants us no thread: better slowly than not at all.
                loop.call_soon(self._on_synced, _sync_all(list(self._batch)))
                return
            self._thread = thread
        self._requests.put(list(self._batch))

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            fds = self._requests.get()
            if fds is None:
                return
            failures = _sync_all(fds)
            with contextlib.suppress(RuntimeError):  # the loop was closed under us
                loop.call_soon_threadsafe(self._on_synced, failures)

    def _on_synced(self, failures: dict[int, OSError]) -> None:
        self.calls += 1
        self._in_flight = False
        batch = self._batch
        if self._waiting and not self._held:
            self._start_batch()
        for fd, waiters in batch.items():
            failure = failures.get(fd)
            for waiter in waiters:
                if waiter.done():
                    continue
                if failure is None:
                    waiter.set_result(None)
                else:
                    waiter.set_exception(failure)
        idle, self._idle_waiters = self._idle_waiters, []
        for waiter in idle:
            if not waiter.done():
                waiter.set_result(None)


def _sync_all(fds: Sequence[int]) -> dict[int, OSError]:
    """Sync files; return what went wrong, by file."""
    failures: dict[int, OSError] = {}
    for fd in fds:
        try:
            _DISK.sync(fd)
        except OSError as error:
            failures[fd] = error
    return failures


def _error(what: str, path: str, error: OSError) -> StorageError:
    return StorageError(f"cannot {what} {path}: {error.strerror}", errno=error.errno or 0)


class DurableFile:
    """A file that is only ever appended to, and whose tail can be waited for.

    After a failed sync, or a failed write that could not be undone, the file is `broken` and
    refuses everything: what the kernel has kept of the failed pages is unknown, so going on could
    acknowledge what is not there.
    """

    def __init__(
        self,
        path: str,
        synchronizer: Synchronizer,
        *,
        mode: int = 0o600,
        disk: Disk | None = None,
    ) -> None:
        self.path = path
        self.broken = False
        self._synchronizer = synchronizer
        self._disk = disk or SystemDisk()
        self._mode = mode
        # The file that will take this one's place and gets everything as well by now; else -1.
        self._successor = -1
        self._renamed = False
        try:
            self._fd = self._disk.open(path, mode)
        except OSError as error:
            raise _error("open", path, error) from error

    @property
    def size(self) -> int:
        """Bytes in the file now."""
        return self._disk.size(self._fd)

    def is_named(self) -> bool:
        """Return whether its name still leads to it, and not to nothing.

        StorageError if another file has that name now: what is written here is nobody's.
        """
        try:
            files = [fd for fd in (self._fd, self._successor) if fd >= 0]
            if any(self._disk.same(fd, self.path) for fd in files):
                return True
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise _error("look at", self.path, error) from error
        raise StorageError(f"{self.path} is another file than the one that was opened")

    def fileno(self) -> int:
        """The descriptor, for locks."""
        return self._fd

    def append(self, data: bytes) -> None:
        """Write at the end; StorageError if the file cannot take it all (the part is cut off)."""
        if self.broken:
            raise StorageError(f"{self.path} failed before and takes no more")
        start = self._disk.size(self._fd)
        try:
            self._write(self._fd, data)
        except OSError as error:
            self._cut(self._fd, start)
            raise _error("write", self.path, error) from error
        if self._successor >= 0:
            self._append_to_successor(data, start)

    def _append_to_successor(self, data: bytes, start: int) -> None:
        size = self._disk.size(self._successor)
        try:
            self._write(self._successor, data)
        except OSError as error:
            if not self._renamed:
                # We are still the file of that name; the successor is given up (see `replace`).
                self._successor = -1
                return
            self._cut(self._successor, size)
            self._cut(self._fd, start)
            raise _error("write", self.path, error) from error

    def _write(self, fd: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._disk.write(fd, view) :]

    def _cut(self, fd: int, size: int) -> None:
        """Cut off what a failed write has left."""
        try:
            self._disk.truncate(fd, size)
        except OSError:
            self.broken = True

    async def commit(self) -> None:
        """Return when everything appended before this call is on disk; StorageError if not."""
        if not self.broken:
            # It goes on where nobody waits any more: what the disk says then is told once.
            failure = await asyncio.shield(tasks.spawn(self._sync(), f"sync of {self.path}"))
            if failure is not None:
                raise _error("sync", self.path, failure) from failure
        # One before ours may have failed meanwhile, and have lost what is ours as well.
        if self.broken:
            raise StorageError(f"{self.path} failed before and takes no more")

    async def _sync(self) -> OSError | None:
        """Sync what is written; return what fails, from which on the file is broken."""
        try:
            if self._successor < 0:
                await self._synchronizer.sync(self._fd)
            else:
                # Both are asked for before either is waited for, so that they share one batch.
                both = (self._fd, self._successor)
                await asyncio.gather(*(self._synchronizer.sync(fd) for fd in both))
        except OSError as error:
            self.broken = True
            return error
        return None

    async def replace(self, path: str, *, stands_for: int) -> None:
        """Let the file `path`, which stands for our first `stands_for` bytes, take our place.

        What was appended since is copied behind it; while the names change, both files get every
        append and every commit, so that a crash at any moment leaves one file, of either kind, that
        holds all that was acknowledged. StorageError if it cannot be done; then we go on as before,
        unless we are `broken`.
        """
        disk = self._disk
        successor = -1
        try:
            successor = disk.open(path, self._mode)
            copied = await self._catch_up(successor, stands_for)
            # From here to the first wait nothing can be appended.
            self._write(successor, disk.read_at(self._fd, copied, self.size - copied))
            self._successor, self._renamed = successor, False
            await self._synchronizer.sync(successor)
            self._check_kept(successor)
            disk.rename(path, self.path)
            self._renamed = True
        except (OSError, asyncio.CancelledError) as error:
            self._successor = -1
            if successor >= 0:
                await self._drop(successor)
            with contextlib.suppress(OSError):
                disk.remove(path)
            if isinstance(error, OSError):
                raise _error("write", path, error) from error
            raise
        await self._settle_name()
        old, self._fd, self._successor = self._fd, successor, -1
        await self._drop(old)

    async def _catch_up(self, successor: int, copied: int) -> int:
        """Copy what came behind the first `copied` bytes, until little is left; return how far."""
        while self.size - copied > _LAST_COPY:
            data = self._disk.read_at(self._fd, copied, _COPIED_AT_ONCE)
            self._write(successor, data)
            copied += len(data)
            await self._synchronizer.sync(successor)
        return copied

    def _check_kept(self, successor: int) -> None:
        """Raise OSError if a write gave the successor up in the meantime."""
        if self._successor != successor:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def _settle_name(self) -> None:
        """Make the new name durable; without that nothing can be promised any more."""
        try:
            folder = self._disk.open_folder(os.path.dirname(self.path))
            try:
                await self._synchronizer.sync(folder)
            finally:
                self._disk.close(folder)
        except OSError as error:
            self.broken = True
            raise StorageError(f"cannot sync the folder of {self.path}: {error}") from error

    async def _drop(self, fd: int) -> None:
        """Close a descriptor once no sync that somebody has asked for can touch it any more."""
        with contextlib.suppress(OSError):
            # Batches follow one another, so ours ends after all that were asked for before it.
            await self._synchronizer.sync(fd)
        self._disk.close(fd)

    def write_end_anew(self, most_bytes: int) -> None:
        """Write the last bytes over themselves, for the next commit to bring them to the disk.

        Another process wrote them and may have been told that they were lost, which Linux tells
        once: a commit of ours would say nothing of them. StorageError if it cannot be done.
        """
        try:
            size = self.size
            for offset in range(max(0, size - most_bytes), size, _COPIED_AT_ONCE):
                data = self._disk.read_at(self._fd, offset, min(_COPIED_AT_ONCE, size - offset))
                self._disk.overwrite(self.path, offset, data)
        except OSError as error:
            raise _error("write", self.path, error) from error

    def truncate(self, size: int) -> None:
        """Cut the file off at `size` bytes: a torn tail that replay found."""
        self._disk.truncate(self._fd, size)

    def close(self) -> None:
        """Close the file; commits that wait must have ended."""
        if self._fd >= 0:
            self._disk.close(self._fd)
            self._fd = -1
