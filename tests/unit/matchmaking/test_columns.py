"""What a column reads of the texts of its slots."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from kettle.matchmaking.columns import Column, read_number, read_numbers
from kettle.matchmaking.slot_classes import is_plain


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["1", "-2.5", "1e3"],
        ["1", "1_000"],
        ["1", "nan"],
        ["1", "inf", "-inf"],
        ["1", str(2**53 - 1), str(2**53)],
        ["1", None],
        ["1", '"1"', "Cpus"],
    ],
)
def test_texts_read_together_are_the_numbers_that_each_of_them_is(texts: list[str | None]) -> None:
    expected = [None if isnan(each) else each for each in map(read_number, texts)]
    assert [None if isnan(each) else each for each in read_numbers(texts)] == expected


@pytest.mark.parametrize(
    ("text", "plain"),
    [('"a b"', True), ('"a\\"b"', False), ('"a" + "b"', False), ("true", True), ("Cpus", False)],
)
def test_a_column_whose_texts_are_values_is_plain(text: str, plain: bool) -> None:
    assert Column("x", ["1", text, None]).plain is plain


@pytest.mark.parametrize(
    "odd", ['"a"', '"a\\"b"', '"a" + "b"', 'x"', '"', '"a\nb"', "", "1", "undefined", "Cpus"]
)
def test_many_strings_are_seen_at_once_and_an_odd_one_among_them_too(odd: str) -> None:
    texts: list[str | None] = [f'"text {number}"' for number in range(100)]
    column = Column("name", [*texts, odd])
    assert column.plain == is_plain(odd)
    assert not column.clean
    assert np.isnan(column.numbers[:100]).all()
    assert np.array_equal(column.numbers[100:], [read_number(odd)], equal_nan=True)
    assert Column("name", [*texts, None]).plain
