"""Events whose log cannot be written now: in order, once there is room, or said to be lost."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kettle.errors import StorageError
from kettle.runtime.storage import waiting_events
from kettle.runtime.storage.waiting_events import RETRY_SECONDS, WaitingEvents
from kettle.testing.virtual_loop import run_virtually

NO_ROOM = StorageError("cannot write the event log /l: No space", errno=errno.ENOSPC)


class Disk:
    """Takes what is appended, or refuses it; notes what daemons would say in their logs."""

    def __init__(self) -> None:
        self.refuses: StorageError | None = None
        self.written: list[bytes] = []
        self.said: list[str] = []
        self.waiting = WaitingEvents(self.append, self.said.append)

    async def append(self, owner: str, path: str, data: bytes) -> None:
        assert (owner, path) == ("u", "/l")
        if self.refuses is not None:
            raise self.refuses
        self.written.append(data)


def play(scenario: Callable[[Disk], Coroutine[Any, Any, None]]) -> Disk:
    disk = Disk()

    async def main() -> None:
        await scenario(disk)

    run_virtually(main())
    return disk


def test_events_wait_for_room_in_their_order_and_are_written_once() -> None:
    async def scenario(disk: Disk) -> None:
        disk.refuses = NO_ROOM
        disk.waiting.add("/l", "u", b"1", NO_ROOM)
        await asyncio.sleep(10 * RETRY_SECONDS)
        disk.waiting.add("/l", "u", b"2")
        assert disk.waiting.trouble("/l") is NO_ROOM
        assert disk.written == []
        disk.refuses = None
        await asyncio.sleep(2 * RETRY_SECONDS)
        assert "/l" not in disk.waiting
        assert disk.waiting.trouble("/l") is None

    disk = play(scenario)
    assert disk.written == [b"12"]
    assert disk.said == [
        "cannot write the event log /l: No space; its events wait until there is room",
        "/l has room again: 2 events that waited are written",
    ]


def test_what_another_fault_keeps_out_is_said_and_given_up() -> None:
    async def scenario(disk: Disk) -> None:
        disk.refuses = StorageError("cannot open the event log /l: Is a directory", errno=21)
        disk.waiting.add("/l", "u", b"1")
        await disk.waiting.settle(1)
        assert "/l" not in disk.waiting

    disk = play(scenario)
    assert disk.said == ["cannot open the event log /l: Is a directory"]


def test_more_than_can_wait_and_what_waits_at_the_end_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting_events, "MAX_WAITING", 3)

    async def scenario(disk: Disk) -> None:
        disk.refuses = NO_ROOM
        for _ in range(5):
            disk.waiting.add("/l", "u", b"1", NO_ROOM)
        await disk.waiting.settle(3 * RETRY_SECONDS)
        assert disk.said[1:] == ["3 events were not written to /l"]
        disk.refuses = None
        await disk.waiting.settle(3 * RETRY_SECONDS)

    disk = play(scenario)
    assert disk.written == [b"111"]
    assert disk.said[-1] == "2 events of /l were too many to wait, and are lost"
