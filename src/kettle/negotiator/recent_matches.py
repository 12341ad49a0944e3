"""What was given in earlier cycles and cannot be seen in the slot ads yet.

Cycles follow each other faster than a claim takes to reach the collector. Until the ad of a slot
shows a new claim id or its user, what was given of it must not be given again and counts as used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from kettle.classad import ClassAd
from kettle.matchmaking.requests import concurrency_limits

# Limit: a schedd that has done nothing with a match for so long will not.
REMEMBERED_SECONDS = 5.0
# Limit: what else was given of a partitionable slot is claimed one after another. The slot's claim
# id is gone with the first; the limits of the others are kept aside until the ads show who has
# them, for longer than their schedd may use them (schedd.matched_slots.ALLOWED_SECONDS).
# One that came and went between two cycles was never shown and counts until then: a number of the
# slot's next claim id would tell only that somebody was given one, by a match or otherwise.
DIVIDED_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Given:
    user: str
    weight: float
    given_at: float
    limits: str
    slot: str
    # A part of the slot was given, which shows up as a slot of its own.
    is_part: bool

    @property
    def what(self) -> _What:
        return _what(self.slot, self.limits)


# Of which machine, and which limits: what is alike here is one as good as the other.
_What = tuple[str, tuple[tuple[str, float], ...]]


def _what(slot: str, limits: str) -> _What:
    return slot.partition("@")[2], tuple(sorted(concurrency_limits(limits)))


@dataclass(slots=True)
class RecentMatches:
    """Matches by claim id."""

    _given: dict[str, list[_Given]] = field(default_factory=dict)
    # What counts against limits and comes after the first of a claim id that is gone.
    _divided: list[_Given] = field(default_factory=list)
    # The claims on parts of slots whose limits the ads have shown.
    _seen: set[str] = field(default_factory=set)

    def add(
        self,
        claim_id: str,
        user: str,
        weight: float,
        now: float,
        *,
        limits: str = "",
        slot: str = "",
        is_part: bool = False,
    ) -> None:
        """Remember a match, with the concurrency limits that its job counts against."""
        if claim_id:
            given = _Given(user, weight, now, limits, slot, is_part)
            self._given.setdefault(claim_id, []).append(given)

    def forget(self, claim_id: str) -> None:
        """Forget a claim id: the schedd that was to get it could not be told."""
        self._given.pop(claim_id, None)

    def settle(
        self, claim_ids_on_offer: Iterable[str] | None, now: float, ads: Iterable[ClassAd] = ()
    ) -> None:
        """Forget what is old, and what is no longer on offer; None: what is on offer is unknown.

        `ads` are those of the slots of the same moment: limits that one shows are counted there.
        """
        offered = None if claim_ids_on_offer is None else set(claim_ids_on_offer)
        claimed: list[_Given] = []
        for claim_id in list(self._given):
            newest = self._given[claim_id][-1].given_at
            gone = offered is not None and claim_id not in offered
            if gone or now - newest >= REMEMBERED_SECONDS:
                first, *others = self._given.pop(claim_id)
                self._divided += (each for each in others if each.limits)
                if gone:
                    claimed.append(first)
        if offered is not None:
            self._settle_parts(claimed, ads)
        self._divided = [each for each in self._divided if now - each.given_at < DIVIDED_SECONDS]

    def _settle_parts(self, claimed: list[_Given], ads: Iterable[ClassAd]) -> None:
        """Count limits no longer here that the ads of new parts of slots show."""
        whole = {each.slot for each in claimed if not each.is_part}
        shown: Counter[_What] = Counter()
        seen = set()
        for ad in ads:
            limits = ad.string("ConcurrencyLimits")
            if not limits or not ad.boolean("DynamicSlot"):
                continue
            name = ad.string("Name") or ""
            claim = f"{name} {ad.string('PublicClaimId') or ''}"
            seen.add(claim)
            if claim not in self._seen and name not in whole:
                shown[_what(name, limits)] += 1
        self._seen = seen
        if not shown:
            return
        # The first ones are not counted here any more in any case: they explain an ad before all.
        list(_not_shown(claimed, shown))
        self._divided = list(_not_shown(self._divided, shown))
        for claim_id, given in self._given.items():
            hidden = {id(each) for each in _not_shown(given, shown)}
            self._given[claim_id] = [
                each if id(each) in hidden else replace(each, limits="") for each in given
            ]

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


def _not_shown(given: Iterable[_Given], shown: Counter[_What]) -> Iterator[_Given]:
    """Yield what is not among what is shown, each of which explains one."""
    for each in given:
        if each.is_part and each.limits and shown[each.what] > 0:
            shown[each.what] -= 1
        else:
            yield each
