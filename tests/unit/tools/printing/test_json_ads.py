"""Ads rendered fast are what they are rendered one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.classad.forms_json import to_json
from kettle.tools.printing.json_ads import JsonAds

TEXTS = [
    "0",
    "-7",
    "007",
    "1.50",
    "1e3",
    '"plain"',
    '"with \\"quotes\\" and \\\\"',
    '"tab\\tand é"',
    "true",
    "TRUE",
    "undefined",
    "A + 1",
    '{ 1,"two",[ x = 3 ] }',
    "this does not ) parse",
]
ADS = st.dictionaries(
    st.sampled_from(["A", "b", "Cc", "_d", "O'dd"]), st.sampled_from(TEXTS), max_size=5
)


@given(st.lists(ADS, max_size=10))
def test_many_ads_are_rendered_as_one_by_one(ads: list[dict[str, str]]) -> None:
    renderer = JsonAds()
    for attributes in ads:
        ad = ClassAd()
        for name, text in attributes.items():
            ad.insert_text(name, text)
        assert renderer.render(ad) == to_json(ad, sort=True)
        chained = ClassAd({"Own": 1}, parent=ad)
        assert renderer.render(chained) == to_json(chained, sort=True)


@given(ADS, st.lists(ADS, max_size=10))
def test_ads_of_one_parent_are_rendered_as_one_by_one(
    shared: dict[str, str], ads: list[dict[str, str]]
) -> None:
    renderer = JsonAds()
    parent = ClassAd()
    for name, text in shared.items():
        parent.insert_text(name, text)
    for attributes in ads:
        ad = ClassAd(parent=parent)
        for name, text in attributes.items():
            ad.insert_text(name, text)
        assert renderer.render(ad) == to_json(ad, sort=True)
        ad.evaluate("A")
        assert renderer.render(ad) == to_json(ad, sort=True)
