"""What strangers send: raw connections, and beginnings of conversations that no client makes."""

from __future__ import annotations

import random
import socket
import struct

from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful

PATIENCE = 10.0


def dial(address: Sinful) -> socket.socket:
    return socket.create_connection((address.host, address.port), timeout=PATIENCE)


def send_all(sock: socket.socket, data: bytes) -> None:
    """Send as much as the daemon cares to take."""
    try:
        sock.sendall(data)
    except OSError:
        return


def is_cut(sock: socket.socket) -> bool:
    """Whether the daemon ends the connection within PATIENCE; what it says before is dropped."""
    try:
        while sock.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def packet(body: bytes, *, end: int = 1) -> bytes:
    return struct.pack(">BI", end, len(body)) + body


def words(*numbers: int) -> bytes:
    return b"".join(struct.pack(">q", number) for number in numbers)


NOISE = random.Random(31)
AUTHENTICATE = int(Command.DC_AUTHENTICATE)
SPOILED = {
    "zeros": bytes(64),
    "ones": b"\xff" * 64,
    "noise": NOISE.randbytes(4096),
    "more noise": NOISE.randbytes(100_000),
    "a web browser": b"GET / HTTP/1.1\r\nHost: pool\r\n\r\n",
    "a TLS hello": bytes.fromhex("1603010200010001fc0303") + bytes(512),
    "an end flag that is none": b"\x0b" + words(1)[:4] + b"x",
    "a packet without a body": b"\x01\0\0\0\0",
    "a packet beyond the bound": struct.pack(">BI", 1, (1 << 20) + 1) + bytes(64),
    "a length of four billion": struct.pack(">BI", 1, 0xFFFFFFFF) + bytes(64),
    "a word cut short": packet(b"\0\0\0"),
    "a negative command": packet(words(-1)),
    "the largest command": packet(words(2**63 - 1)),
    "a security ad of a billion lines": packet(words(AUTHENTICATE, 10**9)),
    "a security ad of minus one line": packet(words(AUTHENTICATE, -1)),
    "a security ad without its end": packet(words(AUTHENTICATE, 2) + b'Command = 1\0Auth = "'),
    "a line that is no attribute": packet(words(AUTHENTICATE, 1) + b"no equal sign\0\0\0"),
    "an ad nested deeply": packet(
        words(AUTHENTICATE, 1) + b"Command = " + b"(" * 200_000 + b"1" + b")" * 200_000 + b"\0\0\0"
    ),
    "a message without an end": packet(b"x" * (1 << 20), end=0) * 6,
}
