"""Which slot a request gets for what its submitter may pay, or what is in the way.

Which slots would do at all is `candidates.py`'s. Nothing is given here: that is done in `cycle.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

from kettle.matchmaking.candidates import Market
from kettle.matchmaking.cycle_settings import CycleSettings
from kettle.matchmaking.fair_share import EPSILON
from kettle.matchmaking.held_limits import HeldLimits
from kettle.matchmaking.rank import Candidate, Eviction
from kettle.matchmaking.requests import Request, limits_depend_on_slot, limits_text
from kettle.matchmaking.slots import Slot, part_weight, requested_resources
from kettle.matchmaking.submitters import Pies, Submitter


@dataclass(frozen=True, slots=True)
class Chosen:
    """A candidate with its price, and what it takes of a partitionable slot."""

    candidate: Candidate
    cost: float
    amounts: Mapping[str, float]


class Chooser:
    """Looks through the market for the requests of one cycle."""

    def __init__(
        self, market: Market, settings: CycleSettings, pies: Pies, limits: HeldLimits
    ) -> None:
        self._market = market
        self._settings = settings
        self._pies = pies
        self._limits = limits
        # The slot that a request's next job is to have a part of, if any.
        self.deep: Slot | None = None
        # What a slot costs whom is settled, unless it may be taken from somebody.
        self._somebody_may_go = not all(slot.free for slot in market.slots)

    def choose(
        self, submitter: Submitter, request: Request, allowed: float
    ) -> Chosen | float | str | None:
        """Return the slot to give, or what is in the way: the least price, a reason, or None."""
        deeper = self._deeper(submitter, request, allowed)
        return deeper if deeper is not None else self._best(submitter, request, allowed)

    def _best(
        self, submitter: Submitter, request: Request, allowed: float
    ) -> Chosen | float | str | None:
        """Return the best slot that `allowed` pays for.

        Where there is none: the least price, the concurrency limit in the way as a reason, or None.
        """
        market = self._market
        found = market.candidates(request)
        if found.too_dear is not None:
            price, when = found.too_dear
            if when == market.changes and price > allowed + EPSILON:
                return price
        aside = []
        obstacle: float | str | None = None
        chosen: Chosen | None = None
        try:
            while (candidate := market.top(found, request)) is not None:
                choice = self._price(candidate, request)
                problem = self._problem(submitter, request, choice, allowed)
                if problem is None:
                    chosen = choice
                    break
                if isinstance(problem, float) and isinstance(obstacle, float):
                    obstacle = min(obstacle, problem)
                elif isinstance(problem, float) or obstacle is None:
                    obstacle = problem
                aside.append(heapq.heappop(found.heap))
        finally:
            # Others may ask for the same.
            for entry in aside:
                heapq.heappush(found.heap, entry)
        if chosen is None and isinstance(obstacle, float) and not self._somebody_may_go:
            found.too_dear = (obstacle, market.changes)
        return chosen if chosen is not None else obstacle

    def _deeper(self, submitter: Submitter, request: Request, allowed: float) -> Chosen | None:
        """Return the slot that the request's last job got a part of, if it will do once more."""
        slot, self.deep = self.deep, None
        candidate = self._market.look_at(slot, request) if slot is not None else None
        if candidate is None:
            return None
        choice = self._price(candidate, request)
        return choice if self._problem(submitter, request, choice, allowed) is None else None

    def _problem(
        self, submitter: Submitter, request: Request, choice: Chosen, allowed: float
    ) -> float | str | None:
        """Return why a submitter may not have a slot: its price, or the limit in the way."""
        if self._is_too_dear(submitter, choice, allowed):
            return choice.cost
        if limits_depend_on_slot(request.ad):
            full = self._limits.full(limits_text(request.ad, choice.candidate.slot.ad))
            if full is not None:
                return f"concurrency limit {full} reached"
        return None

    def _is_too_dear(self, submitter: Submitter, choice: Chosen, allowed: float) -> bool:
        """Tell whether a submitter may not have a slot because of what it uses already.

        What the startd itself prefers is given whatever anybody's share; slots are taken from
        others only up to the own share, but one to whoever has nothing.
        """
        eviction = choice.candidate.eviction
        if eviction is Eviction.STARTD_RANK:
            return False
        if eviction is Eviction.PRIORITY:
            fair = self._pies.fair.get(submitter.name, 0.0)
            return submitter.usage > 0 and submitter.usage + choice.cost > fair + EPSILON
        return choice.cost > allowed + EPSILON

    def _price(self, candidate: Candidate, request: Request) -> Chosen:
        slot = candidate.slot
        weighted = self._settings.use_slot_weights
        if not slot.partitionable:
            return Chosen(candidate, slot.weight if weighted else 1.0, {})
        amounts = requested_resources(slot.ad, request.ad, self._settings.rounding)
        return Chosen(candidate, part_weight(slot, amounts, use_weights=weighted), amounts)
