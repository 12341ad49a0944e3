"""Connections that begin at the other end: for daemons that nobody can connect to (R089).

`Brokers` keep this daemon registered wherever CCB_ADDRESS says, one `Listening` each, and call
back whoever asks for it; `Reversed` is the other side, a client that has a broker make a daemon
call. What is said is `wire.ccb`'s; the broker itself is a part of the collector.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from kettle.errors import ConnectionLost, KettleError, RefusedError, WireError
from kettle.runtime import tasks
from kettle.runtime.sockets.addresses import find_collectors
from kettle.wire.ccb import HEARTBEAT_SECONDS, call_back, heartbeat, register, request_connection
from kettle.wire.codec import Reader
from kettle.wire.commands import Command
from kettle.wire.messages.brokering import CcbAd, CcbReverseConnect
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.config import Config
    from kettle.runtime.logs import Log
    from kettle.runtime.sockets.stream import Stream
    from kettle.runtime.storage.files import Files

_RETRY_SECONDS = 60.0
_FIRST_RETRY_SECONDS = 1.0
_CALL_BACK_SECONDS = 20.0
# Limit: attributes of a broker's ad, and calls back that are being made at once.
_MOST_ATTRIBUTES = 100
_MOST_CALLS = 1000


class Caller(Protocol):
    """What both sides need of the network."""

    @property
    def address(self) -> Sinful:
        """Where this daemon says it is."""
        ...

    async def connect(self, address: Sinful | str, command: int) -> Stream:
        """Open a connection for a command."""
        ...


def read_call(body: bytes) -> CcbReverseConnect | None:
    """Read a first message as a call back; None if it is anything else."""
    if len(body) < 8 or int.from_bytes(body[:8], "big") != Command.CCB_REVERSE_CONNECT:
        return None
    return CcbReverseConnect.read_bare(Reader(body))


class Reversed:
    """The connections that this client waits for."""

    def __init__(self, network: Caller, name: str) -> None:
        self._network = network
        self._name = name
        self._awaited: dict[str, asyncio.Future[Stream]] = {}

    @property
    def waiting(self) -> bool:
        """Whether any connection is awaited."""
        return bool(self._awaited)

    def offer(self, stream: Stream, message: CcbReverseConnect) -> bool:
        """Take a reversed connection; False if nobody waits for it."""
        future = self._awaited.pop(message.ad.string("ClaimId") or "", None)
        if future is None or future.done():
            return False
        stream.reset_digests()
        stream.keep()
        future.set_result(stream)
        return True

    async def open(self, contacts: Sequence[tuple[Sinful, str]], seconds: float) -> Stream:
        """Have a daemon call, through the first of its brokers that can; we are the client on it.

        Raises ConnectionLost if no broker could bring it about in time.
        """
        if not self._network.address.port:
            raise ConnectionLost("the daemon can only call back, and nobody listens here")
        problems: list[str] = []
        connect_id = secrets.token_hex(20)
        future: asyncio.Future[Stream] = asyncio.get_running_loop().create_future()
        self._awaited[connect_id] = future
        try:
            async with asyncio.timeout(seconds):
                for broker, number in contacts:
                    stream = await self._ask(broker, number, connect_id, future, problems)
                    if stream is not None:
                        return stream
        except TimeoutError:
            if future.done():
                return future.result()
            problems.append(f"nothing came in {seconds:g} seconds")
        except asyncio.CancelledError:
            if future.done():
                future.result().close()
            raise
        finally:
            self._awaited.pop(connect_id, None)
            future.cancel()
        raise ConnectionLost("the daemon did not call back: " + "; ".join(problems))

    async def _ask(
        self,
        broker: Sinful,
        number: str,
        connect_id: str,
        future: asyncio.Future[Stream],
        problems: list[str],
    ) -> Stream | None:
        """Ask one broker and wait for the call or its refusal."""
        asking = tasks.spawn(self._request(broker, number, connect_id, problems), "asking a broker")
        try:
            await asyncio.wait({asking, future}, return_when=asyncio.FIRST_COMPLETED)
            if not future.done() and asking.result():
                # The broker says that it went well: the call is on its way.
                await asyncio.wait({future})
            return future.result() if future.done() else None
        finally:
            asking.cancel()

    async def _request(
        self, broker: Sinful, number: str, connect_id: str, problems: list[str]
    ) -> bool:
        try:
            stream = await self._network.connect(broker, Command.CCB_REQUEST)
        except WireError as error:
            problems.append(str(error))
            return False
        stream.timeout = None
        try:
            await stream.run(
                request_connection(number, connect_id, str(self._network.address), self._name)
            )
        except RefusedError as error:
            problems.append(str(error))
            return False
        except WireError:
            # A broker that closes after a success says nothing; the call itself decides.
            return True
        finally:
            stream.close()
        return True


@dataclass(frozen=True, slots=True)
class Ways:
    """How a daemon connects, for one that is called through brokers.

    `dial` opens a bare connection to an address, `serve` treats a connection as one that came in.
    """

    network: Caller
    dial: Callable[[Sinful, float], Awaitable[Stream]]
    serve: Callable[[Stream], Awaitable[None]]


class Listening:
    """Keeps one registration with one broker for as long as the daemon lives.

    `contact` is what others find in our address, empty while there is none.
    """

    def __init__(
        self,
        ways: Ways,
        broker: Callable[[], Sinful | None],
        name: str,
        log: Log,
        on_contact: Callable[[], None],
    ) -> None:
        self._ways = ways
        self._broker = broker
        self._name = name
        self._log = log
        self._on_contact = on_contact
        self._cookie = ""
        self._calls = 0
        self.contact = ""
        self.registered = asyncio.Event()

    async def run(self) -> None:
        """Register, listen, and come back after every loss."""
        delay = _FIRST_RETRY_SECONDS
        while True:
            # Who is behind a broker is reached by nobody without it: whatever failed, try again.
            with tasks.reported("Listening at a CCB broker"):
                try:
                    await self._listen()
                except KettleError as error:
                    self._log.problem(f"CCB: not registered: {error}")
            if self.registered.is_set():
                delay = _FIRST_RETRY_SECONDS
                self.registered.clear()
            await asyncio.sleep(delay)
            delay = min(delay * 2, _RETRY_SECONDS)

    async def _listen(self) -> None:
        broker = self._broker()
        if broker is None:
            raise ConnectionLost("the broker has not written its address yet")
        stream = await self._ways.network.connect(broker, Command.CCB_REGISTER)
        beating: asyncio.Task[None] | None = None
        try:
            contact, cookie = await stream.run(register(self._name, self.contact, self._cookie))
            changed = contact != self.contact
            self.contact, self._cookie = contact, cookie
            self.registered.set()
            if changed:
                self._log(f"CCB: registered with {broker} as {contact}")
                self._on_contact()
            beating = tasks.spawn(self._beat(stream), "CCB heartbeat")
            while True:
                ad = (await stream.receive_forever()).ad(maximum=_MOST_ATTRIBUTES)
                if ad.integer("Command") != Command.CCB_REQUEST:
                    continue
                if self._calls < _MOST_CALLS:
                    tasks.spawn(self._call(stream, ad), "CCB call")
                else:
                    await self._report(stream, ad, "this daemon is being called too often")
        finally:
            if beating is not None:
                beating.cancel()
            stream.close()

    async def _beat(self, stream: Stream) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await stream.send(CcbAd(heartbeat()))

    async def _call(self, registration: Stream, request: ClassAd) -> None:
        """Call whoever asks for us, report how that went, and serve the connection."""
        self._calls += 1
        try:
            stream = None
            problem = ""
            is_called = False
            try:
                target = Sinful.parse(request.string("MyAddress") or "")
                stream = await self._ways.dial(target, _CALL_BACK_SECONDS)
                await stream.run(call_back(request, str(self._ways.network.address)))
                is_called = True
            except WireError as error:
                problem = str(error)
            await self._report(registration, request, problem)
            if stream is not None and is_called:
                await self._ways.serve(stream)
            elif stream is not None:
                stream.close()
        finally:
            self._calls -= 1

    async def _report(self, registration: Stream, request: ClassAd, problem: str) -> None:
        """Tell the broker what became of a request; `problem` is empty if it went well."""
        report = request.copy()
        report["Result"] = not problem
        if problem:
            report["ErrorString"] = problem
        with contextlib.suppress(ConnectionLost):
            await registration.send(CcbAd(report))


class Brokers:
    """All registrations of one daemon; `on_contact` hears through whom it can be called."""

    def __init__(self, ways: Ways, name: str, log: Log, on_contact: Callable[[str], None]) -> None:
        self._ways = ways
        self._name = name
        self._log = log
        self._on_contact = on_contact
        self.registrations: list[Listening] = []

    async def register(self, config: Config, files: Files, seconds: float) -> None:
        """Register with every broker of CCB_ADDRESS, and wait a while for the first answers.

        Whatever is late or lost is tried again for as long as the daemon lives.
        """
        count = len(config.words("CCB_ADDRESS"))
        if not count or self.registrations:
            return

        def broker(number: int) -> Sinful | None:
            found = find_collectors(config, files, knob="CCB_ADDRESS")
            return found[number] if number < len(found) else None

        for number in range(count):
            listening = Listening(
                self._ways, partial(broker, number), self._name, self._log, self._gather
            )
            self.registrations.append(listening)
            tasks.spawn(listening.run(), f"CCB broker {number}")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(one.registered.wait() for one in self.registrations))

    def _gather(self) -> None:
        self._on_contact(" ".join(one.contact for one in self.registrations if one.contact))
