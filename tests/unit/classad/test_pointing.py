"""Where a text does not parse is drawn."""

from __future__ import annotations

import pytest

from kettle.classad import parse_expression
from kettle.classad.forms import parse_ads
from kettle.classad.pointing import point_at
from kettle.errors import ClassAdSyntaxError


def drawn(text: str) -> list[str]:
    with pytest.raises(ClassAdSyntaxError) as raised:
        parse_expression(text)
    return point_at(raised.value, "").split("\n")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("JobStatus = = 3", ["JobStatus = = 3", "          ^ unexpected '='"]),
        ("Memory +", ["Memory +", "        ^ expected a value, not the end"]),
        ("{1, 2", ["{1, 2", "     ^ expected } before the end"]),
        ("1 +\n\t* 2", [" * 2", " ^ expected a value, not '*'"]),
    ],
)
def test_the_line_and_below_it_a_caret_with_what_is_wrong(text: str, lines: list[str]) -> None:
    assert drawn(text) == lines


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    shown, below = drawn("a + " * 100 + "+ * b" + " + c" * 100)
    assert len(shown) == 78
    assert shown[0] == shown[-1] == "…"
    assert shown[below.index("^")] == "*"


def test_what_has_no_place_is_not_drawn() -> None:
    assert point_at(ClassAdSyntaxError("an expression is too long")) == ""


@pytest.mark.parametrize(
    ("text", "column", "what"),
    [
        ('Owner == "x', 9, "a string that never ends"),
        ('f(1, "a, b)', 5, "a string that never ends"),
        ("'My Name + 1", 0, "a name in quotes that never ends"),
    ],
)
def test_a_quote_that_is_not_closed_is_told_at_its_place(text: str, column: int, what: str) -> None:
    with pytest.raises(ClassAdSyntaxError) as caught:
        parse_expression(text)
    assert (caught.value.column, what in caught.value.message) == (column, True)


def test_below_the_caret_stands_what_is_wrong_without_its_column() -> None:
    with pytest.raises(ClassAdSyntaxError) as caught:
        list(parse_ads("A = 1\nB = 1 +\n", "long"))
    error = caught.value
    assert "at column" in error.message
    assert error.complaint == "line 2: expected a value, not the end"
    assert error.in_file("f").complaint == f"f, {error.complaint}"
