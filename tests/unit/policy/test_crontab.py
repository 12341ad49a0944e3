"""The cron fields against what a real 25.14.1 schedd made of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.policy.crontab import CronTabError, read_crontab

VECTORS = Path(__file__).resolve().parents[2] / "data/vectors/cron/cases.json"
CASES = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
ATTRIBUTES = {
    "minute": "CronMinute",
    "hour": "CronHour",
    "day_of_month": "CronDayOfMonth",
    "month": "CronMonth",
    "day_of_week": "CronDayOfWeek",
}
CRON_CASES = [case for case in CASES if ATTRIBUTES.keys() & case["cron"].keys()]
# The reference's own fallback: not on a full minute, and no time that the fields name.
FALLBACKS = [case for case in CRON_CASES if case.get("deferral_time", 0) % 60]
TIMES = [case for case in CRON_CASES if "deferral_time" in case and case not in FALLBACKS]
HELD = [case for case in CRON_CASES if case.get("hold_reason_code") == 25]
HANGS = [case for case in CRON_CASES if case.get("schedd_hangs")]


def name_of(case: dict[str, Any]) -> str:
    return f"{case['zone']} {case['local_time']} {case['cron']}"


def fields_of(case: dict[str, Any]) -> dict[str, str]:
    return {ATTRIBUTES[name]: text for name, text in case["cron"].items() if name in ATTRIBUTES}


def is_of_another_month(case: dict[str, Any]) -> bool:
    """Tell whether the reference named a day that the field of months excludes."""
    months = read_crontab(fields_of(case)).months
    return int(case["local_deferral"].split("-")[1]) not in months


# The reference's day 0 of a month: the last one of the month before, which was not asked for.
DAY_ZERO = [case for case in TIMES if is_of_another_month(case)]
ANSWERED = [case for case in TIMES if case not in DAY_ZERO]


@pytest.fixture
def zones(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


def use(zones: pytest.MonkeyPatch, zone: str) -> None:
    zones.setitem(os.environ, "TZ", zone)
    time.tzset()


def moment(text: str) -> int:
    return int(time.mktime(time.strptime(text, "%Y-%m-%d %H:%M")))


def test_every_recorded_case_is_looked_at() -> None:
    counted = len(ANSWERED) + len(DAY_ZERO) + len(FALLBACKS) + len(HELD) + len(HANGS)
    assert counted == len(CRON_CASES) > 250
    assert (len(DAY_ZERO), len(FALLBACKS), len(HANGS)) == (7, 6, 2)


@pytest.mark.parametrize("case", ANSWERED, ids=name_of)
def test_the_next_time_is_the_recorded_one(case: dict[str, Any], zones: pytest.MonkeyPatch) -> None:
    use(zones, case["zone"])
    assert read_crontab(fields_of(case)).next_time(case["now"]) == case["deferral_time"]


@pytest.mark.parametrize("case", HELD, ids=name_of)
def test_what_holds_a_job_is_refused_in_the_recorded_words(case: dict[str, Any]) -> None:
    with pytest.raises(CronTabError) as caught:
        read_crontab(fields_of(case))
    said = f"Invalid cron schedule parameters: {caught.value}"
    # A text with quotes left the reference's reason without a value.
    if case["hold_reason"] != "undefined":
        assert said == case["hold_reason"]


@pytest.mark.parametrize("case", FALLBACKS + DAY_ZERO, ids=name_of)
def test_a_weekday_of_a_later_month_is_waited_for(
    case: dict[str, Any], zones: pytest.MonkeyPatch
) -> None:
    use(zones, case["zone"])
    fields = fields_of(case)
    found = read_crontab(fields).next_time(case["now"])
    local = time.localtime(found)
    assert found > case["deferral_time"]
    assert local.tm_sec == 0
    assert local.tm_mon in read_crontab(fields).months
    assert (local.tm_wday + 1) % 7 in read_crontab(fields).days_of_week
    assert local.tm_mday <= 7
    only = {**fields, "CronDayOfMonth": str(local.tm_mday), "CronMonth": str(local.tm_mon)}
    del only["CronDayOfWeek"]
    assert read_crontab(only).next_time(case["now"]) == found


@pytest.mark.parametrize("case", HANGS, ids=name_of)
def test_a_date_that_never_comes_is_no_schedule(case: dict[str, Any]) -> None:
    with pytest.raises(CronTabError, match="never comes"):
        read_crontab(fields_of(case)).next_time(1_795_221_604)


def test_the_29th_of_february_is_found_across_years(zones: pytest.MonkeyPatch) -> None:
    use(zones, "UTC")
    leap = read_crontab(
        {"CronMinute": "0", "CronHour": "0", "CronDayOfMonth": "29", "CronMonth": "2"}
    )
    assert leap.next_time(moment("2096-03-01 00:00")) == moment("2104-02-29 00:00")


def test_the_hour_that_comes_twice_gives_no_time_in_the_past(zones: pytest.MonkeyPatch) -> None:
    use(zones, "America/Chicago")
    every = read_crontab({"CronMinute": "*/30"})
    now, end = moment("2026-11-01 00:15"), moment("2026-11-01 03:30")
    found = []
    while now < end:
        now = every.next_time(now)
        found.append(now)
    assert found == sorted(set(found))


@pytest.mark.parametrize(
    ("texts", "wrong", "without_step"),
    [
        ({"CronHour": "a", "CronMinute": "*/0"}, ("CronHour",), ()),
        ({"CronMonth": "5-3", "CronHour": "*/0"}, ("CronHour", "CronMonth"), ("CronHour",)),
        ({"CronHour": "*/0"}, ("CronHour",), ("CronHour",)),
    ],
)
def test_the_error_has_the_fields_that_are_wrong(
    texts: dict[str, str], wrong: tuple[str, ...], without_step: tuple[str, ...]
) -> None:
    with pytest.raises(CronTabError) as caught:
        read_crontab(texts)
    assert (caught.value.wrong, caught.value.without_step) == (wrong, without_step)


def test_a_number_without_end_is_out_of_range(zones: pytest.MonkeyPatch) -> None:
    use(zones, "UTC")
    assert read_crontab({"CronMinute": "9" * 10_000}).next_time(600) == 660
