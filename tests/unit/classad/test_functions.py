"""The examples of the function tables are true, and no name is there twice."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.classad.compile import evaluate_lazily, new_state
from kettle.classad.functions.table import Function, families, find_function
from kettle.classad.unparse import render_value

ROWS = [row for rows in families().values() for row in rows]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_examples_of_a_function_are_true(row: Function) -> None:
    assert row.examples
    for text, value in row.examples:
        found = evaluate_lazily(parse_expression(text), new_state(ClassAd()))
        assert render_value(found) == value, text


def test_every_function_is_found_by_its_name_in_any_case() -> None:
    assert len({row.name.lower() for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert find_function(row.name.upper()) is row
        assert row.signature.startswith(row.name + "(")
        assert row.doc.endswith(".")
