"""Changes of a submitter's factor, ceiling or floor that end by themselves.

A lease remembers what was before it and when it ends; `expire_leases`, called before each cycle,
gives back what was. One lease of a kind at a time. The accounting log and the ads keep the end and
what was before, also of leases that are over, whose end is 0, as the reference's do (daemon
reference, accounting commands).
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.digits import MAX_32
from kettle.errors import RefusedError
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.customers import LEASE_KINDS, Lease, LeaseKind
from kettle.records.accounting_log import customer_key
from kettle.wire.commands import Command

MANAGERS = {
    Command.MANAGE_CEILING: LEASE_KINDS["Ceiling"],
    Command.MANAGE_FLOOR: LEASE_KINDS["Floor"],
    Command.MANAGE_PRIORITY_FACTOR: LEASE_KINDS["PriorityFactor"],
}
# Limit: a factor beyond this would make priorities that are no numbers.
_LARGEST = 1e300


def manage_lease(
    accountant: Accountant, kind: LeaseKind, name: str, request: ClassAd, now: int
) -> str:
    """Do what a request says, and return a sentence about it; RefusedError says why not."""
    action = request.string("Action")
    if action is None:
        raise RefusedError("request is missing Action")
    if action.lower() == "cancel":
        cancel_lease(accountant, kind, name)
        return f"Cancelled {kind.words} lease for {name}"
    if action.lower() != "set":
        raise RefusedError(f"unknown Action '{action[:80]}'")
    value, seconds = request.real(kind.attribute), request.integer("Duration")
    if value is None:
        raise RefusedError(f"set action requires {kind.attribute}")
    if seconds is None:
        raise RefusedError("set action requires Duration")
    if kind.whole:
        # Limit: numbers beyond 32 bits are none that the reference could keep.
        value = int(max(-MAX_32, min(MAX_32, value)))
    set_lease(accountant, kind, name, value, min(seconds, MAX_32), now)
    return f"Set {kind.words} lease for {name} to {value:g} for {seconds} seconds"


def set_lease(
    accountant: Accountant, kind: LeaseKind, name: str, value: float, seconds: int, now: int
) -> None:
    """Change what a submitter has for so many seconds; RefusedError if that cannot be."""
    if seconds <= 0:
        raise RefusedError("lease duration must be positive")
    if not kind.least <= value < _LARGEST:
        raise RefusedError(kind.too_small)
    # What the next cycle would give back is what was before.
    expire_leases(accountant, now)
    customer = accountant.customer(name)
    known = customer.leases.get(kind.attribute)
    if known is not None and known.until > now:
        raise RefusedError(
            f"{kind.words} lease for {name} is already in effect (expires at {known.until})"
        )
    before = accountant.factor(name) if kind.is_factor else getattr(customer, kind.field_name)
    customer.leases[kind.attribute] = Lease(now + seconds, before)
    setattr(customer, kind.field_name, value)


def cancel_lease(accountant: Accountant, kind: LeaseKind, name: str) -> None:
    """Give back at once what a submitter had before; RefusedError if it has no lease."""
    known = accountant.customers.get(name)
    lease = known.leases.get(kind.attribute) if known is not None else None
    if lease is None or lease.until <= 0:
        raise RefusedError(f"no {kind.words} lease in effect for {name}")
    _give_back(accountant, kind, name, lease)


def expire_leases(accountant: Accountant, now: int) -> list[str]:
    """Give back what was before the leases whose time has passed; a sentence about each."""
    said = []
    for customer in accountant.customers.values():
        for attribute, lease in customer.leases.items():
            if 0 < lease.until <= now:
                kind = LEASE_KINDS[attribute]
                _give_back(accountant, kind, customer.name, lease)
                said.append(
                    f"{kind.words.capitalize()} lease expired for {customer.name}; restoring "
                    f"{kind.words.replace('-', ' ')} to {lease.before:g}"
                )
    return said


def _give_back(accountant: Accountant, kind: LeaseKind, name: str, lease: Lease) -> None:
    customer = accountant.customers[name]
    lease.until = 0
    accountant.changed.add(customer_key(name))
    if not kind.is_factor:
        setattr(customer, kind.field_name, int(lease.before))
        return
    # A factor that is nobody's own goes on following the group's, and the configuration.
    customer.factor = None
    if accountant.factor(name) != lease.before:
        customer.factor = lease.before
