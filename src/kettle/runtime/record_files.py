"""Files of records (history, epochs) on disk: appended to, rotated, read from either end, sent.

What a record looks like and when a file is rotated is `records.history`'s; what a query means is
`records.history_query`'s.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from kettle.errors import StorageError
from kettle.records import history, history_query
from kettle.wire.dialog import Words

if TYPE_CHECKING:
    from kettle.runtime.files import Files
    from kettle.runtime.stream import Stream


class RecordFile:
    """A file of records that is rotated when it is full; `most_bytes` 0 means never."""

    def __init__(self, files: Files, path: str, most_bytes: int, rotations: int) -> None:
        self._files = files
        self.path = path
        self._most_bytes = most_bytes
        self._rotations = rotations
        self._size = -1

    def append(self, render: Callable[[int], bytes], now: int) -> None:
        """Add a record, rendered for the offset at which it begins; OSError, StorageError."""
        try:
            if self._size < 0:
                self._size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
            data = render(self._size)
            if self._rotate(len(data), now):
                data = render(0)
            self._files.append(self.path, data)
            self._size += len(data)
        except (StorageError, OSError):
            self._size = -1
            raise

    def _rotate(self, adding: int, now: int) -> bool:
        if not 0 < self._most_bytes < self._size + adding:
            return False
        folder, name = os.path.split(self.path)
        plan = history.plan_rotation(
            name,
            os.listdir(folder or "."),
            size_bytes=self._size,
            adding_bytes=adding,
            most_bytes=self._most_bytes,
            rotations=self._rotations,
            stamp=time.strftime("%Y%m%dT%H%M%S", time.localtime(now)),
        )
        if plan is None:
            return False
        self._files.rename(self.path, os.path.join(folder, plan.rename_to))
        for old in plan.delete:
            self._files.remove(os.path.join(folder, old))
        self._size = 0
        return True

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
            if each in names
        ]

    def forwards(self) -> Iterator[history.HistoryRecord]:
        """Yield the records, oldest first."""
        for path in self._paths():
            yield from history.read_forwards(self._files.read(path))

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
    stream: Stream,
    records: Iterable[history.HistoryRecord],
    query: history_query.HistoryQuery,
) -> None:
    """Answer a query: ads one by one, or all in one message, then how many there were."""
    progress = history_query.Progress()
    if query.streamed:
        await stream.send(Words(history_query.first_ad()))
        for ad in history_query.select(records, query, progress):
            await stream.send(stream.writer().ad(ad, projection=query.projection))
        await stream.send(Words(history_query.last_ad(progress)))
        return
    writer = stream.writer()
    for ad in history_query.select(records, query, progress):
        writer.ad(ad, projection=query.projection)
    writer.ad(history_query.last_ad(progress))
    await stream.send(writer)
