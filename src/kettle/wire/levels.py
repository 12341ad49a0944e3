"""Authorization levels: their names and which one implies which.

Decides nothing about a peer: who holds a level is decided in `wire.security.authorization`, which
level a command needs stands in `wire.commands`. Source: wire notes, Authorization levels.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache


class Level(StrEnum):
    """What a command asks of the identity that sends it; the value is the configuration's word."""

    ALLOW = "ALLOW"
    READ = "READ"
    WRITE = "WRITE"
    NEGOTIATOR = "NEGOTIATOR"
    ADMINISTRATOR = "ADMINISTRATOR"
    CONFIG = "CONFIG"
    DAEMON = "DAEMON"
    ADVERTISE_STARTD = "ADVERTISE_STARTD"
    ADVERTISE_SCHEDD = "ADVERTISE_SCHEDD"
    ADVERTISE_MASTER = "ADVERTISE_MASTER"
    CLIENT = "CLIENT"
    DEFAULT = "DEFAULT"


DIRECTLY_IMPLIED: dict[Level, tuple[Level, ...]] = {
    Level.WRITE: (Level.READ,),
    Level.NEGOTIATOR: (Level.READ,),
    Level.ADMINISTRATOR: (Level.WRITE,),
    Level.CONFIG: (Level.READ,),
    Level.DAEMON: (Level.WRITE,),
    Level.ADVERTISE_STARTD: (Level.READ,),
    Level.ADVERTISE_SCHEDD: (Level.READ,),
    Level.ADVERTISE_MASTER: (Level.READ,),
}
"""Holding the key grants the values; READ follows from ADMINISTRATOR and DAEMON through WRITE."""


# Limit: one message of a peer, by the highest level that its command was accepted at, in bytes.
# Questions are short; a submitter sends item data, daemons send ads by the thousand.
_LONGEST_MESSAGE = 16 << 20
_LONGEST_OF_WRITER = 64 << 20
_LONGEST_OF_DAEMON = 256 << 20
_DAEMON_LEVELS = frozenset(
    (
        Level.NEGOTIATOR,
        Level.ADMINISTRATOR,
        Level.DAEMON,
        Level.ADVERTISE_STARTD,
        Level.ADVERTISE_SCHEDD,
        Level.ADVERTISE_MASTER,
    )
)


def longest_message(levels: frozenset[Level]) -> int:
    """Return how long a message may be, in bytes, of a peer that holds these levels."""
    if levels & _DAEMON_LEVELS:
        return _LONGEST_OF_DAEMON
    return _LONGEST_OF_WRITER if Level.WRITE in levels else _LONGEST_MESSAGE


@cache
def implied_levels(level: Level) -> tuple[Level, ...]:
    """Return `level` and everything it implies, nearest first, without repetition."""
    found = [level]
    for one in found:
        found.extend(implied for implied in DIRECTLY_IMPLIED.get(one, ()) if implied not in found)
    return tuple(found)


def implying_levels(level: Level) -> tuple[Level, ...]:
    """Return the levels that directly imply `level`, in table order."""
    return tuple(holder for holder, implied in DIRECTLY_IMPLIED.items() if level in implied)
