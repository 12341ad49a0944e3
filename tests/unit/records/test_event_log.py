"""Event text against recorded logs of a real pool, and against awkward input."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from kettle.attributes.codes import ULogEvent
from kettle.compat.htcondor2 import JobEventType
from kettle.records.event_base import Event
from kettle.records.event_cluster import ClusterRemoveEvent, FileTransferEvent
from kettle.records.event_ends import JobTerminatedEvent, PostScriptTerminatedEvent
from kettle.records.event_future import RawEvent
from kettle.records.event_grid import RemoteErrorEvent
from kettle.records.event_kinds import GenericEvent, JobHeldEvent, SubmitEvent
from kettle.records.event_log import (
    EVENTS,
    EventReader,
    GlobalHeader,
    Style,
    parse_event,
    read_events,
    render_event,
)
from kettle.records.event_usage import CpuTimes

RECORDED = Path(__file__).parents[2] / "data" / "event_logs"
LOGS = sorted(RECORDED.glob("*.log"))


def style_of(path: Path) -> Style:
    legacy = path.name.startswith("legacy")
    return Style(iso=not legacy, sub_second=legacy, utc=legacy)


@pytest.mark.parametrize("path", LOGS, ids=[path.stem for path in LOGS])
def test_a_recorded_log_is_read_and_written_back_byte_for_byte(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = path.read_bytes()
    events = read_events(recorded, year=2026)
    assert b"".join(render_event(event, style_of(path)) for event in events) == recorded
    assert not [event for event in events if isinstance(event, RawEvent) or event.extra]


def example(kind: type[Event]) -> Event:
    """An event with something in every field."""
    event = kind(cluster=12, proc=3, time=1795262865.0)
    for field in fields(kind):
        value = getattr(event, field.name)
        if field.name in ("cluster", "proc", "subproc", "time", "extra", "completion"):
            continue
        if field.name == "usage":
            value = {
                "Cpus": 1,
                "RequestCpus": 1,
                "CpusUsage": 0.25,
                "GPUs": 2,
                "AssignedGPUs": "a,b",
            }
            value |= {"Memory": 128, "MemoryUsage": 3}
        elif isinstance(value, CpuTimes):
            value = CpuTimes(90_061.0, 59.0)
        elif isinstance(value, dict):
            value = {"Cpus": "1", "Memory": "128"}
        elif isinstance(value, bool):
            value = not value if field.name not in ("normal", "requeued") else value
        elif isinstance(value, (int, float)):
            value = type(value)(7 if field.name != "kind" else 1)
        elif field.name in ("return_value", "signal", "core_file"):
            continue
        elif field.name in ("structured", "log_notes"):
            value = '[ DAGNodeName = "a" ]'
        elif "int" in str(field.type):
            value = 9
        else:
            value = "name" if field.name == "startd_name" else "some text"
        setattr(event, field.name, value)
    if isinstance(event, (PostScriptTerminatedEvent, JobTerminatedEvent)):
        event.return_value = 0
    return event


@pytest.mark.parametrize("number", sorted(EVENTS))
def test_every_event_survives_being_written_and_read(number: int) -> None:
    event = example(EVENTS[number])
    text = render_event(event)
    [back] = read_events(text)
    assert render_event(back) == text
    assert type(back) is type(event)
    assert back == event


def test_every_number_has_a_class_and_a_name() -> None:
    assert list(EVENTS) == [int(event) for event in ULogEvent]
    assert len(EVENTS) >= 48


def test_the_bindings_call_the_events_what_the_codes_do() -> None:
    # From 100 on they are those of an execution point, which no job's log has.
    ours = {event.name: int(event) for event in ULogEvent}
    assert {event.name: int(event) for event in JobEventType if event < 100} == ours


def test_a_torn_tail_waits_for_its_end() -> None:
    whole = render_event(SubmitEvent(cluster=1, host="<1.2.3.4:5>")) + render_event(
        JobHeldEvent(cluster=1, reason="why", code=3)
    )
    for cut in range(len(whole)):
        reader = EventReader()
        first = list(reader.feed(whole[:cut]))
        second = list(reader.feed(whole[cut:]))
        assert [event.number for event in first + second] == [0, 12]
        assert reader.offset == len(whole)


def test_a_reader_fed_byte_by_byte_sees_the_same_events() -> None:
    recorded = (RECORDED / "file_transfer.log").read_bytes()
    reader = EventReader()
    events = [event for byte in recorded for event in reader.feed(bytes([byte]))]
    assert events == read_events(recorded)


def test_what_is_no_event_between_two_ends_is_skipped() -> None:
    good = render_event(GenericEvent(info="x"))
    reader = EventReader()
    assert len(list(reader.feed(good + b"garbage\n...\n" + good + b"\xff\x00\n...\n"))) == 2
    assert reader.skipped == 2


def test_an_event_from_the_future_is_kept_as_it_is() -> None:
    text = b"099 (001.002.003) 2026-11-21 12:07:45 Something new\n\twith a line\n...\n"
    [event] = read_events(text)
    assert isinstance(event, RawEvent)
    assert event.header_number == 99
    assert render_event(event) == text


def test_a_known_event_with_more_lines_keeps_them() -> None:
    text = b"009 (001.002.003) 2026-11-21 12:07:45 Job was aborted.\n\twhy\n\tnew\n...\n"
    [event] = read_events(text)
    assert event.extra == ["\tnew"]
    assert render_event(event) == text


def test_a_reason_with_line_breaks_cannot_end_its_event() -> None:
    text = render_event(JobHeldEvent(reason="bad\n...\n005 (1.0.0) fake", code=1))
    assert text.count(b"\n...\n") == 1
    [event] = read_events(text)
    assert isinstance(event, JobHeldEvent)
    assert event.reason == "bad ... 005 (1.0.0) fake"


def test_a_cluster_event_has_its_proc_as_minus_one() -> None:
    text = render_event(ClusterRemoveEvent(cluster=3, proc=-1, jobs=4, items=4, completion=1))
    assert text.startswith(b"036 (003.-01.000) ")
    assert b"\tMaterialized 4 jobs from 4 items.\tComplete\n" in text


def test_an_abnormal_end_tells_the_signal_and_the_core_file() -> None:
    event = JobTerminatedEvent(normal=False, signal=11)
    assert b"\t(0) Abnormal termination (signal 11)\n\t(0) No core file\n" in render_event(event)
    event.core_file = "/tmp/core"
    assert b"\t(1) Corefile in: /tmp/core\n" in render_event(event)


def test_a_remote_error_keeps_every_line_of_its_message() -> None:
    event = RemoteErrorEvent(daemon="starter", host="slot1@h", message="one\ntwo", code=6)
    [back] = read_events(render_event(event))
    assert isinstance(back, RemoteErrorEvent)
    assert (back.message, back.code, back.subcode) == ("one\ntwo", 6, 0)


def test_usage_with_fractions_leaves_room_beside_whole_numbers() -> None:
    usage = {"Cpus": 1, "CpusUsage": 0.5, "Memory": 128, "MemoryUsage": 4}
    text = render_event(JobTerminatedEvent(return_value=0, usage=usage)).decode()
    assert "\t   Cpus                 :     0.50                  1 \n" in text
    assert "\t   Memory (MB)          :     4                   128 \n" in text


@pytest.mark.parametrize("style", [Style(), Style(iso=False), Style(utc=True, sub_second=True)])
def test_a_date_in_any_style_is_read_back(style: Style) -> None:
    event = FileTransferEvent(kind=2, time=1795262865.0)
    back = parse_event(render_event(event, style).decode().removesuffix("\n...\n"), year=2026)
    assert back is not None
    assert back.time == event.time


def test_the_words_of_the_format_options_choose_the_style() -> None:
    assert Style.parse("LEGACY, SUB_SECOND UTC") == Style(iso=False, sub_second=True, utc=True)
    assert Style.parse("ISO_DATE") == Style()


def test_the_header_of_a_global_log_has_a_fixed_width_and_is_read_back() -> None:
    header = GlobalHeader(1795263480, "0.22242.1795263473.358173", 2, 10, 20, 30, 40, 3)
    event = header.event(now=1795263480.0)
    assert len(event.info) == 256
    assert GlobalHeader.parse(event) == header
    assert GlobalHeader.parse(GenericEvent(info="something else")) is None


FORGED = "x\n...\n005 (007.003.000) 2026-01-01 00:00:00 Job terminated.\n...\ny\r\n...\n"


@pytest.mark.parametrize("kind", EVENTS.values())
def test_no_text_of_a_peer_makes_a_second_event(kind: type[Event]) -> None:
    """Names, reasons and usage come from jobs and other machines: none may end the event."""
    event = kind(cluster=1, time=1795262865.0)
    for each in fields(event):
        if str(each.type).startswith("str"):
            setattr(event, each.name, FORGED)
        elif str(each.type).startswith("int") and each.name not in {"cluster", "proc", "subproc"}:
            setattr(event, each.name, 99)
        elif "dict" in str(each.type) or "Mapping" in str(each.type):
            # Also no key or value of a table.
            setattr(event, each.name, {"Cpus": FORGED, "CpusUsage": FORGED, "RequestCpus": FORGED})
    text = render_event(event, Style())
    assert text.count(b"\n...\n") == 1
    assert b"\n005 (007" not in text


def test_a_measure_that_is_no_number_is_written_all_the_same() -> None:
    usage = {"Cpus": 1, "CpusUsage": float("inf"), "MemoryUsage": float("nan")}
    assert b"inf" in render_event(JobTerminatedEvent(usage=usage), Style())
