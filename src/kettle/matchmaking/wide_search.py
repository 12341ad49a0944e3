"""The slots for a request out of thousands, found with array operations.

Slots whose Requirements are defined alike form a group; a request is matched with all slots of a
group at once. The best of what matches come out in batches, so that nobody sorts ten thousand slots
for a request that wants one. What cannot be decided so is left to `candidates.py`, slot by slot,
with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kettle.classad import ClassAd, Expr, symmetric_match
from kettle.matchmaking.autoclusters import closure
from kettle.matchmaking.columns import Columns, Numbers
from kettle.matchmaking.rank import Candidate, Eviction, RankSettings, number
from kettle.matchmaking.references import REQUEST, SLOT, Reaches, find_names
from kettle.matchmaking.slot_classes import is_plain, is_steady
from kettle.matchmaking.slots import Slot
from kettle.matchmaking.vectors import Node, Vectors, Where

# Limit: kinds of definitions that are matched at once; slots of others one by one.
_MOST_GROUPS = 50
# Limit: candidates that come out together.
_LARGEST_BATCH = 256

_NOBODY = ClassAd()
Indexes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Group:
    """Slots that define alike all that their Requirements and the negotiator's ranks name."""

    home: ClassAd
    where: Where


@dataclass(slots=True)
class _Ranked:
    """What a rank of the negotiator is worth for all slots."""

    values: Numbers
    # The slots' attributes that it looks at, in lower case.
    names: frozenset[str]
    # One value for all slots as long as those on offer are worth the same, then all values.
    shown: Numbers

    def change(self, place: int, value: float) -> None:
        self.values[place] = value
        if value != self.shown[0]:
            self.shown = self.values


class WideSearch:
    """All slots of a table as columns; a slot's place in them is its index."""

    def __init__(
        self,
        slots: Sequence[Slot],
        ranks: RankSettings,
        *,
        offer: Sequence[Slot] | None = None,
        columns: Columns | None = None,
    ) -> None:
        """Take a table; `offer` are those of its slots that are on offer, None for all of them.

        `columns` are those of the table if somebody keeps them.
        """
        self.slots = slots
        self._columns = columns or Columns(slots)
        self._vectors = Vectors(self._columns)
        self._reaches = Reaches(self._columns)
        self._ranks = ranks
        self._available: Where = np.full(len(slots), offer is None, np.bool_)
        self._available[[slot.index for slot in offer or ()]] = True
        self._free: Where = np.array([slot.free for slot in slots], np.bool_)
        self._all_free = bool(self._free.all())
        self._groups, self._odd = self._gather()
        self._odd_places = np.flatnonzero(self._odd).tolist()
        # What each group's Requirements are; a slot without any matches nothing.
        self._theirs: list[tuple[Where, Node]] = []
        # Their expressions, each once.
        self._owns: list[Expr] = []
        for group in self._groups:
            own = group.home.lookup("Requirements")
            if own is not None:
                self._theirs.append((group.where, self._vectors.node(own, SLOT, group.home)))
                if not own.is_literal and all(own is not each for each in self._owns):
                    self._owns.append(own)
        self._nothing: Numbers = np.zeros(1)
        # Requirements and Rank of requests, and what they name, of which it is known.
        self._known_requests: dict[Hashable, bool] = {}
        # Values of the negotiator's ranks, by expression and what they take from a request.
        self._values: dict[tuple[Expr, tuple[str | None, ...]], _Ranked] = {}
        # Slots that changed, in the order in which they did.
        self.changes: list[int] = []

    def _gather(self) -> tuple[list[_Group], Where]:
        """Group the slots by their definitions."""
        expressions = (self._ranks.pre_job_rank, self._ranks.post_job_rank)
        ranked = {name for each in expressions if each is not None for _, name in find_names(each)}
        left = self._available.copy()
        odd: Where = np.zeros(len(self.slots), np.bool_)
        groups: list[_Group] = []
        while left.any() and len(groups) < _MOST_GROUPS:
            first = int(np.argmax(left))
            home = self.slots[first].ad
            inside, outside = closure(home, ("Requirements", *sorted(ranked)))
            alike = left.copy()
            steady = True
            for name in {name.lower() for name in (*inside, *outside)}:
                column = self._columns.column(name)
                text = column.texts[column.codes[first]]
                # What Requirements are is asked of the group's home alone, values or not.
                if is_plain(text) and name != "requirements":
                    if column.plain:
                        continue
                    plain = np.array([is_plain(each) for each in column.texts], np.bool_)
                    alike &= plain[column.codes]
                else:
                    alike &= column.codes == column.codes[first]
                    steady = steady and is_steady((text,))
            left &= ~alike
            if steady:
                groups.append(_Group(home, alike))
            else:
                odd |= alike
        return groups, odd | left

    def note(self, slot: Slot, names: Sequence[str]) -> None:
        """Take over that a slot was taken, or that these attributes of its ad have changed."""
        place = slot.index
        self.changes.append(place)
        if slot.taken:
            self._available[place] = False
            return
        self._columns.enter(place, names)
        changed = {name.lower() for name in names}
        for key, ranked in list(self._values.items()):
            expression, looked_at = key
            if ranked.names.isdisjoint(changed):
                continue
            if any(text is not None for text in looked_at):
                del self._values[key]
            else:
                ranked.change(place, number(slot.ad, expression, _NOBODY))

    def knows(self, request: ClassAd) -> bool:
        """Tell whether a request can be matched at once: random and its kind cannot.

        Nor can what looks at more than its names say, be it a definition of a slot's.
        """
        if "Requirements" not in request:
            return False
        for own in self._owns:
            if not self._reaches.find(own, SLOT, request)[0].steady:
                return False
        for name in ("Requirements", "Rank"):
            expression = request.lookup(name)
            if expression is None or expression.is_literal:
                continue
            defined = self._vectors.definitions(expression, request)
            key = (id(expression), defined)
            known = self._known_requests.get(key)
            if known is None:
                texts = (text for _, text in defined)
                known = is_steady((request.text(name), *texts))
                known = known and self._reaches.find(expression, REQUEST, request)[0].steady
                # The expression is kept by `definitions`: its identity stays its own.
                self._known_requests[key] = known
            if not known:
                return False
        return True

    def matching(self, request: ClassAd) -> Where:
        """Return the slots that match a request, symmetrically."""
        requirements = request.lookup("Requirements")
        assert requirements is not None
        node = self._vectors.node(requirements, REQUEST, request)
        wanted = node.holds(request, self._available)
        found: Where = np.zeros(len(self.slots), np.bool_)
        for group, node_of_slots in self._theirs:
            where = wanted & group
            if where.any():
                found |= node_of_slots.holds(request, where)
        for place in self._odd_places:
            found[place] = self._available[place] and symmetric_match(request, self.slots[place].ad)
        return found

    def held(self, matching: Where) -> Iterator[Slot]:
        """Yield the matching slots that somebody holds."""
        if self._all_free:
            return iter(())
        return (self.slots[place] for place in np.flatnonzero(matching & ~self._free).tolist())

    def best_of(self, request: ClassAd, matching: Where) -> Batches:
        """Return the free slots among those that match, to come out the best first."""
        where = matching & self._free
        rank = request.lookup("Rank")
        wishes: Numbers = np.zeros(1)
        if rank is not None and not rank.is_literal and where.any():
            node = self._vectors.node(rank, REQUEST, request)
            wishes, clean = node.numbers(request, where)
            wishes = wishes if clean else _worth(wishes)
        elif rank is not None:
            wishes = np.array([number(request, rank, _NOBODY)])
        pre = self._value(self._ranks.pre_job_rank, request)
        post = self._value(self._ranks.post_job_rank, request)
        places = np.flatnonzero(where)
        return Batches(self, places, pre, wishes, post)

    def _value(self, expression: Expr | None, request: ClassAd) -> Numbers:
        """Return a rank of the negotiator for all slots, one value if it is the same for all."""
        if expression is None:
            return self._nothing
        reach, texts = self._reaches.find(expression, SLOT, request)
        if not reach.steady:
            return np.array([number(slot.ad, expression, request) for slot in self.slots])
        key = (expression, texts)
        ranked = self._values.get(key)
        if ranked is None:
            found = np.zeros(len(self.slots))
            for group in self._groups:
                node = self._vectors.node(expression, SLOT, group.home)
                numbers = np.broadcast_to(node.numbers(request, group.where)[0], found.shape)
                found[group.where] = _worth(numbers)[group.where]
            for place in np.flatnonzero(self._odd).tolist():
                found[place] = number(self.slots[place].ad, expression, request)
            offered = found[self._available]
            alike = len(offered) > 0 and bool((offered == offered[0]).all())
            shown = offered[:1] if alike else found
            ranked = self._values[key] = _Ranked(found, frozenset(reach.slot), shown)
        return ranked.shown


def _worth(ranks: Numbers) -> Numbers:
    """Return ranks as `number` has them: what is no number is worth 0, an infinite one is that."""
    return np.where(np.isnan(ranks), 0.0, ranks)


class Batches:
    """Matching free slots in the order of their quality, a few at a time."""

    def __init__(
        self, search: WideSearch, places: Indexes, pre: Numbers, wishes: Numbers, post: Numbers
    ) -> None:
        self._search = search
        self._places = places
        # As they were when the slots were looked for; one value stands for all slots.
        self._pre, self._wishes, self._post = pre, wishes, post
        self._seen = len(search.changes)
        # Chosen last, and still among the places.
        self._taken: list[int] = []

    def __bool__(self) -> bool:
        return len(self._places) > len(self._taken)

    def take(self, count: int, again: Callable[[Slot], None]) -> list[Candidate]:
        """Return the next best slots; those that have changed meanwhile are given to `again`."""
        search = self._search
        changed = set(search.changes[self._seen :])
        self._seen = len(search.changes)
        if changed or len(self._taken):
            kept = ~np.isin(self._places, (*changed, *self._taken))
            changed -= set(self._taken)
            self._taken = []
            changed.intersection_update(self._places[~kept].tolist())
            self._places = self._places[kept]
            for place in sorted(changed):
                again(search.slots[place])
        if not len(self._places):
            return []
        self._taken = self._choose(max(1, min(count, _LARGEST_BATCH))).tolist()
        return [self._candidate(place) for place in self._taken]

    def _choose(self, count: int) -> Indexes:
        """Return the best places by pre-job rank, the request's rank, post-job rank, and place."""
        best = self._places
        for values in (self._pre, self._wishes):
            if len(values) > 1:
                here = values[best]
                best = best[here == here.max()]
        if len(best) <= count or len(self._post) == 1:
            return best[:count]
        here = self._post[best]
        if count == 1:
            # The first of equals, which are in the order of their places.
            first = int(here.argmax())
            return best[first : first + 1]
        least = len(here) - count
        limit = np.partition(here, least)[least]
        better = best[here > limit]
        equal = best[here == limit][: count - len(better)]
        return np.concatenate((better, equal))

    def _candidate(self, place: int) -> Candidate:
        slot = self._search.slots[place]
        pre, wish, post = (
            float(values[place if len(values) > 1 else 0])
            for values in (self._pre, self._wishes, self._post)
        )
        quality = (pre, wish, post, int(Eviction.NOBODY), 0.0)
        return Candidate(slot, slot.version, quality, Eviction.NOBODY)
