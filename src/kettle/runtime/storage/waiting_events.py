"""Events that cannot be written at once: their log's server may hang, or its disk is full.

They wait in memory, each log's in their order, and are written by a task of the log's own. A full
disk is tried again until it has room; any other fault is reported and costs these events. Which
logs those are is decided by `event_logs.py`.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from kettle.errors import StorageError
from kettle.runtime import tasks

# What a disk says that may have room later.
FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
# Limit: events that wait for one log; further ones are lost, and the log of the daemon says so.
MAX_WAITING = 10_000
RETRY_SECONDS = 2.0

# Appends bytes to a log with its owner's rights; StorageError if that cannot be done.
Append = Callable[[str, str, bytes], Awaitable[None]]


@dataclass(slots=True)
class _Queue:
    """What waits for one log, and the trouble it has, if it is known."""

    owner: str
    pieces: list[bytes] = field(default_factory=list)
    lost: int = 0
    trouble: StorageError | None = None


class WaitingEvents:
    """The logs that have events waiting."""

    def __init__(self, append: Append, report: Callable[[str], object]) -> None:
        self._append = append
        self._report = report
        self._queues: dict[str, _Queue] = {}
        self._writers: set[asyncio.Task[None]] = set()

    def __contains__(self, path: str) -> bool:
        return path in self._queues

    def trouble(self, path: str) -> StorageError | None:
        """Return what keeps a log's events waiting, None if nothing is known to."""
        queue = self._queues.get(path)
        return None if queue is None else queue.trouble

    def add(self, path: str, owner: str, data: bytes, trouble: StorageError | None = None) -> None:
        """Let an event wait; `trouble` is why it could not be written at once."""
        queue = self._queues.get(path)
        if queue is None:
            queue = self._queues[path] = _Queue(owner)
            if trouble is not None:
                self._complain(queue, trouble)
            writer = tasks.spawn(self._write(path, queue), f"event log {path}")
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)
        if len(queue.pieces) < MAX_WAITING:
            queue.pieces.append(data)
        else:
            queue.lost += 1

    async def settle(self, seconds: float) -> None:
        """Wait until all is written, but no longer than so; what is not is lost, and said so."""
        if self._writers:
            await asyncio.wait(self._writers, timeout=seconds)
        for path, queue in self._queues.items():
            self._report(f"{len(queue.pieces)} events were not written to {path}")

    def _complain(self, queue: _Queue, trouble: StorageError) -> None:
        if queue.trouble is None:
            self._report(f"{trouble.message}; its events wait until there is room")
        queue.trouble = trouble

    async def _write(self, path: str, queue: _Queue) -> None:
        try:
            if queue.trouble is not None:
                await asyncio.sleep(RETRY_SECONDS)
            while queue.pieces:
                await self._write_some(path, queue)
        finally:
            del self._queues[path]
            if queue.lost:
                self._report(f"{queue.lost} events of {path} were too many to wait, and are lost")

    async def _write_some(self, path: str, queue: _Queue) -> None:
        count = len(queue.pieces)
        try:
            await self._append(queue.owner, path, b"".join(queue.pieces[:count]))
        except StorageError as error:
            if error.errno in FULL:
                self._complain(queue, error)
                await asyncio.sleep(RETRY_SECONDS)
                return
            self._report(str(error))
        else:
            if queue.trouble is not None:
                self._report(f"{path} has room again: {count} events that waited are written")
                queue.trouble = None
        del queue.pieces[:count]


__all__ = ["FULL", "MAX_WAITING", "RETRY_SECONDS", "Append", "WaitingEvents"]
