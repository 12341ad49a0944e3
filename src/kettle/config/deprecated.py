"""Spellings that older configurations use, and what stands for them now.

Some still mean something, others nothing at all: the sentence says which. Source: the manual's
version history, and the lists of condor_check_config and condor_upgrade_check.
"""

from __future__ import annotations

from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern


class Old(NamedTuple):
    """An older spelling: whole names that the pattern matches, the new one, and what is told."""

    pattern: str
    new: str
    sentence: str


_GONE = "is not read any more"
OLD_NAMES: tuple[Old, ...] = (
    Old(r"HOST(ALLOW|DENY)_(\w+)", r"\1_\2", _GONE),
    Old(r"NUM_VIRTUAL_MACHINES", "NUM_SLOTS", _GONE),
    Old(r"NUM_VIRTUAL_MACHINES_TYPE_(\d+)", r"NUM_SLOTS_TYPE_\1", _GONE),
    Old(r"VIRTUAL_MACHINE_TYPE_(\d+)", r"SLOT_TYPE_\1", _GONE),
    Old(
        r"(MASTER|COLLECTOR|NEGOTIATOR|SCHEDD|STARTD|SUBMIT)_EXPRS",
        r"\1_ATTRS",
        "is the older name",
    ),
    Old(
        r"ALLOW_WRITE_(COLLECTOR|STARTD)",
        r"ALLOW_DAEMON_\1",
        "no longer lets daemons send their ads",
    ),
    Old(
        r"JOB_ROUTER_ENTRIES(?:_CMD|_FILE)?",
        "JOB_ROUTER_ROUTE_NAMES",
        "holds routes in the older syntax (condor_transform_ads -convertoldroutes shows the newer)",
    ),
    Old(
        r"JOB_ROUTER_DEFAULTS",
        "JOB_ROUTER_PRE_ROUTE_TRANSFORM_NAMES",
        "holds routes in the older syntax (condor_transform_ads -convertoldroutes shows the newer)",
    ),
)
_PATTERNS = [(late_pattern(old.pattern), old) for old in OLD_NAMES]


def find_newer(name: str) -> tuple[str, str]:
    """Return the newer name for an older one, and what is told of that; empty if it is none."""
    for pattern, old in _PATTERNS:
        match = pattern.fullmatch(name.upper())
        if match is not None:
            return match.expand(old.new), old.sentence
    return "", ""
