"""What the queue log could not take for want of room: kept in its order until there is some.

The schedd goes on with its memory ahead of the disk, and whoever waits for the disk waits here.
Dying meanwhile loses what dying a moment before it was written would have lost. Whether something
may wait at all is the journal's to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kettle.errors import StorageError
from kettle.runtime import tasks
from kettle.runtime.storage.waiting_events import RETRY_SECONDS

# Limit: bytes that wait; more than that no queue has to say while nothing can start or leave.
MOST_BYTES = 64 * 1024 * 1024


class Backlog:
    """Records that wait; `write` puts them into the log, or raises StorageError."""

    def __init__(self, write: Callable[[bytes], None], report: Callable[[str], object]) -> None:
        self._write = write
        self._report = report
        self._pieces: list[bytes] = []
        self._size = 0
        self._room = asyncio.Event()
        # Why nothing can be written; None as long as everything can.
        self.trouble: StorageError | None = None

    def begin(self, data: bytes, trouble: StorageError) -> None:
        """Keep the first records that found no room."""
        self.trouble = trouble
        self._room.clear()
        self._report(
            f"{trouble.message}; nothing is taken into the queue, and no job starts or leaves it, "
            "until there is room"
        )
        self.add(data)
        tasks.spawn(self._write_when_there_is_room(), "the queue log's backlog")

    def add(self, data: bytes) -> None:
        """Keep further records; StorageError if they are too many."""
        if self._size + len(data) > MOST_BYTES:
            raise StorageError("more waits for the queue log's disk than can be kept")
        self._pieces.append(data)
        self._size += len(data)

    async def written(self) -> None:
        """Return when nothing waits that was there before this call."""
        if self.trouble is not None:
            await self._room.wait()

    async def _write_when_there_is_room(self) -> None:
        while self.trouble is not None:
            await asyncio.sleep(RETRY_SECONDS)
            try:
                self._write(b"".join(self._pieces))
            except StorageError as error:
                self.trouble = error
            else:
                self._report(f"There is room again: {self._size} bytes that waited are written")
                self.trouble = None
                self._pieces, self._size = [], 0
                self._room.set()
