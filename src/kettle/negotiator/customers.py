"""What the books say of one customer, and of one slot that a customer holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from kettle.matchmaking import fair_share


@dataclass(frozen=True, slots=True)
class LeaseKind:
    """What can be changed for a while (`leases.py`): its attribute, its field, its bounds."""

    attribute: str
    field_name: str
    words: str
    least: float
    too_small: str
    is_factor: bool = False

    @property
    def whole(self) -> bool:
        """Return whether its values have no fractions."""
        return not self.is_factor


LEASE_KINDS = {
    kind.attribute: kind
    for kind in (
        LeaseKind(
            "Ceiling", "ceiling", "ceiling", -1, "ceiling must be -1 (unlimited) or non-negative"
        ),
        LeaseKind("Floor", "floor", "floor", 0, "floor must be non-negative"),
        LeaseKind(
            "PriorityFactor",
            "factor",
            "priority-factor",
            1,
            "priority factor must be >= 1",
            is_factor=True,
        ),
    )
}


@dataclass(slots=True)
class Lease:
    """A change that ends: when (0 if it has), and what was before it."""

    until: int
    before: float


@dataclass(slots=True)
class Customer:
    """A submitter or a group; times are those of the steady clock, usage is seconds of slots."""

    name: str
    # The real priority; None for the factor means that none was set.
    priority: float = fair_share.MINIMUM_PRIORITY
    factor: float | None = None
    accumulated: float = 0.0
    weighted_accumulated: float = 0.0
    begin_usage_at: int = 0
    last_usage_at: int = 0
    slots_in_use: int = 0
    weight_in_use: float = 0.0
    # With everything below it, for groups.
    tree_weight_in_use: float = 0.0
    # Usage that began and ended between two updates.
    uncharged: float = 0.0
    weighted_uncharged: float = 0.0
    ceiling: int = -1
    floor: int = 0
    # By the attribute that they change.
    leases: dict[str, Lease] = field(default_factory=dict)


@dataclass(slots=True)
class Holding:
    """A slot that a customer holds since a moment; `name` is slot@address."""

    name: str
    user: str
    since: int
    weight: float
    limits: str = ""


def lease_attributes(customer: Customer) -> dict[str, float]:
    """Return what log and ads say of a customer's leases, nothing if it never had one."""
    said: dict[str, float] = {}
    for attribute, lease in customer.leases.items():
        said[f"{attribute}LeaseExpiration"] = lease.until
        said[f"{attribute}PreLeaseValue"] = lease.before
    return said
