"""How long a search takes at most is read off the shape of its pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.classad.functions import regex
from kettle.patterns.perl import compile_perl
from kettle.patterns.shape import Shape, shape_of

_T = TypeVar("_T")


def _shape(pattern: str, flags: int = 0) -> Shape | None:
    return shape_of(compile_perl(pattern.encode(), flags))


@pytest.mark.parametrize(
    ("pattern", "degree"),
    [
        ("cluster", 1),
        ("^slot[0-9]+(_[0-9]+)?@.*$", 1),
        ("^[^@]+@[^.]+[.].*$", 1),
        ("^(vanilla|docker)$", 1),
        (r"^(\d+)\.(\d+)\.(\d+)$", 1),
        ("[0-9]{3}", 1),
        ("a{1,4}b", 1),
        # Tried from each place anew.
        ("a+b", 2),
        (r".*\.example\.org$", 2),
        # Each end of the one with each of the other.
        ("^.*foo.*bar$", 2),
        ("(.*)@(.*)", 3),
    ],
)
def test_the_time_is_bounded_by_a_power_of_the_length(pattern: str, degree: int) -> None:
    shape = _shape(pattern)
    assert shape is not None
    assert shape.degree == degree


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a*)*b",
        "(?:ab)+c",
        "(a|a)*b",
        r"(a+)\1b",
        "(?=a*)b",
        "(?<!a)b",
        "a*b*c*d*a*b*e",
        "a*a*a*a*b",
        "(.|a)" * 28 + "c",
        "a{1,8}" * 20 + "b",
        "a?" * 40 + "a" * 40,
        "(?>a*)b",
        "(a)?(?(1)b|c)",
        "a" * 2000 + "+",
    ],
)
def test_what_is_tried_in_too_many_ways_has_no_bound(pattern: str) -> None:
    assert _shape(pattern) is None


def test_options_decide_what_is_alike_and_where_a_line_begins() -> None:
    assert _shape("^A+a") == _shape("^A+a", re.IGNORECASE)
    assert (_shape("^a+b") or Shape(0, 0)).degree == 1
    assert (_shape("^a+b", re.MULTILINE) or Shape(0, 0)).degree == 2
    assert (_shape("^(?i:a+)A") or Shape(0, 0)).degree == 1


@pytest.fixture
def timed() -> Iterator[list[str]]:
    calls: list[str] = []

    def bound(search: Callable[[], _T], _purse: regex.Purse) -> _T:
        calls.append("timed")
        return search()

    regex.set_bound(bound)
    yield calls
    regex.set_bound(regex.unbounded)


@pytest.mark.parametrize(
    "call",
    [
        'regexp("^slot[0-9]+(_[0-9]+)?@.*$", Name)',
        r'regexp(".*\\.example\\.org$", Name, "i")',
        'regexpMember("^slot[0-9]+_1@", { "a", Name })',
        'replaceAll("[.]+", Name, "-") == "slot1_1@node7-example-org"',
    ],
)
def test_ordinary_searches_are_not_timed(timed: list[str], call: str) -> None:
    ad = ClassAd({"Name": "slot1_1@node7.example.org"})
    expression = parse_expression(call)
    assert ad.evaluate_expression(expression) is True
    timed.clear()
    assert ad.evaluate_expression(expression) is True
    assert timed == []


def test_searches_that_take_long_together_are_timed_in_the_end(timed: list[str]) -> None:
    texts = ",".join(f'"{number:03}{"a" * 180}"' for number in range(200))
    expression = parse_expression(f'regexpMember("a+b", {{ {texts} }})')
    assert ClassAd().evaluate_expression(expression) is False
    assert 50 < len(timed) < 200


def test_a_long_text_is_timed(timed: list[str]) -> None:
    expression = parse_expression('regexp("a+b", T)')
    assert ClassAd({"T": "a" * 1000}).evaluate_expression(expression) is False
    timed.clear()
    assert ClassAd({"T": "a" * 1000}).evaluate_expression(expression) is False
    assert timed == ["timed"]
