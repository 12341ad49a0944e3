"""What a column reads of the texts of its slots."""

from __future__ import annotations

from math import isnan

import pytest

from kettle.matchmaking.columns import Column, read_number, read_numbers


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
