"""One negotiation cycle: which request gets which slot, and why the others get none.

A `Cycle` is made from a snapshot (slots, submitters with their priorities and requests) and gives a
`Plan`; it proposes, the startds decide. The laws that tests hold it to: no static slot is given
twice and no resource of a partitionable one, the result does not depend on the order of the ads,
nobody gets more than its limits while others want what it would take.

Which slots would do for a request is `candidates.py`, who may have how much `fair_share.py` and
`groups.py`, what is left of a slot `slots.py`. Carrying the plan out is the negotiator's
`service.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr
from kettle.matchmaking import fair_share
from kettle.matchmaking.candidates import Market
from kettle.matchmaking.fair_share import Bounds
from kettle.matchmaking.groups import (
    ROOT,
    Group,
    GroupRules,
    GroupSettings,
    in_turn,
    plan_quotas,
    settle,
    sort_groups,
    within_quotas,
)
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.rank import (
    Candidate,
    Eviction,
    RankSettings,
    may_be_preempted,
)
from kettle.matchmaking.requests import (
    Request,
    concurrency_limits,
    limits_depend_on_slot,
    limits_text,
)
from kettle.matchmaking.slots import (
    MOST_PARTS,
    Slot,
    SlotTable,
    carve,
    part_weight,
    requested_resources,
)
from kettle.matchmaking.time_limits import Time, TimeBook, Turn

# Sums of weights are compared with this much tolerance.
_EPSILON = 1e-6

# A holder's effective priority must be worse by this much before somebody may take its slot, so
# that two users who stand alike do not drive each other out.
PRIORITY_DELTA = 0.5

# Who has a neighbouring slot, what counts most first.
_HOLDER_WORDS = ("PreemptingAccountingGroup", "PreemptingUser", "AccountingGroup", "RemoteUser")
# Limit: slots of a machine of which each tells.
_MOST_NEIGHBOURS = 1000

_EVERYBODY = GroupSettings(ROOT, accept_surplus=True)


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
        kept: KeptSlots | None = None,
        time: TimeBook | None = None,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """Take the snapshot.

        `submitters` are also those who hold slots and ask for none: what they use is not there for
        others of their group, and their share is safe from preemption. `groups` have their
        allocations planned; None lets everybody share the whole pool. `limits_in_use` is how much
        of each concurrency limit running jobs hold. `kept` is what the table comes from if its
        columns are kept. `time` says how long the cycle may work for whom, by a `clock` of seconds;
        who is left out because of it is neither matched nor rejected.
        """
        self.slots = slots
        self.submitters = {submitter.name: submitter for submitter in submitters}
        self.settings = settings
        self.plan = Plan()
        self._groups = groups
        self._group_order = tuple(group_order)
        self._limits_in_use = dict(limits_in_use or {})
        self.time = time or TimeBook()
        self._clock = clock
        self._priorities = {name: each.priority for name, each in self.submitters.items()}
        # What each submitter may hold in all before it can take slots from others.
        self._fair: dict[str, float] = {}
        offer = [slot for slot in slots if self._look_at(slot)]
        self.plan.candidate_slots = len(offer)
        # Columns that are kept know nothing of neighbours.
        columns_of = None if settings.describe_neighbours else kept
        self._market = Market(slots, offer, settings.ranks, self._outranks, columns_of)
        # The slot that a request's next job is to have a part of, if any.
        self._deep: Slot | None = None
        # What a slot costs whom is settled, unless it may be taken from somebody.
        self._somebody_may_go = not all(slot.free for slot in offer)

    def run(self) -> Plan:
        """Give out slots until nobody wants, may have or matches any more."""
        self._describe_submitters()
        groups = self._groups or {ROOT: Group(ROOT, _EVERYBODY, None, allocated=self._pie())}
        self._serve_groups(groups)
        regrouped = {name for name, group in groups.items() if group.settings.autoregroup}
        if regrouped:
            members = [
                each.name
                for each in self.submitters.values()
                if each.group in regrouped or each.group == ROOT
            ]
            self._regroup(members)
            self._serve_group(members, self._pie())
        self.plan.considered = self._market.considered
        return self.plan

    def _serve_groups(self, groups: Mapping[str, Group]) -> None:
        """Serve all groups, and once more with what some of them found no slots for."""
        rules, order = self.settings.groups, self._group_order
        for number in range(rules.rounds):
            if number > 0:
                plan_quotas(groups, self._pie(), oversubscribe=rules.oversubscribe)
                order = tuple(sort_groups(groups, rules.order))
            self._take_turns(groups, order)
            somebody_waits = any(each.pending() for each in self.submitters.values())
            if self._groups is None or not somebody_waits:
                break
            if not settle(groups, self._usage_of_groups()):
                break
        for group in groups.values():
            group.settled = None

    def _take_turns(self, groups: Mapping[str, Group], order: Iterable[str]) -> None:
        """Serve all groups turn after turn, until each had its allocation or nobody waits.

        Who is out of time waits no more: the cycle's end is seen where somebody is served.
        """
        members: dict[str, list[str]] = {}
        for each in self.submitters.values():
            members.setdefault(each.group, []).append(each.name)
        waiting = {
            name
            for name, group in members.items()
            if any(self.submitters[each].pending() for each in group)
        }
        for name, allocated in in_turn(groups, tuple(order), self.settings.groups.rate):
            if not waiting:
                return
            if name not in waiting:
                continue
            pie = within_quotas(groups, name, allocated, self._usage_of_groups())
            self._serve_group(members[name], pie)
            if not any(self.submitters[each].pending() for each in members[name]):
                waiting.discard(name)

    def _regroup(self, members: list[str]) -> None:
        """Say in what is still wanted that it is not the own group that negotiates any more."""
        for name in members:
            for request in self.submitters[name].pending():
                request.ad["SubmitterNegotiatingGroup"] = ROOT
                request.ad["SubmitterAutoregroup"] = True
        # Preemption may have been refused because of the group.
        self._market.forget()

    # --- who is served how much -------------------------------------------------------------

    def _usage_of_groups(self) -> dict[str, float]:
        usage: dict[str, float] = {}
        for each in self.submitters.values():
            usage[each.group] = usage.get(each.group, 0.0) + each.usage
        return usage

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
        if self.settings.ignore_shares:
            self._fair.update(dict.fromkeys(taking_part, float("inf")))
            return
        shares = fair_share.shares({name: self._priorities[name] for name in taking_part})
        self._fair.update({name: share * pie for name, share in shares.items()})

    def _limits(self, active: set[str], pie: float) -> dict[str, float]:
        """Return how much more each may have in this turn."""
        if self.settings.ignore_shares:
            return dict.fromkeys(active, float("inf"))
        priorities = {name: self._priorities[name] for name in active}
        usage = {name: self.submitters[name].usage for name in active}
        return fair_share.limits(priorities, usage, pie)

    def _left(self, members: list[str], pie: float) -> float:
        return max(0.0, pie - sum(self.submitters[name].usage for name in members))

    def _turn(self, active: set[str], members: list[str], pie: float) -> bool:
        """Let everybody take its slice once; False if that changed nothing."""
        self.plan.pie_spins += 1
        limits = self._limits(active, pie)
        changed = False
        for name in fair_share.order(active, self._priorities):
            submitter = self.submitters[name]
            allowed = fair_share.apply_bounds(limits[name], submitter.usage, submitter.bounds)
            before = len(self.plan.matches)
            self._serve(submitter, min(allowed, self._left(members, pie)))
            changed = changed or len(self.plan.matches) > before or not submitter.pending()
        return changed

    def _round(self, active: set[str], members: list[str], pie: float) -> bool:
        """Give one match to whoever came closest, when no slice is as large as a slot."""
        limits = self._limits(active, pie)
        left = self._left(members, pie)
        for name in fair_share.neediest(list(limits.items()), self._priorities):
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
        turn = Turn(self.time, submitter.name, self._clock)
        self._serve_for(turn, submitter, allowed, at_most)
        turn.settle()

    def _serve_for(
        self, turn: Turn, submitter: Submitter, allowed: float, at_most: int | None
    ) -> None:
        """Serve requests as long as this turn's time, weight and number of matches last."""
        purse = _Purse(allowed, float("inf") if at_most is None else at_most)
        for request in submitter.pending():
            self._deep = None
            try:
                if not self._serve_request(turn, submitter, request, purse):
                    return
            except Exception as error:  # noqa: BLE001 - the plan tells it; it costs nobody else
                request.left = 0
                job = f"{request.cluster}.{request.proc} of {submitter.name}"
                self.plan.faults.append(Fault(f"The matching of {job}", error))

    def _serve_request(
        self, turn: Turn, submitter: Submitter, request: Request, purse: _Purse
    ) -> bool:
        """Serve a request as long as the purse lasts; False if the submitter gets no more now."""
        while request.left > 0:
            if purse.matches <= 0:
                return False
            time = turn.begin(request.schedd)
            if time is not Time.LEFT:
                if time is Time.OVER:
                    # Neither matched nor rejected: it is asked for in the next cycle again.
                    request.left = 0
                break
            full = self._full_limit(limits_text(request.ad))
            if full is not None:
                self._reject(request, f"concurrency limit {full} reached")
                break
            found = self._choose(submitter, request, purse.weight)
            if found is None or isinstance(found, str):
                reason = found or self._market.candidates(request).reason.reason
                self._reject(request, reason)
                break
            if isinstance(found, float):
                self.plan.limited.add(submitter.name)
                return False
            purse.weight -= self._give(submitter, request, found)
            purse.matches -= 1
        return True

    # --- which slot ---------------------------------------------------------------------------

    def _look_at(self, slot: Slot) -> bool:
        """Tell whether a slot is on offer; policy expressions find in its ad what they may ask."""
        try:
            if not self._is_on_offer(slot):
                return False
            self._describe_user(slot)
            if self.settings.describe_neighbours:
                self._describe_neighbours(slot)
        except Exception as error:  # noqa: BLE001 - the plan tells it; it costs nobody else
            self.plan.faults.append(Fault(f"The look at {slot.name}", error))
            return False
        return True

    def _is_on_offer(self, slot: Slot) -> bool:
        if not slot.claim_ids and not slot.ad.boolean("Offline"):
            return False
        return may_be_preempted(slot, self.settings.ranks)

    def _describe_user(self, slot: Slot) -> None:
        """Show the policy expressions who has a slot and how that user stands."""
        if not slot.remote_user or slot.free:
            return
        holder = self.submitters.get(slot.remote_user)
        facts: dict[str, object] = {
            "RemoteUserPrio": self._priorities.get(slot.remote_user, fair_share.MINIMUM_PRIORITY),
            "RemoteUserResourcesInUse": holder.usage if holder else 0.0,
        }
        if holder is not None:
            facts |= self._group_facts("Remote", holder.group)
        slot.ad = ClassAd(facts, parent=slot.ad)

    def _describe_neighbours(self, slot: Slot) -> None:
        """Show the policy expressions how those stand who have the other slots of the machine.

        Who that is says the slot's own ad, in attributes of STARTD_SLOT_ATTRS.
        """
        facts: dict[str, object] = {}
        for number in range(1, min(slot.ad.integer("TotalSlots") or 0, _MOST_NEIGHBOURS) + 1):
            texts = (slot.ad.string(f"slot{number}_{name}") for name in _HOLDER_WORDS)
            user = next(filter(None, texts), None)
            if user is None:
                continue
            holder = self.submitters.get(user)
            said: dict[str, object] = {
                "RemoteUserPrio": self._priorities.get(user, fair_share.MINIMUM_PRIORITY),
                "RemoteUserResourcesInUse": holder.usage if holder else 0.0,
            }
            if holder is not None and holder.group != ROOT:
                said |= self._group_facts("Remote", holder.group)
            facts |= {f"slot{number}_{name}": value for name, value in said.items()}
        if facts:
            slot.ad = ClassAd(facts, parent=slot.ad)

    def _describe_submitters(self) -> None:
        for submitter in self.submitters.values():
            if not submitter.requests:
                continue
            facts = ClassAd(
                {
                    "SubmitterUserPrio": submitter.priority,
                    "SubmittorPrio": submitter.priority,
                    "SubmitterUserResourcesInUse": submitter.usage,
                    "SubmitterNegotiatingGroup": submitter.group,
                    "SubmitterAutoregroup": False,
                }
                | self._group_facts("Submitter", submitter.group)
            )
            for request in submitter.requests:
                # A request keeps what was said in the run that it came with.
                if "SubmitterUserPrio" not in request.ad:
                    request.ad.update(facts)

    def _group_facts(self, side: str, name: str) -> dict[str, object]:
        """Return what PREEMPTION_REQUIREMENTS may ask about a group."""
        group = (self._groups or {}).get(name)
        return {
            f"{side}Group": name,
            f"{side}GroupResourcesInUse": group.usage if group is not None else 0.0,
            f"{side}GroupQuota": group.quota if group is not None else self._pie(),
        }

    def _outranks(self, submitter: str, user: str) -> bool:
        other = self._priorities.get(user)
        return other is not None and other >= self._priorities[submitter] + PRIORITY_DELTA

    def _choose(
        self, submitter: Submitter, request: Request, allowed: float
    ) -> _Choice | float | str | None:
        """Return the slot to give, or as `_best` what is in the way."""
        deeper = self._deeper(submitter, request, allowed)
        return deeper if deeper is not None else self._best(submitter, request, allowed)

    def _best(
        self, submitter: Submitter, request: Request, allowed: float
    ) -> _Choice | float | str | None:
        """Return the best slot that `allowed` pays for.

        Where there is none: the least price, the concurrency limit in the way as a reason, or None.
        """
        market = self._market
        found = market.candidates(request)
        if found.too_dear is not None:
            price, when = found.too_dear
            if when == market.changes and price > allowed + _EPSILON:
                return price
        aside = []
        obstacle: float | str | None = None
        chosen: _Choice | None = None
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

    def _deeper(self, submitter: Submitter, request: Request, allowed: float) -> _Choice | None:
        """Return the slot that the request's last job got a part of, if it will do once more."""
        slot, self._deep = self._deep, None
        candidate = self._market.look_at(slot, request) if slot is not None else None
        if candidate is None:
            return None
        choice = self._price(candidate, request)
        return choice if self._problem(submitter, request, choice, allowed) is None else None

    def _problem(
        self, submitter: Submitter, request: Request, choice: _Choice, allowed: float
    ) -> float | str | None:
        """Return why a submitter may not have a slot: its price, or the limit in the way."""
        if self._too_dear(submitter, choice, allowed):
            return choice.cost
        if limits_depend_on_slot(request.ad):
            full = self._full_limit(limits_text(request.ad, choice.candidate.slot.ad))
            if full is not None:
                return f"concurrency limit {full} reached"
        return None

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
            if self.settings.depth_first:
                self._go_deep(slot, request, choice)
            carve(slot, choice.amounts, use_weights=self.settings.use_slot_weights)
            if slot.version >= MOST_PARTS:
                slot.taken = True
            elif len(slot.claim_ids) > 1:
                del slot.claim_ids[0]
            elif request.divides_slots:
                slot.divided_by = request.schedd
            else:
                # The reference's schedd divides what is left by itself (A087).
                slot.taken = True
        else:
            slot.taken = True
        self._market.note(slot, tuple(choice.amounts))
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
                request.ad.string("SubmitterNegotiatingGroup") or "",
            )
        )
        return choice.cost

    def _go_deep(self, slot: Slot, request: Request, choice: _Choice) -> None:
        """See to it that the request's next jobs get what is left of the same slot.

        Compat: the reference counts those that fit into the slot as given with one match, whoever
        asks. Where the schedd takes a match for each job, as ours does, each gets its own here, one
        behind the other in this slot (test_cycle_knobs.py).
        """
        if len(slot.claim_ids) > 1 or request.divides_slots:
            self._deep = slot
            return
        # The reference's schedd puts as many there as fit, so for them none is looked for.
        fitting = [
            (slot.ad.real(name) or 0.0) // amount
            for name, amount in choice.amounts.items()
            if amount > 0
        ]
        # Bounded before it is an integer: what a slot says that it has may be no number.
        jobs = int(max(1.0, min(request.left, *fitting))) if fitting else 1
        request.left = max(1, request.left - (jobs - 1))

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
class _Purse:
    """What a submitter may still have in a turn: weight, and a number of matches."""

    weight: float
    matches: float


@dataclass(frozen=True, slots=True)
class _Choice:
    """A candidate with its price, and what it takes of a partitionable slot."""

    candidate: Candidate
    cost: float
    amounts: Mapping[str, float]


def limits_in_use(lists: Iterable[str]) -> dict[str, float]:
    """Return how much of each concurrency limit jobs hold, given the list of each."""
    held: dict[str, float] = {}
    for limits in lists:
        for name, amount in concurrency_limits(limits):
            held[name] = held.get(name, 0.0) + amount
    return held
