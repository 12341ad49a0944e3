"""`formatTime`'s `%s` and `%Z`, as condor_status of 25.14.1 prints them in several time zones."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kettle.classad import Context, parse_expression
from kettle.classad.compile import evaluate

ASKED = (
    ('absTime("2021-06-01T00:00:00+05:30")', "%s %H %z %Z"),
    ('absTime("2021-01-01T00:00:00-08:00")', "%s"),
    ("1622505600", "%s %H %Z"),
    ("1610000000", "%s %H"),
    ('splitTime(absTime("2021-06-01T00:00:00Z"))', "%s"),
    ('absTime("2021-11-07T01:30:00Z")', "%s"),
    ('absTime("9999-06-01T00:00:00+05:30")', "%s"),
    ("[ Year = 2021; Month = 0; Day = 0 ]", "%s %d"),
    ("[ Year = 2021; Month = 1; Day = 1; Hours = -5; Minutes = 90; Seconds = -100 ]", "%s"),
    ("[ Year = 2147483647; Month = 2147483647; Day = 2147483647 ]", "%Y %Z"),
)
SAID = {
    "UTC": [
        "1622505600 00 +0000 UTC",
        "1609459200",
        "1622505600 00 UTC",
        "1610000000 06",
        "1622505600",
        "1636248600",
        "253383811200",
        "1606694400 00",
        "1609446500",
        "2147483647 UTC",
    ],
    "EST5EDT,M3.2.0,M11.1.0": [
        "1622523600 00 +0000 EST",
        "1609477200",
        "1622509200 20 EST",
        "1610000000 01",
        "1622523600",
        "1636266600",
        "253383829200",
        "1606712400 00",
        "1609464500",
        "2147483647 EST",
    ],
    "XYZ-3": [
        "1622494800 00 +0000 XYZ",
        "1609448400",
        "1622505600 03 XYZ",
        "1610000000 09",
        "1622494800",
        "1636237800",
        "253383800400",
        "1606683600 00",
        "1609435700",
        "2147483647 XYZ",
    ],
    "AEST-10AEDT,M10.1.0,M4.1.0/3": [
        "1622469600 00 +0000 AEST",
        "1609423200",
        "1622505600 10 AEST",
        "1610003600 17",
        "1622469600",
        "1636212600",
        "253383775200",
        "1606658400 00",
        "1609410500",
        "2147483647 AEST",
    ],
}


@pytest.fixture
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("zone", SAID, indirect=True)
def test_seconds_of_a_time_are_those_of_its_fields_in_standard_time(zone: str) -> None:
    context = Context(
        utc_offset=lambda seconds: time.localtime(seconds).tm_gmtoff,
        zone_name=lambda seconds: time.localtime(seconds).tm_zone,
    )
    said = [
        evaluate(parse_expression(f'formatTime({moment},"{template}")'), context=context)
        for moment, template in ASKED
    ]
    assert said == SAID[zone]


@pytest.mark.parametrize("zone", ["America/New_York"], indirect=True)
def test_an_hour_that_comes_twice_is_the_later_one(zone: str) -> None:
    """And one that never comes is counted from what the clocks show then; so the wheel says."""
    context = Context(utc_offset=lambda seconds: time.localtime(seconds).tm_gmtoff)
    for text, seconds in (
        ("2020-11-01T00:30:00", 1604205000),
        ("2020-11-01T01:30:00", 1604212200),
        ("2020-11-01T02:30:00", 1604215800),
        ("2020-03-08T01:30:00", 1583649000),
        ("2020-03-08T02:30:00", 1583649000),
        ("2050-07-01T12:00:00", 2540304000),
        ("1960-06-01T00:00:00", -302472000),
    ):
        expr = parse_expression(f'int(absTime(strcat("{text}","")))')
        assert evaluate(expr, context=context) == seconds, (zone, text)
