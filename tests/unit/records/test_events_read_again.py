"""Events that are read, written and read again, in every form: nothing grows, nothing is lost."""

from __future__ import annotations

from itertools import product

import pytest

from kettle.classad import ClassAd
from kettle.records.event_ends import JobTerminatedEvent
from kettle.records.event_forms import event_from_ad
from kettle.records.event_header import parse_moment
from kettle.records.event_kinds import SubmitEvent
from kettle.records.event_log import (
    DEFAULT_STYLE,
    EVENTS,
    Style,
    damage_in,
    read_events,
    render_event,
    render_time,
)
from kettle.records.event_text import MAX_TEXT
from kettle.testing.fuzz.decoder import LawError
from kettle.testing.fuzz.event_laws import check_events
from unit.records.test_event_log import example

HEAD = "000 (001.000.000) {} Job submitted from host: <1.2.3.4:5>\n...\n"


@pytest.mark.parametrize("number", sorted(EVENTS))
def test_every_event_is_the_same_in_every_form(number: int) -> None:
    check_events([example(EVENTS[number])], as_text=True)


ODD_LINES = ("", "\t", "\tsome words", "some words", "\tHoldCode 0", "\t0  -  Run Bytes Sent")


@pytest.mark.parametrize("number", sorted(EVENTS))
def test_an_odd_line_anywhere_changes_nothing_but_once(number: int) -> None:
    """Of a log that is damaged or of another version all is kept that was understood once."""
    head, *body = render_event(example(EVENTS[number])).decode().split("\n")[:-2]
    begin = len(f"{number:03} (012.003.000) 2026-11-29 10:00:00 ")
    lines = [head[begin:], *body]
    for at, odd, left in product(range(len(lines) + 1), ODD_LINES, range(3)):
        changed = "\n".join((*lines[:at], odd, *lines[at + left :]))
        check_events(read_events(f"{head[:begin]}{changed}\n...\n".encode()), as_text=True)


@pytest.mark.parametrize(
    "body",
    [
        "037 {}\tPauseCode 0\n\n\tHoldCode 3",
        "037 {}Job Materialization Paused\n\twhy\n\tPauseCode 0\n\n\tHoldCode 3",
        "037 {}\n\tPauseCode 5\n\tPauseCode 0\n\tsome words",
        "038 {}\n\tsome words\n\tother words",
    ],
)
def test_what_follows_no_reason_does_not_become_one(body: str) -> None:
    log = body.format("(001.000.000) 2026-11-29 10:00:00 ") + "\n...\n"
    check_events(read_events(log.encode()), as_text=True)


@pytest.mark.parametrize(
    "body",
    [
        "006 {}Image size of job updated: 0\n\t-1  -  MemoryUsage of job (MB)\n\tsome words",
        "001 {}Job executing on host: h\n\tSlotName: \n\tSlotName: slot1",
        f"001 {{}}Job executing on host: h\n\tSlotName: slot1{' ' * MAX_TEXT}slot2",
    ],
)
def test_what_is_not_written_is_not_read(body: str) -> None:
    log = body.format("(001.000.000) 2026-11-29 10:00:00 ") + "\n...\n"
    check_events(read_events(log.encode()), as_text=True)


@pytest.mark.parametrize("number", range(41, 46))
@pytest.mark.parametrize(
    "body",
    ["\tsome words", "some words", "\n\tsome words", "\n\n\tsome words", "\t", "", "\n\tTag: \tx"],
)
def test_lines_of_another_version_do_not_grow(number: int, body: str) -> None:
    log = f"{number:03} (001.000.000) 2026-11-29 10:00:00 {body}\n...\n".encode()
    events = read_events(log)
    assert [damage_in(event)[:9] for event in events] == [f"event {number:03}"]
    check_events(events, as_text=True)


@pytest.mark.parametrize("number", range(41, 46))
def test_lines_below_the_header_stay_below_it(number: int) -> None:
    log = f"{number:03} (001.000.000) 2026-11-29 10:00:00 \n\tsome words\n...\n".encode()
    assert b"".join(map(render_event, read_events(log))) == log


@pytest.mark.parametrize(
    "moment",
    [
        *(
            "2026-00-10 10:00:00",
            "0000-00-00 00:00:00",
            "2026-13-10 10:00:00",
            "2026-01-33 10:00:00",
        ),
        *("2026-01-10 25:00:00", "00/10 10:00:00", "13/10 10:00:00", "01/33 10:00:00"),
        *("99/99 99:99:99", "2026-00-10T10:00:00Z"),
    ],
)
def test_a_header_whose_date_is_none_is_damaged(moment: str) -> None:
    """The wheel says that it cannot read such an event."""
    [event] = read_events(HEAD.format(moment).encode())
    assert damage_in(event).startswith("an event 000 is damaged: no moment follows its job's id: ")


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        ("2026-12-32 10:00:00", "2027-01-01 10:00:00"),
        ("2026-01-00 10:00:00", "2025-12-31 10:00:00"),
        ("2026-02-31 10:00:00", "2026-03-03 10:00:00"),
        ("2026-01-10 24:59:00", "2026-01-11 00:59:00"),
        ("2026-01-10 23:99:99", "2026-01-11 00:40:39"),
        ("0001-01-01 00:00:00", "2026-01-01 00:00:00"),
        ("1899-12-31 00:00:00", "2026-12-31 00:00:00"),
        ("1969-12-31 23:59:59", "1969-12-31 23:59:59"),
    ],
)
def test_an_odd_date_is_what_the_reference_takes_it_for(moment: str, shown: str) -> None:
    """As the wheel's EventTime of these."""
    [event] = read_events(HEAD.format(f"{moment}Z").encode(), year=2026)
    assert render_time(event.time, Style(utc=True)) == f"{shown}Z"


@pytest.mark.parametrize(
    "seconds", [-62169984000.0, 253402300799.0, 1e300, -1e300, float("inf"), float("nan")]
)
def test_a_time_that_no_header_can_say_is_written_as_none(seconds: float) -> None:
    none = render_time(0, DEFAULT_STYLE)
    assert render_time(seconds, DEFAULT_STYLE) == none
    assert len(read_events(render_event(SubmitEvent(host="h", time=seconds)))) == 1


@pytest.mark.parametrize(
    "moment",
    ["2026-00-10T10:00:00", "2026-01-00T10:00:00", "0000-01-01T00:00:00", "1899-01-01T00:00:00"],
)
def test_a_moment_of_an_ad_that_is_none_is_zero(moment: str) -> None:
    assert parse_moment(moment) == 0.0


@pytest.mark.parametrize("thousandth", [0, 1, 357, 998, 999])
@pytest.mark.parametrize("second", [0, 1_795_262_865, 253_370_592_000, -1_000_000_000])
def test_a_thousandth_of_any_second_is_written_as_it_was_read(second: int, thousandth: int) -> None:
    style = Style(sub_second=True, utc=True)
    text = f"{render_time(second, Style(utc=True))[:-1]}.{thousandth:03}Z"
    assert render_time(parse_moment(text), style) == text


def test_what_is_no_word_is_no_resource() -> None:
    """A name with a blank or a colon is an attribute in JSON, and no label of a row."""
    ad = ClassAd({"MyType": "JobTerminatedEvent", "EventTypeNumber": 5, "CpusUsage": 1})
    ad["Two words"] = 1
    ad["A:colon"] = 1
    event = event_from_ad(ad)
    assert isinstance(event, JobTerminatedEvent)
    assert event.usage == {"CpusUsage": 1}


def test_what_changes_at_every_writing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        SubmitEvent, "body", lambda self: [f"Job submitted from host: {self.host}x"]
    )
    with pytest.raises(LawError, match="becomes"):
        check_events([SubmitEvent(host="h")], as_text=True)
