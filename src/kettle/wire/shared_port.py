"""Reaching a daemon behind a shared port, and finding out where a first message wants to go.

The hand-over of accepted connections between processes is the runtime's. Source: wire notes,
Shared-port forwarding.
"""

from __future__ import annotations

import struct

from kettle.errors import RemoteProtocolError
from kettle.patterns import late_pattern
from kettle.wire.codec import Reader
from kettle.wire.commands import Command
from kettle.wire.dialog import Dialog, ResetDigests, Send
from kettle.wire.frames import HEADER_SIZE
from kettle.wire.messages.brokering import SharedPortConnect
from kettle.wire.sinful import Sinful

SELF = "self"
_ID = late_pattern(r"[A-Za-z0-9._-]{1,100}")
_HTTP_METHODS = tuple(
    f"{word} ".encode("ascii")
    for word in ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"]
)
_INTEGER = struct.Struct(">q")
FIRST_BYTES = HEADER_SIZE + 8
"""How many bytes of a connection tell which command it begins with."""


def connect_through(
    address: Sinful, client_name: str = "TOOL", deadline_seconds: int = -1
) -> Dialog[None]:
    """Say which daemon is meant, if the address has a shared-port id; nothing is answered.

    Everything said after this goes to that daemon, so the digests begin there; the shared port's
    own daemon, `self`, has heard the word too. `client_name` is for the other side's log.
    """
    if address.shared_port_id is None:
        return
    yield Send(SharedPortConnect(address.shared_port_id, client_name, deadline_seconds, []))
    if address.shared_port_id != SELF:
        yield ResetDigests()


def peek_command(first_bytes: bytes) -> int | None:
    """Return the command a connection begins with, None until FIRST_BYTES have come."""
    if len(first_bytes) < FIRST_BYTES:
        return None
    return int(_INTEGER.unpack_from(first_bytes, HEADER_SIZE)[0])


def is_web_request(first_bytes: bytes) -> bool:
    """Whether a connection begins as HTTP does, or TLS."""
    if first_bytes.startswith(_HTTP_METHODS):
        return True
    return first_bytes[:2] == b"\x16\x03" and first_bytes[2:3] <= b"\x04"


def read_connect(reader: Reader) -> SharedPortConnect:
    """Read SHARED_PORT_CONNECT with its number; raises RemoteProtocolError for a bad id."""
    if reader.integer() != Command.SHARED_PORT_CONNECT:
        raise RemoteProtocolError("a connection to the shared port begins with another command")
    message = SharedPortConnect.read(reader)
    if not _ID.fullmatch(message.shared_port_id) or message.shared_port_id in (".", ".."):
        raise RemoteProtocolError("a shared-port id has characters that no id has")
    return message
