"""What is kept of records until they are on disk: their bytes, and the names of new files."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import cast

import pytest

from kettle.errors import StorageError
from kettle.runtime.storage.disk import SystemDisk
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


class FailingFiles:
    """The first sync fails, and with it the kernel lets go of what was written."""

    disk = SystemDisk()

    def __init__(self) -> None:
        self.fails = True

    async def sync(self, _path: str) -> None:
        if self.fails:
            self.fails = False
            raise StorageError("EIO")

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)


@pytest.mark.parametrize("how", ["rename", "truncate", "shorter", "more"])
def test_what_an_administrator_rotated_is_not_written_into_the_next_file(
    tmp_path: Path, how: str
) -> None:
    """After a sync that failed: behind zeroes, as its place was further on in the old file."""
    path = tmp_path / "history"

    def append(text: bytes) -> None:
        with path.open("ab") as file:
            file.write(text)

    async def main() -> None:
        records = UnsyncedRecords(cast("Files", FailingFiles()))
        append(b"before" * 100)
        append(b"kept\n")
        records.wrote(str(path), 600, b"kept\n")
        with pytest.raises(StorageError):
            await records.sync()
        if how == "truncate":
            os.truncate(path, 0)
        else:
            path.rename(tmp_path / "history.1")
            append(b"new\n" * (1 if how == "shorter" else 400))
        expected = path.read_bytes()
        if how == "more":
            append(b"next\n")
            expected += b"next\n"
            # Who writes has not seen yet that it is another file.
            records.wrote(str(path), 605, b"next\n")
        await records.sync()
        assert path.read_bytes() == expected

    asyncio.run(main())


def test_what_is_still_there_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b"old\nkept\n")

    async def main() -> None:
        records = UnsyncedRecords(cast("Files", FailingFiles()))
        records.wrote(str(path), 4, b"kept\n")
        with pytest.raises(StorageError):
            await records.sync()
        path.write_bytes(b"old\n\0\0\0\0\0")
        await records.sync()
        assert path.read_bytes() == b"old\nkept\n"

    asyncio.run(main())
