"""The queue log on disk: opened, replayed, appended to, and written anew when it has grown.

Group commit is the runtime's: everything appended before one `flush` is on disk after it, and
overlapping flushes share one fsync. What the records mean is `kettle.records.queue_log`'s.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kettle.errors import NotFoundError, StorageError

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.durable import DurableFile
    from kettle.schedd.job_queue import JobQueue

# Limit: the log of a queue; it is read in one piece.
LARGEST_LOG_BYTES = 8 * 1024 * 1024 * 1024

# A log of at least so many bytes is written anew at the start.
_COMPACTED_FROM_BYTES = 4 * 1024 * 1024


class QueueJournal:
    """The journal of one queue."""

    def __init__(self, runtime: Runtime, path: str) -> None:
        self._runtime = runtime
        self._path = path
        self._file: DurableFile | None = None
        self._lock = -1
        self.transactions = 0

    def append(self, data: bytes) -> None:
        """Write behind what was written before; StorageError if the disk does not take it."""
        assert self._file is not None, "the journal is not open"
        self._file.append(data)
        self.transactions += 1

    async def flush(self) -> None:
        """Return when everything appended so far is on disk."""
        assert self._file is not None
        await self._file.commit()

    def open(self, queue: JobQueue, now: int) -> str:
        """Replay the log into an empty queue, or begin one; returns what was cut off, if any."""
        self._take_lock()
        files = self._runtime.files
        try:
            data = files.read(self._path, limit=LARGEST_LOG_BYTES)
        except NotFoundError:
            data = b""
        if not data:
            records = queue.first_records(now)
            files.write_atomically(self._path, records, mode=0o600, durable=True)
            self._file = files.open_durable(self._path)
            return ""
        outcome = queue.restore(data)
        self._file = files.open_durable(self._path)
        if outcome.kept_bytes < len(data):
            self._file.truncate(outcome.kept_bytes)
        if len(data) > _COMPACTED_FROM_BYTES:
            self.compact(queue, now)
        return outcome.discarded

    def _take_lock(self) -> None:
        """Make sure that this queue is nobody else's: two schedds would run its jobs twice."""
        path = os.path.join(os.path.dirname(self._path), ".schedd_lock")
        try:
            self._lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StorageError(f"another schedd uses {self._path}") from error
        except OSError as error:
            raise StorageError(f"cannot lock {path}: {error.strerror}") from error

    def compact(self, queue: JobQueue, now: int) -> None:
        """Write the queue as a new log and put it in the old one's place; this blocks."""
        files = self._runtime.files
        queue.sequence += 1
        text = _joined(queue.snapshot(queue.sequence, now))
        files.write_atomically(self._path, text, mode=0o600, durable=True)
        old, self._file = self._file, files.open_durable(self._path)
        if old is not None:
            old.close()

    @property
    def size(self) -> int:
        """Bytes of the log."""
        return 0 if self._file is None else self._file.size

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _joined(pieces: Iterable[str]) -> bytes:
    return "".join(pieces).encode("utf-8", "surrogateescape")
