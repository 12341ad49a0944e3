"""Texts that are lists, beside what 25.14.1's `classad_eval` says of them."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ('("a, b","b",",")', False),
        ('("a, ","b, ",",")', True),
        ('(" "," ",",")', True),
        ('(" ; ","; ",";")', True),
        ('("a,b ","b",",")', False),
        ('("a, b","b")', True),
        (r'("\n","\n")', True),
        (r'("a\n","a")', False),
        ('(" a","a","")', True),
        ('("a b","b c","")', True),
        ('(" "," ")', False),
        ('("xay","y","a-c")', True),
        ('("","",",")', False),
    ],
)
def test_lists_intersect_in_items_with_their_blanks(call: str, value: bool) -> None:
    ad = ClassAd()
    ad.insert_text("A", f"stringListsIntersect{call}")
    assert ad.evaluate("A") is value
