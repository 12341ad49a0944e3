"""Connections that begin at the other end: for daemons that nobody can connect to (R089).

`Listening` keeps this daemon registered with its brokers and calls back whoever asks for it;
`Reversed` is the other side, a client that has a broker make a daemon call. What is said is
`wire.ccb`'s; the broker itself is a part of the collector.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from kettle.errors import ConnectionLost, KettleError, RefusedError, WireError
from kettle.runtime import tasks
from kettle.wire.ccb import HEARTBEAT_SECONDS, call_back, heartbeat, register, request_connection
from kettle.wire.commands import Command
from kettle.wire.messages.brokering import CcbAd, CcbReverseConnect
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.runtime.logs import Log
    from kettle.runtime.stream import Stream

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
            problems.append(f"nothing came in {seconds:g} seconds")
        finally:
            self._awaited.pop(connect_id, None)
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


class Listening:
    """Keeps one registration with one broker for as long as the daemon lives.

    `dial` opens a bare connection to an address, `serve` treats a connection as one that came in;
    `contact` is what others find in our address, empty while there is none.
    """

    def __init__(
        self,
        network: Caller,
        broker: Callable[[], Sinful | None],
        name: str,
        log: Log,
        *,
        dial: Callable[[Sinful, float], Awaitable[Stream]],
        serve: Callable[[Stream], Awaitable[None]],
        on_contact: Callable[[], None],
    ) -> None:
        self._network = network
        self._broker = broker
        self._name = name
        self._log = log
        self._dial = dial
        self._serve = serve
        self._on_contact = on_contact
        self._cookie = ""
        self._calls = 0
        self.contact = ""
        self.registered = asyncio.Event()

    async def run(self) -> None:
        """Register, listen, and come back after every loss."""
        delay = _FIRST_RETRY_SECONDS
        while True:
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
        stream = await self._network.connect(broker, Command.CCB_REGISTER)
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
                ad = CcbAd.read(await stream.receive_forever()).ad
                if ad.integer("Command") == Command.CCB_REQUEST and self._calls < _MOST_CALLS:
                    tasks.spawn(self._call(stream, ad), "CCB call")
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
            report = request.copy()
            try:
                target = Sinful.parse(request.string("MyAddress") or "")
                stream = await self._dial(target, _CALL_BACK_SECONDS)
                await stream.run(call_back(request, str(self._network.address)))
                report["Result"] = True
            except WireError as error:
                report["Result"] = False
                report["ErrorString"] = str(error)
            with contextlib.suppress(ConnectionLost):
                await registration.send(CcbAd(report))
            if stream is not None and report.boolean("Result"):
                await self._serve(stream)
            elif stream is not None:
                stream.close()
        finally:
            self._calls -= 1
