"""Appending durably: "acknowledged means on disk" is kept here.

`DurableFile.append` writes, `await commit()` returns when everything appended so far has been
synced. Commits that overlap share one fsync (group commit), which runs in the daemon's only
worker thread; `Files.quiet` ends the thread for as long as a fork needs. What is written, and
when, is decided by the owners of the formats in `records/`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from typing import Protocol

from kettle.errors import StorageError


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
            os.fdatasync(fd)

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
        self._requests.put(list(self._batch))
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._work, args=(asyncio.get_running_loop(),), name="fsync", daemon=True
            )
            self._thread.start()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            fds = self._requests.get()
            if fds is None:
                return
            failures: dict[int, OSError] = {}
            for fd in fds:
                try:
                    os.fdatasync(fd)
                except OSError as error:
                    failures[fd] = error
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


class DurableFile:
    """A file that is only ever appended to, and whose tail can be waited for.

    After a failed write or sync the file is `broken` and refuses everything: what the kernel has
    kept of the failed pages is unknown, so going on could acknowledge what is not there.
    """

    def __init__(self, path: str, synchronizer: Synchronizer, *, mode: int = 0o600) -> None:
        self.path = path
        self.broken = False
        self._synchronizer = synchronizer
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, mode)
        except OSError as error:
            raise StorageError(f"cannot open {path}: {error.strerror}") from error

    @property
    def size(self) -> int:
        """Bytes in the file now."""
        return os.fstat(self._fd).st_size

    def fileno(self) -> int:
        """The descriptor, for forked snapshots and locks."""
        return self._fd

    def append(self, data: bytes) -> None:
        """Write at the end; StorageError if the file cannot take it all (the part is cut off)."""
        if self.broken:
            raise StorageError(f"{self.path} failed before and takes no more")
        start = os.fstat(self._fd).st_size
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            try:
                os.ftruncate(self._fd, start)
            except OSError:
                self.broken = True
            raise StorageError(f"cannot write {self.path}: {error.strerror}") from error

    async def commit(self) -> None:
        """Return when everything appended before this call is on disk; StorageError if not."""
        if self.broken:
            raise StorageError(f"{self.path} failed before and takes no more")
        try:
            await self._synchronizer.sync(self._fd)
        except OSError as error:
            self.broken = True
            raise StorageError(f"cannot sync {self.path}: {error.strerror}") from error

    def truncate(self, size: int) -> None:
        """Cut the file off at `size` bytes: a torn tail that replay found."""
        os.ftruncate(self._fd, size)

    def close(self) -> None:
        """Close the file; commits that wait must have ended."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
