"""No pattern of the source takes time by the square of a text's length."""

from __future__ import annotations

import re

import pytest

from pattern_growth import Found, growing_texts, patterns_of_source

# Patterns that see only texts of bounded length, or of whoever waits for them, each with its
# reason. The list may only shrink.
KNOWN: dict[str, str] = {}


@pytest.mark.slow
def test_every_pattern_is_linear() -> None:
    found = {each.place: list(growing_texts(each)) for each in patterns_of_source()}
    assert len(found) > 300
    growing = {place: texts for place, texts in found.items() if texts}
    assert growing.keys() == KNOWN.keys(), growing


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\d+x", "search"),
        (r"\s*a?\s*b", "match"),
        (r"(a|aa)+$", "match"),
        (r'"(?:[^"\\]|\\.)*"', "search"),
    ],
)
def test_one_that_is_not_would_be_found(pattern: str, method: str) -> None:
    assert list(growing_texts(Found("here", re.compile(pattern), (method,))))
