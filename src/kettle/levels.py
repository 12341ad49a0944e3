"""Authorization levels: their names and which one implies which.

The one list of them, for what is configured and for what is asked. Decides nothing about a peer:
who holds a level is decided in `wire.security.authorization`, which level a command needs stands in
`wire.commands`. Source: wire notes, Authorization levels.
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

# Words of older versions that configurations still have: nothing asks for them.
_FORMER = ("OWNER", "SOAP")
CONFIGURED: tuple[str, ...] = (
    *(level.value for level in Level if level is not Level.ALLOW),
    *_FORMER,
)
"""What stands for a level in the names of knobs (`ALLOW_<level>`, `SEC_<level>_ENCRYPTION`)."""


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
