"""UDP messages ("SafeSock"): datagrams, fragments, the crypto header.

Decides how a datagram is taken apart and how fragments become one message. Whether UDP is used at
all is decided elsewhere: a daemon that publishes `noUDP` never needs it. Source: wire notes,
UDP.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections import OrderedDict
from dataclasses import dataclass, replace

from kettle.errors import RemoteProtocolError
from kettle.octets import to_bytes

MAGIC = b"MaGic6.0"
HEADER = struct.Struct(">8sBHHIHIH")
SHORTEST = 8
# Off-host datagrams stay below the usual packet size; on loopback nearly a full datagram fits.
NETWORK_FRAGMENT_SIZE = 1000
LOOPBACK_FRAGMENT_SIZE = 60000
# Limit: one message, its fragments, and half-received messages kept at a time; each fragment takes
# some room beside its bytes.
MAXIMUM_MESSAGE = 1 << 20
MAXIMUM_FRAGMENTS = 2000
MAXIMUM_PENDING = 1000
MAXIMUM_PENDING_BYTES = 16 << 20
_FRAGMENT_BYTES = 200
PENDING_SECONDS = 10.0

_CRYPTO = b"CRAP"
_CRYPTO_HEADER = struct.Struct(">4sHHH")
FLAG_MAC, FLAG_ENCRYPTED = 1, 2


@dataclass(frozen=True, slots=True)
class Fragment:
    """One datagram of a fragmented message."""

    last: bool
    sequence: int
    message_id: tuple[int, int, int, int]
    data: bytes


def decode_datagram(datagram: bytes) -> Fragment | bytes:
    """Take a datagram apart: a fragment, or a short message's payload as it is.

    Raises RemoteProtocolError for one that is neither.
    """
    if not datagram.startswith(MAGIC):
        if len(datagram) < SHORTEST:
            raise RemoteProtocolError(f"a datagram of {len(datagram)} bytes is no message")
        return datagram
    if len(datagram) < HEADER.size:
        raise RemoteProtocolError("a fragment ends inside its header")
    _, last, sequence, length, *message_id = HEADER.unpack_from(datagram)
    data = datagram[HEADER.size :]
    if length != len(data) or sequence >= MAXIMUM_FRAGMENTS or last > 1:
        raise RemoteProtocolError("a fragment's header does not fit the fragment")
    return Fragment(bool(last), sequence, tuple(message_id), data)


def encode_datagrams(
    payload: bytes,
    message_id: tuple[int, int, int, int],
    fragment_size: int = NETWORK_FRAGMENT_SIZE,
) -> list[bytes]:
    """Make the datagrams of a message; a short one is its own datagram."""
    room = fragment_size - HEADER.size
    if SHORTEST <= len(payload) <= fragment_size and not payload.startswith(MAGIC):
        return [payload]
    pieces = [payload[start : start + room] for start in range(0, len(payload), room)] or [b""]
    return [
        HEADER.pack(MAGIC, int(number == len(pieces) - 1), number, len(piece), *message_id) + piece
        for number, piece in enumerate(pieces)
    ]


@dataclass(slots=True)
class _Pending:
    """A message of which some fragments have come."""

    since: float
    pieces: dict[int, bytes]
    size: int = 0
    last: int | None = None


class Reassembly:
    """Puts fragments together, in whatever order they come."""

    def __init__(self) -> None:
        self._pending: OrderedDict[tuple[str, tuple[int, int, int, int]], _Pending]
        self._pending = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._pending)

    def receive(self, source: str, datagram: bytes, now: float) -> bytes | None:
        """Take a datagram; returns a message's payload once it is complete."""
        piece = decode_datagram(datagram)
        if isinstance(piece, bytes):
            return piece
        self._forget_old(now)
        key = (source, piece.message_id)
        pending = self._pending.setdefault(key, _Pending(now, {}))
        if piece.sequence not in pending.pieces:
            pending.pieces[piece.sequence] = piece.data
            pending.size += len(piece.data)
            self._size += len(piece.data) + _FRAGMENT_BYTES
        if piece.last and pending.last is None:
            pending.last = piece.sequence
        if pending.last is not None and max(pending.pieces) > pending.last:
            self._drop(key)
            raise RemoteProtocolError("a fragment comes after its message's last one")
        if pending.size > MAXIMUM_MESSAGE:
            self._drop(key)
            raise RemoteProtocolError("a fragmented message is too long")
        if pending.last is None or len(pending.pieces) <= pending.last:
            return None
        self._drop(key)
        return b"".join(pending.pieces[number] for number in range(pending.last + 1))

    def _drop(self, key: tuple[str, tuple[int, int, int, int]]) -> None:
        dropped = self._pending.pop(key)
        self._size -= dropped.size + len(dropped.pieces) * _FRAGMENT_BYTES

    def _forget_old(self, now: float) -> None:
        """Drop messages whose other fragments will not come any more."""
        while self._pending:
            key, oldest = next(iter(self._pending.items()))
            few = len(self._pending) < MAXIMUM_PENDING and self._size < MAXIMUM_PENDING_BYTES
            if few and now - oldest.since < PENDING_SECONDS:
                return
            self._drop(key)


@dataclass(frozen=True, slots=True)
class Protected:
    """A payload with a crypto header; the ids are session ids, perhaps with an address."""

    data: bytes
    mac_id: str = ""
    mac: bytes = b""
    encryption_id: str = ""

    @property
    def encrypted(self) -> bool:
        """Whether the data is encrypted."""
        return bool(self.encryption_id)

    def verify(self, key: bytes) -> bool:
        """Check the MAC under a session key."""
        return bool(self.mac) and hmac.compare_digest(_checksum(key, self.data), self.mac)


def sign(key: bytes, protected: Protected) -> Protected:
    """Add the MAC of what is encrypted already, under the session key that encrypted it."""
    mac = _checksum(key, protected.data)
    return replace(protected, mac_id=protected.encryption_id, mac=mac)


def _checksum(key: bytes, data: bytes) -> bytes:
    """Return the MAC of a message: of its data as they are sent."""
    return hashlib.md5(key + data, usedforsecurity=False).digest()


def decode_payload(payload: bytes) -> Protected:
    """Take the crypto header off a message's payload; one without is plain data."""
    if not payload.startswith(_CRYPTO):
        return Protected(payload)
    if len(payload) < _CRYPTO_HEADER.size:
        raise RemoteProtocolError("a datagram ends inside its crypto header")
    _, flags, mac_length, encryption_length = _CRYPTO_HEADER.unpack_from(payload)
    position = _CRYPTO_HEADER.size
    mac_id, mac, encryption_id = "", b"", ""
    if flags & FLAG_MAC:
        mac_id = payload[position : position + mac_length].decode("utf-8", "replace")
        position += mac_length
        mac = payload[position : position + 16]
        position += 16
    if flags & FLAG_ENCRYPTED:
        encryption_id = payload[position : position + encryption_length].decode("utf-8", "replace")
        position += encryption_length
    if position > len(payload):
        raise RemoteProtocolError("a datagram ends inside its crypto header")
    return Protected(payload[position:], mac_id, mac, encryption_id)


def encode_payload(protected: Protected) -> bytes:
    """Put the crypto header back in front."""
    mac_id, encryption_id = to_bytes(protected.mac_id), to_bytes(protected.encryption_id)
    if not mac_id and not encryption_id:
        return protected.data
    flags = (FLAG_MAC if mac_id else 0) | (FLAG_ENCRYPTED if encryption_id else 0)
    header = _CRYPTO_HEADER.pack(_CRYPTO, flags, len(mac_id), len(encryption_id))
    mac = mac_id + protected.mac if mac_id else b""
    return header + mac + encryption_id + protected.data
