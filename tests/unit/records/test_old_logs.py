"""What old logs have, and what other programs write, is read as by the reference."""

from __future__ import annotations

import pytest

from kettle.records.event_kinds import GenericEvent, JobAbortedEvent
from kettle.records.event_log import parse_event


# Source: observed of 25.14.1's JobEventLog.
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("Job was aborted.\n\tvia condor_rm (by user a)", "via condor_rm (by user a)"),
        ("Job was aborted by the user.\n\tvia condor_rm (by user a)", "via condor_rm (by user a)"),
        ("Job was aborted by the user.\nwithout a tab", "without a tab"),
        ("Job was aborted by the user.", None),
        ("Job was aborted", None),
        ("Job was aborted.\n\n\tx", None),
    ],
)
def test_why_a_job_was_removed(body: str, reason: str | None) -> None:
    event = parse_event(f"009 (006.000.000) 2023-06-05 10:00:01 {body}")
    assert isinstance(event, JobAbortedEvent)
    assert event.reason == reason


@pytest.mark.parametrize("moment", ["2023-06-05T10:00:01", "2023-06-05T10:00:01.250Z"])
def test_a_moment_may_have_a_letter_between_day_and_hour(moment: str) -> None:
    event = parse_event(f"008 (006.000.000) {moment} Hello")
    plain = parse_event(f"008 (006.000.000) {moment.replace('T', ' ')} Hello")
    assert isinstance(event, GenericEvent)
    assert event.info == "Hello"
    assert event == plain
