"""Who uses how much of the pool, who used how much before, and what that makes their priority.

`Accountant` owns the books: customers (submitters and groups) and the slots they hold. It decides
what matches, the passing of time and an administrator's commands do to them. It neither reads the
clock nor writes: `books_table.py` gives what it says as the accounting log keeps it, and reads
that; `written_books.py` says what of it is to be written. The formula of priorities is
`matchmaking/fair_share.py`; the reply ads are in `accounting_ads.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.matchmaking import fair_share
from kettle.matchmaking.fair_share import Bounds, PrioritySettings
from kettle.matchmaking.groups import ROOT, group_of
from kettle.matchmaking.slots import slot_weight
from kettle.negotiator.customers import Customer, Holding
from kettle.records.accounting_log import (
    ACCOUNTANT,
    customer_key,
    is_name,
    resource_key,
)

# Limit: letters of the concurrency limits of one slot; a job names a few.
_LONGEST_LIMITS = 64 * 1024
# The states of a slot in which somebody is charged for it.
_HELD_STATES = frozenset(("Claimed", "Matched", "Preempting"))


@dataclass(slots=True)
class Accountant:
    """The books of the pool; times come as arguments, in seconds of the steady clock."""

    settings: PrioritySettings = field(default_factory=PrioritySettings)
    group_names: tuple[str, ...] = ()
    use_slot_weights: bool = True
    # Nobody is charged for a slot while its job is suspended.
    discount_suspended: bool = False
    customers: dict[str, Customer] = field(default_factory=dict)
    holdings: dict[str, Holding] = field(default_factory=dict)
    last_update_at: int = 0
    # Names whose records have changed since they were last written.
    changed: set[str] = field(default_factory=set)

    def customer(self, name: str) -> Customer:
        """Return the books of a submitter or group, opened if they are not yet."""
        found = self.customers.get(name)
        if found is None:
            found = self.customers[name] = Customer(name)
        self.changed.add(customer_key(name))
        return found

    def factor(self, name: str) -> float:
        """Return the priority factor of a submitter: its own, its group's, or the default."""
        known = self.customers.get(name)
        if known is not None and known.factor is not None:
            return known.factor
        group = group_of(name, self.group_names)
        if group != ROOT:
            books = self.customers.get(group)
            if books is not None and books.factor is not None:
                return books.factor
        return fair_share.default_factor(name, self.settings)

    def effective_priority(self, name: str) -> float:
        """Return what shares are computed from; a new submitter has the best priority."""
        known = self.customers.get(name)
        real = known.priority if known is not None else fair_share.MINIMUM_PRIORITY
        return fair_share.effective_priority(real, self.factor(name))

    def bounds(self, name: str) -> Bounds | None:
        """Return ceiling and floor of a submitter, None if neither was set."""
        known = self.customers.get(name)
        if known is None or (known.ceiling < 0 and known.floor <= 0):
            return None
        return Bounds(float(known.ceiling), float(known.floor))

    def weight_in_use(self, name: str) -> float:
        """Return the slot weight a submitter holds now."""
        known = self.customers.get(name)
        return known.weight_in_use if known is not None else 0.0

    def slots_in_use(self, name: str) -> int:
        """Return how many slots a customer holds now."""
        known = self.customers.get(name)
        return known.slots_in_use if known is not None else 0

    # --- what happens ------------------------------------------------------------------------

    def age(self, now: int) -> None:
        """Charge the time since the last update and let priorities follow usage."""
        if self.last_update_at <= 0 or now < self.last_update_at:
            # The first update, or a clock that was set back: nothing can be charged.
            self.last_update_at = now
            self.changed.add(ACCOUNTANT)
            return
        elapsed = now - self.last_update_at
        if elapsed == 0:
            return
        for customer in list(self.customers.values()):
            self._age_one(customer, elapsed, now)
        self.last_update_at = now
        self.changed.add(ACCOUNTANT)

    def _age_one(self, customer: Customer, elapsed: int, now: int) -> None:
        before = (customer.priority, customer.accumulated, customer.weighted_accumulated)
        # What came and went in between counts as if it had lasted a part of the time.
        recent = customer.weighted_uncharged / elapsed
        customer.priority = fair_share.decay(
            customer.priority,
            customer.weight_in_use + recent,
            elapsed,
            self.settings.half_life_seconds,
        )
        customer.accumulated += customer.slots_in_use * elapsed + customer.uncharged
        customer.weighted_accumulated += (
            customer.weight_in_use * elapsed + customer.weighted_uncharged
        )
        if customer.slots_in_use > 0 or customer.uncharged > 0:
            if customer.begin_usage_at == 0:
                customer.begin_usage_at = now
            customer.last_usage_at = now
        customer.uncharged = customer.weighted_uncharged = 0.0
        after = (customer.priority, customer.accumulated, customer.weighted_accumulated)
        if after != before:
            self.changed.add(customer_key(customer.name))

    def open_groups(self) -> None:
        """Open the books of all groups, so that they are listed before anybody uses them."""
        for name in (ROOT, *self.group_names):
            if name not in self.customers:
                self.customer(name)

    def note_match(self, user: str, now: int) -> None:
        """Enter that a user was given a slot, who counts as active from now on.

        Whether the slot is really taken, and what it weighs, the slot ads say later (`observe`); a
        job may be over before anybody looks at them.
        """
        for name in self._charged(user):
            customer = self.customer(name)
            customer.begin_usage_at = customer.begin_usage_at or now
            customer.last_usage_at = max(customer.last_usage_at, now)

    def add_match(self, user: str, slot: str, weight: float, now: int, limits: str = "") -> None:
        """Enter a slot as held by a user from now on; a former holder loses it."""
        if slot in self.holdings:
            self.remove_match(slot, now)
        self.holdings[slot] = Holding(slot, user, now, weight, limits)
        self.changed.add(resource_key(slot))
        for name in self._charged(user):
            customer = self.customer(name)
            customer.slots_in_use += 1
            customer.weight_in_use += weight
            customer.begin_usage_at = customer.begin_usage_at or now
            customer.last_usage_at = max(customer.last_usage_at, now)
            # The time since the last update was not used: take it off what `age` will charge.
            idle = now - self.last_update_at if self.last_update_at else 0
            customer.uncharged -= idle
            customer.weighted_uncharged -= weight * idle
        self._sum_tree()

    def remove_match(self, slot: str, now: int) -> None:
        """Enter that a slot is no longer held; unknown slots are ignored."""
        holding = self.holdings.pop(slot, None)
        if holding is None:
            return
        self.changed.add(resource_key(slot))
        for name in self._charged(holding.user):
            customer = self.customer(name)
            customer.slots_in_use = max(0, customer.slots_in_use - 1)
            customer.weight_in_use = max(0.0, customer.weight_in_use - holding.weight)
            used = now - self.last_update_at if self.last_update_at else 0
            customer.uncharged += used
            customer.weighted_uncharged += holding.weight * used
        self._sum_tree()

    def observe(self, slots: Iterable[ClassAd], now: int, *, set_ahead: int = 0) -> list[Exception]:
        """Bring the books in line with what the slot ads say about who holds them.

        What is charged follows the ads and not what was matched: a match may have been refused,
        and a claim is reused without asking. Ads have dates of the wall clock, which was set ahead
        of the steady one by so many seconds. Return what is wrong with ads that cannot be read:
        nobody is charged for those slots.
        """
        seen: dict[str, Holding] = {}
        faults: list[Exception] = []
        for ad in slots:
            try:
                holding = self._read_holding(ad, now, set_ahead)
            except Exception as error:  # noqa: BLE001 - it is returned
                faults.append(error)
                continue
            if holding is not None:
                seen[holding.name] = holding
        for name, known in list(self.holdings.items()):
            found = seen.get(name)
            if found is None or (found.user, found.weight) != (known.user, known.weight):
                self.remove_match(name, now)
        for name, found in seen.items():
            if name not in self.holdings:
                # Not earlier than the last update: until then its former holder was charged.
                since = max(found.since, self.last_update_at)
                self.add_match(found.user, name, found.weight, since, found.limits)
        return faults

    def _read_holding(self, slot: ClassAd, now: int, set_ahead: int) -> Holding | None:
        """Return who holds a slot since when, by its ad; None if nobody does."""
        said = (slot.string(each) for each in ("AccountingGroup", "RemoteUser", "RemoteOwner"))
        user = next((each for each in said if each and is_name(each)), None)
        name = holding_name(slot)
        if user is None or not is_name(name) or slot.string("State") not in _HELD_STATES:
            return None
        if self.discount_suspended and (slot.string("Activity") or "").lower() == "suspended":
            return None
        entered = slot.integer("EnteredCurrentState")
        since = entered - set_ahead if entered else now
        weight = slot_weight(slot, use_weights=self.use_slot_weights)
        limits = slot.string("ConcurrencyLimits") or ""
        if len(limits) > _LONGEST_LIMITS:
            limits = ""
        return Holding(name, user, min(since, now), weight, limits)

    def _charged(self, user: str) -> list[str]:
        """Return who pays for a user's slots: the user, and the group it belongs to."""
        return [user, group_of(user, self.group_names)]

    def _sum_tree(self) -> None:
        groups = [name for name in (ROOT, *self.group_names) if name in self.customers]
        for name in groups:
            self.customers[name].tree_weight_in_use = sum(
                self.customers[other].weight_in_use
                for other in groups
                if name in (ROOT, other) or other.startswith(name + ".")
            )

    # --- an administrator's commands ------------------------------------------------------------

    def set_priority(self, name: str, priority: float) -> None:
        """Set a real priority (SET_PRIORITY)."""
        self.customer(name).priority = max(priority, fair_share.MINIMUM_PRIORITY)

    def set_factor(self, name: str, factor: float) -> None:
        """Set a priority factor; below 1 it would make usage count for less than nothing."""
        self._for_good(name, "PriorityFactor").factor = max(factor, 1.0)

    def set_usage(self, name: str, seconds: float) -> None:
        """Set how much slot time, by weight, a customer has used (SET_ACCUMUSAGE)."""
        self.customer(name).weighted_accumulated = max(0.0, seconds)

    def set_begin(self, name: str, moment: int) -> None:
        """Set since when a customer uses slots (SET_BEGINTIME)."""
        self.customer(name).begin_usage_at = moment

    def set_last(self, name: str, moment: int) -> None:
        """Set when a customer last used a slot (SET_LASTTIME)."""
        self.customer(name).last_usage_at = moment

    def set_ceiling(self, name: str, weight: int) -> None:
        """Set the most that a customer may hold; negative for any (SET_CEILING)."""
        self._for_good(name, "Ceiling").ceiling = weight

    def set_floor(self, name: str, weight: int) -> None:
        """Set what a customer is given before others get more than theirs (SET_FLOOR)."""
        self._for_good(name, "Floor").floor = weight

    def _for_good(self, name: str, attribute: str) -> Customer:
        """Return a customer of whom this is set for good; a lease of it is over.

        Compat: the reference leaves the lease, whose end undoes what was set meanwhile; shown by
        test_what_is_set_for_good_during_a_lease_stays.
        """
        customer = self.customer(name)
        lease = customer.leases.get(attribute)
        if lease is not None:
            lease.until = 0
        return customer

    def reset_usage(self, name: str, now: int) -> None:
        """Forget what a customer used; its priority stays (RESET_USAGE)."""
        customer = self.customers.get(name)
        if customer is None:
            return
        customer.accumulated = customer.weighted_accumulated = 0.0
        customer.begin_usage_at = now
        self.changed.add(customer_key(name))

    def reset_all_usage(self, now: int) -> None:
        """Forget what everybody used."""
        for name in list(self.customers):
            self.reset_usage(name, now)

    def delete(self, name: str) -> None:
        """Close a customer's books, unless it holds slots (DELETE_USER)."""
        customer = self.customers.get(name)
        if customer is None or customer.slots_in_use > 0:
            return
        del self.customers[name]
        self.changed.add(customer_key(name))

    def recount(self) -> None:
        """Make usage agree with the slots held, whatever the log says about it."""
        for customer in self.customers.values():
            customer.slots_in_use, customer.weight_in_use = 0, 0.0
        for holding in self.holdings.values():
            for name in self._charged(holding.user):
                customer = self.customer(name)
                customer.slots_in_use += 1
                customer.weight_in_use += holding.weight
        self._sum_tree()


def holding_name(slot: ClassAd) -> str:
    """Return slot@address, as the reference names a slot in its books and in GET_RESLIST."""
    address = slot.string("MyAddress") or slot.string("StartdIpAddr") or ""
    return f"{slot.string('Name') or ''}@{address}"
