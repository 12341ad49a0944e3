"""Events whose log cannot be written now: in order, once there is room, or said to be lost."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kettle.errors import StorageError
from kettle.runtime.storage import waiting_events
from kettle.runtime.storage.waiting_events import (
    RETRY_SECONDS,
    OwnedLog,
    Piece,
    Place,
    WaitingEvents,
)
from kettle.testing.virtual_loop import run_virtually

LOG = OwnedLog("u", "/l")
NO_ROOM = StorageError("cannot write the event log /l: No space", errno=errno.ENOSPC)


class Disk:
    """Takes what is appended, or refuses it; notes what daemons would say in their logs."""

    def __init__(self) -> None:
        self.refuses: StorageError | None = None
        self.raises: Exception | None = None
        self.written: list[bytes] = []
        self.said: list[str] = []
        # How many events of job 7.0 were known to wait, and what was not sure to lack.
        self.noted: list[tuple[int, bool]] = []
        self.unsure: list[bytes] = []
        self.waiting = WaitingEvents(
            self.append, self.said.append, lambda places, urgent: self.note(places, urgent)
        )

    def add(
        self, data: bytes, trouble: StorageError | None = None, *, unsure: bool = False
    ) -> None:
        self.waiting.add(LOG, [Piece((7, 0), data, unsure)], trouble)

    def note(self, places: set[Place], urgent: bool) -> None:
        assert places == {(7, 0)}
        self.noted.append((len(self.waiting.of((7, 0))), urgent))

    async def append(self, owner: str, path: str, data: bytes, unsure: bool) -> None:
        assert (owner, path) == LOG
        if self.refuses is not None:
            raise self.refuses
        if self.raises is not None:
            raise self.raises
        self.written.append(data)
        if unsure:
            self.unsure.append(data)


def play(scenario: Callable[[Disk], Coroutine[Any, Any, None]]) -> Disk:
    disk = Disk()

    async def main() -> None:
        await scenario(disk)

    run_virtually(main())
    return disk


def test_events_wait_for_room_in_their_order_and_are_written_once() -> None:
    async def scenario(disk: Disk) -> None:
        disk.refuses = NO_ROOM
        disk.add(b"1", NO_ROOM)
        await asyncio.sleep(10 * RETRY_SECONDS)
        disk.add(b"2")
        assert disk.waiting.trouble(LOG) is NO_ROOM
        assert disk.written == []
        disk.refuses = None
        await asyncio.sleep(2 * RETRY_SECONDS)
        assert LOG not in disk.waiting
        assert disk.waiting.trouble(LOG) is None

    disk = play(scenario)
    assert disk.written == [b"12"]
    assert disk.said == [
        "cannot write the event log /l: No space; its events wait until there is room",
        "/l has room again: 2 events that waited are written",
    ]


def test_what_another_fault_keeps_out_is_said_and_given_up() -> None:
    async def scenario(disk: Disk) -> None:
        disk.refuses = StorageError("cannot open the event log /l: Is a directory", errno=21)
        disk.add(b"1")
        await disk.waiting.settle(1)
        assert LOG not in disk.waiting

    disk = play(scenario)
    assert disk.said == ["cannot open the event log /l: Is a directory"]


def test_a_fault_of_our_own_costs_the_events_it_met_and_keeps_no_job_in_the_queue() -> None:
    async def scenario(disk: Disk) -> None:
        disk.raises = ValueError("a bug")
        disk.add(b"1", unsure=True)
        disk.add(b"2")
        await asyncio.sleep(1)
        assert disk.waiting.of((7, 0)) == []
        disk.raises = None
        disk.add(b"3")
        await asyncio.sleep(1)
        assert LOG not in disk.waiting

    disk = play(scenario)
    assert disk.written == [b"3"]
    assert disk.said == ["1 events of /l are lost: ValueError: a bug"] * 2
    assert disk.noted[-1] == (0, False)


def test_whoever_fails_over_what_was_written_keeps_nothing_else_from_being_written() -> None:
    async def scenario(disk: Disk) -> None:
        def fail(_: set[Place], __: bool) -> None:
            raise ValueError("a bug")

        disk.add(b"1", unsure=True)
        disk.add(b"2")
        disk.note = fail  # type: ignore[method-assign]
        await asyncio.sleep(1)
        assert disk.waiting.of((7, 0)) == []

    assert play(scenario).written == [b"1", b"2"]


def test_more_than_can_wait_and_what_waits_at_the_end_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting_events, "MAX_WAITING", 3)

    async def scenario(disk: Disk) -> None:
        disk.refuses = NO_ROOM
        for _ in range(5):
            disk.add(b"1", NO_ROOM)
        await disk.waiting.settle(3 * RETRY_SECONDS)
        assert disk.said[1:] == ["3 events were not written to /l"]
        disk.refuses = None
        await disk.waiting.settle(3 * RETRY_SECONDS)

    disk = play(scenario)
    assert disk.written == [b"111"]
    assert disk.said[-1] == "2 events of /l were too many to wait, and are lost"


def test_who_keeps_the_events_is_told_what_waits_and_whether_that_may_take_long() -> None:
    async def scenario(disk: Disk) -> None:
        disk.add(b"1")
        disk.refuses = NO_ROOM
        await asyncio.sleep(1)
        disk.add(b"2")
        assert disk.noted == [(1, False), (1, True), (2, True)]
        disk.refuses = None
        await disk.waiting.settle(2 * RETRY_SECONDS)
        assert disk.noted[3:] == [(0, False)]

    play(scenario)


def test_what_may_be_in_the_log_already_is_written_by_itself_and_in_its_turn() -> None:
    async def scenario(disk: Disk) -> None:
        for number, data in enumerate((b"1", b"2", b"3", b"4", b"5")):
            disk.add(data, unsure=number == 2)
        await disk.waiting.settle(1)

    disk = play(scenario)
    assert disk.written == [b"12", b"3", b"45"]
    assert disk.unsure == [b"3"]


@pytest.mark.parametrize("number", [errno.EIO, errno.EROFS, errno.EDQUOT])
def test_a_disk_that_is_broken_may_be_mended(number: int) -> None:
    async def scenario(disk: Disk) -> None:
        disk.refuses = StorageError("cannot write the event log /l", errno=number)
        disk.add(b"1")
        await asyncio.sleep(3 * RETRY_SECONDS)
        disk.refuses = None
        await asyncio.sleep(RETRY_SECONDS)

    assert play(scenario).written == [b"1"]


def test_an_owner_who_cannot_be_found_just_now_is_waited_for() -> None:
    async def scenario(disk: Disk) -> None:
        disk.refuses = StorageError("there is no account 'u'", errno=errno.EAGAIN)
        disk.add(b"1")
        await asyncio.sleep(10 * RETRY_SECONDS)
        assert disk.waiting.trouble(LOG) is disk.refuses
        disk.refuses = None
        await asyncio.sleep(2 * RETRY_SECONDS)

    disk = play(scenario)
    assert disk.written == [b"1"]
    assert disk.said == [
        "there is no account 'u'; its events wait until its owner is found",
        "/l has its owner again: 1 events that waited are written",
    ]


def test_two_owners_who_name_one_file_wait_apart_and_each_is_written_with_his_own_rights() -> None:
    written: list[tuple[str, bytes]] = []
    said: list[str] = []

    async def append(owner: str, path: str, data: bytes, unsure: bool) -> None:
        assert path == "/l"
        assert not unsure
        if owner == "mallory":
            raise StorageError("cannot open the event log /l: Permission denied", errno=13)
        written.append((owner, data))

    async def main() -> None:
        waiting = WaitingEvents(append, said.append, lambda *_: None)
        # Whoever comes first, the other's events are not his.
        for owners in (("mallory", "alice"), ("alice", "mallory")):
            for number, owner in enumerate(owners):
                waiting.add(OwnedLog(owner, "/l"), [Piece((number, 0), owner.encode())])
            await waiting.settle(1)

    run_virtually(main())
    assert written == [("alice", b"alice")] * 2
    assert said == ["cannot open the event log /l: Permission denied"] * 2


def test_who_wants_to_know_whether_there_is_room_does_not_wait_for_the_next_try() -> None:
    async def scenario(disk: Disk) -> None:
        loop = asyncio.get_running_loop()
        disk.refuses = NO_ROOM
        disk.add(b"1", NO_ROOM)
        assert await disk.waiting.try_again(LOG) is NO_ROOM
        assert await disk.waiting.try_again(LOG) is NO_ROOM
        disk.refuses = None
        assert await disk.waiting.try_again(LOG) is None
        assert await disk.waiting.try_again(OwnedLog("u", "/other")) is None
        assert loop.time() < RETRY_SECONDS

    assert play(scenario).written == [b"1"]


def test_what_another_process_writes_no_longer_waits_but_what_is_being_written_stays() -> None:
    async def scenario(disk: Disk) -> None:
        disk.refuses = NO_ROOM
        assert not disk.waiting.may_take((7, 0))
        disk.add(b"1", NO_ROOM)
        assert disk.waiting.may_take((7, 0))
        disk.waiting.let_go((7, 0))
        assert disk.noted[-1] == (0, False)
        disk.refuses = None
        await asyncio.sleep(2 * RETRY_SECONDS)
        assert LOG not in disk.waiting

        async def look(*_: object) -> None:
            assert not disk.waiting.may_take((7, 0))

        disk.waiting = WaitingEvents(look, disk.said.append, disk.note)
        disk.add(b"2")
        await asyncio.sleep(1)
        assert not disk.waiting.of((7, 0))

    assert play(scenario).written == []
