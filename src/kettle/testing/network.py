"""A network inside one process: the real handshakes and streams, over socket pairs.

`Hub` knows who listens where and may delay, refuse or cut connections. Both ends run on one loop,
real or virtual. Everything above the socket is `kettle.runtime.sockets.network` itself.
"""

from __future__ import annotations

import asyncio
import random
import socket
from typing import TYPE_CHECKING

from kettle.errors import ConnectionLost
from kettle.runtime import tasks
from kettle.runtime.sockets.network import CommandNetwork
from kettle.runtime.sockets.transport import SocketTransport, Transport
from kettle.wire.safesock import encode_datagrams
from kettle.wire.sinful import Endpoint, Sinful

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.clock import Clock
    from kettle.runtime.identity import DaemonIdentity
    from kettle.runtime.logs import Log

_FIRST_PORT = 20_000


class Hub:
    """All the networks of one world.

    `latency` is the range of seconds that a connection takes to be made; `refused` addresses
    (`host:port`) refuse, `silent` ones never answer.
    """

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)  # noqa: S311 - trouble that can be repeated
        self.latency = (0.0, 0.0)
        self.refused: set[str] = set()
        self.silent: set[str] = set()
        # The share of packets that never arrive.
        self.loss = 0.0
        self.connections_made = 0
        self._listening: dict[str, MemoryNetwork] = {}
        self._next_port = _FIRST_PORT

    def claim_port(self, network: MemoryNetwork, host: str, port: int) -> Endpoint:
        """Let a network listen; port 0 means any."""
        if port == 0:
            port, self._next_port = self._next_port, self._next_port + 1
        endpoint = Endpoint(host, port)
        assert str(endpoint) not in self._listening, f"somebody listens at {endpoint} already"
        self._listening[str(endpoint)] = network
        return endpoint

    def release(self, endpoint: Endpoint) -> None:
        """Nobody listens there any more."""
        self._listening.pop(str(endpoint), None)

    async def open(self, caller: str, target: Endpoint, seconds: float) -> Transport:
        """Connect to whoever listens at an endpoint; ConnectionLost as the system would say."""
        place = str(target)
        if place in self.silent:
            await asyncio.sleep(seconds)
            raise ConnectionLost(f"no connection to {place} in {seconds:g} seconds")
        delay = self.random.uniform(*self.latency)
        if delay:
            await asyncio.sleep(delay)
        network = self._listening.get(place)
        if network is None or not network.accepting or place in self.refused:
            raise refused(place)
        self.connections_made += 1
        ours, theirs = socket.socketpair()
        tasks.spawn(
            network.serve(SocketTransport(theirs, names=(place, caller))), f"connection at {place}"
        )
        return SocketTransport(ours, names=(caller, place))

    def send(self, caller: str, target: Endpoint, payload: bytes) -> None:
        """Give a message to whoever takes datagrams at an endpoint; lost if nobody does."""
        network = self._listening.get(str(target))
        if network is None or not network.accepting or not network.with_datagrams:
            return
        message_id = (self.random.getrandbits(32), 0, 0, 0)
        packets = encode_datagrams(payload, message_id)
        self.random.shuffle(packets)
        for packet in packets:
            if self.random.random() >= self.loss:
                serving = network.commands.serve_datagram(packet, caller)
                tasks.spawn(serving, f"datagram at {target}")


def refused(place: str) -> ConnectionLost:
    """Return the error of a connection that nobody takes, with its cause, as the kernel's has."""
    error = ConnectionLost(f"no connection to {place}: Connection refused")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    return error


class MemoryNetwork(CommandNetwork):
    """One daemon's network in a hub."""

    def __init__(
        self,
        hub: Hub,
        config: Config,
        identity: DaemonIdentity,
        clock: Clock,
        log: Log,
        *,
        host: str = "127.0.0.1",
    ) -> None:
        super().__init__(config, identity, clock, log)
        self._hub = hub
        self._host = host
        self._endpoint: Endpoint | None = None
        self.accepting = False
        # Whether this daemon takes commands in datagrams, and says so.
        self.with_datagrams = False

    async def listen(self, port: int | None = None) -> None:
        """Take an address in the hub."""
        self._endpoint = self._hub.claim_port(self, self._host, port or 0)
        address = Sinful(self._host, self._endpoint.port).with_addresses([self._endpoint])
        if not self.with_datagrams:
            address = address.with_parameter("noUDP")
        self.standing.address = address

    def begin_accepting(self) -> None:
        """Answer commands from here on."""
        self.accepting = True

    async def open_transport(self, sinful: Sinful, seconds: float) -> Transport:
        """Connect within the hub."""
        return await self._hub.open(self._name, sinful.endpoint, seconds)

    def send_message(self, target: Endpoint, payload: bytes) -> None:
        """Send a message in packets, each of which may be lost."""
        self._hub.send(self._name, target, payload)

    @property
    def _name(self) -> str:
        return f"{self.address.host}:{self.address.port or 1}"

    async def close(self) -> None:
        """Leave the hub and end every connection that is being served."""
        self.accepting = False
        if self._endpoint is not None:
            self._hub.release(self._endpoint)
        await super().close()
