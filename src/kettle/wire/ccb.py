"""The connection broker: daemons that cannot be reached register, clients have them call back.

Dialogs without I/O: a listener's and a client's side. The broker's own books are
`kettle.collector.ccb`; sockets and identities are the shells'. Source: wire notes, CCB.
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.wire.codec import Reader
from kettle.wire.commands import Command
from kettle.wire.dialog import Dialog, Receive, ResetDigests, Send
from kettle.wire.messages.brokering import CcbAd, CcbReverseConnect

HEARTBEAT_SECONDS = 300


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
    yield Send(connection_request(ccb_number, connect_id, return_address, name))
    reader = yield Receive()
    return read_answer(reader)


def connection_request(ccb_number: str, connect_id: str, return_address: str, name: str) -> CcbAd:
    """Compose a client's request: have this daemon connect to `return_address`."""
    return CcbAd(
        ClassAd(
            {"CCBID": ccb_number, "ClaimId": connect_id, "Name": name, "MyAddress": return_address}
        )
    )


def read_answer(reader: Reader) -> ClassAd:
    """Read the broker's answer to a request; RefusedError if it says that it failed."""
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
