"""UDP at a daemon's command port: the sockets, and a datagram as the connection a handler expects.

What a packet may do is decided in `wire.security.datagrams`; which addresses are bound in
`listening.py`.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import struct
from collections.abc import Awaitable, Callable

from kettle.errors import ConnectionLost, LocalProtocolError
from kettle.runtime import tasks
from kettle.wire.safesock import LOOPBACK_FRAGMENT_SIZE, NETWORK_FRAGMENT_SIZE, encode_datagrams
from kettle.wire.sinful import Endpoint

# Limit: packets taken in one turn of the loop, and commands of packets that are running at once;
# what comes beyond is lost, as UDP may lose anything.
_TAKEN_AT_ONCE = 64
_MOST_RUNNING = 200
_LARGEST = 65536
# Packets that the kernel keeps for a daemon that is busy; as much as it lets us have.
_RECEIVE_BUFFER = 4 << 20


class Datagram:
    """The transport of one message that came in datagrams: all there is, and no way to answer."""

    def __init__(self, local_name: str, remote_name: str) -> None:
        self._local_name = local_name
        self._remote_name = remote_name

    @property
    def local_name(self) -> str:
        """Our end."""
        return self._local_name

    @property
    def remote_name(self) -> str:
        """Where the packets say they come from."""
        return self._remote_name

    async def read(self, timeout: float | None) -> bytes:  # noqa: ARG002, ASYNC109
        """Raise ConnectionLost: a datagram is one message."""
        raise ConnectionLost(f"{self._remote_name} sent a datagram and nothing more")

    def at_end(self) -> bool:
        """Nothing more will come."""
        return True

    @property
    def congested(self) -> bool:
        """Nothing is ever unsent."""
        return False

    def write(self, data: bytes) -> None:  # noqa: ARG002
        """Raise ConnectionLost: nobody waits for an answer."""
        raise ConnectionLost(f"{self._remote_name} sent a datagram and hears no answer")

    async def drain(self, timeout: float | None) -> None:  # noqa: ASYNC109
        """Nothing is ever unsent."""

    async def flush(self, timeout: float | None) -> None:  # noqa: ASYNC109
        """Nothing is ever unsent."""

    def interrupt(self) -> bool:
        """Nobody ever waits for an answer."""
        return False

    def release(self) -> int:
        """Raise LocalProtocolError: there is no descriptor."""
        raise LocalProtocolError("a datagram cannot be given away")

    def close(self) -> None:
        """There is nothing to end."""


class DatagramPort:
    """The UDP half of a command port: gives each packet and its sender's name to `serve`."""

    def __init__(
        self, sockets: list[socket.socket], serve: Callable[[bytes, str], Awaitable[None]]
    ) -> None:
        self._sockets = sockets
        self._serve = serve
        self._running = 0
        self.dropped = 0

    def start(self) -> None:
        """Take packets from here on."""
        loop = asyncio.get_running_loop()
        for sock in self._sockets:
            loop.add_reader(sock.fileno(), self._on_readable, sock)

    def close(self) -> None:
        """Take no more."""
        loop = asyncio.get_running_loop()
        for sock in self._sockets:
            loop.remove_reader(sock.fileno())
            sock.close()
        self._sockets = []

    def _on_readable(self, sock: socket.socket) -> None:
        for _ in range(_TAKEN_AT_ONCE):
            try:
                data, source = sock.recvfrom(_LARGEST)
            except OSError:
                return
            if self._running >= _MOST_RUNNING:
                self.dropped += 1
                continue
            self._running += 1
            name = str(Endpoint(source[0].partition("%")[0], source[1]))
            task = tasks.spawn(self._run(data, name), "datagram")
            task.add_done_callback(self._on_done)

    async def _run(self, data: bytes, name: str) -> None:
        await self._serve(data, name)

    def _on_done(self, _: asyncio.Task[None]) -> None:
        self._running -= 1


def open_datagram_socket(host: str, port: int) -> socket.socket:
    """Bind a UDP socket beside a TCP one; OSError if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        sock.bind((host, port))
    except BaseException:
        sock.close()
        raise
    return sock


def send_datagrams(target: Endpoint, payload: bytes) -> None:
    """Send one message to an address, in as many packets as it takes; ConnectionLost if not.

    That a packet was sent does not mean that it arrives.
    """
    loopback = target.host.startswith("127.") or target.host == "::1"
    size = LOOPBACK_FRAGMENT_SIZE if loopback else NETWORK_FRAGMENT_SIZE
    message_id = struct.unpack(">IHIH", secrets.token_bytes(12))
    family = socket.AF_INET6 if target.is_ipv6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        try:
            for packet in encode_datagrams(payload, message_id, size):
                sock.sendto(packet, (target.host, target.port))
        except OSError as error:
            raise ConnectionLost(f"no datagram to {target}: {error.strerror}") from error
