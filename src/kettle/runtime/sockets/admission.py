"""Whose connections stay when there are too many: books of one daemon's connections by host.

A stranger is a connection whose command has not been accepted yet; a resting one has had a command
and may bring another. Both can be closed without harm to work that is being done. When their places
are used up, the host that holds most of them gives its oldest away, so that no single host can keep
the others out. Sockets are `system_network.py`'s and `network_commands.py`'s.
"""

from __future__ import annotations

import socket
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

C = TypeVar("C", bound=Hashable)

# Limit: bytes of all strangers' unfinished messages, in one daemon.
MOST_BYTES = 64 << 20
# How an IPv4 address begins that is written as one of IPv6.
_MAPPED = bytes(10) + b"\xff\xff"


class Admission(Generic[C]):
    """The connections that could be closed, by host, oldest first; `most` may be there at once.

    Together strangers may have `most_bytes` in memory that nobody has understood yet.
    """

    def __init__(self, most: int, most_bytes: int = MOST_BYTES) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self._sizes: dict[C, int] = {}
        self._total = 0
        self._hosts: dict[str, OrderedDict[C, None]] = {}
        self._host_of: dict[C, str] = {}
        self._count = 0
        self.crowded_out = 0

    def __len__(self) -> int:
        return self._count

    def enter(self, connection: C, host: str) -> C | None:
        """Note a stranger; returns the connection that has to go for it, None if there is room.

        The one that goes may be the stranger's own, if its host is the one that holds most.
        """
        owner = owner_of(host)
        self._host_of[connection] = owner
        self._add(connection, owner)
        if self._count <= self.most:
            return None
        greediest = max(self._hosts.values(), key=len)
        oldest = next(iter(greediest))
        self._remove(oldest)
        self.crowded_out += 1
        return oldest

    def hold(self, connection: C, size: int) -> C | None:
        """Note how many bytes of a stranger are kept; returns the one that has to go for them.

        It is the one that keeps most: who says what everybody says is never the one.
        """
        self._total += size - self._sizes.get(connection, 0)
        self._sizes[connection] = size
        if self._total <= self.most_bytes:
            return None
        greediest = max(self._sizes, key=self._sizes.__getitem__)
        self._release(greediest)
        self.crowded_out += 1
        return greediest

    def promote(self, connection: C) -> None:
        """Note that a connection's command was accepted: it is at work and stays."""
        self._remove(connection)
        self._release(connection)

    def rest(self, connection: C) -> None:
        """Note that a connection waits for its next command."""
        host = self._host_of.get(connection)
        if host is not None:
            self._add(connection, host)

    def leave(self, connection: C) -> None:
        """Forget a connection."""
        self._remove(connection)
        self._release(connection)
        self._host_of.pop(connection, None)

    def _release(self, connection: C) -> None:
        self._total -= self._sizes.pop(connection, 0)

    def _add(self, connection: C, host: str) -> None:
        held = self._hosts.setdefault(host, OrderedDict())
        if connection not in held:
            held[connection] = None
            self._count += 1

    def _remove(self, connection: C) -> None:
        host = self._host_of.get(connection, "")
        held = self._hosts.get(host)
        if held is None or connection not in held:
            return
        del held[connection]
        self._count -= 1
        if not held:
            del self._hosts[host]


def owner_of(host: str) -> str:
    """Return what counts as one host: of IPv6 a network of 64 bits, of which one host has all."""
    if ":" not in host:
        return host
    try:
        packed = socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
    except OSError:
        return host
    if packed.startswith(_MAPPED):
        return socket.inet_ntop(socket.AF_INET, packed[len(_MAPPED) :])
    return packed[:8].hex(":", 2)
