"""Taking back an administrator's change that could not be written.

Whoever asked for it is told that it failed, so the books must not act on it. They went on
meanwhile: what was used since stays charged, what another hand has changed since stays changed.
That a change failed is found out in `services/books.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kettle.negotiator.accountant import Accountant
from kettle.negotiator.customers import Customer
from kettle.records.accounting_log import customer_key

# What goes on growing by itself: the difference that the change made is taken back.
_GROWING = ("accumulated", "weighted_accumulated")
# What stays as it was set.
_SET = ("factor", "ceiling", "floor", "begin_usage_at", "last_usage_at")


class Change:
    """A change of some customers, from before it was made until it is known what came of it."""

    def __init__(self, accountant: Accountant, names: Iterable[str]) -> None:
        self._accountant = accountant
        self._before = {name: _copy(accountant.customers.get(name)) for name in names}
        self._after: dict[str, Customer | None] = {}

    def made(self) -> None:
        """Note what the change did."""
        known = self._accountant.customers
        self._after = {name: _copy(known.get(name)) for name in self._before}

    def take_back(self) -> None:
        """Give the customers back what they had before."""
        for name, before in self._before.items():
            if before != self._after[name]:
                self._take_back(name, before, self._after[name])

    def _take_back(self, name: str, before: Customer | None, after: Customer | None) -> None:
        known, nobody = self._accountant.customers, Customer(name)
        self._accountant.changed.add(customer_key(name))
        if name not in known:
            if before is not None:
                known[name] = before
            return
        now = known[name]
        _restore(now, before or nobody, after or nobody)
        if before is None and now == nobody:
            del known[name]


def _restore(now: Customer, before: Customer, after: Customer) -> None:
    for name in _GROWING:
        difference = getattr(before, name) - getattr(after, name)
        setattr(now, name, max(0.0, getattr(now, name) + difference))
    if before.priority != after.priority:
        # What it would have become in the moments since is not worth the arithmetic.
        now.priority = before.priority
    for name in _SET:
        if getattr(now, name) == getattr(after, name):
            setattr(now, name, getattr(before, name))
    for kind in {*before.leases, *after.leases}:
        if now.leases.get(kind) != after.leases.get(kind):
            continue
        lease = before.leases.get(kind)
        if lease is None:
            now.leases.pop(kind, None)
        else:
            now.leases[kind] = replace(lease)


def _copy(customer: Customer | None) -> Customer | None:
    if customer is None:
        return None
    leases = {kind: replace(lease) for kind, lease in customer.leases.items()}
    return replace(customer, leases=leases)
