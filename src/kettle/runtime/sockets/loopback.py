"""Whose process is at the other end of a connection that does not leave the machine."""

from __future__ import annotations

import socket
import struct

_TABLE = "/proc/net/tcp"


def uid_of_peer(connection: socket.socket, table: str = _TABLE) -> int | None:
    """Return the account that made the other end of a loopback IPv4 connection, if it is known."""
    try:
        theirs, ours = connection.getpeername(), connection.getsockname()
        with open(table, encoding="ascii") as lines:
            wanted = [_in_table(*theirs), _in_table(*ours)]
            for line in lines:
                words = line.split()
                if words[1:3] == wanted:
                    return int(words[7])
    except (OSError, ValueError, IndexError):
        pass
    return None


def _in_table(host: str, port: int) -> str:
    """Return an address as the kernel's table has it: the number as this machine holds it."""
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{port:04X}"
