"""Events as ads, XML and JSON, against recorded logs of a real pool."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.records.event_ends import JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_forms import (
    event_ad,
    event_from_ad,
    information_event,
    read_event_ads,
    render,
)
from kettle.records.event_grid import RemoteErrorEvent
from kettle.records.event_kinds import JobHeldEvent, JobImageSizeEvent, SubmitEvent
from kettle.records.event_log import EVENTS, Format, Style
from unit.records.test_event_log import example

RECORDED = Path(__file__).parents[2] / "data" / "event_logs"


@pytest.mark.parametrize(
    "name",
    [
        "no_transfer.xml",
        "file_transfer.xml",
        "structured_notes.xml",
        "vacated_held_removed.xml",
        "global.json",
    ],
)
def test_a_recorded_log_is_read_and_written_back_byte_for_byte(name: str) -> None:
    recorded = (RECORDED / name).read_text()
    form = Format.JSON if name.endswith("json") else Format.XML
    events = list(read_event_ads(recorded))
    assert b"".join(render(event, Style(form)) for event in events).decode() == recorded


@pytest.mark.parametrize("number", sorted(set(EVENTS) - {28}))
def test_every_event_survives_as_an_ad(number: int) -> None:
    event = example(EVENTS[number])
    if isinstance(event, JobEvictedEvent):
        # The reference's ad has no table of resources (vacated_held_removed.xml).
        event.usage = {}
    back = event_from_ad(event_ad(event))
    assert back == event


def test_an_ad_of_an_unknown_type_is_no_event() -> None:
    assert event_from_ad(ClassAd({"MyType": "SomethingEvent"})) is None


def test_an_ad_is_known_by_its_type_where_it_has_no_number() -> None:
    event = event_from_ad(ClassAd({"MyType": "RemoteErrorEvent", "ErrorMsg": "x"}))
    assert isinstance(event, RemoteErrorEvent)
    assert event.message == "x"


def test_values_of_a_wrong_type_are_left_at_their_defaults() -> None:
    ad = ClassAd({"MyType": "JobHeldEvent", "HoldReasonCode": "many", "EventTime": "never"})
    event = event_from_ad(ad)
    assert isinstance(event, JobHeldEvent)
    assert (event.code, event.time) == (0, 0.0)


def test_the_moment_is_shown_in_universal_time_if_the_style_says_so() -> None:
    ad = event_ad(SubmitEvent(time=1795262865.5), Style(utc=True))
    assert ad.string("EventTime") == "2026-11-21T12:07:45.500Z"


def test_what_was_counted_in_bytes_is_a_real_number_whoever_counted() -> None:
    ended = JobTerminatedEvent(sent_bytes=0, received_bytes=17, return_value=0)
    texts = event_ad(ended)
    names = ("SentBytes", "ReceivedBytes", "TotalSentBytes", "TotalReceivedBytes")
    assert [texts.text(name) for name in names] == ["0.0", "17.0", "0.0", "0.0"]


def test_the_information_event_has_values_and_no_expressions() -> None:
    job = ClassAd({"TransferInputSizeMB": 0, "Lists": [1]})
    job.insert_text("RequestDisk", "MAX({ 1024,(TransferInputSizeMB + 1) * 1.25 }) * 1024")
    trigger = SubmitEvent(cluster=13, host="<1.2.3.4:5>", time=1795262865.359)
    event = information_event(trigger, job, ["RequestDisk", "Lists", "Absent"])
    assert event.attributes["RequestDisk"] == "1048576.0"
    assert not {"Lists", "Absent"} & set(event.attributes)


def test_a_note_that_only_looks_like_an_ad_is_a_note() -> None:
    event = SubmitEvent(structured="[ not an ad", log_notes="[ not an ad")
    assert "StructuredNotes" not in event_ad(event)


def test_the_information_event_joins_the_trigger_and_the_jobs_attributes() -> None:
    job = ClassAd({"Owner": "u", "RequestMemory": 128})
    trigger = SubmitEvent(cluster=13, host="<1.2.3.4:5>", time=1795262865.359)
    event = information_event(trigger, job, ["Owner", "ClusterId", "RequestMemory"])
    assert event.body() == [
        "Job ad information event triggered.",
        "Cluster = 13",
        'EventTime = "2026-11-21T12:07:45.359"',
        "EventTypeNumber = 28",
        'MyType = "SubmitEvent"',
        'Owner = "u"',
        "Proc = 0",
        "RequestMemory = 128",
        'SubmitHost = "<1.2.3.4:5>"',
        "Subproc = 0",
        'TriggerEventTypeName = "ULOG_SUBMIT"',
        "TriggerEventTypeNumber = 0",
    ]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"size_kb": -1}, {"ResidentSetSize": 0}),
        ({"size_kb": 5}, {"Size": 5, "ResidentSetSize": 0}),
        ({"size_kb": 5, "resident_kb": -1}, {"Size": 5}),
        ({"size_kb": -1, "memory_mb": -5, "resident_kb": -5, "proportional_kb": -5}, {}),
        (
            {"size_kb": 0, "memory_mb": 0, "resident_kb": 0, "proportional_kb": 0},
            {"Size": 0, "MemoryUsage": 0, "ResidentSetSize": 0, "ProportionalSetSize": 0},
        ),
    ],
)
def test_an_ad_has_the_sizes_that_are_known_and_what_is_resident(
    sizes: dict[str, int], said: dict[str, int]
) -> None:
    """As the wheel's, of the same lines: of a text that says nothing, nothing is resident."""
    ad = event_ad(JobImageSizeEvent(**sizes))
    names = ("Size", "MemoryUsage", "ResidentSetSize", "ProportionalSetSize")
    assert {name: ad.integer(name) for name in names if name in ad} == said
