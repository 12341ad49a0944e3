"""Numbers of more digits than anything counts are no numbers of an event log."""

from __future__ import annotations

import pytest

from kettle.records.event_log import damage_in, parse_event
from kettle.records.event_usage import CpuTimes

HUGE = "9" * 5000


@pytest.mark.parametrize("numbers", [f"{HUGE}.0.0", f"1.{HUGE}.0", f"1.0.-{HUGE}"])
def test_an_event_of_a_job_with_a_huge_number_is_damaged(numbers: str) -> None:
    event = parse_event(f"001 ({numbers}) 2026-11-24 10:00:00 Job executing\n", year=2026)
    assert event is not None
    assert damage_in(event).startswith("an event 001 is damaged: no job's id follows its number: ")
    assert len(damage_in(event)) < 200


@pytest.mark.parametrize("days", ["9" * 400, HUGE])
def test_a_usage_of_a_huge_number_of_days_is_none(days: str) -> None:
    with pytest.raises(ValueError, match="not a usage"):
        CpuTimes.parse(f"Usr {days} 00:00:00, Sys 0 00:00:00")
