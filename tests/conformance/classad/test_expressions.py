"""Every observed expression: whether it parses, how it prints, what it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.known_differences import differences
from kettle.classad.context import ambient, set_ambient

from .check_case import complaints
from .vectors import load
from .worlds import world

FILES = (
    "operators",
    "scoping",
    "syntax",
    "random",
    "probes",
    "volatile",
    "functions_control",
    "functions_lists",
    "functions_numbers",
    "functions_predicates",
    "functions_regex",
    "functions_strings",
    "functions_system",
    "functions_time",
    "time_zones",
)


@pytest.fixture(autouse=True)
def _restored_ambient() -> Iterator[None]:
    before = ambient()
    yield
    set_ambient(before)


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", FILES)
def test_expressions_parse_print_and_evaluate_as_observed(name: str, *, strict: bool) -> None:
    document = load(name)
    named = document.get("named_ads", {})
    wrong = {}
    for number, case in enumerate(document["cases"]):
        if strict and "strict" not in case:
            continue
        context = world({**document, **case}, strict=strict)
        set_ambient(context)
        if why := complaints(case, named, context):
            wrong[number] = case["expr"], why
    # All that differ do so in strict matching.
    assert set(wrong) == (set(differences(f"classad/{name}")) if strict else set()), wrong
