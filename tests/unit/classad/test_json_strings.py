"""Which strings of JSON are expressions: those whose two slashes are escaped, and no others."""

from __future__ import annotations

import pytest

from kettle.classad import unparse
from kettle.classad.forms import parse_ads


# Source: observed of 25.14.1's classad2.
@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r'"\/Expr(7)\/"', "7"),
        (r'"\/expr(7)\/"', "7"),
        (r'"\/Expr(\"x\/y\")\/"', '"x/y"'),
        (r'"/Expr(7)/"', '"/Expr(7)/"'),
        (r'"\/Expr(7)/"', '"/Expr(7)/"'),
        (r'"/Expr(7)\/"', '"/Expr(7)/"'),
        (r'"\u002fExpr(7)\/"', '"/Expr(7)/"'),
        (r'"\/Expr(7\/"', '"/Expr(7/"'),
        (r'"\\/Expr(7)\\/"', r'"\\/Expr(7)\\/"'),
        (r'"\/Expr(7)\\\/"', r'"/Expr(7)\\/"'),
    ],
)
def test_a_string_is_an_expression_only_with_both_slashes_escaped(written: str, read: str) -> None:
    [ad] = parse_ads(f'{{"A": {written}}}', "json")
    assert unparse(ad.lookup("A")) == read  # type: ignore[arg-type]


def test_what_a_user_wrote_is_not_evaluated() -> None:
    [ad] = parse_ads(r'{"Owner": "/Expr(strcat(\"ro\",\"ot\"))/"}', "json")
    assert ad.string("Owner") == '/Expr(strcat("ro","ot"))/'
