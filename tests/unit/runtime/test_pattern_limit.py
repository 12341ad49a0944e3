"""Patterns that would match for years end, and cost nothing the second time."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from kettle.classad import ERROR, ClassAd, parse_expression
from kettle.classad.functions import regex
from kettle.runtime import pattern_limit


@pytest.fixture(autouse=True)
def limited() -> Iterator[None]:
    before = signal.getsignal(signal.SIGVTALRM)
    pattern_limit.install()
    yield
    signal.signal(signal.SIGVTALRM, before)
    regex.set_search(lambda pattern, text, start: pattern.search(text, start))


@pytest.mark.parametrize(
    "text",
    [
        'regexp("^(a+)+$", "{0}b")',
        'regexp("(a|aa)+$", "{0}b")',
        'regexpMember("^(a*)*$", { "{0}b" })',
        'replaceAll("(a|a)*c", "{0}b", "")',
    ],
)
def test_a_pattern_that_backtracks_without_end_is_an_error(text: str) -> None:
    expression = parse_expression(text.replace("{0}", "a" * 60))
    assert ClassAd().evaluate_expression(expression) is ERROR
    began = time.process_time()
    assert ClassAd().evaluate_expression(expression) is ERROR
    assert time.process_time() - began < pattern_limit.PATTERN_SECONDS


def test_a_pattern_with_repetitions_still_matches() -> None:
    expression = parse_expression('regexp("^slot[0-9]+(_[0-9]+)?@.*$", "slot1_2@host")')
    assert ClassAd().evaluate_expression(expression) is True
