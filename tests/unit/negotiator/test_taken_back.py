"""A change that failed leaves no trace, and what happened meanwhile stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kettle.classad import ClassAd
from kettle.negotiator.accountant import Accountant
from kettle.negotiator.books_table import table_of
from kettle.negotiator.customers import LEASE_KINDS
from kettle.negotiator.leases import manage_lease
from kettle.negotiator.taken_back import Change

USER = "u@here"


def lease(accountant: Accountant) -> None:
    request = ClassAd({"Action": "set", "Duration": 60, "Floor": 3})
    manage_lease(accountant, LEASE_KINDS["Floor"], USER, request, 1000)


CHANGES: list[Callable[[Accountant], None]] = [
    lambda books: books.set_priority(USER, 7.0),
    lambda books: books.set_factor(USER, 10.0),
    lambda books: books.set_usage(USER, 0.0),
    lambda books: books.set_ceiling(USER, 9),
    lambda books: books.reset_usage(USER, 1000),
    lambda books: books.delete(USER),
    lease,
]


@pytest.mark.parametrize("make", CHANGES)
@pytest.mark.parametrize("known", [True, False])
def test_what_was_before_is_back(make: Callable[[Accountant], None], known: bool) -> None:
    accountant = Accountant()
    if known:
        accountant.set_usage(USER, 55.0)
        accountant.set_floor(USER, 2)
    before = table_of(accountant).ads
    change = Change(accountant, [USER])
    make(accountant)
    change.made()
    change.take_back()
    assert table_of(accountant).ads == before


@pytest.mark.parametrize("make", CHANGES)
def test_what_is_used_meanwhile_is_charged(make: Callable[[Accountant], None]) -> None:
    accountant = Accountant()
    accountant.set_usage(USER, 55.0)
    accountant.age(1000)
    change = Change(accountant, [USER])
    make(accountant)
    change.made()
    accountant.add_match(USER, "slot1@h", 2.0, 1000)
    accountant.age(1010)
    change.take_back()
    customer = accountant.customers[USER]
    assert customer.weighted_accumulated == 75.0
    assert (customer.slots_in_use, customer.weight_in_use) == (1, 2.0)
    assert (customer.ceiling, customer.floor, customer.factor) == (-1, 0, None)
    assert customer.last_usage_at == 1010
    assert not customer.leases


def test_what_another_hand_has_set_since_stays() -> None:
    accountant = Accountant()
    change = Change(accountant, [USER])
    accountant.set_factor(USER, 10.0)
    change.made()
    accountant.set_factor(USER, 12.0)
    change.take_back()
    assert accountant.factor(USER) == 12.0
