"""The simulated network: every connection is a cable that may be slow, held up, or cut.

A cable carries bytes between two socket pairs and belongs to nobody, so it outlives a process that
hands its end to another. Bytes of one cable stay in order, as TCP keeps them; those of different
cables overtake each other. A machine that lost its power answers nothing; once it is back, what
is sent to connections of its earlier life is answered with a reset.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
from collections import deque
from dataclasses import dataclass, field

from kettle.errors import ConnectionLost
from kettle.runtime import tasks
from kettle.runtime.sockets.transport import SocketTransport, Transport
from kettle.testing.network import Hub, MemoryNetwork, refused
from kettle.testing.simulation.processes import SimulatedProcess, current_process, outside
from kettle.wire.safesock import encode_datagrams
from kettle.wire.sinful import Endpoint

_PIECE = 64 * 1024
# Limit: bytes on their way in one direction; TCP has its window.
_WINDOW = 1024 * 1024
# A connection over which nothing has passed for so long is given up by both ends, as the kernel
# does for sockets that ask for it (TCP_KEEPALIVE_INTERVAL).
_KEPT_SECONDS = 385.0
# What a connection attempt to a machine that is not there takes at least.
_ATTEMPT_SECONDS = 3.0


@dataclass
class Weather:
    """How the network is now. Machines are known by their addresses."""

    random: random.Random
    latency: tuple[float, float] = (0.0002, 0.003)
    # From which machine to which other packets are lost, and machines without power.
    lost: set[tuple[str, str]] = field(default_factory=set)
    dark: set[str] = field(default_factory=set)
    # A connection is cut when so many further pieces have arrived; negative: none is.
    pieces_to_cut: int = -1

    def passes(self, source: str, target: str) -> bool:
        """Whether packets from one machine arrive at another."""
        if source in self.dark or target in self.dark:
            return False
        return (source, target) not in self.lost

    def answers(self, one: str, other: str) -> bool:
        """Whether packets arrive, and the answers to them."""
        return self.passes(one, other) and self.passes(other, one)

    def cuts(self) -> bool:
        """Note that a piece arrives; tell whether its connection is cut now."""
        self.pieces_to_cut -= self.pieces_to_cut >= 0
        return self.pieces_to_cut == 0

    def delay(self, one: str, other: str) -> float:
        """Return how long the next packet takes."""
        low, high = self.latency
        return self.random.uniform(low, high) if one != other else low


class _Direction:
    """One direction of a cable: a queue with the moment at which each piece is due."""

    def __init__(
        self, cable: Cable, way: tuple[str, str], source: socket.socket, sink: socket.socket
    ) -> None:
        self.cable = cable
        self.way = way
        self.source = source
        self.sink = sink
        self.pieces: deque[tuple[float, bytes]] = deque()
        self.size = 0
        self.due = 0.0
        self.reading = False
        self.read()

    def read(self) -> None:
        """Take what the sender wrote from here on."""
        if not self.reading and not self.cable.closed:
            self.reading = True
            self.cable.loop.add_reader(self.source.fileno(), self._on_readable)

    def _on_readable(self) -> None:
        try:
            data = self.source.recv(_PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        cable = self.cable
        if not data or self.size > _WINDOW:
            cable.loop.remove_reader(self.source.fileno())
            self.reading = False
        if not data and cable.broken:
            return
        delay = cable.hub.weather.delay(*self.way)
        self.due = max(self.due, cable.loop.time() + delay)
        # An empty piece is the end.
        self.pieces.append((self.due, data))
        self.size += len(data)
        cable.loop.call_at(self.due, self.deliver)

    def deliver(self) -> None:
        """Hand over what is due, if packets pass."""
        cable = self.cable
        if cable.closed or not cable.hub.weather.passes(*self.way):
            return
        if cable.broken:
            if self.pieces:
                cable.reset()
            return
        now = cable.loop.time()
        while self.pieces and self.pieces[0][0] <= now:
            due, data = self.pieces.popleft()
            if not data:
                cable.end(self)
                return
            if cable.hub.weather.cuts():
                cable.reset()
                return
            try:
                sent = self.sink.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError:
                cable.reset()
                return
            self.size -= sent
            if sent < len(data):
                self.pieces.appendleft((due, data[sent:]))
                cable.loop.call_later(0.01, self.deliver)
                return
            self.read()


class Cable:
    """One connection between two machines."""

    def __init__(self, hub: SimulatedHub, ends: tuple[str, str]) -> None:
        self.hub = hub
        self.number = hub.connections_made
        self.ends = ends
        self.loop = asyncio.get_running_loop()
        self.closed = False
        # The far machine has lost its power since: what arrives there is answered with a reset.
        self.broken = False
        near, self._near = socket.socketpair()
        far, self._far = socket.socketpair()
        for sock in (self._near, self._far):
            sock.setblocking(False)
        self.near, self.far = near, far
        self._directions = (
            _Direction(self, ends, self._near, self._far),
            _Direction(self, (ends[1], ends[0]), self._far, self._near),
        )
        self._heard = self.loop.time()
        self.loop.call_later(_KEPT_SECONDS / 5, self._probe)

    def _probe(self) -> None:
        """Look whether the other end is still there, as keep-alive packets do."""
        if self.closed:
            return
        now = self.loop.time()
        if self.hub.weather.answers(*self.ends) and not self.broken:
            self._heard = now
        elif now - self._heard > _KEPT_SECONDS:
            self.reset()
            return
        self.loop.call_later(_KEPT_SECONDS / 5, self._probe)

    def wake(self) -> None:
        """Packets pass again."""
        for direction in self._directions:
            direction.deliver()

    def end(self, direction: _Direction) -> None:
        """A sender closed its end: the other end reads to the end of the connection."""
        with contextlib.suppress(OSError):
            direction.sink.shutdown(socket.SHUT_WR)
        if all(not each.reading and not each.pieces for each in self._directions):
            self.reset()

    def lose_an_end(self) -> None:
        """One machine is gone without a word: what is on its way is lost, and so is what comes."""
        self.broken = True
        for direction in self._directions:
            direction.pieces.clear()

    def reset(self) -> None:
        """Both ends lose the connection now."""
        if self.closed:
            return
        self.closed = True
        self.hub.cables.discard(self)
        for sock in (self._near, self._far):
            self.loop.remove_reader(sock.fileno())
            sock.close()


class SimulatedHub(Hub):
    """All addresses and cables of a simulation."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.weather = Weather(self.random)
        self.cables: set[Cable] = set()
        self._owners: dict[str, SimulatedProcess | None] = {}
        # The share of packets that arrive twice.
        self.repeated = 0.0

    def claim_port(self, network: MemoryNetwork, host: str, port: int) -> Endpoint:
        """Let a process listen until it ends."""
        endpoint = super().claim_port(network, host, port)
        process = current_process()
        self._owners[str(endpoint)] = process
        if process is not None:
            process.at_death.append(lambda: self.release(endpoint))
        return endpoint

    async def open(self, caller: str, target: Endpoint, seconds: float) -> Transport:
        """Connect over a new cable; ConnectionLost if nobody listens or no packet passes."""
        here, there = caller.rpartition(":")[0], target.host
        place = str(target)
        if not self.weather.answers(here, there):
            await asyncio.sleep(max(seconds, _ATTEMPT_SECONDS))
            raise ConnectionLost(f"no connection to {place} in {seconds:g} seconds")
        await asyncio.sleep(self.weather.delay(here, there))
        network = self._listening.get(place)
        if network is None or not network.accepting:
            raise refused(place)
        self.connections_made += 1
        cable: Cable = outside(Cable, self, (here, there))
        self.cables.add(cable)
        owner = self._owners[place]
        serve = network, cable.far, (place, caller)
        if owner is None:
            _serve(*serve)
        else:
            owner.context.run(_serve, *serve)
        return SocketTransport(cable.near, names=(caller, place))

    def send(self, caller: str, target: Endpoint, payload: bytes) -> None:
        """Send a message in packets, each of which may be lost, late, or come twice."""
        place, here = str(target), caller.rpartition(":")[0]
        message_id = (self.random.getrandbits(32), 0, 0, 0)
        for packet in encode_datagrams(payload, message_id):
            for _ in range(1 + (self.random.random() < self.repeated)):
                if self.random.random() >= self.loss and self.weather.passes(here, target.host):
                    delay = self.weather.delay(here, target.host) * self.random.choice((1, 1, 50))
                    outside(
                        asyncio.get_running_loop().call_later,
                        delay,
                        self._deliver,
                        place,
                        caller,
                        packet,
                    )

    def _deliver(self, place: str, caller: str, packet: bytes) -> None:
        network, owner = self._listening.get(place), self._owners.get(place)
        if network is None or not network.accepting or owner is None or not owner.alive:
            return
        serving = network.commands.serve_datagram(packet, caller)
        owner.context.run(tasks.spawn, serving, f"datagram at {place}")

    def touched(self, *machines: str) -> list[Cable]:
        """Return the cables that end at every one of these machines."""
        return [cable for cable in self.cables if set(machines) <= set(cable.ends)]

    def mend(self, ways: set[tuple[str, str]]) -> None:
        """Let packets between machines pass again; what was held up arrives."""
        self.weather.lost -= ways
        ends = {machine for way in ways for machine in way}
        for cable in sorted(self.touched(*ends), key=lambda cable: cable.number):
            cable.wake()


def _serve(network: MemoryNetwork, sock: socket.socket, names: tuple[str, str]) -> None:
    transport = SocketTransport(sock, names=names)
    tasks.spawn(network.serve(transport), f"connection at {names[0]}")
