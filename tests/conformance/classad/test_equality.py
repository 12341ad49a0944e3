"""Which expressions were observed to be the same."""

from __future__ import annotations

from kettle.classad import parse_expression

from .vectors import load


def test_expressions_are_the_same_as_observed() -> None:
    wrong = []
    for case in load("equality")["cases"]:
        same = parse_expression(case["left"]) == parse_expression(case["right"])
        if same != case["equal"]:
            wrong.append(f"{case['left']} and {case['right']}: {same}")
    assert wrong == []
