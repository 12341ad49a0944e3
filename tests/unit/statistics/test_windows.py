"""Recent sums of totals kept elsewhere, and rates that forget."""

from __future__ import annotations

import pytest

from kettle.statistics.windows import Rate, RecentTotals

START = 1_000_000


def test_only_what_a_total_has_grown_by_lately_is_recent() -> None:
    recent = RecentTotals(1200, 240)
    assert recent.observe({"Calls": 5}, START) == {"Calls": 5}
    assert recent.observe({"Calls": 5}, START + 300) == {"Calls": 5}
    assert recent.observe({"Calls": 8}, START + 1100) == {"Calls": 8}
    assert recent.observe({"Calls": 8}, START + 1500) == {"Calls": 3}


def test_a_rate_is_told_once_its_horizon_has_passed_and_nears_the_true_one() -> None:
    rate = Rate(START, {"1m": 60, "5m": 300})
    assert rate.observe(100, START + 10) == {}
    for second in range(20, 130, 10):
        told = rate.observe(second * 10, START + second)
    assert set(told) == {"1m"}
    assert told["1m"] == pytest.approx(10, rel=0.2)
    for second in range(130, 1000, 10):
        told = rate.observe(1200, START + second)
    assert told["1m"] < 0.01
    assert 0.01 < told["5m"] < 2
