"""The queue log on disk: opened, replayed, appended to, and written anew when it has grown.

Group commit is the runtime's: everything appended before one `flush` is on disk after it, and
overlapping flushes share one fsync. A log is written anew by a forked child, while appends go on;
`DurableFile.replace` then puts it in place. What the records mean is `kettle.records.queue_log`'s.

A disk without room refuses what is asked for; what has happened waits in `backlog.py` until there
is room, and whoever waits for the disk with it, so that nothing starts, leaves, is acknowledged or
told to a job's log meanwhile. A log that fails in any other way ends the schedd: its memory would
be ahead of the disk, and only the disk is what the next start, or a power cut, leaves.
Source: R081.
A log that somebody has deleted is put back before anything more is acknowledged: what was is still
in the open file, though no start would find it.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from kettle.errors import KettleError, NotFoundError, StorageError
from kettle.records import queue_log
from kettle.runtime.process.snapshot import note_progress
from kettle.runtime.storage.waiting_events import FULL
from kettle.schedd.services.backlog import Backlog

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime
    from kettle.runtime.storage.disk import Disk
    from kettle.runtime.storage.durable import DurableFile
    from kettle.schedd.queue.job_queue import JobQueue

# A log is written anew when it has grown to so many times what it was when it was last written, but
# not before it has so many bytes.
GROWTH = 4
# Limit: how long a queue is waited for that the schedd of a dead master has not left yet.
_LOCK_SECONDS, _LOCK_PAUSE_SECONDS = 20.0, 0.1
COMPACTED_FROM_BYTES = 16 * 1024 * 1024

# Limit: bytes at the end of a log that another schedd may not have brought to the disk: more than
# one batch of transactions, or a backlog, comes to.
_DOUBTED_BYTES = 80 * 1024 * 1024

# Bytes of a new log that are written in one call, and how many such are synced together: no single
# sync is to take longer than work that stands still may.
_TOGETHER = 1024 * 1024
_SYNCED_TOGETHER = 64


class QueueJournal:
    """The journal of one queue; `rotations` old logs are kept (MAX_JOB_QUEUE_LOG_ROTATIONS)."""

    def __init__(self, runtime: Runtime, path: str, *, rotations: int = 1) -> None:
        self._runtime = runtime
        self._path = path
        self._file: DurableFile | None = None
        self._backlog = Backlog(self._write_backlog, runtime.log.problem)
        self._lock = -1
        self._compacting = False
        # Held while the log's name changes the file that it leads to.
        self._placing = asyncio.Lock()
        self._waits = True
        self._size_when_written = 0
        self.rotations = rotations
        self.transactions = 0
        self.compactions = 0

    # -- appending --------------------------------------------------------------------------

    def append(self, data: bytes, *, refusable: bool = False) -> None:
        """Write behind what was written before.

        StorageError if the disk does not take it. What is `refusable` has not happened then, and
        whoever asked for it is told; everything else has happened, and waits for room.
        """
        assert self._file is not None, "the journal is not open"
        if self._backlog.trouble is not None and refusable:
            raise self._backlog.trouble
        try:
            if self._backlog.trouble is not None:
                self._backlog.add(data)
            else:
                self._file.append(data)
        except StorageError as error:
            if refusable and not self._file.broken:
                raise
            if self._file.broken or error.errno not in FULL or not self._waits:
                self._end(error)
                raise
            self._backlog.begin(data, error)
        self.transactions += 1

    def _write_backlog(self, data: bytes) -> None:
        assert self._file is not None, "the journal is not open"
        try:
            self._file.append(data)
        except StorageError as error:
            if self._file.broken or error.errno not in FULL:
                self._end(error)
            raise

    @property
    def are_waiting(self) -> bool:
        """Whether records of what has happened wait for room."""
        return self._backlog.trouble is not None

    async def written(self) -> None:
        """Return when everything appended so far is on disk (`flush`)."""
        await self.flush()

    async def flush(self) -> None:
        """Return when everything appended so far is on disk; StorageError as the schedd ends."""
        assert self._file is not None
        await self._backlog.written()
        try:
            file = self._file
            await file.commit()
            # One that was closed meanwhile is another schedd's to look after.
            if self._file is file and not file.is_named():
                await self._put_back(file)
        except StorageError as error:
            self._end(error)
            raise

    async def _put_back(self, file: DurableFile) -> None:
        """Give a deleted log its name again, in a folder made anew if need be."""
        async with self._placing:
            if file.is_named():
                return
            self._runtime.log.problem(
                f"ERROR: somebody has deleted {self._path}, the queue: written anew from the open "
                "file; what else was in its folder, input files of jobs above all, is lost"
            )
            self._runtime.files.make_folder(os.path.dirname(self._path))
            # A name of its own: the log may just be being written anew.
            aside = f"{self._path}.again"
            self._runtime.files.remove(aside)
            await file.replace(aside, stands_for=0)
            self._lock_again()

    def wait_no_more(self) -> None:
        """From now on a full disk ends the schedd, which is about to leave."""
        self._waits = False
        if self._backlog.trouble is not None:
            self._end(self._backlog.trouble)

    def _end(self, error: StorageError) -> None:
        error.ends_daemon = True
        self._runtime.log.problem(
            f"ERROR: {error}: the queue in memory is ahead of its log; ending, so that the next "
            "start goes on from what is on disk"
        )
        self._runtime.abort()

    # -- opening ----------------------------------------------------------------------------

    def open(self, queue: JobQueue, now: int) -> str:
        """Replay the log into an empty queue, or begin one; returns what was cut off, if any."""
        if self._lock < 0:
            self._take_lock()
        files = self._runtime.files
        outcome = self._replay(queue)
        if outcome is None:
            records = queue.first_records(now)
            files.write_atomically(self._path, records, mode=0o600, durable=True)
        self._file = files.open_durable(self._path)
        if outcome is not None and outcome.kept_bytes < self._file.size:
            self._file.truncate(outcome.kept_bytes)
        self._file.write_end_anew(_DOUBTED_BYTES)
        return "" if outcome is None else outcome.discarded

    def _replay(self, queue: JobQueue) -> queue_log.Replay | None:
        """Fill the queue from the log; None if there is none, or an empty one."""
        try:
            outcome = queue.restore(self._runtime.files.read_pieces(self._path))
        except NotFoundError:
            return None
        except StorageError as error:
            if error.errno:
                raise
            raise StorageError(
                f"{self._path} is damaged and was left as it is: {error}. Mend it, or move it away "
                "to begin with an empty queue"
            ) from error
        if outcome.kept_bytes == 0 and outcome.whole_lines:
            raise StorageError(f"{self._path} is no queue log: {outcome.discarded}")
        # A log that was cut before its first record's end never held anything.
        return outcome if outcome.kept_bytes else None

    async def lock(self) -> None:
        """Wait until the queue is ours: the last schedd may need a moment to follow its master.

        StorageError if it stays another's.
        """
        deadline = self._runtime.clock.monotonic() + _LOCK_SECONDS
        while True:
            try:
                self._take_lock()
                return
            except StorageError:
                if self._runtime.clock.monotonic() >= deadline:
                    raise
            await asyncio.sleep(_LOCK_PAUSE_SECONDS)

    @property
    def _lock_path(self) -> str:
        return os.path.join(os.path.dirname(self._path), ".schedd_lock")

    def _lock_again(self) -> None:
        """Keep others away also where the lock's file has been deleted."""
        if not os.path.exists(self._lock_path):
            old = self._lock
            self._take_lock()
            os.close(old)

    def _take_lock(self) -> None:
        """Make sure that this queue is nobody else's: two schedds would run its jobs twice."""
        path = self._lock_path
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(f"cannot lock {path}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise StorageError(f"another schedd uses {self._path}") from error
        self._lock = descriptor

    # -- writing anew -----------------------------------------------------------------------

    @property
    def has_grown(self) -> bool:
        """Whether the log is so much longer than what it stands for that it is worth writing."""
        return self.size > max(COMPACTED_FROM_BYTES, GROWTH * self._size_when_written)

    async def compact(self, queue: JobQueue, now: int) -> None:
        """Write the queue as a new log, aside, and put it in the old one's place.

        StorageError if that fails; the old log goes on then.
        """
        if self._compacting or self._file is None:
            return
        self._check_nothing_waits()
        self._compacting = True
        temporary, disk = f"{self._path}.tmp", self._runtime.files.disk
        file, stands_for, sequence, written = self._file, 0, 0, -1

        def make() -> Callable[[], None]:
            """Note the moment that the new log stands for, and return what writes it."""
            nonlocal stands_for, sequence, written
            # The disk may have become full before it was quiet.
            self._check_nothing_waits()
            stands_for, sequence = file.size, queue.sequence + 1
            # Ours to know it by: one that was deleted since is not what takes the log's place.
            written = disk.open(temporary, 0o600)
            return partial(write_log, disk, temporary, queue.snapshot(sequence, now))

        try:
            await self._runtime.snapshots.run(make, "writes the queue log anew")
            async with self._placing:
                self._check_undeleted(file, temporary, written)
                self._keep_old(queue.sequence)
                await file.replace(temporary, stands_for=stands_for)
            queue.sequence = sequence
            self._size_when_written = file.size
            self.compactions += 1
        except StorageError as error:
            if file.broken:
                self._end(error)
            raise
        except (KettleError, OSError) as error:
            raise StorageError(f"cannot write {temporary}: {error}") from error
        finally:
            self._compacting = False
            if written >= 0:
                disk.close(written)

    def _check_nothing_waits(self) -> None:
        """Raise an error if records wait: a new log would hold them, and they would come twice."""
        if self._backlog.trouble is not None:
            raise self._backlog.trouble

    def _check_undeleted(self, file: DurableFile, temporary: str, written: int) -> None:
        """Raise an error if the log or what was `written` anew has lost its name meanwhile."""
        if not self._runtime.files.disk.same(written, temporary) or not file.is_named():
            raise StorageError(f"somebody deletes files beside {self._path}")

    def _keep_old(self, sequence: int) -> None:
        """Give the old log, which goes on until the last moment, its historical name as well."""
        folder, name = os.path.split(self._path)
        kept = sorted(
            int(each.rpartition(".")[2])
            for each in os.listdir(folder or ".")
            if each.startswith(f"{name}.") and each.rpartition(".")[2].isdecimal()
        )
        spare = len(kept) + 1 - self.rotations
        for number in [*kept, sequence][: max(0, spare)]:
            self._runtime.files.remove(f"{self._path}.{number}")
        if self.rotations > 0:
            self._runtime.files.remove(f"{self._path}.{sequence}")
            try:
                os.link(self._path, f"{self._path}.{sequence}")
            except OSError as error:
                # The new log is worth more than a copy of the old one that nobody needs.
                self._runtime.log.problem(
                    f"The old queue log is not kept as {self._path}.{sequence}: {error.strerror} "
                    "(MAX_JOB_QUEUE_LOG_ROTATIONS)"
                )

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


def write_log(disk: Disk, path: str, pieces: Iterable[str]) -> None:
    """Write a whole log durably, however long that takes; OSError if the disk does not take it."""
    fd = disk.open(path, 0o600)
    try:
        disk.truncate(fd, 0)
        waiting: list[str] = []
        size = writes = 0
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size >= _TOGETHER:
                _write(disk, fd, waiting)
                size, writes = 0, writes + 1
                if writes % _SYNCED_TOGETHER == 0:
                    disk.sync(fd)
                note_progress()
        _write(disk, fd, waiting)
        disk.sync(fd)
    finally:
        disk.close(fd)


def _write(disk: Disk, fd: int, pieces: list[str]) -> None:
    view = memoryview("".join(pieces).encode("utf-8", "surrogateescape"))
    pieces.clear()
    while view:
        view = view[disk.write(fd, view) :]
