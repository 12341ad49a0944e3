"""Sockets that are watched by the kernel."""

from __future__ import annotations

import socket

from kettle.runtime.sockets.transport import keep_alive


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
