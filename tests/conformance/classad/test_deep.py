"""Deep and long expressions: what the reference accepts is accepted, nothing crashes."""

from __future__ import annotations

import pytest

from conformance.known_differences import differences
from kettle.classad import Context, parse_expression, unparse
from kettle.classad.compile import evaluate_lazily
from kettle.classad.state import new_state
from kettle.errors import ClassAdSyntaxError

from .check_case import agrees
from .vectors import Case, describe, load

DOCUMENT = load("deep")
TOPICS = sorted({case["topic"] for case in DOCUMENT["cases"]})


def _text(case: Case) -> str:
    opening: str = case["left"] * (1 if "close" in case else case["count"])
    return opening + str(case["core"] + case["right"] * case["count"] + case.get("close", ""))


@pytest.mark.parametrize("topic", TOPICS)
def test_deep_expressions_are_accepted_as_far_as_observed_and_never_crash(topic: str) -> None:
    for number, case in enumerate(DOCUMENT["cases"]):
        if case["topic"] != topic:
            continue
        try:
            expr = parse_expression(_text(case))
        except ClassAdSyntaxError:
            assert case.get("rejected"), f"{topic} x {case['count']} does not parse"
            continue
        assert not case.get("rejected"), f"{topic} x {case['count']} parses"
        unparse(expr)
        value = evaluate_lazily(expr, new_state(None, None, Context()))
        if number in differences("classad/deep"):
            assert not agrees(describe(value), case["result"])
        elif "result" in case:
            assert agrees(describe(value), case["result"]), f"{topic} x {case['count']}"
