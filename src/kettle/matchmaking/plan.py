"""What a cycle decides, in words for whoever carries it out: matches, rejections, faults.

How it is decided is `cycle.py`'s; the words of a match that travel are `negotiator/dialogue.py`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.matchmaking.rank import Eviction
from kettle.matchmaking.requests import Request


@dataclass(frozen=True, slots=True)
class Match:
    """One slot, or a part of one, for one job of a request."""

    request: Request
    slot_name: str
    slot_address: str
    # The ad as it stood before this match took its part.
    slot_ad: ClassAd
    claim_id: str
    cost: float
    eviction: Eviction
    # Whose job goes, if anybody's.
    preempted_user: str = ""
    offline: bool = False
    # The concurrency limits that the job counts against here.
    limits: str = ""
    # Whose part of the pool it is; empty for the group's own.
    negotiating_group: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A request for which there is nothing, and the words for the user."""

    request: Request
    reason: str


@dataclass(frozen=True, slots=True)
class Fault:
    """What a fault of ours left out of a cycle: a request, or a slot. It is looked at no more."""

    what: str
    error: Exception


@dataclass(slots=True)
class Plan:
    """What a cycle decided, in the order in which it did."""

    matches: list[Match] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    # Submitters that wanted more than their share allowed.
    limited: set[str] = field(default_factory=set)
    # For the statistics: turns of the pie, and slots that could be had at all.
    pie_spins: int = 0
    candidate_slots: int = 0
    # Requests for which slots were looked for.
    considered: int = 0
    # What could not be judged: neither matched nor rejected.
    faults: list[Fault] = field(default_factory=list)
