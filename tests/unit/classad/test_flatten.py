"""What partial evaluation leaves of an expression, as recorded of the real library's."""

from __future__ import annotations

import pytest

from kettle.classad import UNDEFINED, parse_expression, unparse
from kettle.classad.ad import parse_ad
from kettle.classad.flatten import flatten
from kettle.classad.nodes import Literal

AD = parse_ad('[a = 1; t = true; n = [k = 7]; d = x + a; c = a + 1; l = {1,2}; e = error; s = "s"]')


def flat(text: str) -> str:
    return " ".join(unparse(flatten(parse_expression(text), AD)).split())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("1 + x + y + 2", "3 + x + y"),
        ("x + y + 1", "1 + x + y"),
        ("2 * x * n.k", "14 * x"),
        ("x - 1 - 2", "x - 1 - 2"),
        ("x & 1 | 2", "1 & x | 2"),
        ("1 | x & 3", "1 | 3 & x"),
        ("min(s) || x || y", "error || x || y"),
        ("t && x", "x"),
        ("1 && x", "x"),
        ("x && 2.5", "x"),
        ("0 || x", "false || x"),
        ("x || false", "false || x"),
        ("x && false", "false"),
        ("x || 3", "true"),
        ('x && "a"', '"a" && x'),
        ("undefined && x", "undefined && x"),
        ("e || x", "error || x"),
        ("3 ?: x", "3 ?: x"),
        ("undefined ?: 4", "4"),
        ("x ?: 3", "x ?: 3"),
        ("{ 1,2 }[0]", "{ 1,2 }[0]"),
        ("l[1]", "l[1]"),
        ("d + a", "1 + d"),
        ("t ? x : y", "x"),
        ("undefined ? a : x", "undefined ? 1 : x"),
        ("join()", '""'),
        ("eval(undefined)", "error"),
        ("unparse(a)", '"1"'),
        ("unparse(d)", "unparse(d)"),
        ("unparse(x)", "unparse(x)"),
        # What a function makes is a value, be it a list or an ad; what is written out is none.
        ('split("a b")[0] + x', '"a" + x'),
        ('-split("a b")', "error"),
        ('{ split("a b"), x }', '{ { "a","b" },x }'),
        ("unparse(c)", '"a + 1"'),
        ("unresolved(c)", '""'),
        ("unparse(l, a + 1)", "unparse(l,2)"),
        # A name with a dot before it is the outermost ad's, wherever it stands.
        ("[ r = .a; a = 5 ]", "[ a = 5; r = 1 ]"),
        ("[ n = [ r = .a ]; a = 5 ]", "[ a = 5; n = [ r = 1 ] ]"),
        ("[ p = 1; q = p; r = a ]", "[ p = 1; q = 1; r = a ]"),
        ("[ p = q; q = 2; r = [ s = q; t = a ] ]", "[ p = 2; q = 2; r = [ s = 2; t = a ] ]"),
    ],
)
def test_constants_come_together_and_what_is_decided_goes(text: str, left: str) -> None:
    assert flat(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("t && 2 + x", "2 + x"),
        ("2 & x & 3 + y", "2 & x & 3 + y"),
        ("x & 1 || y ^ 2", "1 & x || 2 ^ y"),
        ("(x - y) + 1", "1 + (x - y)"),
        ("x % y * 2", "2 * (x % y)"),
        ("1 ^ x && 2 | y && true", "1 ^ x && 2 | y"),
    ],
)
def test_no_constant_is_lost_where_operators_meet(text: str, left: str) -> None:
    assert flat(text) == left


@pytest.mark.parametrize(
    ("text", "left"), [('1 || ""', "true"), ('0 && "x"', "false"), ('a || "" || x', "true")]
)
def test_what_decides_alone_decides_in_part_too(text: str, left: str) -> None:
    assert flat(text) == left


def test_what_is_left_is_worth_the_same() -> None:
    """Whatever the unknown names turn out to be."""
    texts = ["2 & x & 3 | y", "x < 3 && 0 + y", "1 + x + y * 2 + 3", "(x ?: a) + 1 + y"]
    for text in texts:
        expr = parse_expression(text)
        rest = flatten(expr, AD)
        for values in ("", "x = 1; y = 2", "x = true; y = 0", "x = undefined; y = error"):
            ad = parse_ad(f"[a = 1; t = true; {values}]")
            assert ad.evaluate_expression(rest) == ad.evaluate_expression(expr), (text, values)


def test_a_circle_is_undefined() -> None:
    left = flatten(parse_expression("p + 1"), parse_ad("[p = q; q = p]"))
    assert left == Literal(UNDEFINED)
