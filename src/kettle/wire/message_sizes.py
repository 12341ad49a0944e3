"""How long a message of a peer may be, by the levels that it holds."""

from __future__ import annotations

from kettle.levels import Level

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
