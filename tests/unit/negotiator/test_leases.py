"""Changes of factors, ceilings and floors that end: words and numbers as HTCondor 25.14.1's."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.matchmaking.fair_share import PrioritySettings
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.accounting_ads import accounting_ads, numbered_ad
from kettle.negotiator.books_table import accountant_of, table_of
from kettle.negotiator.customers import LEASE_KINDS, LeaseKind
from kettle.negotiator.leases import expire_leases, manage_lease

CEILING, FLOOR, FACTOR = (LEASE_KINDS[name] for name in ("Ceiling", "Floor", "PriorityFactor"))
USER = "a@b"


def manage(accountant: Accountant, kind: LeaseKind, now: int, **request: object) -> str:
    return manage_lease(accountant, kind, USER, ClassAd(request), now)


def lease(accountant: Accountant, kind: LeaseKind, value: float, now: int = 1000) -> str:
    request = {"Action": "Set", kind.attribute: value, "Duration": 60}
    return manage(accountant, kind, now, **request)


def test_what_was_before_comes_back_at_the_end() -> None:
    accountant = Accountant()
    accountant.set_ceiling(USER, 9)
    assert lease(accountant, CEILING, 3) == "Set ceiling lease for a@b to 3 for 60 seconds"
    lease(accountant, FLOOR, 2)
    assert lease(accountant, FACTOR, 7.5) == (
        "Set priority-factor lease for a@b to 7.5 for 60 seconds"
    )
    customer = accountant.customers[USER]
    assert (customer.ceiling, customer.floor, accountant.factor(USER)) == (3, 2, 7.5)
    assert expire_leases(accountant, 1059) == []
    accountant.changed.clear()
    assert expire_leases(accountant, 1060) == [
        "Ceiling lease expired for a@b; restoring ceiling to 9",
        "Floor lease expired for a@b; restoring floor to 0",
        "Priority-factor lease expired for a@b; restoring priority factor to 1000",
    ]
    assert accountant.changed
    assert (customer.ceiling, customer.floor, accountant.factor(USER)) == (9, 0, 1000.0)
    # Nobody's own, it goes on following the configuration.
    assert customer.factor is None
    assert expire_leases(accountant, 2000) == []


def test_what_is_set_for_good_during_a_lease_stays() -> None:
    accountant = Accountant()
    lease(accountant, CEILING, 3)
    lease(accountant, FLOOR, 2)
    lease(accountant, FACTOR, 7.5)
    accountant.set_ceiling(USER, 5)
    accountant.set_floor(USER, 4)
    accountant.set_factor(USER, 20.0)
    assert expire_leases(accountant, 2000) == []
    customer = accountant.customers[USER]
    assert (customer.ceiling, customer.floor, accountant.factor(USER)) == (5, 4, 20.0)
    for kind in (CEILING, FLOOR, FACTOR):
        with pytest.raises(RefusedError, match="lease in effect"):
            manage(accountant, kind, 1001, Action="cancel")
    lease(accountant, CEILING, 3)
    assert manage(accountant, CEILING, 1001, Action="cancel")
    assert customer.ceiling == 5


def test_one_lease_of_a_kind_at_a_time() -> None:
    accountant = Accountant()
    lease(accountant, CEILING, 3)
    with pytest.raises(RefusedError) as refused:
        lease(accountant, CEILING, 4, now=1030)
    already = "ceiling lease for a@b is already in effect (expires at 1060)"
    assert str(refused.value) == already
    # One that is over does not count, and what was before it is kept.
    lease(accountant, CEILING, 4, now=1060)
    assert manage(accountant, CEILING, 1061, Action="cancel") == "Cancelled ceiling lease for a@b"
    assert accountant.customers[USER].ceiling == -1


@pytest.mark.parametrize(
    ("kind", "request_", "complaint"),
    [
        (FLOOR, {}, "request is missing Action"),
        (FLOOR, {"Action": "x"}, "unknown Action 'x'"),
        (FLOOR, {"Action": "cancel"}, "no floor lease in effect for a@b"),
        (FACTOR, {"Action": "cancel"}, "no priority-factor lease in effect for a@b"),
        (FLOOR, {"Action": "set"}, "set action requires Floor"),
        (FLOOR, {"Action": "set", "Floor": 1}, "set action requires Duration"),
        (FLOOR, {"Action": "set", "Floor": 1, "Duration": 0}, "lease duration must be positive"),
        (FLOOR, {"Action": "set", "Floor": -1, "Duration": 1}, "floor must be non-negative"),
        (
            CEILING,
            {"Action": "set", "Ceiling": -2, "Duration": 1},
            "ceiling must be -1 (unlimited) or non-negative",
        ),
        (
            FACTOR,
            {"Action": "set", "PriorityFactor": 0.5, "Duration": 1},
            "priority factor must be >= 1",
        ),
        (
            FACTOR,
            {"Action": "set", "PriorityFactor": float("nan"), "Duration": 1},
            "priority factor must be >= 1",
        ),
    ],
)
def test_a_request_that_cannot_be_is_refused(
    kind: LeaseKind, request_: dict[str, object], complaint: str
) -> None:
    accountant = Accountant()
    with pytest.raises(RefusedError) as refused:
        manage(accountant, kind, 1000, **request_)
    assert str(refused.value) == complaint
    assert not accountant.customers


def test_a_lease_outlives_the_negotiator_in_its_log() -> None:
    accountant = Accountant()
    lease(accountant, CEILING, 3)
    lease(accountant, FACTOR, 7.5)
    table = table_of(accountant)
    texts = dict(table.customers())[USER]
    assert texts["CeilingLeaseExpiration"] == "1060"
    assert texts["CeilingPreLeaseValue"] == "-1"
    assert texts["PriorityFactorPreLeaseValue"] == "1000.000000"
    assert "FloorLeaseExpiration" not in texts
    again = accountant_of(table, PrioritySettings())
    assert len(expire_leases(again, 1060)) == 2
    assert (again.customers[USER].ceiling, again.customers[USER].factor) == (-1, None)


def test_the_ads_tell_of_leases_and_the_numbered_one_does_not() -> None:
    accountant = Accountant()
    lease(accountant, CEILING, 3)
    manage(accountant, CEILING, 1001, Action="cancel")
    (ad,) = (each for each in accounting_ads(accountant, {}) if each.string("Name") == USER)
    assert ad.integer("CeilingLeaseExpiration") == 0
    assert ad.integer("CeilingPreLeaseValue") == -1
    assert not [name for name in numbered_ad(accountant, {}).names() if "Lease" in name]
