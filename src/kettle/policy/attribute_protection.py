"""Which attributes of a queued job nobody but the schedd may change, and why.

Pure: the lists of the configuration, and one table that both roads into a job's ad ask: queue
management (`schedd/queue/attribute_rules.py`, where a super user is allowed more) and a running
job's own `set_job_attr` (`shadow/job_updates.py`). Source: wire notes, Attribute protection
rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.wire.codec import is_private_attribute


class Standing(Enum):
    """How an attribute of a queued job stands to a change."""

    FREE = "may be changed"
    IMMUTABLE = "is never changed"
    SECURE = "is the schedd's to say; another's value is passed over"
    PROTECTED = "is changed by those who asked for the right to"
    PRIVATE = "is a secret"
    STATE = "is what actions change"


class Protection(Protocol):
    """The configured lists, in lower case."""

    @property
    def immutable(self) -> frozenset[str]:
        """SYSTEM_IMMUTABLE_JOB_ATTRS and IMMUTABLE_JOB_ATTRS."""
        ...

    @property
    def protected(self) -> frozenset[str]:
        """SYSTEM_PROTECTED_JOB_ATTRS and PROTECTED_JOB_ATTRS."""
        ...

    @property
    def secure(self) -> frozenset[str]:
        """SYSTEM_SECURE_JOB_ATTRS and SECURE_JOB_ATTRS."""
        ...


@dataclass(frozen=True, slots=True)
class ProtectedNames:
    """The lists by themselves."""

    immutable: frozenset[str]
    protected: frozenset[str]
    secure: frozenset[str]


def read_protected_names(words: Callable[[str], Iterable[str]]) -> ProtectedNames:
    """Return the lists; `words` gives the words of a knob."""

    def names(kind: str) -> frozenset[str]:
        knobs = (f"SYSTEM_{kind}_JOB_ATTRS", f"{kind}_JOB_ATTRS")
        return frozenset(word.lower() for knob in knobs for word in words(knob))

    return ProtectedNames(names("IMMUTABLE"), names("PROTECTED"), names("SECURE"))


# What the job machine owns, and what the queue keeps of events that wait to be written.
_STATE = frozenset(
    name.lower() for name in ("JobStatus", "LastJobStatus", SCHEDD_EVENTS, SHADOW_EVENTS)
)


def standing(name: str, lists: Protection) -> Standing:
    """Return how an attribute stands; the first of several reasons in the order of the table."""
    lower = name.lower()
    if lower in lists.immutable:
        return Standing.IMMUTABLE
    if lower in lists.secure:
        return Standing.SECURE
    if lower in lists.protected:
        return Standing.PROTECTED
    if is_private_attribute(name):
        return Standing.PRIVATE
    return Standing.STATE if lower in _STATE else Standing.FREE


def may_set_delayed(name: str, patterns: str) -> bool:
    """Tell whether a delayed chirp update may set an attribute, by its name.

    `patterns` is CHIRP_DELAYED_UPDATE_PREFIX: names, or beginnings of names with a star, in any
    case. The starter asks it of the job's request, and the shadow of the starter's report.
    """
    lowered = name.lower()
    return any(
        lowered.startswith(pattern[:-1]) if pattern.endswith("*") else lowered == pattern
        for pattern in patterns.lower().replace(",", " ").split()
    )
