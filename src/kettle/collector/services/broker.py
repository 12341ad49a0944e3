"""The sockets of the connection broker: listeners stay connected, requesters wait for one answer.

Who is told what is decided in `ccb.py`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from kettle.collector.ccb import Broker, Tell
from kettle.errors import WireError
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.wire.commands import Command

# Limit: attributes of an ad that a listener or requester sends.
_MOST_ATTRIBUTES = 100


class BrokerService:
    """The broker inside the collector."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.broker = Broker("", lambda: secrets.token_hex(16))

    def start(self) -> None:
        """Register the broker's commands."""
        address = str(self._runtime.network.address)
        self.broker.address = address.strip("<>")
        self._runtime.network.register(Command.CCB_REGISTER, self._on_register)
        self._runtime.network.register(Command.CCB_REQUEST, self._on_request)

    def stop(self) -> None:
        """Nothing is kept: listeners come back with their cookies, or get new ids."""

    def expire(self, now: float) -> None:
        """Give up on what takes too long."""
        self._perform(self.broker.expire(now))

    async def _on_register(self, stream: Stream) -> None:
        """Serve one listener until its connection ends."""
        ad = (await stream.receive()).ad(maximum=_MOST_ATTRIBUTES)
        self._perform(self.broker.register(stream, ad))
        try:
            while not stream.closed:
                reader = await stream.receive_forever()
                self._perform(self.broker.hear(stream, reader.ad(maximum=_MOST_ATTRIBUTES)))
        finally:
            self._perform(self.broker.lose(stream, self._runtime.clock.steady()))

    async def _on_request(self, stream: Stream) -> None:
        """Serve one requester until it has its answer or leaves."""
        ad = (await stream.receive()).ad(maximum=_MOST_ATTRIBUTES)
        host = stream.peer.address
        self._perform(self.broker.request(stream, ad, self._runtime.clock.steady(), host))
        try:
            while not stream.closed:
                # It has nothing more to say: this ends when either side closes.
                await stream.receive_forever()
        finally:
            self._perform(self.broker.lose(stream, self._runtime.clock.steady()))

    def _perform(self, tells: Iterable[Tell]) -> None:
        for tell in tells:
            stream = tell.connection
            assert isinstance(stream, Stream)
            if stream.closed:
                continue
            try:
                stream.post(stream.writer().ad(tell.ad, private=True))
            except WireError as error:
                self._runtime.log(f"The broker cannot tell {stream.remote_name}: {error}")
            if tell.last:
                stream.close()
