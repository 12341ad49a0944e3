"""The connection broker: daemons that cannot be reached register, clients have them call back.

Machines without I/O: `Broker` holds the registrations and says what to send to whom; the dialogs
are a listener's and a client's side. Sockets and identities are the shells'. Source: wire
reference, CCB.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.errors import RefusedError, RemoteProtocolError
from kettle.wire.commands import Command
from kettle.wire.dialog import Dialog, Receive, ResetDigests, Send
from kettle.wire.messages.brokering import CcbAd, CcbReverseConnect

HEARTBEAT_SECONDS = 300
REQUEST_TIMEOUT_SECONDS = 60
# Limit: registrations, and requests that wait for a listener, of one broker.
MAXIMUM_LISTENERS = 100_000
MAXIMUM_REQUESTS = 100_000


@dataclass(slots=True)
class Listener:
    """A registered daemon."""

    number: int
    cookie: str
    name: str
    connection: object


@dataclass(slots=True)
class Request:
    """A client that waits for a daemon to call back."""

    number: int
    listener: int
    connect_id: str
    return_address: str
    connection: object
    deadline: float


@dataclass(frozen=True, slots=True)
class Tell:
    """Send an ad on a connection, and close it if `close` is set."""

    connection: object
    ad: ClassAd
    close: bool = False


@dataclass(slots=True)
class Broker:
    """The broker's state; every method returns what is to be sent.

    `address` is the broker's own without the angle brackets.
    """

    address: str
    listeners: dict[int, Listener] = field(default_factory=dict)
    requests: dict[int, Request] = field(default_factory=dict)
    cookies: dict[int, str] = field(default_factory=dict)
    _next_listener: int = 1
    _next_request: int = 1

    def on_register(self, connection: object, ad: ClassAd, cookie: str) -> list[Tell]:
        """Register a daemon; one that shows its old cookie gets its old number back."""
        if len(self.listeners) >= MAXIMUM_LISTENERS:
            raise RemoteProtocolError("this connection broker has no room for another daemon")
        wanted = (ad.string("CCBID") or "").rpartition("#")[2]
        number = int(wanted) if wanted.isdigit() else 0
        shown = ad.string("ClaimId") or ""
        if not number or not shown or self.cookies.get(number) != shown:
            number, shown = self._next_listener, cookie
            self._next_listener += 1
        self.cookies[number] = shown
        self.listeners[number] = Listener(number, shown, ad.string("Name") or "", connection)
        reply = ClassAd(
            {
                "Command": int(Command.CCB_REGISTER),
                "CCBID": f"{self.address}#{number}",
                "ClaimId": shown,
            }
        )
        return [Tell(connection, reply)]

    def on_request(self, connection: object, ad: ClassAd, now: float) -> list[Tell]:
        """Pass a client's request on to the daemon it wants."""
        text = (ad.string("CCBID") or str(ad.integer("CCBID") or "")).rpartition("#")[2]
        listener = self.listeners.get(int(text)) if text.isdigit() else None
        address, connect_id = ad.string("MyAddress"), ad.string("ClaimId")
        if listener is None or not address or not connect_id:
            return [Tell(connection, _failure(f"no daemon is registered as {text}"), close=True)]
        if len(self.requests) >= MAXIMUM_REQUESTS:
            return [Tell(connection, _failure("too many requests are waiting"), close=True)]
        number = self._next_request
        self._next_request += 1
        deadline = now + REQUEST_TIMEOUT_SECONDS
        self.requests[number] = Request(
            number, listener.number, connect_id, address, connection, deadline
        )
        forwarded = ClassAd(
            {
                "Command": int(Command.CCB_REQUEST),
                "MyAddress": address,
                "ClaimId": connect_id,
                "RequestID": str(number),
                "Name": ad.string("Name") or "",
            }
        )
        return [Tell(listener.connection, forwarded)]

    def on_report(self, connection: object, ad: ClassAd) -> list[Tell]:
        """Pass a daemon's report on to the client that waits for it; heartbeats are echoed."""
        if ad.integer("Command") == Command.ALIVE:
            return [Tell(connection, heartbeat())]
        text = ad.string("RequestID") or str(ad.integer("RequestID") or "")
        request = self.requests.get(int(text)) if text.isdigit() else None
        if request is None or self.listeners[request.listener].connection is not connection:
            return []
        del self.requests[request.number]
        reply = ClassAd({"Result": ad.boolean("Result") or False})
        if ad.string("ErrorString"):
            reply["ErrorString"] = ad.string("ErrorString")
        return [Tell(request.connection, reply, close=True)]

    def on_closed(self, connection: object) -> list[Tell]:
        """Forget a connection; clients that waited for a daemon that is gone are told."""
        tells = []
        gone = [one.number for one in self.listeners.values() if one.connection is connection]
        for number in gone:
            del self.listeners[number]
        for request in tuple(self.requests.values()):
            if request.connection is connection:
                del self.requests[request.number]
            elif request.listener in gone:
                del self.requests[request.number]
                tells.append(Tell(request.connection, _failure("the daemon is gone"), close=True))
        return tells

    def on_time(self, now: float) -> list[Tell]:
        """Give up on requests that waited too long."""
        late = [one for one in self.requests.values() if now >= one.deadline]
        for request in late:
            del self.requests[request.number]
        text = "the daemon did not call back in time"
        return [Tell(one.connection, _failure(text), close=True) for one in late]


def _failure(reason: str) -> ClassAd:
    return ClassAd({"Result": False, "ErrorString": reason})


def heartbeat() -> ClassAd:
    """Return the ad that keeps a registration alive, in either direction."""
    return ClassAd({"Command": int(Command.ALIVE)})


def register(name: str, ccb_id: str = "", cookie: str = "") -> Dialog[tuple[str, str]]:
    """Register with a broker, as a daemon; returns the contact and the cookie to come back with."""
    ad = ClassAd({"Command": int(Command.CCB_REGISTER), "Name": name})
    if ccb_id and cookie:
        ad["CCBID"] = ccb_id
        ad["ClaimId"] = cookie
    yield Send(CcbAd(ad))
    reader = yield Receive()
    reply = CcbAd.read(reader).ad
    contact, secret = reply.string("CCBID"), reply.string("ClaimId")
    if not contact:
        raise RefusedError("the connection broker did not register this daemon")
    return contact, secret or ""


def request_connection(
    ccb_number: str, connect_id: str, return_address: str, name: str
) -> Dialog[ClassAd]:
    """Ask a broker, as a client, to have a daemon call back; returns the broker's last ad.

    Raises RefusedError if the broker says that it failed.
    """
    ad = ClassAd(
        {"CCBID": ccb_number, "ClaimId": connect_id, "Name": name, "MyAddress": return_address}
    )
    yield Send(CcbAd(ad))
    reader = yield Receive()
    reply = CcbAd.read(reader).ad
    if reply.boolean("Result") is False:
        reason = reply.string("ErrorString") or "no reason given"
        raise RefusedError(f"the connection broker could not reach the daemon: {reason}")
    return reply


def call_back(request: ClassAd, own_address: str) -> Dialog[None]:
    """Begin a reversed connection, as the daemon; from here on it is the server."""
    ad = ClassAd(
        {
            "ClaimId": request.string("ClaimId") or "",
            "RequestID": request.string("RequestID") or str(request.integer("RequestID") or ""),
            "MyAddress": own_address,
        }
    )
    yield Send(CcbReverseConnect(ad))
    yield ResetDigests()


def accept_reversed(connect_id: str) -> Dialog[bool]:
    """Take the first message of a reversed connection, as the client that waits for it.

    Returns whether it is the one asked for; from here on this side is the client.
    """
    reader = yield Receive()
    message = CcbReverseConnect.read_bare(reader)
    yield ResetDigests()
    return message is not None and message.ad.string("ClaimId") == connect_id
