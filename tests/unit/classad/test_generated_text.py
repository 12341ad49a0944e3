"""What calls of short values may be given: nothing that an evaluation would have to count."""

from __future__ import annotations

import pytest

from kettle.classad import UNDEFINED, Value, parse_expression
from kettle.classad.compile import evaluate
from kettle.classad.functions.table import LONGEST_SHORT
from kettle.classad.generated_text import is_short


@pytest.mark.parametrize(
    ("value", "short"),
    [
        (7, True),
        (UNDEFINED, True),
        ("a" * LONGEST_SHORT, True),
        ("a" * (LONGEST_SHORT + 1), False),
        ([1], False),
    ],
)
def test_a_constant_is_short_unless_it_is_a_long_text_or_a_list(value: Value, short: bool) -> None:
    assert is_short(value) is short


def test_a_list_of_an_expression_is_not_short() -> None:
    assert not is_short(evaluate(parse_expression("{ 1 }")))
