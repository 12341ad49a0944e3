"""One negotiation cycle: which request gets which slot, and why the others get none.

A `Cycle` is made from a snapshot (slots, submitters with their priorities and requests) and gives a
`Plan`; it proposes, the startds decide. The laws that tests hold it to: no static slot is given
twice and no resource of a partitionable one, the result does not depend on the order of the ads,
nobody gets more than its limits while others want what it would take.

Here is the order in which everybody is served, and what a match takes. Which slots would do for a
request is `candidates.py`, which of them it gets `slot_choice.py`, who may have how much
`submitters.py` and `groups.py`, what is left of a slot `slots.py`. Carrying out the `plan.py` is
the negotiator's `service.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kettle.matchmaking import fair_share
from kettle.matchmaking.candidates import Market
from kettle.matchmaking.cycle_settings import CycleSettings
from kettle.matchmaking.groups import (
    ROOT,
    Group,
    GroupSettings,
    in_turn,
    plan_quotas,
    settle,
    sort_groups,
    within_quotas,
)
from kettle.matchmaking.held_limits import HeldLimits
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.plan import Fault, Match, Plan, Rejection
from kettle.matchmaking.rank import Eviction, may_be_preempted
from kettle.matchmaking.requests import Request, limits_text
from kettle.matchmaking.slot_choice import Chooser, Chosen
from kettle.matchmaking.slots import MOST_PARTS, Slot, SlotTable, carve
from kettle.matchmaking.standings import Standings
from kettle.matchmaking.submitters import Pies, Submitter
from kettle.matchmaking.time_limits import Time, TimeBook, Turn

_EVERYBODY = GroupSettings(ROOT, accept_surplus=True)


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
        self.time = time or TimeBook()
        self._clock = clock
        self._limits = HeldLimits(limits_in_use or {}, settings.limit_of)
        self._pies = Pies(self.submitters, ignore_shares=settings.ignore_shares)
        self._standings = Standings(slots, self.submitters, groups)
        offer = [slot for slot in slots if self._look_at(slot)]
        self.plan.candidate_slots = len(offer)
        # Columns that are kept know nothing of neighbours.
        columns_of = None if settings.describe_neighbours else kept
        self._market = Market(slots, offer, settings.ranks, self._pies.outranks, columns_of)
        self._chooser = Chooser(self._market, settings, self._pies, self._limits)

    def run(self) -> Plan:
        """Give out slots until nobody wants, may have or matches any more."""
        self._standings.describe_submitters()
        pie = self.slots.total_weight
        groups = self._groups or {ROOT: Group(ROOT, _EVERYBODY, None, allocated=pie)}
        self._serve_groups(groups)
        regrouped = {name for name, group in groups.items() if group.settings.autoregroup}
        if regrouped:
            members = [
                each.name
                for each in self.submitters.values()
                if each.group in regrouped or each.group == ROOT
            ]
            self._regroup(members)
            self._serve_group(members, pie)
        self.plan.considered = self._market.considered
        return self.plan

    def _serve_groups(self, groups: Mapping[str, Group]) -> None:
        """Serve all groups, and once more with what some of them found no slots for."""
        rules, order = self.settings.groups, self._group_order
        for number in range(rules.rounds):
            if number > 0:
                plan_quotas(groups, self.slots.total_weight, oversubscribe=rules.oversubscribe)
                order = tuple(sort_groups(groups, rules.order))
            self._take_turns(groups, order)
            somebody_waits = any(each.pending() for each in self.submitters.values())
            if self._groups is None or not somebody_waits:
                break
            if not settle(groups, self._pies.usage_of_groups()):
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
            pie = within_quotas(groups, name, allocated, self._pies.usage_of_groups())
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

    def _serve_group(self, members: list[str], pie: float) -> None:
        active = self._pies.waiting(members)
        if not active:
            return
        self._pies.note_fair_shares(set(active), members, pie)
        for name in active:
            submitter = self.submitters[name]
            floor = fair_share.apply_bounds(
                0.0, submitter.usage, submitter.bounds, floors_only=True
            )
            if floor > 0:
                self._serve(submitter, min(floor, self._pies.left(members, pie)))
        while active := self._pies.waiting(active):
            if not self._turn(active, members, pie) and not self._round(active, members, pie):
                break

    def _turn(self, active: list[str], members: list[str], pie: float) -> bool:
        """Let everybody take its slice once; False if that changed nothing."""
        self.plan.pie_spins += 1
        limits = self._pies.limits(active, pie)
        changed = False
        for name in active:
            submitter = self.submitters[name]
            allowed = fair_share.apply_bounds(limits[name], submitter.usage, submitter.bounds)
            before = len(self.plan.matches)
            self._serve(submitter, min(allowed, self._pies.left(members, pie)))
            changed = changed or len(self.plan.matches) > before or not submitter.pending()
        return changed

    def _round(self, active: list[str], members: list[str], pie: float) -> bool:
        """Give one match to whoever came closest, when no slice is as large as a slot."""
        limits = self._pies.limits(active, pie)
        left = self._pies.left(members, pie)
        for name in fair_share.neediest(list(limits.items()), self._pies.priorities):
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
            self._chooser.deep = None
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
            full = self._limits.full(limits_text(request.ad))
            if full is not None:
                self._reject(request, f"concurrency limit {full} reached")
                break
            found = self._chooser.choose(submitter, request, purse.weight)
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

    # --- what there is, and who gets it -------------------------------------------------------

    def _look_at(self, slot: Slot) -> bool:
        """Tell whether a slot is on offer; policy expressions find in its ad what they may ask."""
        try:
            if not self._is_on_offer(slot):
                return False
            self._standings.describe_user(slot)
            if self.settings.describe_neighbours:
                self._standings.describe_neighbours(slot)
        except Exception as error:  # noqa: BLE001 - the plan tells it; it costs nobody else
            self.plan.faults.append(Fault(f"The look at {slot.name}", error))
            return False
        return True

    def _is_on_offer(self, slot: Slot) -> bool:
        if not slot.claim_ids and not slot.ad.boolean("Offline"):
            return False
        return may_be_preempted(slot, self.settings.ranks)

    def _give(self, submitter: Submitter, request: Request, choice: Chosen) -> float:
        """Enter a match into the plan and into all books; return what it costs."""
        slot = choice.candidate.slot
        before = slot.ad
        offline = bool(before.boolean("Offline"))
        claim_id = slot.claim_ids[0] if slot.claim_ids else ""
        self._take(slot, request, choice)
        self._market.note(slot, tuple(choice.amounts))
        request.left -= 1
        submitter.usage += choice.cost
        preempted = "" if choice.candidate.eviction is Eviction.NOBODY else slot.remote_user
        loser = self.submitters.get(preempted)
        if loser is not None:
            loser.usage = max(0.0, loser.usage - slot.weight)
        limits = limits_text(request.ad, before)
        self._limits.count(limits)
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

    def _take(self, slot: Slot, request: Request, choice: Chosen) -> None:
        """Leave less of a slot, or nothing, for the requests to come."""
        if not slot.partitionable:
            slot.taken = True
            return
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

    def _go_deep(self, slot: Slot, request: Request, choice: Chosen) -> None:
        """See to it that the request's next jobs get what is left of the same slot.

        Compat: the reference counts those that fit into the slot as given with one match, whoever
        asks. Where the schedd takes a match for each job, as ours does, each gets its own here, one
        behind the other in this slot (test_cycle_knobs.py).
        """
        if len(slot.claim_ids) > 1 or request.divides_slots:
            self._chooser.deep = slot
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

    def _reject(self, request: Request, reason: str) -> None:
        self.plan.rejections.append(Rejection(request, reason))
        request.left = 0


@dataclass(slots=True)
class _Purse:
    """What a submitter may still have in a turn: weight, and a number of matches."""

    weight: float
    matches: float
