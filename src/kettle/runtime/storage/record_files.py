"""Files of records (history, epochs) on disk: appended to, rotated, read from either end, sent.

What a record looks like and when a file is rotated is `records.history`'s; what a query means is
`records.history_query`'s.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kettle.config.knobs.history import HistoryKnobs
from kettle.errors import StorageError
from kettle.records import history, history_query
from kettle.runtime.storage import history_index

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.records.job_clauses import Alternative
    from kettle.runtime.context import Runtime
    from kettle.runtime.process.snapshot import Part
    from kettle.runtime.sockets.stream import Stream
    from kettle.runtime.storage.files import Files
    from kettle.runtime.storage.unsynced_records import UnsyncedRecords

# How large a history grows, and how many rotated files of it stay.
_BOUNDS = {
    "HISTORY": (HistoryKnobs.MAX_HISTORY_LOG, HistoryKnobs.MAX_HISTORY_ROTATIONS),
    "EPOCH_HISTORY": (HistoryKnobs.MAX_EPOCH_HISTORY_LOG, HistoryKnobs.MAX_EPOCH_HISTORY_ROTATIONS),
    "DAEMON_HISTORY": (
        HistoryKnobs.MAX_DAEMON_HISTORY_LOG,
        HistoryKnobs.MAX_DAEMON_HISTORY_ROTATIONS,
    ),
}

# Limit: bytes at the end of a file that another process wrote, of which nobody knows whether they
# reached the disk.
_DOUBTED_BYTES = 16 * 1024 * 1024

# About what a record takes, and how many newest ones are sent without a look at the files' sizes.
_RECORD_BYTES = 4096
_FEW = 100


def read_rotation(config: Config, which: str = "HISTORY") -> history.RotationRules:
    """Take the rules for a history (HISTORY, EPOCH_HISTORY) from the configuration (R070).

    What is not said of another one is as for HISTORY.
    """
    if not config.value(HistoryKnobs.ENABLE_HISTORY_ROTATION):
        return history.RotationRules()
    most, rotations = (
        config.value(own if config.get(own.name) else usual)
        for own, usual in zip(_BOUNDS[which], _BOUNDS["HISTORY"], strict=True)
    )
    return history.RotationRules(
        most_bytes=most,
        rotations=rotations,
        daily=config.value(HistoryKnobs.ROTATE_HISTORY_DAILY),
        monthly=config.value(HistoryKnobs.ROTATE_HISTORY_MONTHLY),
    )


def _mode_in(folder: str) -> int:
    """Return for whom a new history is to read: its owner, and who may list its folder."""
    return 0o600 | (stat.S_IMODE(os.stat(folder or ".").st_mode) & 0o044)


class RecordFile:
    """A file of records that is rotated as the rules want it.

    What it is given is on disk when `unsynced`, which is told of it, has been synced.
    """

    def __init__(
        self,
        files: Files,
        path: str,
        rules: history.RotationRules,
        unsynced: UnsyncedRecords | None = None,
    ) -> None:
        self._files = files
        self.path = path
        self._rules = rules
        self._size = -1
        # Whether what is written stays there: /dev/null and pipes keep nothing.
        self._keeps = True
        self._mode = 0o600
        self._unsynced = unsynced
        # About what the index lacks; the files of an earlier life may lack all of theirs.
        self.unindexed_bytes = self.total_bytes()

    def append(self, render: Callable[[int], bytes], now: int) -> None:
        """Add a record, rendered for the offset at which it begins; OSError, StorageError."""
        _, trouble = self.append_all((render,), now)
        if trouble is not None:
            raise trouble

    def append_all(
        self, renders: Iterable[Callable[[int], bytes]], now: int
    ) -> tuple[int, Exception | None]:
        """Add records in as few writes as rotation allows.

        Return how many of the first are in the file, and what keeps the others out: the disk
        (StorageError, OSError), or what is wrong with the next one.
        """
        written = 0
        fault: Exception | None = None
        waiting: list[bytes] = []
        size = 0
        try:
            if self._unsynced is not None:
                self._unsynced.check()
            if self._size < 0:
                self._look()
            for render in renders:
                try:
                    data = render(self._size + size)
                except Exception as error:  # noqa: BLE001 - it is returned
                    fault = error
                    break
                if waiting and self._has_no_room(size + len(data)):
                    written += self._write(waiting, size)
                    size = 0
                if not waiting and self._rotate(len(data), now):
                    data = render(0)
                waiting.append(data)
                size += len(data)
            written += self._write(waiting, size)
        except (StorageError, OSError) as error:
            self._size = -1
            return written, error
        return written, fault

    def _write(self, records: list[bytes], size: int) -> int:
        count = len(records)
        if count:
            data = b"".join(records)
            self._files.append(self.path, data, mode=self._mode)
            if self._keeps:
                if self._unsynced is not None:
                    self._unsynced.wrote(self.path, self._size, data)
                self._size += size
                self.unindexed_bytes += size
            records.clear()
        return count

    def _look(self) -> None:
        """Note how large the file is, and whether it is one at all; OSError."""
        there = os.path.exists(self.path)
        self._keeps = not there or os.path.isfile(self.path)
        self._mode = _mode_in(os.path.dirname(self.path))
        self._size = os.path.getsize(self.path) if there and self._keeps else 0

    def _has_no_room(self, adding: int) -> bool:
        return 0 < self._rules.most_bytes < self._size + adding

    def _rotate(self, adding: int, now: int) -> bool:
        rules = self._rules
        period_over = (rules.daily or rules.monthly) and self._is_period_over(now)
        if not period_over and not self._has_no_room(adding):
            return False
        folder, name = os.path.split(self.path)
        plan = history.plan_rotation(
            name,
            os.listdir(folder or "."),
            size_bytes=self._size,
            adding_bytes=adding,
            most_bytes=rules.most_bytes,
            rotations=rules.rotations,
            stamp=time.strftime("%Y%m%dT%H%M%S", time.localtime(now)),
            period_over=period_over,
        )
        if plan is None:
            return False
        aside = os.path.join(folder, plan.rename_to)
        self._files.rename(self.path, aside)
        if self._unsynced is not None:
            self._unsynced.renamed(self.path, aside)
        for old in map(partial(os.path.join, folder), plan.delete):
            self._files.remove(old)
            if self._unsynced is not None:
                self._unsynced.removed(old)
        self._size = 0
        return True

    def doubt_end(self) -> None:
        """Have the next sync bring the last records of an earlier life to the disk; OSError.

        That life may have been told that they were lost: whoever asks now is not told.
        """
        left = _DOUBTED_BYTES
        for path in reversed(self._paths()):
            if self._unsynced is not None and left > 0:
                left -= self._unsynced.doubt_end(path, os.path.getsize(path), left)

    def cut_unfinished(self) -> int:
        """Cut off a last record that a crash left unfinished; return its bytes. OSError."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return 0
        try:
            size = os.fstat(fd).st_size
            unfinished = history.unfinished_bytes(partial(_read_at, fd), size)
            if unfinished:
                os.ftruncate(fd, size - unfinished)
            return unfinished
        finally:
            os.close(fd)

    def _is_period_over(self, now: int) -> bool:
        if not self._size:
            return False
        last, today = time.localtime(os.path.getmtime(self.path)), time.localtime(now)
        return self._rules.is_period_over(last[:3], today[:3])

    def _paths(self) -> list[str]:
        """Return the files, oldest first."""
        folder, name = os.path.split(self.path)
        try:
            names = os.listdir(folder or ".")
        except OSError:
            return []
        return [
            os.path.join(folder, each)
            for each in (*history.rotated_files(name, names), name)
            if each in names and os.path.isfile(os.path.join(folder, each))
        ]

    def total_bytes(self) -> int:
        """Return the size of the files together."""
        total = 0
        for path in self._paths():
            with contextlib.suppress(OSError):
                total += os.path.getsize(path)
        return total

    def refresh_index(self) -> None:
        """Index what is new, where there is enough to be worth it; OSError. Not for the loop."""
        if self.total_bytes() >= history_index.LEAST_BYTES:
            history_index.refresh(self.path, self._paths())

    def find(
        self, alternatives: Sequence[Alternative], *, forwards: bool
    ) -> Iterator[history.HistoryRecord]:
        """Yield the records that an alternative may be true of, with the index's help."""
        with contextlib.closing(history_index.HistoryIndex(self.path, alternatives)) as index:
            for path in self._paths() if forwards else reversed(self._paths()):
                with contextlib.suppress(OSError):
                    yield from index.records(path, forwards=forwards)

    def forwards(self) -> Iterator[history.HistoryRecord]:
        """Yield the records, oldest first."""
        for path in self._paths():
            yield from history.read_forwards(self._files.read_pieces(path))

    def backwards(self) -> Iterator[history.HistoryRecord]:
        """Yield the records, newest first."""
        for path in reversed(self._paths()):
            try:
                fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                size = os.fstat(fd).st_size
                yield from history.read_backwards(partial(_read_at, fd), size)
            finally:
                os.close(fd)


def _read_at(fd: int, at: int, length: int) -> bytes:
    return os.pread(fd, length, at)


async def send_history(
    runtime: Runtime, stream: Stream, file: RecordFile, query: history_query.HistoryQuery
) -> None:
    """Answer a query over the records of a file and of those that were rotated away."""

    def parts(encrypted: bool) -> Iterator[Part]:
        return history_query.parts(_records(file, query, daemon), query, encrypted)

    daemon = os.getpid()
    few = 0 <= query.limit < _FEW and query.constraint is None
    ads = query.limit if few else file.total_bytes() // _RECORD_BYTES
    await runtime.snapshots.answer(stream, parts, ads=ads)


def _records(
    file: RecordFile, query: history_query.HistoryQuery, daemon: int
) -> Iterator[history.HistoryRecord]:
    """Return the records to look at; only a child of the daemon uses the index."""
    wanted = history_query.alternatives(query, history_index.INDEXED)
    if wanted is not None and os.getpid() != daemon:
        return file.find(wanted, forwards=query.forwards)
    return file.forwards() if query.forwards else file.backwards()
