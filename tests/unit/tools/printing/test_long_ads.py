"""Many ads in a row are printed as each alone is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.classad.forms import render_ads
from kettle.tools.printing.long_ads import LongAds

TEXTS = (
    "1", "-1", "- 1", "007", "1.50", "1e3", "TRUE", "true", "Undefined", "error", '"plain text"',
    '"with \\"quotes\\""', '"back\\slash"', '"tab\there"', '"ümlaut"', '""', "a+b", "( x==1 )",
    "TARGET.Memory>=1024&&MY.Arch==\"X\"", "{1,2}", "[a=1;b=2]", "not an (expression",
    "99999999999999999999", "-0",
    "strcat( \"a\",\"b\" )", "x ? 1:2", "1K",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_value_is_printed_as_by_itself(text: str) -> None:
    printer = LongAds()
    for _ in range(2):
        one, other = ClassAd(), ClassAd()
        for ad in (one, other):
            ad.insert_text("Zeta", text)
            ad.insert_text("alpha", "1 +1")
        assert printer.render(one) == render_ads([other], "long")


@given(texts=st.lists(st.sampled_from(TEXTS), max_size=6), seed=st.integers(0, 99))
def test_ads_with_other_names_parents_and_parsed_values_are_printed_alike(
    texts: list[str], seed: int
) -> None:
    printer, chance = LongAds(), random.Random(seed)
    for _ in range(3):
        parent = ClassAd({"Shared": 1, "B": "own"})
        one, other = ClassAd(parent=parent), ClassAd(parent=parent)
        names = chance.sample(["A", "a_", "B", "b1", "Zz", "Requirements"], len(texts))
        for name, text in zip(names, texts, strict=True):
            one.insert_text(name, text)
            other.insert_text(name, text)
            if chance.random() < 0.3:
                one.evaluate(name)
        assert printer.render(one) == render_ads([other], "long")


def test_an_empty_ad_is_nothing() -> None:
    assert LongAds().render(ClassAd()) == ""
