"""The connection broker's books: who listens behind which id, and who waits for whom (R089).

A daemon that cannot be reached registers and keeps its connection; whoever wants it asks the
broker, the daemon is told where to connect to, and reports how that went. `Broker` decides ids,
cookies and answers; connections are opaque handles here, the sockets are `services/broker.py`'s.
The listening side lives in the runtime.

Format and sequence: wire notes, CCB (reversed connections).
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.collector.broker_ids import KeptId
from kettle.octets import to_bytes
from kettle.wire.ccb import heartbeat
from kettle.wire.commands import Command

# Limit: connections waiting for one listener, and listeners; more is an attack or a loop.
MAX_WAITING = 1_000
MAX_LISTENERS = 200_000
# Limit: requests that wait in all, and those of one requesting host, so that no host takes all.
MAX_REQUESTS = 10_000
MAX_REQUESTS_OF_HOST = 1_000
# Limit: characters of what a request passes on to a listener, and of a listener's name.
MAX_TEXT = 4_096
# Limit: seconds a requester waits for the listener's report.
REQUEST_SECONDS = 300
# How long the id of a listener that lost its connection is kept for its return.
RECONNECT_SECONDS = 2400
# How many ids are passed over by a broker that begins with those of another: ids that one gave and
# could not write down.
PASSED_OVER = 100


@dataclass(slots=True)
class Listener:
    """A registered daemon."""

    number: int
    name: str
    cookie: str
    # None while its connection is lost.
    connection: Hashable | None
    host: str = ""
    lost_at: float | None = None
    waiting: set[int] = field(default_factory=set)

    @property
    def kept(self) -> KeptId:
        """What must outlive the broker."""
        return KeptId(self.host, self.number, self.cookie)


@dataclass(slots=True)
class Waiting:
    """Somebody who wants a listener to call back."""

    number: int
    listener: int
    connection: Hashable
    host: str
    asked_at: float


@dataclass(frozen=True, slots=True)
class Tell:
    """An effect: send this ad on a connection; then close it if `last`.

    An id that is `new` is written down before anybody hears of it. A `note` is a line of the log,
    for D_FULLDEBUG; its first half is what HTCondor's own tests look for.
    """

    connection: Hashable
    ad: ClassAd
    last: bool = False
    new: KeptId | None = None
    note: str = ""


@dataclass(slots=True)
class BrokerCounts:
    """What the collector's ad says about the broker."""

    requests: int = 0
    failed: int = 0
    not_found: int = 0
    succeeded: int = 0
    reconnects: int = 0
    registered_peak: int = 0


@dataclass(slots=True)
class Broker:
    """All listeners and requests; `make_secret` gives unguessable cookies."""

    address: str
    make_secret: Callable[[], str]
    reconnect_seconds: float = RECONNECT_SECONDS
    counts: BrokerCounts = field(default_factory=BrokerCounts)
    listeners: dict[int, Listener] = field(default_factory=dict)
    _by_connection: dict[Hashable, int] = field(default_factory=dict)
    _waiting: dict[int, Waiting] = field(default_factory=dict)
    _asked_on: dict[Hashable, int] = field(default_factory=dict)
    _asked_by: Counter[str] = field(default_factory=Counter)
    _next_listener: int = 1
    _next_request: int = 1

    @property
    def connected(self) -> int:
        """How many listeners can be reached now."""
        return len(self._by_connection)

    def restore(self, ids: Iterable[KeptId], now: float) -> None:
        """Expect the listeners of a broker that was here before; their ids are nobody else's."""
        for host, number, cookie in sorted(ids, key=lambda one: one.number)[-MAX_LISTENERS:]:
            self.listeners[number] = Listener(number, "", cookie, None, host, lost_at=now)
        if self.listeners:
            self._next_listener = max(self.listeners) + 1 + PASSED_OVER

    def register(self, connection: Hashable, ad: ClassAd, host: str = "") -> list[Tell]:
        """Enter a listener at `host`; one that comes back with its id and cookie keeps the id.

        Compat: so does one at another address, which the reference refuses by default: its cookies
        are 32 bits long, ours 64
        (test_a_listener_that_returns_with_its_cookie_keeps_its_id).
        """
        listener = self._returning(ad)
        new = None
        if listener is None:
            if len(self.listeners) >= MAX_LISTENERS:
                return [Tell(connection, _failure("the broker has no room left"), last=True)]
            number = self._next_listener
            self._next_listener += 1
            name = (ad.string("Name") or "")[:MAX_TEXT]
            listener = Listener(number, name, self.make_secret(), connection, host)
            self.listeners[number] = listener
            new = listener.kept
        else:
            self.counts.reconnects += 1
            if listener.connection is not None:
                self._by_connection.pop(listener.connection, None)
            listener.connection, listener.lost_at = connection, None
            listener.host = host
        self._by_connection[connection] = listener.number
        self.counts.registered_peak = max(self.counts.registered_peak, len(self.listeners))
        reply = ClassAd(
            {
                "Command": int(Command.CCB_REGISTER),
                "CCBID": f"{self.address}#{listener.number}",
                "ClaimId": listener.cookie,
            }
        )
        return [Tell(connection, reply, new=new)]

    def _returning(self, ad: ClassAd) -> Listener | None:
        number = _number_of(ad.string("CCBID") or "")
        listener = self.listeners.get(number) if number is not None else None
        cookie = ad.string("ClaimId") or ""
        if listener is None or not hmac.compare_digest(
            to_bytes(listener.cookie), cookie.encode("utf-8", "surrogateescape")
        ):
            return None
        return listener

    def request(self, connection: Hashable, ad: ClassAd, now: float, host: str = "") -> list[Tell]:
        """Pass a request from `host` on to the listener it names, or say why not.

        A connection asks once.
        """
        self.counts.requests += 1
        number = _number_of(ad.string("CCBID") or str(ad.integer("CCBID") or ""))
        listener = self.listeners.get(number) if number is not None else None
        address, connect_id = ad.string("MyAddress") or "", ad.string("ClaimId") or ""
        if listener is None or listener.connection is None:
            self.counts.not_found += 1
            return [Tell(connection, _failure(f"no daemon listens behind id {number}"), last=True)]
        name = ad.string("Name") or ""
        refusal = self._refusal((address, connect_id, name), connection, listener, host)
        if refusal:
            self.counts.failed += 1
            return [Tell(connection, _failure(refusal), last=True)]
        request = Waiting(self._next_request, listener.number, connection, host, now)
        self._next_request += 1
        self._waiting[request.number] = request
        self._asked_on[connection] = request.number
        self._asked_by[host] += 1
        listener.waiting.add(request.number)
        forward = ClassAd(
            {
                "Command": int(Command.CCB_REQUEST),
                "MyAddress": address,
                "ClaimId": connect_id,
                "RequestID": str(request.number),
                "Name": name,
            }
        )
        return [Tell(listener.connection, forward)]

    def _refusal(
        self,
        texts: tuple[str, str, str],
        connection: Hashable,
        listener: Listener,
        host: str,
    ) -> str:
        """Return why a request is not passed on, nothing if it is.

        `texts` are where the listener is to connect to, with what id, and who asks.
        """
        address, connect_id, _ = texts
        if not address or not connect_id:
            return "a request needs MyAddress and ClaimId"
        if max(map(len, texts)) > MAX_TEXT:
            return "the request is too long"
        if connection in self._asked_on:
            return "this connection has asked before"
        if len(listener.waiting) >= MAX_WAITING:
            return "too many requests for this daemon"
        if len(self._waiting) >= MAX_REQUESTS or self._asked_by[host] >= MAX_REQUESTS_OF_HOST:
            return "too many requests are waiting"
        return ""

    def hear(self, connection: Hashable, ad: ClassAd) -> list[Tell]:
        """Take a listener's word: a report on a request, or a sign of life, which is returned."""
        number = self._by_connection.get(connection)
        if number is None:
            return []
        if ad.integer("Command") == Command.ALIVE:
            return [Tell(connection, heartbeat())]
        text = ad.string("RequestID") or str(ad.integer("RequestID") or "")
        request = self._waiting.get(int(text)) if text.isdecimal() and len(text) < 19 else None
        if request is None or request.listener != number:
            return []
        self._forget(request)
        done = bool(ad.boolean("Result"))
        note = (
            f"CCB: received '{'success' if done else 'failure'}' from target daemon "
            f"{self.listeners[number].name}, id {number}; request {request.number} "
            f"of {request.host} is over"
        )
        if done:
            self.counts.succeeded += 1
            return [Tell(request.connection, ClassAd({"Result": True}), last=True, note=note)]
        self.counts.failed += 1
        reason = ad.string("ErrorString") or "the daemon could not connect back"
        return [Tell(request.connection, _failure(reason), last=True, note=f"{note}: {reason}")]

    def lose(self, connection: Hashable, now: float) -> list[Tell]:
        """Note that a connection ended, a listener's or a requester's."""
        asked = self._asked_on.get(connection)
        if asked is not None:
            self._forget(self._waiting[asked])
        number = self._by_connection.pop(connection, None)
        if number is None:
            return []
        listener = self.listeners[number]
        listener.connection, listener.lost_at = None, now
        tells = []
        for waiting in sorted(listener.waiting):
            request = self._waiting[waiting]
            self._forget(request)
            self.counts.failed += 1
            why = _failure("the daemon's connection to the broker was lost")
            tells.append(Tell(request.connection, why, last=True))
        return tells

    def expire(self, now: float) -> list[Tell]:
        """Give up on requests nobody answers, and on listeners that do not come back.

        The newest id stays known: by it a broker that comes after us knows which were given.
        """
        tells = []
        for request in list(self._waiting.values()):
            if now - request.asked_at >= REQUEST_SECONDS:
                self._forget(request)
                self.counts.failed += 1
                tells.append(
                    Tell(request.connection, _failure("the daemon did not answer"), last=True)
                )
        newest = max(self.listeners, default=0)
        for listener in list(self.listeners.values()):
            lost_at, number = listener.lost_at, listener.number
            if lost_at is None or number == newest:
                continue
            if now - lost_at >= self.reconnect_seconds:
                del self.listeners[number]
        return tells

    def _forget(self, request: Waiting) -> None:
        del self._waiting[request.number]
        del self._asked_on[request.connection]
        self._asked_by[request.host] -= 1
        if not self._asked_by[request.host]:
            del self._asked_by[request.host]
        listener = self.listeners.get(request.listener)
        if listener is not None:
            listener.waiting.discard(request.number)


def _failure(reason: str) -> ClassAd:
    return ClassAd({"Result": False, "ErrorString": reason})


def _number_of(ccb_id: str) -> int | None:
    """Return the number in `<address>#<number>` or in a bare number."""
    text = ccb_id.rpartition("#")[2].strip()
    return int(text) if text.isdecimal() and len(text) < 19 else None
