"""Ads that come one after the other are mostly alike: what is alike is in memory once."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd, parse_ad, parse_old_ad
from kettle.classad.forms_json import to_json
from kettle.classad.unparse import unparse

pytestmark = pytest.mark.usefixtures("names_are_shared")


def _ad(*lines: str) -> ClassAd:
    ad = ClassAd()
    # Texts from the wire are objects of their own.
    assert ad.insert_lines([line.encode().decode() for line in lines]) is None
    return ad


def test_the_texts_of_ads_that_are_alike_are_one_object() -> None:
    long = "KeptLong = " + "1 + " * 100 + "1"
    _ad("KeptText = 1", "KeptNumber = 1", "KeptLong = 1")
    one = _ad("KeptText = Memory > 1024", "KeptNumber = 12345", long)
    other = _ad("KeptText = Memory > 1024", "KeptNumber = 54321", long)
    assert one.table["kepttext"] is other.table["kepttext"]
    assert other.text("KeptNumber") == "54321"
    # Limit: a text that is long is not remembered.
    assert one.table["keptlong"] is not other.table["keptlong"]
    assert one.text("KeptLong") == other.text("KeptLong")


def test_the_texts_of_ads_that_are_parsed_from_lines_are_shared_too() -> None:
    text = "KeptHere = Cpus > 3 && true\n"
    ads = [parse_old_ad(text, check=False) for _ in range(3)]
    assert ads[1].table["kepthere"] is ads[2].table["kepthere"]


def test_ads_with_the_same_names_are_printed_each_with_its_own_values() -> None:
    ads = [_ad(f"Bb = {number}", f'A = "{number}"') for number in range(3)]
    assert [unparse(ad, old=True) for ad in ads] == [f'A = "{n}"\nBb = {n}\n' for n in range(3)]
    assert [unparse(ad) for ad in ads] == [f'[ A = "{n}"; Bb = {n} ]' for n in range(3)]
    assert [to_json(ad) for ad in ads] == [f'{{\n  "A": "{n}",\n  "Bb": {n}\n}}' for n in range(3)]


def test_names_that_only_differ_in_their_letters_are_printed_as_each_ad_spells_them() -> None:
    one, other = _ad("KeptSpelling = 1"), _ad("keptSPELLING = 1")
    assert unparse(one, old=True) == "KeptSpelling = 1\n"
    assert unparse(other, old=True) == "keptSPELLING = 1\n"


def test_a_chained_ad_is_printed_with_what_it_is_chained_to() -> None:
    above = _ad("A = 1", "B = 2")
    ad = ClassAd(parent=above)
    ad.insert_lines(["B = 3"])
    assert unparse(ad, old=True) == "A = 1\nB = 3\n"
    assert unparse(ad) == "[ A = 1; B = 3 ]"
    assert to_json(ad) == '{\n  "A": 1,\n  "B": 3\n}'


def test_an_ad_with_other_texts_shares_those_that_are_the_same() -> None:
    model = _ad("A = Memory > 1", "B = 1", "C = x + 1")
    model.evaluate("C")
    other = model.with_texts([b"Memory > 1".decode(), "2", "x + 1"])
    assert other.table["a"] is model.table["a"]
    assert [other.text(name) for name in "ABC"] == ["Memory > 1", "2", "x + 1"]
    assert model.text("B") == "1"


@pytest.mark.parametrize("which", [0, 1])
def test_ads_that_share_their_names_may_be_changed_by_themselves(which: int) -> None:
    _ad("KeptApart = 1")
    model = _ad("KEPTApart = 1")
    pair = [model, model.with_texts(["2"])]
    pair[which].discard("KeptApart")
    pair[which].update(_ad("keptAPART = 3"))
    pair[which].update(_ad("kept-more = 3"))
    assert pair[which].lines() == ["keptAPART = 3", "kept-more = 3"]
    assert pair[not which].lines() == [f"KEPTApart = {2 - which}"]


def test_a_written_out_ad_that_is_chained_changes_its_own_names_alone() -> None:
    _ad("KeptInside = 1")
    outer = parse_ad("[ a = [ KEPTINSIDE = 1; ] ]")
    inner = outer.evaluate("a")
    assert isinstance(inner, ClassAd)
    inner.chain(dict(inner.table), ClassAd())
    inner.discard("KeptInside")
    assert unparse(outer) == "[ a = [ KEPTINSIDE = 1 ] ]"


def test_an_ad_that_takes_another_s_attributes_keeps_its_own_spellings() -> None:
    _ad("KeptHereToo = 1", "KeptThere = 1", "KeptElsewhere = 1")
    ad = _ad("KEPTHERETOO = 1", "KeptElsewhere = 1")
    ad.update(_ad("keptHereToo = 2", "KEPTthere = 2", "KeptElsewhere = 2"))
    assert ad.lines() == ["KEPTHERETOO = 2", "KeptElsewhere = 2", "KEPTthere = 2"]
    usual = _ad("KeptHereToo = 1")
    usual.update(_ad("keptHereToo = 2"))
    assert usual.lines() == ["KeptHereToo = 2"]
    # What is taken may be changed by itself.
    other = _ad("KEPTthere = 2")
    third = ClassAd()
    third.update(other)
    third.discard("KeptThere")
    assert other.lines() == ["KEPTthere = 2"]
