"""Ads that are chained to what they have in common say what they said before."""

from __future__ import annotations

import sys
from collections.abc import Callable

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


def news(number: int, changed: int) -> ClassAd:
    """The ad of a slot that says so many of what is alike in another way."""
    return slot(number, **dict.fromkeys(NAMES[:changed], "undefined"))


def is_chained(family: Family, number: int = 99) -> bool:
    ad = slot(number)
    before = texts_of(ad)
    family.adopt(ad, number)
    assert texts_of(ad) == before
    return ad.parent is not None


def test_a_family_is_one_after_sixteen_ads() -> None:
    family = Family()
    assert not any(is_chained(family, number) for number in range(16))
    assert is_chained(family, 16)


def small(number: int, attributes: int) -> ClassAd:
    ad = ClassAd()
    ad.insert_text("Name", f'"{number}"')
    for name in NAMES[: attributes - 1]:
        ad.insert_text(name, "1")
    return ad


def test_an_ad_of_few_attributes_teaches_nothing_and_stands_alone() -> None:
    for attributes, is_one in ((31, False), (32, True)):
        family = Family()
        for number in range(16):
            family.adopt(small(number, attributes), number)
        ad = small(99, 32)
        family.adopt(ad, 99)
        assert (ad.parent is not None) is is_one


def spelled(number: int) -> ClassAd:
    """An ad whose names' spelling is its own."""
    ad = slot(number)
    del ad["Attribute1"]
    ad.insert_text("ATTRIBUTE1", "Memory > 10 && StartAttribute1")
    assert not ad.spelled_as_usual
    return ad


def chained_already(number: int) -> ClassAd:
    ad = slot(number)
    ad.parent = ClassAd({"Other": 1})
    return ad


@pytest.mark.parametrize("strange", [spelled, chained_already])
def test_an_ad_with_a_spelling_or_a_parent_of_its_own_teaches_nothing_and_keeps_it(
    strange: Callable[[int], ClassAd],
) -> None:
    family = Family()
    for number in range(40):
        family.adopt(strange(number), number)
    assert not is_chained(family)
    ad = strange(98)
    before, parent = texts_of(ad), ad.parent
    family = taught()
    family.adopt(ad, 98)
    assert ad.parent is parent
    assert texts_of(ad) == before


def test_the_ad_of_one_that_comes_twice_in_a_row_is_one_lesson() -> None:
    family = Family()
    for number in range(15):
        family.adopt(slot(number), number)
        family.adopt(slot(number), number)
    assert not is_chained(family, 14)
    assert not is_chained(family, 15)
    assert is_chained(family, 16)


def test_what_two_say_in_turns_is_in_common() -> None:
    family = Family()
    for number in range(16):
        family.adopt(slot(number % 2), number % 2)
    assert is_chained(family)


def test_what_an_ad_is_looked_up_for_is_never_in_common() -> None:
    family = Family()
    for number in range(16):
        family.adopt(slot(number, Absent="true", Offline="true"), number)
    ad = slot(20, Absent="true", Offline="true")
    family.adopt(ad, 20)
    assert ad.parent is not None
    assert {"absent", "offline"} <= ad.table.keys()
    # And nobody has to have them.
    assert is_chained(family)


def test_an_expression_that_is_no_text_any_more_is_not_in_common() -> None:
    family = Family()
    for number in range(16):
        ad = slot(number)
        assert ad.evaluate("Attribute1") is not True
        family.adopt(ad, number)
    ad = slot(20)
    family.adopt(ad, 20)
    assert ad.parent is not None
    assert "attribute1" in ad.table


def test_what_is_no_quarter_of_an_ad_is_not_worth_it() -> None:
    # Of 40 attributes 10 are a quarter.
    for alike, is_one in ((9, False), (10, True)):
        family = Family()
        for number in range(32):
            ad = ClassAd()
            for name in NAMES[:alike]:
                ad.insert_text(name, "1")
            for name in NAMES[alike:]:
                ad.insert_text(name, str(number))
            family.adopt(ad, number)
            if ad.parent is not None:
                assert number >= 16
                assert is_one
                break
        else:
            assert not is_one


def test_lessons_that_were_not_worth_it_are_forgotten() -> None:
    family = Family()
    for number in range(16):
        ad = ClassAd()
        for name in NAMES:
            ad.insert_text(name, str(number))
        family.adopt(ad, number)
    assert not any(is_chained(family, number) for number in range(20, 36))
    assert is_chained(family)


@pytest.mark.parametrize("lacks", [True, False])
def test_a_family_is_given_up_after_sixty_four_that_it_was_of_no_use_to(lacks: bool) -> None:
    def miss(number: int) -> ClassAd:
        ad = news(number, 20)
        if lacks:
            del ad["Attribute39"]
        return ad

    for misses, is_one in ((63, True), (64, False)):
        family = taught()
        for number in range(misses):
            ad = miss(number)
            family.adopt(ad, number)
            # The one with which it is given up among them.
            assert texts_of(ad) == texts_of(miss(number))
        assert is_chained(family) is is_one


def test_one_that_it_is_of_use_to_lets_a_family_live_on() -> None:
    family = taught()
    for number in range(100):
        family.adopt(news(number, 20), number)
        if number % 50 == 0:
            assert is_chained(family)
    assert is_chained(family)


def test_a_quarter_that_is_otherwise_is_of_use_still() -> None:
    # All that is in common is the type and 39 attributes: 40.
    plain = dict.fromkeys(["Attribute39"], "1")
    for changed, is_one in ((10, True), (11, False)):
        family = Family()
        for number in range(16):
            family.adopt(slot(number, Attribute39=str(number)), number)
        for number in range(64):
            ad = slot(number, **dict.fromkeys(NAMES[:changed], "undefined"), **plain)
            family.adopt(ad, number)
            # It is chained in any case: it takes less so.
            assert ad.parent is not None
        assert is_chained(family) is is_one


def test_a_family_that_was_given_up_learns_from_sixteen_more() -> None:
    family = taught()
    for number in range(64):
        family.adopt(news(number, 20), number)
    assert not any(is_chained(family, number) for number in range(100, 116))
    assert is_chained(family)
    assert is_chained(family)


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
