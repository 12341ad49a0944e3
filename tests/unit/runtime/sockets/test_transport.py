"""Sockets that are watched by the kernel."""

from __future__ import annotations

import asyncio
import socket

import pytest

from kettle.errors import WaitInterrupted
from kettle.runtime.sockets.transport import SocketTransport, keep_alive


def test_a_machine_that_vanishes_is_noticed_in_the_time_the_knob_names() -> None:
    with socket.socket() as sock:
        keep_alive(sock, 360)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 360
        probes = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT)
        seconds = probes * sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL)
        unanswered = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert unanswered == (360 + seconds) * 1000


def test_less_than_0_never_asks_and_0_asks_as_the_system_does() -> None:
    with socket.socket() as never, socket.socket() as system:
        usual = system.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        keep_alive(never, -1)
        keep_alive(system, 0)
        assert not never.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert system.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert system.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == usual


def test_a_wait_that_is_interrupted_loses_neither_bytes_nor_the_connection() -> None:
    async def scenario() -> None:
        ours, theirs = socket.socketpair()
        transport = SocketTransport(ours)
        assert not transport.interrupt()
        waiting = asyncio.ensure_future(transport.read(None))
        await asyncio.sleep(0)
        assert transport.interrupt()
        assert not transport.interrupt()
        with pytest.raises(WaitInterrupted):
            await waiting
        theirs.send(b"late")
        assert await transport.read(5) == b"late"
        transport.close()
        theirs.close()

    asyncio.run(scenario())
