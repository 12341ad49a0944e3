"""Counters as tables: totals, recent sums, peaks, histograms, and names that nobody declared."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.statistics.counters import Counters, Kind, Row

ROWS = (
    Row("Starts", "Starts."),
    Row("Bytes", "Bytes.", Kind.REAL),
    Row("Lost", "Lost.", Kind.TOTAL),
    Row("Waiting", "Waiting.", Kind.LEVEL),
    Row("Lengths", "Lengths.", Kind.HISTOGRAM, "30Sec, 1Min"),
)
START = 1_000_000


def publish(counters: Counters, now: int) -> dict[str, object]:
    ad = ClassAd()
    counters.publish(ad, now)
    return {name: ad.evaluate(name) for name in ad}


def test_every_row_is_published_also_when_nothing_happened() -> None:
    published = publish(Counters(ROWS, START), START + 10)
    assert published == {
        "Starts": 0,
        "RecentStarts": 0,
        "Bytes": 0.0,
        "Lost": 0,
        "Waiting": 0,
        "WaitingPeak": 0,
        "Lengths": "0, 0, 0",
        "RecentLengths": "0, 0, 0",
        "StatsLifetime": 10,
        "RecentStatsLifetime": 10,
    }


def test_what_is_old_counts_in_the_total_and_no_longer_as_recent() -> None:
    counters = Counters(ROWS, START, window_seconds=1200, quantum_seconds=240)
    counters.add("Starts", START + 1, 3)
    counters.add_value("Lengths", START + 1, 45)
    counters.add("Starts", START + 1201, 1)
    published = publish(counters, START + 1201)
    assert (published["Starts"], published["RecentStarts"]) == (4, 1)
    assert (published["Lengths"], published["RecentLengths"]) == ("0, 1, 0", "0, 0, 0")
    assert published["RecentStatsLifetime"] == 1200


def test_a_level_remembers_its_peak() -> None:
    counters = Counters(ROWS, START)
    counters.set("Waiting", 7)
    counters.set("Waiting", 2)
    published = publish(counters, START)
    assert (published["Waiting"], published["WaitingPeak"]) == (2, 7)


def test_a_name_that_no_row_has_is_a_bug() -> None:
    with pytest.raises(KeyError):
        Counters(ROWS, START).add("Startz", START)


def test_several_things_are_counted_at_once_as_one_by_one() -> None:
    rows = [Row("A", "…"), Row("B", "…"), Row("C", "…", Kind.TOTAL)]
    together, apart = Counters(rows, 0), Counters(rows, 0)
    for now in (100, 400, 5000):
        amounts = {"A": 2.0, "B": 0.0, "C": now}
        together.add_all(amounts, now)
        for name, amount in amounts.items():
            apart.add(name, now, amount)
        found, expected = ClassAd(), ClassAd()
        together.publish(found, now)
        apart.publish(expected, now)
        assert found == expected
    with pytest.raises(KeyError):
        together.add_all({"D": 1}, 5000)
