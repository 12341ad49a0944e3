"""How much of each concurrency limit is held, and which one is in a job's way.

What a job counts against is in its request (`requests.py`); what a limit's capacity is, the
configuration says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kettle.matchmaking.fair_share import EPSILON
from kettle.matchmaking.requests import concurrency_limits


class HeldLimits:
    """The concurrency limits during a cycle: what runs holds them, and so does what is given."""

    def __init__(self, held: Mapping[str, float], capacity_of: Callable[[str], float]) -> None:
        self._held = dict(held)
        self._capacity_of = capacity_of

    def full(self, limits: str) -> str | None:
        """Return the first concurrency limit of a list that one more job would exceed."""
        for name, amount in concurrency_limits(limits):
            if self._held.get(name, 0.0) + amount > self._capacity_of(name) + EPSILON:
                return name
        return None

    def count(self, limits: str) -> None:
        """Count one more job against the limits of its list."""
        for name, amount in concurrency_limits(limits):
            self._held[name] = self._held.get(name, 0.0) + amount


def limits_in_use(lists: Iterable[str]) -> dict[str, float]:
    """Return how much of each concurrency limit jobs hold, given the list of each."""
    held: dict[str, float] = {}
    for limits in lists:
        for name, amount in concurrency_limits(limits):
            held[name] = held.get(name, 0.0) + amount
    return held
