"""Each answer of a zygote goes to the one who asked, also when a request never got out.

What a zygote had not begun when it died is asked of the next one, and nothing is begun twice.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest

from kettle.errors import KettleError, NotForked
from kettle.runtime import tasks
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.process.zygote import Zygote


class Adopted:
    def __init__(self, pid: int) -> None:
        self.pid = pid


class Processes:
    """Adopts whatever is forked, and counts what is still to be named."""

    expected = 0

    def adopt(self, pid: int, name: str) -> Adopted:
        del name
        return Adopted(pid)

    def expect(self, count: int) -> None:
        self.expected += count


Scene = Callable[[Zygote, socket.socket, Processes], Coroutine[Any, Any, None]]


def play(scene: Scene) -> None:
    async def stage() -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        zygote, processes = Zygote(ours, 1, (), "zygote"), Processes()
        zygote.attach(cast("SystemProcesses", processes))
        try:
            with theirs:
                await scene(zygote, theirs, processes)
        finally:
            zygote.close()

    asyncio.run(stage())


def fill(zygote: Zygote, theirs: socket.socket) -> int:
    """Leave no room in the socket; return how many requests are waiting in it."""
    theirs.setblocking(False)
    sent = 0
    while True:
        try:
            zygote._socket.send(b"x" * 1000)  # type: ignore[union-attr]
        except BlockingIOError:
            return sent
        sent += 1


def too_many(_: object) -> int:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_a_request_that_cannot_be_kept_leaves_the_order_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scene(zygote: Zygote, theirs: socket.socket, processes: Processes) -> None:
        full = fill(zygote, theirs)
        with monkeypatch.context() as patch:
            patch.setattr(os, "dup", too_many)
            with pytest.raises(KettleError, match="Too many open files"):
                await zygote.fork("m:f", fds=(1,), title="A")
        assert processes.expected == 0
        asked = [asyncio.ensure_future(zygote.fork("m:f", title=name)) for name in "BC"]
        await asyncio.sleep(0)
        for _ in range(full):
            theirs.recv(2000)
        for answer in (b"3 1002", b"2 1001"):
            theirs.send(answer)
        assert [(await child).pid for child in asked] == [1001, 1002]
        assert processes.expected == 0

    play(scene)


def test_descriptors_that_were_copied_before_one_failed_are_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copies: list[int] = []
    real = os.dup

    def only_one(fd: int) -> int:
        if copies:
            too_many(fd)
        copies.append(real(fd))
        return copies[-1]

    async def scene(zygote: Zygote, theirs: socket.socket, _: Processes) -> None:
        fill(zygote, theirs)
        monkeypatch.setattr(os, "dup", only_one)
        with pytest.raises(KettleError):
            await zygote.fork("m:f", fds=(0, 1))
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(copies[0])

    play(scene)


def test_large_arguments_without_room_for_them_are_an_error_of_that_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_memory(*_: object) -> int:
        return too_many(None)

    async def scene(zygote: Zygote, theirs: socket.socket, _: Processes) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "memfd_create", no_memory)
            with pytest.raises(KettleError, match="cannot fork big: Too many open files"):
                await zygote.fork("m:f", b"x" * 100_000, title="big")
        asked = asyncio.ensure_future(zygote.fork("m:f"))
        await asyncio.sleep(0)
        theirs.send(b"1 1001")
        assert (await asked).pid == 1001

    play(scene)


class Fresh:
    """What is started in a dead zygote's place: sockets whose other ends tests have."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, lives: bool) -> None:
        self.ends: list[socket.socket] = []
        self.started = asyncio.Event()
        self.pauses: list[float] = []
        self.told: list[str] = []
        self._lives = lives
        real_sleep = asyncio.sleep

        async def sleep(seconds: float) -> None:
            if seconds:
                self.pauses.append(seconds)
            await real_sleep(0)

        monkeypatch.setattr(asyncio, "sleep", sleep)
        monkeypatch.setattr(tasks, "report", self.told.append)
        monkeypatch.setattr(Zygote, "_restart", lambda zygote: self._restart(zygote))

    def _restart(self, zygote: Zygote) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        zygote._socket = ours
        zygote._listen()
        self.ends.append(theirs)
        self.started.set()
        if not self._lives:
            theirs.close()


def test_what_a_zygote_had_not_begun_is_asked_of_the_next_and_what_it_had_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = Fresh(monkeypatch, lives=True)

    async def scene(zygote: Zygote, theirs: socket.socket, processes: Processes) -> None:
        asked = [asyncio.ensure_future(zygote.fork("m:f", title=name)) for name in "ABC"]
        await asyncio.sleep(0)
        # It has begun the second, whose process says it, and leaves the third unread.
        theirs.recv(2000)
        theirs.recv(2000)
        theirs.send(b"2 1002")
        theirs.close()
        await fresh.started.wait()
        await asyncio.sleep(0)
        (successor,) = fresh.ends
        with successor:
            again = [successor.recv(2000) for _ in "AC"]
            assert [b"A" in again[0], b"C" in again[1]] == [True, True]
            for place, request in enumerate(again):
                number = request.partition(b" ")[0]
                # Zygote and child both say it.
                successor.send(b"%b %d" % (number, 1003 + place))
                successor.send(b"%b %d" % (number, 1003 + place))
            assert [(await child).pid for child in asked] == [1003, 1002, 1004]
        assert processes.expected == 0

    play(scene)
    assert fresh.pauses == []
    assert len(fresh.told) == 1


def test_a_zygote_that_always_dies_is_asked_a_few_times_with_growing_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = Fresh(monkeypatch, lives=False)

    async def scene(zygote: Zygote, theirs: socket.socket, processes: Processes) -> None:
        first = asyncio.ensure_future(zygote.fork("m:f"))
        await asyncio.sleep(0)
        theirs.close()
        with pytest.raises(NotForked, match="cannot fork m:f: the zygote is gone"):
            await zygote.fork("m:f")
        with pytest.raises(NotForked, match="the zygote is gone"):
            await first
        assert processes.expected == 0

    play(scene)
    assert fresh.pauses[0] < fresh.pauses[-1]
    assert 3 <= len(fresh.ends) <= 6
    assert 1 <= len(fresh.told) <= 3
