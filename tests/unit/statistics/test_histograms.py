"""Histograms: their limits as text, and where a value belongs."""

from __future__ import annotations

import pytest

from kettle.errors import UsageError
from kettle.statistics.histograms import RUNTIME_LIMITS, SIZE_LIMITS, Histogram, parse_limits


def test_the_limits_of_the_reference_are_read() -> None:
    assert parse_limits(RUNTIME_LIMITS)[:4] == (30, 60, 180, 600)
    assert parse_limits(RUNTIME_LIMITS)[-1] == 16 * 86400
    assert parse_limits(SIZE_LIMITS)[0] == 64 * 1024
    assert parse_limits(SIZE_LIMITS)[-1] == 256 * 1024**3


@pytest.mark.parametrize("text", ["", "1Min, 30Sec", "1Min, 1Min", "12", "three"])
def test_what_is_no_rising_list_of_limits_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_limits(text)


def test_a_value_belongs_below_the_first_limit_that_is_above_it() -> None:
    histogram = Histogram(parse_limits("30Sec, 1Min"))
    for value in (0, 29.9, 30, 59, 60, 10_000):
        histogram.add(value)
    assert str(histogram) == "2, 2, 2"
