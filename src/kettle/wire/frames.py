"""Packets: the 5-byte header in front of every piece of a message.

    offset 0, 1 byte   end: 0 = more packets of this message follow, else this is the last one
    offset 1, 4 bytes  length of what follows the header, big-endian, 1 .. 1048576

Decides what a header may say. Ciphers, digests and messages are `wire.channel`'s; values inside a
message are `wire.codec`'s. Source: wire notes, Packets and messages.
"""

from __future__ import annotations

import struct

from kettle.errors import RemoteProtocolError

HEADER_SIZE = 5
# Limit: a longer packet is a protocol error on either side; the reference's own bound.
MAXIMUM_BODY = 1 << 20
# Receivers take any end flag up to 10 for "last"; beyond that the stream is out of step.
MAXIMUM_END = 10

_HEADER = struct.Struct(">BI")


def encode_header(length: int, *, last: bool) -> bytes:
    """Encode the header of a packet whose body has `length` bytes."""
    return _HEADER.pack(1 if last else 0, length)


def decode_header(buffer: bytes | bytearray | memoryview, offset: int) -> tuple[bool, int]:
    """Decode the header at `offset`: whether the packet ends a message, and its body's length.

    Raises RemoteProtocolError for an end flag or a length outside the bounds above.
    """
    end, length = _HEADER.unpack_from(buffer, offset)
    if end > MAXIMUM_END:
        raise RemoteProtocolError(f"packet header has end flag {end}, more than {MAXIMUM_END}")
    if not 0 < length <= MAXIMUM_BODY:
        raise RemoteProtocolError(f"packet header has length {length}, not 1 to {MAXIMUM_BODY}")
    return end != 0, length
