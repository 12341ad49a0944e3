"""Calls that are always an error are seen before anybody asks for them."""

from __future__ import annotations

import pytest

from kettle.classad import parse_expression
from kettle.classad.call_faults import find_call_faults


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("strcatt(Name, 1)", [("strcatt() is no function", "strcat")]),
        ("zzz()", [("zzz() is no function", "")]),
        ('regexp("a[", Name)', [("regexp() has 'a[', which is no pattern", "")]),
        ('replaceAll("(", Name, "")', [("replaceAll() has '(', which is no pattern", "")]),
        ("f(1) + f(2)", [("f() is no function", "")]),
        ("[ a = {b(), x ? (c()) : 1}[0] ]", [(f"{name}() is no function", "") for name in "bc"]),
        ("regexp(Pattern, Name) && SUBSTR(Name, 1) == string(2)", []),
        ('regexp("^a[0-9]", Name)', []),
    ],
)
def test_a_call_that_is_always_an_error_is_found(text: str, faults: list[tuple[str, str]]) -> None:
    found = find_call_faults(parse_expression(text))
    assert [(fault.sentence, fault.nearest) for fault in found] == faults


def test_of_very_many_the_first_are_told() -> None:
    text = " + ".join(f"f{number}()" for number in range(5000))
    assert len(find_call_faults(parse_expression(text))) == 5
