"""What configuration says about a cycle; the negotiator's `settings.py` reads it out of knobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kettle.classad import Expr
from kettle.matchmaking.groups import GroupRules
from kettle.matchmaking.rank import RankSettings


@dataclass(frozen=True, slots=True)
class CycleSettings:
    """What configuration says about a cycle."""

    ranks: RankSettings = field(default_factory=RankSettings)
    use_slot_weights: bool = True
    # How startds round requested resources, by name in lower case (MODIFY_REQUEST_EXPR_*).
    rounding: Mapping[str, Expr] = field(default_factory=dict)
    # Gives the capacity of a concurrency limit by its name in lower case.
    limit_of: Callable[[str], float] = lambda name: float("inf")  # noqa: ARG005
    groups: GroupRules = field(default_factory=GroupRules)
    # Who comes first takes what there is, whatever its share (NEGOTIATOR_IGNORE_USER_PRIORITIES).
    ignore_shares: bool = False
    # A request's jobs fill one partitionable slot before they look at the next
    # (NEGOTIATOR_DEPTH_FIRST).
    depth_first: bool = False
    # Slots tell who has the other slots of their machine (NEGOTIATOR_CROSS_SLOT_PRIOS).
    describe_neighbours: bool = False
