"""Which daemons read a table of knobs, of those that not all of them read.

Limit: tables are told apart, not their knobs: a daemon stops for one of its tables that it has no
use for itself. A shadow's settings are the schedd's to judge and to tell of, a starter's the
startd's: a log of one job is no place for what is wrong with all of them.
"""

from __future__ import annotations

READERS: dict[str, tuple[str, ...]] = {
    "collector": ("COLLECTOR",),
    "event_log": ("SCHEDD",),
    "history": ("SCHEDD", "STARTD"),
    "master": ("MASTER",),
    "negotiator": ("NEGOTIATOR",),
    "policy": ("STARTD",),
    "schedd": ("SCHEDD",),
    "shadow": ("SCHEDD",),
    "shared_port": ("SHARED_PORT",),
    "startd": ("STARTD",),
    "starter": ("STARTD",),
    "submitting": (),
    "system_policy": ("SCHEDD",),
    "tools": (),
    "transfer": ("SCHEDD", "STARTD"),
}


def teller_of(table: str) -> str:
    """Return the one daemon that tells of a table's settings that count for nothing.

    The master tells of what several daemons read, or none: it runs on every machine.
    """
    readers = READERS.get(table, ())
    return readers[0] if len(readers) == 1 else "MASTER"
