"""The sockets of the connection broker: listeners stay connected, requesters wait for one answer.

Who is told what is decided in `ccb.py`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from kettle.collector.broker_ids import KeptId, decode_ids, encode_ids, ids_path, is_bloated
from kettle.collector.ccb import Broker, Tell
from kettle.config.knobs.ccb import CcbKnobs as Knobs
from kettle.errors import NotFoundError, StorageError, WireError
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.wire.commands import Command

# Limit: attributes of an ad that a listener or requester sends.
_MOST_ATTRIBUTES = 100
# Limit: bytes of the file of ids, some 100 for each listener that a broker takes.
_MOST_BYTES = 32 * 1024 * 1024


class IdFile:
    """The file that holds the ids which the broker gave out; what is in it is `broker_ids.py`'s.

    Where it cannot be written, daemons are registered all the same and get new ids after a restart.
    """

    def __init__(self, runtime: Runtime, broker: Broker) -> None:
        self._runtime = runtime
        self._broker = broker
        self._path = ""
        # Lines in the file; None while it must be written as a whole.
        self._lines: int | None = None

    def load(self, path: str, now: float) -> None:
        """Give the broker what a former collector left there."""
        self._path = path
        try:
            ids = decode_ids(self._runtime.files.read(path, limit=_MOST_BYTES))
        except NotFoundError:
            return
        except StorageError as error:
            self._runtime.log.problem(f"CCB: what was registered is forgotten: {error}")
            return
        self._broker.restore(ids, now)
        self._runtime.log(f"CCB: {len(ids)} ids are known from before")

    async def add(self, new: KeptId) -> None:
        """Return when an id that the broker has given is on disk."""
        try:
            if self._lines is None:
                self._write_whole()
                return
            self._lines += 1
            self._runtime.files.append(self._path, encode_ids([new]), mode=0o600)
            await self._sync()
        except StorageError as error:
            self._fail(error)

    async def _sync(self) -> None:
        """Sync the file; where a sync has failed it is written as a whole.

        The kernel tells of a lost write once: who comes after whom it was told to hears nothing.
        """
        try:
            await self._runtime.files.sync(self._path)
        except BaseException:
            # Also where nobody waits any longer.
            self._lines = None
            raise
        if self._lines is None:
            self._write_whole()

    def tidy(self) -> None:
        """Write the file anew if most of it is about daemons that are forgotten."""
        if self._lines is not None and is_bloated(self._lines, len(self._broker.listeners)):
            try:
                self._write_whole()
            except StorageError as error:
                self._fail(error)

    def _write_whole(self) -> None:
        ids = [listener.kept for listener in self._broker.listeners.values()]
        files = self._runtime.files
        files.write_atomically(self._path, encode_ids(ids), mode=0o600, durable=True)
        self._lines = len(ids)

    def _fail(self, error: StorageError) -> None:
        self._lines = None
        self._runtime.log.problem(f"CCB: ids are not kept over a restart: {error}")


class BrokerService:
    """The broker inside the collector."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        # A number, as the reference has it: it reads what we wrote down.
        self.broker = Broker("", lambda: str(secrets.randbits(64)))
        self._file = IdFile(runtime, self.broker)

    def start(self) -> None:
        """Expect the listeners of a former collector, and register the broker's commands."""
        config, address = self._runtime.config, self._runtime.network.address
        self.broker.address = str(address).strip("<>")
        path = ids_path(config[Knobs.CCB_RECONNECT_FILE], config.get("SPOOL") or "", address)
        self._file.load(path, self._runtime.clock.steady())
        self.reconfigure()
        self._runtime.network.register(Command.CCB_REGISTER, self._on_register)
        self._runtime.network.register(Command.CCB_REQUEST, self._on_request)

    def reconfigure(self) -> None:
        """Take over new settings."""
        # Twice, as the reference has it.
        self.broker.reconnect_seconds = 2 * self._runtime.config[Knobs.CCB_SWEEP_INTERVAL]

    def expire(self, now: float) -> None:
        """Give up on what takes too long."""
        self._perform(self.broker.expire(now))
        self._file.tidy()

    async def _on_register(self, stream: Stream) -> None:
        """Serve one listener until its connection ends."""
        ad = (await stream.receive()).ad(maximum=_MOST_ATTRIBUTES)
        tells = self.broker.register(stream, ad, stream.peer.address)
        try:
            for new in [tell.new for tell in tells if tell.new is not None]:
                await self._file.add(new)
            self._perform(tells)
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
            if tell.note:
                self._runtime.log.full(tell.note)
            stream = tell.connection
            assert isinstance(stream, Stream)
            if stream.closed:
                continue
            try:
                stream.post(stream.writer().ad(tell.ad, private=True))
            except WireError as error:
                said = f"The broker cannot tell {stream.remote_name}: {error}"
                self._runtime.log.stranger("peers that the broker cannot tell", said)
            if tell.last:
                stream.close()
