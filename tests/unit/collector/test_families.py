"""Ads that are chained to what they have in common say what they said before."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd, parse_expression
from kettle.collector.ad_kinds import SLOT
from kettle.collector.ad_store import AdStore
from kettle.collector.families import Family

pytestmark = pytest.mark.usefixtures("names_are_shared")

NAMES = [f"Attribute{number}" for number in range(40)]


def slot(number: int, **more: str) -> ClassAd:
    """Return the ad of a slot that differs from others in a dozen numbers."""
    ad = ClassAd()
    for name, text in {"MyType": '"Machine"', "Name": f'"slot1@{number}"', **more}.items():
        ad.insert_text(name, text)
    for name in NAMES:
        if name not in more:
            ad.insert_text(name, f"Memory > {len(name)} && Start{name}")
    for each in range(12):
        ad.insert_text(f"Number{each}", str(1000 * number + each))
    return ad


def texts_of(ad: ClassAd) -> dict[str, str | None]:
    return {name: ad.text(name) for name in ad.names()}


def taught() -> Family:
    family = Family()
    for number in range(16):
        family.adopt(slot(number), number)
    return family


def test_what_ads_have_in_common_is_there_once() -> None:
    family = taught()
    one, other = slot(20), slot(21)
    before = texts_of(one)
    family.adopt(one, 20)
    family.adopt(other, 21)
    assert one.parent is other.parent is not None
    assert sorted(one.table) == sorted(["name", *(f"number{each}" for each in range(12))])
    assert texts_of(one) == before
    # What is asked of one is read for all of them, and later ads have it in common all the same.
    assert one.evaluate_expression(parse_expression("Attribute1 =?= undefined")) is True
    late = slot(22)
    family.adopt(late, 22)
    assert len(late.table) == len(one.table)


def test_an_ad_that_lacks_what_others_have_stands_alone() -> None:
    family = taught()
    ad = slot(20)
    del ad["Attribute7"]
    family.adopt(ad, 20)
    assert ad.parent is None
    assert "Attribute7" not in ad


def test_one_ad_that_comes_again_is_not_what_all_have_in_common() -> None:
    family = Family()
    for _ in range(40):
        family.adopt(slot(1), 1)
    ad = slot(1)
    family.adopt(ad, 1)
    assert ad.parent is None


def test_a_family_learns_again_when_a_pool_has_become_another() -> None:
    family = taught()
    news = dict.fromkeys(NAMES[:30], "undefined")
    for number in range(64 + 16):
        family.adopt(slot(number, **news), number)
    ad = slot(99, **news)
    family.adopt(ad, 99)
    assert len(ad.table) == 13
    assert texts_of(ad) == texts_of(slot(99, **news))


CHANGES = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from([*NAMES[:6], "Absent", "New"]),
        st.sampled_from(["1", '"x"', "undefined", "Memory > 14 && StartAttribute3", ""]),
    ),
    max_size=60,
)


@given(CHANGES)
def test_the_store_says_of_ads_what_was_said_to_it(changes: list[tuple[int, str, str]]) -> None:
    plain, chained = AdStore(), AdStore()
    plain._families.clear()
    for number in range(18):
        for store in (plain, chained):
            store.update(SLOT, slot(number), now=number)
    for at, (number, name, text) in enumerate(changes, 100):
        for store in (plain, chained):
            ad = slot(number)
            if text:
                ad.insert_text(name, text)
            elif name in ad:
                del ad[name]
            store.update(SLOT, ad, now=at)
    expected = [texts_of(entry.ad) for entry in plain.table(SLOT).values()]
    found = list(chained.table(SLOT).values())
    assert [texts_of(entry.ad) for entry in found] == expected
    assert found[-1].ad.parent is not None


def test_a_chained_ad_takes_half_of_the_memory() -> None:
    alone, chained = slot(20), slot(20)
    taught().adopt(chained, 20)
    assert sys.getsizeof(chained.table) * 2 <= sys.getsizeof(alone.table)
