"""What is left of expressions after everything known was filled in."""

from __future__ import annotations

from kettle.classad import ERROR, UNDEFINED, Context, RelativeTime, parse_expression, unparse
from kettle.classad.ad import parse_ad
from kettle.classad.flatten import flatten
from kettle.classad.nodes import Expr, Literal

from .vectors import load


def _shown(expr: Expr) -> str:
    """Return the result as the vectors have it: values as Python prints the wheel's."""
    if not isinstance(expr, Literal):
        return unparse(expr)
    value = expr.value
    if value is ERROR:
        return "<Value.Error: 1>"
    if value is UNDEFINED:
        return "<Value.Undefined: 2>"
    return repr(value.seconds if isinstance(value, RelativeTime) else value)


def test_expressions_flatten_as_observed() -> None:
    wrong = []
    context = Context(lambda: 1.0)
    for case in load("flatten")["cases"]:
        found = _shown(flatten(parse_expression(case["expr"]), parse_ad(case["ad"]), context))
        if "exception" in case:
            # The reference gives up on circular references; ours leaves or resolves them.
            continue
        if found != case["flattened"]:
            wrong.append(f"{case['ad']} {case['expr']}: {found}, not {case['flattened']}")
    assert wrong == []
