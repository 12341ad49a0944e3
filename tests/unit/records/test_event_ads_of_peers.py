"""An event that another daemon describes is that event or a poorer one, never an error or two."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.records.event_base import Event
from kettle.records.event_ends import JobEvictedEvent, JobTerminatedEvent
from kettle.records.event_forms import event_ad, event_from_ad, render
from kettle.records.event_grid import RemoteErrorEvent
from kettle.records.event_kinds import GenericEvent, JobHeldEvent, JobImageSizeEvent
from kettle.records.event_log import EVENTS, EventReader, Format, Style

FORGED = "a\n...\n005 (001.000.000) 2026-01-01 00:00:00 Job terminated.\n"
ODD = [
    1, -1, 2**63 - 1, 1.5, 1e308, math.inf, math.nan, True, "x", "", FORGED, "a\rb", [1],
    "Usr 0 00:00:01, Sys 0 00:00:02", "9999-99-99T99:99:99", "0001-01-01T00:00:00",
]  # fmt: skip
# What some kinds read besides their own attributes.
MORE = ("EventTime", "Cluster", "Proc", "Subproc", "TerminatedNormally", "CpusUsage", "AssignedX")


def ad_of(kind: type[Event], values: dict[str, object]) -> ClassAd:
    ad = ClassAd(dict(values))
    ad["MyType"], ad["EventTypeNumber"] = kind.type_name, kind.number
    return ad


def check(kind: type[Event], values: dict[str, object]) -> None:
    event = event_from_ad(ad_of(kind, values))
    assert isinstance(event, kind)
    reader = EventReader()
    assert len(list(reader.feed(render(event)))) == 1
    assert reader.skipped == 0
    for form in (Format.XML, Format.JSON):
        assert render(event, Style(form))


def names_of(kind: type[Event]) -> list[str]:
    return [attribute for _, attribute in kind.ATTRIBUTES] + list(MORE)


@pytest.mark.parametrize("number", sorted(EVENTS))
def test_an_ad_of_one_odd_value_is_one_event_in_each_form(number: int) -> None:
    for value in ODD:
        check(EVENTS[number], dict.fromkeys(names_of(EVENTS[number]), value))


@given(kind=st.sampled_from(list(EVENTS.values())), data=st.data())
def test_so_is_an_ad_of_many(kind: type[Event], data: st.DataObject) -> None:
    check(kind, {name: data.draw(st.sampled_from(ODD)) for name in names_of(kind)})


@pytest.mark.parametrize(
    ("kind", "attribute", "value", "field", "kept"),
    [
        (GenericEvent, "Info", 1, "info", ""),
        (JobImageSizeEvent, "Size", "x", "size_kb", -1),
        (JobImageSizeEvent, "MemoryUsage", "5", "memory_mb", None),
        (JobImageSizeEvent, "MemoryUsage", 5.0, "memory_mb", 5),
        (JobHeldEvent, "HoldReasonCode", math.inf, "code", 0),
        (JobEvictedEvent, "ReasonCode", FORGED, "reason_code", None),
        (JobTerminatedEvent, "ReturnValue", FORGED, "return_value", None),
        (JobTerminatedEvent, "CoreFile", 3, "core_file", None),
    ],
)
def test_a_field_takes_a_value_of_its_own_type(
    kind: type[Event], attribute: str, value: object, field: str, kept: object
) -> None:
    event = event_from_ad(ad_of(kind, {attribute: value}))
    assert event is not None
    assert getattr(event, field) == kept


@pytest.mark.parametrize(
    ("number", "said", "shown"),
    [
        (2, {}, {"ExecuteErrorType": None}),
        (2, {"ExecuteErrorType": 5}, {"ExecuteErrorType": None}),
        (5, {}, {"TerminatedNormally": False}),
        (5, {"ReturnValue": -1}, {"ReturnValue": None}),
        (6, {}, {"Size": None}),
        (10, {}, {"NumberOfPIDs": -1}),
        (14, {}, {"Node": -1}),
        (15, {}, {"Node": None, "ReturnValue": -1, "TerminatedBySignal": -1}),
        (16, {"ReturnValue": -1}, {"TerminatedNormally": False, "ReturnValue": None}),
        (21, {"HoldReasonCode": 3}, {"HoldReasonCode": 3, "HoldReasonSubCode": 0}),
        (21, {"HoldReasonSubCode": 3}, {"HoldReasonCode": None, "HoldReasonSubCode": None}),
        (21, {"HoldReasonCode": 0}, {"HoldReasonCode": None}),
        (40, {"QueueingDelay": -1}, {"QueueingDelay": None}),
        (41, {}, {"ReservedSpace": 0, "UUID": "", "Tag": ""}),
        (44, {}, {"Checksum": "", "ChecksumType": "", "Tag": ""}),
        (47, {}, {"Type": "None"}),
    ],
)
def test_what_an_ad_does_not_say_is_what_the_reference_takes_it_for(
    number: int, said: dict[str, object], shown: dict[str, object]
) -> None:
    """Asked of the wheel 25.14.1, which reads such ads in logs of XML."""
    event = event_from_ad(ad_of(EVENTS[number], said))
    assert event is not None
    ad = event_ad(event)
    assert {name: ad.evaluate(name) if name in ad else None for name in shown} == shown


def test_a_mild_remote_error_is_read_as_it_is_written() -> None:
    event = RemoteErrorEvent(daemon="starter", host="h", message="m", critical=False)
    text = render(event)
    assert b" Message from starter on h:\n" in text
    [again] = EventReader().feed(text)
    assert isinstance(again, RemoteErrorEvent)
    assert not again.critical


def test_an_end_that_an_ad_does_not_say_has_no_value_in_text() -> None:
    event = event_from_ad(ad_of(JobTerminatedEvent, {}))
    assert event is not None
    assert b"(0) Abnormal termination (signal -1)" in render(event)
