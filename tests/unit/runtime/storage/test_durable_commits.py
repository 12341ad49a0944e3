"""A commit behind one that failed acknowledges nothing: the kernel tells of a lost write once."""

from __future__ import annotations

import asyncio

import pytest

from kettle.errors import StorageError
from kettle.runtime.storage.durable import DurableFile
from kettle.testing.disk import CrashingDisk
from kettle.testing.virtual_loop import run_virtually


class OneByOne:
    """Syncs one after the other; the first one fails, and those behind it know nothing of that."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.failed = False

    async def sync(self, fd: int) -> None:
        del fd
        async with self.turn:
            fails, self.failed = not self.failed, True
            await asyncio.sleep(1)
            if fails:
                raise OSError(5, "Input/output error")

    async def idle(self) -> None:
        """Nothing runs in the background."""

    def hold(self, count: int) -> None:
        """Nothing to keep."""


def test_what_was_written_while_a_sync_failed_is_not_acknowledged() -> None:
    async def main() -> None:
        file = DurableFile("/log", OneByOne(), disk=CrashingDisk())
        file.append(b"first\n")
        first = asyncio.ensure_future(file.commit())
        await asyncio.sleep(0.5)
        # The sync that is under way may take this, too, and lose it.
        file.append(b"second\n")
        second = asyncio.ensure_future(file.commit())
        results = await asyncio.gather(first, second, return_exceptions=True)
        assert [type(each) for each in results] == [StorageError, StorageError]
        assert file.broken

    run_virtually(main())


def test_a_commit_that_nobody_waited_for_is_believed_by_nobody() -> None:
    async def main() -> None:
        file = DurableFile("/log", OneByOne(), disk=CrashingDisk())
        file.append(b"first\n")
        first = asyncio.ensure_future(file.commit())
        await asyncio.sleep(0.5)
        first.cancel()
        await asyncio.wait([first])
        with pytest.raises(StorageError):
            await file.commit()

    run_virtually(main())
