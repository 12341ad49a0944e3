"""Whole ads on a stream: what stands around them."""

from __future__ import annotations

import io

from kettle.classad import ClassAd
from kettle.tools.printing.whole_ads import write_ads


def written(form: str, *ads: ClassAd) -> str:
    out = io.StringIO()
    write_ads(ads, form, out)
    return out.getvalue()


def test_no_ad_in_json_is_no_output() -> None:
    assert written("json") == ""
    assert written("json", ClassAd({"A": 1})) == '[\n{\n  "A": 1\n}\n]\n'


def test_no_ad_in_xml_is_an_empty_document() -> None:
    assert "<classads>\n</classads>" in written("xml")
