"""Which slots would do for a request, the best one on top.

Two ways with one result: slot by slot, slots alike evaluated once, or, in a large pool, with array
operations (`wide_search.py`). What a slot is worth is `rank.py`'s, which one a request gets for
its price is decided in `slot_choice.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.classad import symmetric_match
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.rank import (
    Appraisals,
    Candidate,
    Eviction,
    NoMatch,
    RankSettings,
    judge_eviction,
    number,
)
from kettle.matchmaking.requests import Request
from kettle.matchmaking.slot_classes import SlotClasses, asked_of_requests, looked_at
from kettle.matchmaking.slots import Slot, SlotTable

if TYPE_CHECKING:
    # Loaded with the arrays, which a small pool does without.
    from kettle.matchmaking.wide_search import Batches, WideSearch

# With fewer slots than this, arrays do not pay.
WIDE_FROM = 200

_Order = tuple[float, ...]


@dataclass(slots=True)
class Entry:
    """A candidate in a heap: the greatest quality first, equal ones by the slot's place."""

    order: _Order
    candidate: Candidate

    def __lt__(self, other: Entry) -> bool:
        return self.order < other.order


def _entry(candidate: Candidate) -> Entry:
    pre, job, post, eviction, preemption = candidate.quality
    return Entry((-pre, -job, -post, -eviction, -preemption, candidate.slot.index), candidate)


@dataclass(slots=True)
class Candidates:
    """The slots that would do for a group of requests."""

    heap: list[Entry]
    # What to say when there is none (left).
    reason: NoMatch
    # More of them, none better than `floor`.
    rest: Batches | None = None
    floor: _Order = ()
    # What the cheapest costs, if all were too dear and nothing has changed since so many changes.
    too_dear: tuple[float, int] | None = None


@dataclass(slots=True)
class _Verdicts:
    """What classes of slots are to a group of requests: whether they match, and the job's rank."""

    classes: SlotClasses
    known: dict[Hashable, tuple[bool, float]] = field(default_factory=dict)


class Market:
    """The slots on offer in one cycle."""

    def __init__(
        self,
        table: SlotTable,
        slots: Sequence[Slot],
        ranks: RankSettings,
        outranks: Callable[[str, str], bool],
        kept: KeptSlots | None = None,
    ) -> None:
        """Take a table and those of its slots that are on offer.

        `outranks(submitter, user)` tells who may take whose slots; `kept` keeps the columns.
        """
        self.slots = slots
        # How many slots were given or divided so far.
        self.changes = 0
        # Groups of requests for which slots were looked for.
        self.considered = 0
        self._ranks = ranks
        self._outranks = outranks
        self._appraisals = Appraisals(ranks)
        self._found: dict[Hashable, Candidates] = {}
        self._classes: dict[tuple[str, ...], SlotClasses] = {}
        self._verdicts: dict[Hashable, _Verdicts | None] = {}
        # What slots look up in requests, once somebody wants to know.
        self._asked: tuple[str, ...] | None = None
        self._wide: WideSearch | None = None
        if len(slots) >= WIDE_FROM:
            from kettle.matchmaking.wide_search import WideSearch

            columns = kept.columns(table.rows) if kept is not None else None
            self._wide = WideSearch(table.rows, ranks, offer=slots, columns=columns)

    def note(self, slot: Slot, names: Sequence[str] = ()) -> None:
        """Take over that a slot was taken, or that these attributes of it have changed."""
        self.changes += 1
        if self._wide is not None:
            self._wide.note(slot, names)

    def forget(self) -> None:
        """Look for slots anew: requests say something else than before."""
        self._found.clear()

    def candidates(self, request: Request) -> Candidates:
        """Return the candidates for a request; requests alike share them."""
        key = self._key(request)
        found = self._found.get(key)
        if found is None:
            self.considered += 1
            if self._wide is not None and self._wide.knows(request.ad):
                found = self._search(self._wide, request)
            else:
                found = self._look_through(self.slots, request)
            self._found[key] = found
        return found

    def top(self, found: Candidates, request: Request) -> Candidate | None:
        """Return the best candidate, which stays on top; None if there is none left."""
        heap = found.heap
        while True:
            while found.rest and (not heap or heap[0].order > found.floor):
                self._refill(found, request)
            if not heap:
                return None
            candidate = heap[0].candidate
            slot = candidate.slot
            if slot.taken or slot.divided_by not in (None, request.schedd):
                heapq.heappop(heap)
            elif slot.version != candidate.version:
                heapq.heappop(heap)
                self._add(found, slot, request)
            else:
                return candidate

    def look_at(self, slot: Slot, request: Request) -> Candidate | None:
        """Return one slot as a candidate for a request, None if it would not do."""
        if slot.taken or slot.divided_by not in (None, request.schedd):
            return None
        verdict = self._evaluate(slot, request)
        return None if isinstance(verdict, NoMatch) else verdict

    def _key(self, request: Request) -> Hashable:
        # The submitter counts: who may preempt whom depends on it.
        return (request.submitter, request.group)

    def _look_through(self, slots: Sequence[Slot], request: Request) -> Candidates:
        found = Candidates([], NoMatch.REQUIREMENTS)
        for slot in slots:
            if not slot.taken:
                self._add(found, slot, request)
        return found

    def _search(self, wide: WideSearch, request: Request) -> Candidates:
        matching = wide.matching(request.ad)
        found = Candidates([], NoMatch.REQUIREMENTS, wide.best_of(request.ad, matching))
        for slot in wide.held(matching):
            self._add(found, slot, request)
        return found

    def _refill(self, found: Candidates, request: Request) -> None:
        assert found.rest is not None
        batch = [
            _entry(each)
            for each in found.rest.take(request.left, lambda slot: self._add(found, slot, request))
        ]
        if batch:
            found.floor = max(entry.order for entry in batch)
        for entry in batch:
            heapq.heappush(found.heap, entry)

    def _add(self, found: Candidates, slot: Slot, request: Request) -> None:
        """Enter a slot if it would do, else why not."""
        if slot.taken:
            return
        verdict = self._evaluate(slot, request)
        if isinstance(verdict, NoMatch):
            found.reason = max(found.reason, verdict)
        else:
            heapq.heappush(found.heap, _entry(verdict))

    def _evaluate(self, slot: Slot, request: Request) -> Candidate | NoMatch:
        """Decide whether a slot would do, and how well; slots alike are evaluated once."""
        matches, job_rank = self._match(slot, request)
        if not matches:
            return NoMatch.REQUIREMENTS
        eviction = self._judge(slot, request)
        if isinstance(eviction, NoMatch):
            return eviction
        return self._appraisals.appraise(slot, request.ad, eviction, job_rank)

    def _match(self, slot: Slot, request: Request) -> tuple[bool, float | None]:
        """Return whether slot and request accept each other, and the request's Rank if known."""
        verdicts = self._verdicts_for(request) if self._wide is None else None
        signature = verdicts.classes.signature(slot) if verdicts is not None else None
        if verdicts is None or signature is None:
            return symmetric_match(request.ad, slot.ad), None
        known = verdicts.known.get(signature)
        if known is None:
            matches = symmetric_match(request.ad, slot.ad)
            rank = number(request.ad, request.ad.lookup("Rank"), slot.ad) if matches else 0.0
            known = verdicts.known[signature] = (matches, rank)
        return known

    def _verdicts_for(self, request: Request) -> _Verdicts | None:
        """Return what is known of a request's verdicts; None if they cannot be kept."""
        key = self._key(request)
        if key not in self._verdicts:
            self._verdicts[key] = self._new_verdicts(request)
        return self._verdicts[key]

    def _new_verdicts(self, request: Request) -> _Verdicts | None:
        if self._asked is None:
            self._asked = asked_of_requests(self.slots)
        outside = looked_at(request.ad, self._asked)
        if outside is None:
            return None
        classes = self._classes.setdefault(outside, SlotClasses(outside))
        return _Verdicts(classes)

    def _judge(self, slot: Slot, request: Request) -> Eviction | NoMatch:
        """Decide whether a slot that matches may be had, given who has it now."""
        if slot.free:
            return Eviction.NOBODY
        # Its own slot may be taken only because the startd would rather have this job.
        return judge_eviction(
            slot,
            request.ad,
            self._ranks,
            lambda user: user != request.submitter and self._outranks(request.submitter, user),
        )
