"""Constraints that are tested on one ad after the other."""

from __future__ import annotations

from itertools import count

import pytest

from kettle.classad import ClassAd
from kettle.errors import KettleError
from kettle.tools.printing import ad_filter
from kettle.tools.printing.ad_filter import AdFilter


def test_a_constraint_that_costs_seconds_an_ad_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Every look at the clock is half a second later.
    seconds = count(0.0, 0.5)
    monkeypatch.setattr(ad_filter.time, "process_time", lambda: next(seconds))
    chosen = AdFilter("ClusterId == 1")
    for _ in range(4):
        assert chosen(ClassAd({"ClusterId": 1}))
    with pytest.raises(KettleError, match="seconds an ad"):
        chosen(ClassAd({"ClusterId": 1}))


def test_any_number_of_quick_tests_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count(0.0, 0.05)
    monkeypatch.setattr(ad_filter.time, "process_time", lambda: next(seconds))
    chosen = AdFilter("ClusterId == 1")
    assert all(not chosen(ClassAd({"ClusterId": 2})) for _ in range(200))


def test_records_that_double_are_given_up_after_some() -> None:
    doubling = "".join(f"; a{one + 1} = strcat(a{one}, a{one})" for one in range(40))
    chosen = AdFilter(f"[a0 = 1{doubling}].a40 > 0")
    with pytest.raises(KettleError, match="gave up"):
        any(chosen(ClassAd()) for _ in range(1000))
