"""Who listens rests where no connection can be taken, and goes on when one can."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.runtime.sockets import accepting
from kettle.runtime.sockets.accepting import Accepting
from kettle.runtime.sockets.shared_port import Endpoint, pass_on
from kettle.starter.services.chirp_door import ChirpDoor

TURNS = 50


class Full(socket.socket):
    """A listening socket of a process that has no room for a connection at first."""

    why = 0
    asked = 0

    def accept(self) -> tuple[socket.socket, Any]:
        """Take a connection, unless there is a reason why not."""
        Full.asked += 1
        if Full.why:
            raise OSError(Full.why, os.strerror(Full.why))
        return super().accept()


@pytest.fixture(params=[errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
def full(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Why nothing can be taken, until `make_room`."""
    monkeypatch.setattr(Full, "why", request.param)
    monkeypatch.setattr(Full, "asked", 0)
    return int(request.param)


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Full]:
    with Full(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as sock:
        sock.bind(str(tmp_path / "door"))
        sock.listen(8)
        yield sock


def connect(address: Any) -> socket.socket:
    family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
    client = socket.socket(family)
    client.connect(address)
    return client


async def turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Full, "why", 0)


def test_who_cannot_take_a_connection_rests_says_so_once_and_takes_it_later(
    listener: Full, full: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int | None] = []

    async def run() -> None:
        came: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        door = Accepting((listener,), came.set_result, lambda error: told.append(error.errno))
        door.start()
        with connect(listener.getsockname()):
            await turns()
            assert Full.asked == 1
            monkeypatch.setattr(accepting, "_PAUSE_SECONDS", 0.0)
            door.stop()
            door.start()
            await turns()
            assert Full.asked > 1
            make_room(monkeypatch)
            (await came).close()
        door.stop()

    asyncio.run(run())
    assert told == [full]


def test_who_stopped_meanwhile_takes_nothing_any_more(listener: Full, full: int) -> None:
    async def run() -> None:
        door = Accepting((listener,), lambda _: None)
        door.start()
        with connect(listener.getsockname()):
            await turns()
            door.stop()
            await turns()
        assert not door.is_wanted
        assert asyncio.get_running_loop().remove_reader(listener.fileno()) is False

    asyncio.run(run())
    assert Full.asked == 1


def test_no_more_are_taken_than_are_wanted(listener: Full) -> None:
    async def run() -> None:
        taken: list[socket.socket] = []

        def take(sock: socket.socket) -> None:
            taken.append(sock)
            door.stop()

        door = Accepting((listener,), take)
        door.start()
        with connect(listener.getsockname()), connect(listener.getsockname()):
            await turns()
            assert len(taken) == 1
        taken[0].close()

    asyncio.run(run())


def test_the_doors_of_daemons_and_jobs_rest_too(
    tmp_path: Path, full: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "socket", Full)
    told: list[int | None] = []

    async def run() -> None:
        endpoint = Endpoint(
            str(tmp_path), "id", lambda _: None, lambda error: told.append(error.errno)
        )
        endpoint.open()
        door = ChirpDoor()
        came: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        place = door.open(came.set_result)
        with connect(endpoint.path), connect(place):
            await turns()
            assert Full.asked == 2
            make_room(monkeypatch)
            (await came).close()
        endpoint.close()
        door.close()

    asyncio.run(run())
    assert told == [full]


def test_what_is_handed_over_and_is_no_socket_does_not_stay_open(tmp_path: Path) -> None:
    async def run() -> None:
        got: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        endpoint = Endpoint(str(tmp_path), "id", got.set_result)
        endpoint.open()
        before = os.listdir("/proc/self/fd")
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        await pass_on(endpoint.path, reading)
        os.close(reading)
        os.close(writing)
        with ours, theirs:
            await pass_on(endpoint.path, theirs.fileno())
            (await got).close()
        await turns()
        assert os.listdir("/proc/self/fd") == before
        endpoint.close()

    asyncio.run(run())
