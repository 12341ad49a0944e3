"""What is written in a row is as long as somebody wrote it: no reader of trees goes down it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kettle.classad import ClassAd, parse_expression, unparse
from kettle.classad.flatten import flatten
from kettle.classad.never import why_never_true
from kettle.classad.nodes import MAX_DEPTH, nesting, weigh
from kettle.classad.pretty import pretty
from kettle.classad.references import find_references
from kettle.classad.values import Expr
from kettle.transforms.scopes import filled_in, with_scope

LINKS = 3000
LINKED = {
    "sum": " + 1",
    "difference": " - 1",
    "comparison": " < 2",
    "identity": " is 2",
    "shift": " >>> 2",
    "logic": " && q || r",
    "several": " + q - r * 2",
    "names after dots": ".q",
    "subscripts": "[0]",
    "both": ".q[0]",
    "subscripts that count": "[0].q - 1",
}
CHAINS = {name: "a" + link * LINKS for name, link in LINKED.items()} | {
    "names of another ad": "TARGET.a" + ".q" * LINKS,
    "names of a list": "{ a }[0]" + ".q" * LINKS,
    "elements": "{" + "a," * LINKS + "a}",
    "arguments": "strcat(" + "a," * LINKS + "a)",
}
AD = ClassAd({"b": 1})
WALKS: dict[str, Callable[[Expr], object]] = {
    "flatten": lambda expr: flatten(expr, AD),
    "references": lambda expr: find_references(expr, AD),
    "never": why_never_true,
    "pretty": pretty,
    "filled in": lambda expr: filled_in(expr, AD),
    "scopes": lambda expr: with_scope(expr, "target", "MY"),
    "old": lambda expr: unparse(expr, old=True),
    "weigh": weigh,
    "equal": lambda expr: expr == parse_expression(unparse(expr)),
    "value": lambda expr: ClassAd({"x": expr}).evaluate("x"),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("walk", WALKS)
def test_a_long_row_is_gone_through(walk: str, chain: str) -> None:
    WALKS[walk](parse_expression(CHAINS[chain]))


@pytest.mark.parametrize("chain", CHAINS)
def test_a_row_is_not_deep(chain: str) -> None:
    assert nesting(parse_expression(CHAINS[chain])) <= 12


@pytest.mark.parametrize(
    ("before", "after"), [("(", ")"), ("f(", ")"), ("{", "}"), ("[a=", "]"), ("!", ""), ("x[", "]")]
)
def test_nesting_is_counted_as_the_parser_counts(before: str, after: str) -> None:
    levels = MAX_DEPTH // (2 if before == "!" else 6)
    text = before * levels + "a" + after * levels
    assert MAX_DEPTH - 6 < nesting(parse_expression(text)) <= MAX_DEPTH
