"""What was given in earlier cycles and cannot be seen in the slot ads yet.

Cycles follow each other faster than a claim takes to reach the collector. Until the ad of a slot
shows a new claim id or its user, what was given of it must not be given again and counts as used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

# Limit: a schedd that has done nothing with a match for so long will not.
REMEMBERED_SECONDS = 5.0
# Limit: what else was given of a partitionable slot is claimed one after another. The slot's claim
# id is gone with the first; the limits of the others are kept aside for longer than their schedd
# may use them (schedd.matched_slots.ALLOWED_SECONDS).
DIVIDED_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Given:
    user: str
    weight: float
    given_at: float
    limits: str


@dataclass(slots=True)
class RecentMatches:
    """Matches by claim id."""

    _given: dict[str, list[_Given]] = field(default_factory=dict)
    # What counts against limits and comes after the first of a claim id that is gone.
    _divided: list[_Given] = field(default_factory=list)

    def add(self, claim_id: str, user: str, weight: float, now: float, *, limits: str = "") -> None:
        """Remember a match, with the concurrency limits that its job counts against."""
        if claim_id:
            self._given.setdefault(claim_id, []).append(_Given(user, weight, now, limits))

    def forget(self, claim_id: str) -> None:
        """Forget a claim id: the schedd that was to get it could not be told."""
        self._given.pop(claim_id, None)

    def settle(self, claim_ids_on_offer: Iterable[str] | None, now: float) -> None:
        """Forget what is old, and what is no longer on offer; None: what is on offer is unknown."""
        offered = None if claim_ids_on_offer is None else set(claim_ids_on_offer)
        for claim_id in list(self._given):
            newest = self._given[claim_id][-1].given_at
            gone = offered is not None and claim_id not in offered
            if gone or now - newest >= REMEMBERED_SECONDS:
                _, *others = self._given.pop(claim_id)
                self._divided += (each for each in others if each.limits)
        self._divided = [each for each in self._divided if now - each.given_at < DIVIDED_SECONDS]

    def seconds_to_go(self, now: float) -> float:
        """Return after how many seconds the first of the matches is forgotten."""
        ends = [matches[-1].given_at + REMEMBERED_SECONDS for matches in self._given.values()]
        ends += [each.given_at + DIVIDED_SECONDS for each in self._divided]
        return max(0.0, min(ends, default=now + REMEMBERED_SECONDS) - now)

    def __contains__(self, claim_id: object) -> bool:
        return claim_id in self._given

    def __len__(self) -> int:
        return len(self._given) + len(self._divided)

    def limits(self) -> list[str]:
        """Return the lists of concurrency limits that no slot ad shows yet."""
        given = [match.limits for matches in self._given.values() for match in matches]
        return given + [match.limits for match in self._divided]

    def weights(self) -> dict[str, float]:
        """Return the weight given to each user that is not in the books yet."""
        weights: dict[str, float] = {}
        for matches in self._given.values():
            for match in matches:
                weights[match.user] = weights.get(match.user, 0.0) + match.weight
        return weights
