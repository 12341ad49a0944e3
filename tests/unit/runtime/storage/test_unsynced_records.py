"""What is kept of records until they are on disk: their bytes, and the names of new files."""

from __future__ import annotations

import asyncio
from typing import cast

from kettle.runtime.storage.files import Files
from kettle.runtime.storage.unsynced_records import UnsyncedRecords


class SlowFiles:
    """Syncs take a turn of the loop each, and are noted."""

    def __init__(self) -> None:
        self.synced: list[str] = []
        self.at_folder = asyncio.Event()

    async def sync(self, path: str) -> None:
        self.synced.append(path)
        if path == "/d":
            self.at_folder.set()
        await asyncio.sleep(0)


def test_a_name_that_becomes_new_while_others_are_synced_is_synced_the_next_time() -> None:
    async def main() -> None:
        files = SlowFiles()
        records = UnsyncedRecords(cast("Files", files))
        records.wrote("/d/history", 0, b"a")
        records.renamed("/d/history", "/d/history.1")
        records.wrote("/d/history", 0, b"b")
        syncing = asyncio.create_task(records.sync())
        await files.at_folder.wait()
        records.renamed("/d/history", "/d/history.2")
        records.removed("/d/history.1")
        records.wrote("/d/history", 0, b"c")
        await syncing
        files.synced.clear()
        await records.sync()
        assert "/d" in files.synced

    asyncio.run(main())
