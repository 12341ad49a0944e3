"""Each answer of a zygote goes to the one who asked, also when a request never got out."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest

from kettle.errors import KettleError
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
        for pid in (1001, 1002):
            theirs.send(str(pid).encode())
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
        theirs.send(b"1001")
        assert (await asked).pid == 1001

    play(scene)


def test_a_zygote_that_is_gone_is_told_to_all_who_wait() -> None:
    async def scene(zygote: Zygote, theirs: socket.socket, processes: Processes) -> None:
        first = asyncio.ensure_future(zygote.fork("m:f"))
        await asyncio.sleep(0)
        theirs.close()
        with pytest.raises(KettleError, match="the zygote is gone"):
            await zygote.fork("m:f")
        with pytest.raises(KettleError, match="the zygote is gone"):
            await first
        assert processes.expected == 0

    play(scene)
