"""One negotiation cycle: which request gets which slot, and why the others get none.

A `Cycle` is made from a snapshot (slots, submitters with their priorities and requests) and gives a
`Plan`; it proposes, the startds decide. The laws that tests hold it to: no static slot is given
twice and no resource of a partitionable one, the result does not depend on the order of the ads,
nobody gets more than its limits while others want what it would take.

What is good for a request is `rank.py`, who may have how much `fair_share.py` and `groups.py`,
what is left of a slot `slots.py`. Carrying the plan out is the negotiator's `service.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr, symmetric_match
from kettle.matchmaking import fair_share
from kettle.matchmaking.fair_share import Bounds
from kettle.matchmaking.groups import ROOT, Group, GroupSettings
from kettle.matchmaking.rank import (
    Appraisals,
    Candidate,
    Eviction,
    NoMatch,
    RankSettings,
    is_free,
    judge_eviction,
    may_be_preempted,
    number,
)
from kettle.matchmaking.requests import (
    Request,
    concurrency_limits,
    limits_depend_on_slot,
    limits_text,
)
from kettle.matchmaking.slot_classes import SlotClasses, is_steady, looked_at
from kettle.matchmaking.slots import (
    Slot,
    SlotTable,
    carve,
    part_weight,
    requested_resources,
)

# Sums of weights are compared with this much tolerance.
_EPSILON = 1e-6

# A holder's effective priority must be worse by this much before somebody may take its slot, so
# that two users who stand alike do not drive each other out.
PRIORITY_DELTA = 0.5

_EVERYBODY = GroupSettings(ROOT)


@dataclass(frozen=True, slots=True)
class CycleSettings:
    """What configuration says about a cycle."""

    ranks: RankSettings = field(default_factory=RankSettings)
    use_slot_weights: bool = True
    # How startds round requested resources, by name in lower case (MODIFY_REQUEST_EXPR_*).
    rounding: Mapping[str, Expr] = field(default_factory=dict)
    # Gives the capacity of a concurrency limit by its name in lower case.
    limit_of: Callable[[str], float] = lambda name: float("inf")  # noqa: ARG005


@dataclass(slots=True)
class Submitter:
    """Who wants slots or holds some, with everything that decides how many."""

    name: str
    # Effective priority: smaller is better.
    priority: float
    # Slot weight in use now, matches of this cycle included as they are given.
    usage: float = 0.0
    bounds: Bounds | None = None
    group: str = ROOT
    # In the order of the jobs' priorities, schedd after schedd.
    requests: list[Request] = field(default_factory=list)

    def pending(self) -> list[Request]:
        """Return the requests that still want matches."""
        return [request for request in self.requests if request.left > 0]


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


@dataclass(frozen=True, slots=True)
class Rejection:
    """A request for which there is nothing, and the words for the user."""

    request: Request
    reason: str


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


class Cycle:
    """A cycle in progress; `run` may be called again after more requests were added."""

    def __init__(
        self,
        slots: SlotTable,
        submitters: Iterable[Submitter],
        settings: CycleSettings,
        *,
        groups: Mapping[str, Group] | None = None,
        group_order: Iterable[str] = (ROOT,),
        limits_in_use: Mapping[str, float] | None = None,
    ) -> None:
        """Take the snapshot.

        `submitters` are also those who hold slots and ask for none: what they use is not there for
        others of their group, and their share is safe from preemption. `groups` have their
        allocations planned; None lets everybody share the whole pool. `limits_in_use` is how much
        of each concurrency limit running jobs hold.
        """
        self.slots = slots
        self.submitters = {submitter.name: submitter for submitter in submitters}
        self.settings = settings
        self.plan = Plan()
        self._groups = groups
        self._group_order = tuple(group_order)
        self._limits_in_use = dict(limits_in_use or {})
        self._priorities = {name: each.priority for name, each in self.submitters.items()}
        # What each submitter may hold in all before it can take slots from others.
        self._fair: dict[str, float] = {}
        self._candidates: dict[Hashable, _Candidates] = {}
        self._classes: dict[tuple[str, ...], SlotClasses] = {}
        self._verdicts: dict[Hashable, _Verdicts | None] = {}
        self._appraisals = Appraisals(settings.ranks)
        self._offer = [slot for slot in slots if self._is_on_offer(slot)]
        self.plan.candidate_slots = len(self._offer)
        for slot in self._offer:
            self._describe_user(slot)

    def run(self) -> Plan:
        """Give out slots until nobody wants, may have or matches any more."""
        self._describe_submitters()
        groups = self._groups or {ROOT: Group(ROOT, _EVERYBODY, None, allocated=self._pie())}
        for name in self._group_order:
            group = groups.get(name)
            if group is None:
                continue
            members = [each.name for each in self.submitters.values() if each.group == name]
            self._serve_group(members, group.allocated)
        regrouped = {name for name, group in groups.items() if group.settings.autoregroup}
        if regrouped:
            members = [
                each.name
                for each in self.submitters.values()
                if each.group in regrouped or each.group == ROOT
            ]
            self._serve_group(members, self._pie())
        return self.plan

    # --- who is served how much -------------------------------------------------------------

    def _pie(self) -> float:
        return self.slots.total_weight

    def _serve_group(self, members: list[str], pie: float) -> None:
        active = {name for name in members if self.submitters[name].pending()}
        if not active:
            return
        self._note_fair_shares(active, members, pie)
        for name in fair_share.order(active, self._priorities):
            submitter = self.submitters[name]
            floor = fair_share.apply_bounds(
                0.0, submitter.usage, submitter.bounds, floors_only=True
            )
            if floor > 0:
                self._serve(submitter, min(floor, self._left(members, pie)))
        while active := {name for name in active if self.submitters[name].pending()}:
            if not self._turn(active, members, pie) and not self._round(active, members, pie):
                break

    def _note_fair_shares(self, active: set[str], members: list[str], pie: float) -> None:
        """Note the part of the pie up to which each may take from others (PREEMPTION_REQUIREMENTS).

        Whoever holds slots counts, also if it wants no more.
        """
        taking_part = [name for name in members if name in active or self.submitters[name].usage]
        shares = fair_share.shares({name: self._priorities[name] for name in taking_part})
        self._fair.update({name: share * pie for name, share in shares.items()})

    def _left(self, members: list[str], pie: float) -> float:
        return max(0.0, pie - sum(self.submitters[name].usage for name in members))

    def _turn(self, active: set[str], members: list[str], pie: float) -> bool:
        """Let everybody take its slice once; False if that changed nothing."""
        self.plan.pie_spins += 1
        priorities = {name: self._priorities[name] for name in active}
        usage = {name: self.submitters[name].usage for name in active}
        limits = fair_share.limits(priorities, usage, pie)
        changed = False
        for name in fair_share.order(active, priorities):
            submitter = self.submitters[name]
            allowed = fair_share.apply_bounds(limits[name], submitter.usage, submitter.bounds)
            before = len(self.plan.matches)
            self._serve(submitter, min(allowed, self._left(members, pie)))
            changed = changed or len(self.plan.matches) > before or not submitter.pending()
        return changed

    def _round(self, active: set[str], members: list[str], pie: float) -> bool:
        """Give one match to whoever came closest, when no slice is as large as a slot."""
        priorities = {name: self._priorities[name] for name in active}
        usage = {name: self.submitters[name].usage for name in active}
        limits = fair_share.limits(priorities, usage, pie)
        left = self._left(members, pie)
        for name in fair_share.neediest(list(limits.items()), priorities):
            submitter = self.submitters[name]
            if limits[name] <= 0:
                continue
            before = len(self.plan.matches)
            allowed = fair_share.apply_bounds(left, submitter.usage, submitter.bounds)
            self._serve(submitter, allowed, at_most=1)
            if len(self.plan.matches) > before or not submitter.pending():
                return True
        return False

    def _serve(self, submitter: Submitter, allowed: float, *, at_most: int | None = None) -> None:
        """Give a submitter's requests, in their order, what `allowed` weight can pay for."""
        given = 0
        for request in submitter.pending():
            while request.left > 0:
                if at_most is not None and given >= at_most:
                    return
                full = self._full_limit(limits_text(request.ad))
                if full is not None:
                    self._reject(request, f"concurrency limit {full} reached")
                    break
                found = self._best(submitter, request, allowed)
                if found is None or isinstance(found, str):
                    reason = found or self._candidates[self._key(request)].reason.reason
                    self._reject(request, reason)
                    break
                if isinstance(found, float):
                    self.plan.limited.add(submitter.name)
                    return
                allowed -= self._give(submitter, request, found)
                given += 1

    # --- which slot ---------------------------------------------------------------------------

    def _key(self, request: Request) -> Hashable:
        # The submitter counts: who may preempt whom depends on it.
        return (request.submitter, request.group)

    def _is_on_offer(self, slot: Slot) -> bool:
        if not slot.claim_ids and not slot.ad.boolean("Offline"):
            return False
        return may_be_preempted(slot, self.settings.ranks)

    def _describe_user(self, slot: Slot) -> None:
        """Show the policy expressions who has a slot and how that user stands."""
        if not slot.remote_user or is_free(slot):
            return
        holder = self.submitters.get(slot.remote_user)
        facts: dict[str, object] = {
            "RemoteUserPrio": self._priorities.get(slot.remote_user, fair_share.MINIMUM_PRIORITY),
            "RemoteUserResourcesInUse": holder.usage if holder else 0.0,
        }
        if holder is not None:
            facts |= self._group_facts("Remote", holder.group)
        slot.ad = ClassAd(facts, parent=slot.ad)

    def _describe_submitters(self) -> None:
        for submitter in self.submitters.values():
            for request in submitter.requests:
                if "SubmitterUserPrio" not in request.ad:
                    request.ad["SubmitterUserPrio"] = submitter.priority
                    request.ad["SubmitterUserResourcesInUse"] = submitter.usage
                    request.ad.update(self._group_facts("Submitter", submitter.group))

    def _group_facts(self, side: str, name: str) -> dict[str, object]:
        """Return what PREEMPTION_REQUIREMENTS may ask about a group."""
        group = (self._groups or {}).get(name)
        return {
            f"{side}Group": name,
            f"{side}GroupResourcesInUse": group.usage if group is not None else 0.0,
            f"{side}GroupQuota": group.quota if group is not None else self._pie(),
        }

    def _evaluate(
        self, slot: Slot, request: Request, verdicts: _Verdicts | None
    ) -> Candidate | NoMatch:
        """Decide whether a slot would do, and how well; slots alike are evaluated once."""
        matches, job_rank = self._match(slot, request, verdicts)
        if not matches:
            return NoMatch.REQUIREMENTS
        eviction = self._judge(slot, request)
        if isinstance(eviction, NoMatch):
            return eviction
        return self._appraisals.appraise(slot, request.ad, eviction, job_rank)

    def _match(
        self, slot: Slot, request: Request, verdicts: _Verdicts | None
    ) -> tuple[bool, float | None]:
        """Return whether slot and request accept each other, and the request's Rank if known."""
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
        if not is_steady((request.ad.text("Requirements"), request.ad.text("Rank"))):
            return None
        outside = looked_at(request.ad)
        classes = self._classes.setdefault(outside, SlotClasses(outside))
        return _Verdicts(classes)

    def _judge(self, slot: Slot, request: Request) -> Eviction | NoMatch:
        """Decide whether a slot that matches may be had, given who has it now."""
        if is_free(slot):
            return Eviction.NOBODY
        # Its own slot may be taken only because the startd would rather have this job.
        return judge_eviction(
            slot,
            request.ad,
            self.settings.ranks,
            lambda user: user != request.submitter and self._outranks(request.submitter, user),
        )

    def _outranks(self, submitter: str, user: str) -> bool:
        other = self._priorities.get(user)
        return other is not None and other >= self._priorities[submitter] + PRIORITY_DELTA

    def _find_candidates(self, request: Request) -> _Candidates:
        key = self._key(request)
        found = self._candidates.get(key)
        if found is not None:
            return found
        self.plan.considered += 1
        reason = NoMatch.REQUIREMENTS
        verdicts = self._verdicts_for(request)
        entries = []
        for slot in self._offer:
            if slot.taken:
                continue
            verdict = self._evaluate(slot, request, verdicts)
            if isinstance(verdict, NoMatch):
                reason = max(reason, verdict)
            else:
                entries.append(_entry(verdict))
        heapq.heapify(entries)
        found = self._candidates[key] = _Candidates(entries, reason)
        return found

    def _best(
        self, submitter: Submitter, request: Request, allowed: float
    ) -> _Choice | float | str | None:
        """Return the best slot that `allowed` pays for.

        Where there is none: the least price, the concurrency limit in the way as a reason, or None.
        """
        heap = self._find_candidates(request).heap
        limited = limits_depend_on_slot(request.ad)
        aside = []
        obstacle: float | str | None = None
        chosen: _Choice | None = None
        while heap:
            candidate = heap[0].candidate
            slot = candidate.slot
            if slot.taken or slot.divided_by not in (None, request.schedd):
                heapq.heappop(heap)
                continue
            if slot.version != candidate.version:
                heapq.heappop(heap)
                again = self._evaluate(slot, request, self._verdicts_for(request))
                if not isinstance(again, NoMatch):
                    heapq.heappush(heap, _entry(again))
                continue
            choice = self._price(candidate, request)
            if self._too_dear(submitter, choice, allowed):
                if not isinstance(obstacle, float) or choice.cost < obstacle:
                    obstacle = choice.cost
                aside.append(heapq.heappop(heap))
                continue
            full = self._full_limit(limits_text(request.ad, slot.ad)) if limited else None
            if full is not None:
                obstacle = obstacle or f"concurrency limit {full} reached"
                aside.append(heapq.heappop(heap))
                continue
            chosen = choice
            break
        for entry in aside:
            heapq.heappush(heap, entry)
        return chosen if chosen is not None else obstacle

    def _too_dear(self, submitter: Submitter, choice: _Choice, allowed: float) -> bool:
        """Tell whether a submitter may not have a slot because of what it uses already.

        What the startd itself prefers is given whatever anybody's share; slots are taken from
        others only up to the own share, but one to whoever has nothing.
        """
        eviction = choice.candidate.eviction
        if eviction is Eviction.STARTD_RANK:
            return False
        if eviction is Eviction.PRIORITY:
            fair = self._fair.get(submitter.name, 0.0)
            return submitter.usage > 0 and submitter.usage + choice.cost > fair + _EPSILON
        return choice.cost > allowed + _EPSILON

    def _price(self, candidate: Candidate, request: Request) -> _Choice:
        slot = candidate.slot
        weighted = self.settings.use_slot_weights
        if not slot.partitionable:
            return _Choice(candidate, slot.weight if weighted else 1.0, {})
        amounts = requested_resources(slot.ad, request.ad, self.settings.rounding)
        return _Choice(candidate, part_weight(slot, amounts, use_weights=weighted), amounts)

    def _give(self, submitter: Submitter, request: Request, choice: _Choice) -> float:
        slot = choice.candidate.slot
        before = slot.ad
        offline = bool(before.boolean("Offline"))
        claim_id = slot.claim_ids[0] if slot.claim_ids else ""
        if slot.partitionable:
            carve(slot, choice.amounts, use_weights=self.settings.use_slot_weights)
            if len(slot.claim_ids) > 1:
                del slot.claim_ids[0]
            elif request.divides_slots:
                slot.divided_by = request.schedd
            else:
                # The reference's schedd divides what is left by itself (A087).
                slot.taken = True
        else:
            slot.taken = True
        request.left -= 1
        submitter.usage += choice.cost
        preempted = "" if choice.candidate.eviction is Eviction.NOBODY else slot.remote_user
        loser = self.submitters.get(preempted)
        if loser is not None:
            loser.usage = max(0.0, loser.usage - slot.weight)
        limits = limits_text(request.ad, before)
        for name, amount in concurrency_limits(limits):
            self._limits_in_use[name] = self._limits_in_use.get(name, 0.0) + amount
        self.plan.matches.append(
            Match(
                request,
                slot.name,
                slot.address,
                before,
                claim_id,
                choice.cost,
                choice.candidate.eviction,
                preempted,
                offline,
                limits,
            )
        )
        return choice.cost

    def _full_limit(self, limits: str) -> str | None:
        """Return the first concurrency limit of a list that one more job would exceed."""
        for name, amount in concurrency_limits(limits):
            capacity = self.settings.limit_of(name)
            if self._limits_in_use.get(name, 0.0) + amount > capacity + _EPSILON:
                return name
        return None

    def _reject(self, request: Request, reason: str) -> None:
        self.plan.rejections.append(Rejection(request, reason))
        request.left = 0


@dataclass(slots=True)
class _Verdicts:
    """What classes of slots are to a group of requests: whether they match, and the job's rank."""

    classes: SlotClasses
    known: dict[Hashable, tuple[bool, float]] = field(default_factory=dict)


@dataclass(slots=True)
class _Candidates:
    """The slots that would do for a group of requests, the best on top."""

    heap: list[_Entry]
    # What to say when there is none (left).
    reason: NoMatch


@dataclass(frozen=True, slots=True)
class _Choice:
    """A candidate with its price, and what it takes of a partitionable slot."""

    candidate: Candidate
    cost: float
    amounts: Mapping[str, float]


@dataclass(slots=True)
class _Entry:
    """A candidate in a heap: the greatest quality first, equal ones by the slot's place."""

    order: tuple[float, ...]
    candidate: Candidate

    def __lt__(self, other: _Entry) -> bool:
        return self.order < other.order


def _entry(candidate: Candidate) -> _Entry:
    pre, job, post, eviction, preemption = candidate.quality
    return _Entry((-pre, -job, -post, -eviction, -preemption, candidate.slot.index), candidate)


def limits_in_use(lists: Iterable[str]) -> dict[str, float]:
    """Return how much of each concurrency limit jobs hold, given the list of each."""
    held: dict[str, float] = {}
    for limits in lists:
        for name, amount in concurrency_limits(limits):
            held[name] = held.get(name, 0.0) + amount
    return held
