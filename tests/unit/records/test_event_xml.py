"""Events in XML and JSON that somebody wrote by hand, or that are torn: each costs no other."""

from __future__ import annotations

import json

import pytest

from kettle.records.event_base import Event
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_kinds import JobHeldEvent

HEADER = (
    '    <a n="MyType"><s>JobHeldEvent</s></a>\n'
    '    <a n="EventTypeNumber"><i>12</i></a>\n'
    '    <a n="EventTime"><s>2026-03-01T10:11:12</s></a>\n'
    '    <a n="Cluster"><i>12</i></a>\n'
)
WHOLE = f"<c>\n{HEADER}</c>\n"
JSON = '{\n  "EventTypeNumber": 11,\n  "EventTime": "2026-03-01T10:11:12",\n  "Cluster": 12\n}\n'


def read(log: str, step: int = 1 << 20) -> list[Event]:
    reader, data = AnyFormReader(), log.encode()
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    return [event for piece in pieces for event in reader.feed(piece)]


def held(attribute: str) -> JobHeldEvent:
    """The event of an ad that has this between others, with a whole event behind it."""
    subproc = '    <a n="Subproc"><i>5</i></a>\n'
    event, second = read(f"<c>\n{HEADER}    {attribute}\n{subproc}</c>\n{WHOLE}")
    assert isinstance(event, JobHeldEvent)
    assert (event.cluster, event.subproc, second.cluster) == (12, 5, 12)
    return event


@pytest.mark.parametrize(
    "attribute",
    [
        "<a n='HoldReason'><s>why</s></a>",
        "<a n=HoldReason><s>why</s></a>",
        '<A N="HoldReason"><S>why</S></A>',
        '<a m="x" n = "HoldReason" ><s >why</s ></a >',
        '<!-- a note --><a n="HoldReason"><!-- one --><s>w<!-- more -->hy</s></a>',
        '<z>0</z><a n="HoldReason"><s>why</s></a> some words',
        '<a n="HoldReason"><s>why</s>',
    ],
)
def test_a_reason_that_was_written_by_hand_is_read(attribute: str) -> None:
    assert held(attribute).reason == "why"


@pytest.mark.parametrize(
    "value", ["<s/>", "<s />", "<S/>", "<i/>", "<un>", "<z>1</z>", "<b>t</b>", ""]
)
def test_what_is_empty_or_no_value_says_nothing(value: str) -> None:
    assert not held(f'<a n="HoldReason">{value}</a>').reason


@pytest.mark.parametrize(
    ("value", "code"), [("<i>1x</i>", 1), ("<i> +7 </i>", 0), ("<i>-3 </a>", -3), ("<i>x</i>", 0)]
)
def test_of_a_number_counts_what_is_one(value: str, code: int) -> None:
    assert held(f'<a n="HoldReasonCode">{value}</a>').code == code


def test_ads_in_ads_are_read_beside_what_was_written_by_hand() -> None:
    inner = '<a n="ExecuteProps"><c>\n        <a n="Cpus"><i>1</i></a>\n    </c></a>'
    log = (
        f"<c>\n{HEADER.replace('12</i>', '1</i>')}    {inner}\n    <a n='SlotName'><s/></a>\n</c>\n"
    )
    [event] = read(log)
    assert getattr(event, "properties", None) == {"Cpus": "1"}


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_what_is_in_a_comment_between_events_is_none(step: int) -> None:
    events = read(f"<!-- old:\n{WHOLE}-->\n{WHOLE}<!-- {WHOLE} -->{WHOLE}", step)
    assert len(events) == 2


@pytest.mark.parametrize("begin", ["<c >\n", "<c\n>\n", '<c x="y">\n'])
def test_an_ad_may_say_more_where_it_begins(begin: str) -> None:
    assert len(read(WHOLE.replace("<c>\n", begin) * 2)) == 2


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
@pytest.mark.parametrize("indent", [None, 0, 1, 4])
def test_ads_in_events_of_json_may_begin_lines(indent: int | None, step: int) -> None:
    inner = {"Cpus": 1, "Odd": [{"a": 1}, 1, {"b": [{}, {}]}], "Like": {"c": {}}, "Text": "]{"}
    said = {"EventTypeNumber": 1, "EventTime": "2026-03-01T10:11:12", "Cluster": 12}
    log = json.dumps({**said, "ExecuteProps": inner, "Subproc": 5}, indent=indent) + "\n"
    for one in (log, log.replace("\n", "\r\n"), log.replace(", {", ",\n{").replace("[", "[\n\n")):
        events = read(one * 3, step)
        assert [event.subproc for event in events] == [5, 5, 5]
        assert getattr(events[0], "properties", {})["Cpus"] == "1"


def test_an_ad_in_a_line_behind_its_colon_is_another() -> None:
    torn = JSON[: JSON.index("11,")]
    assert len(read(torn.rstrip() + "\n" + JSON)) == 1
    assert read(JSON.replace("12\n}", '12,\n"ExecuteProps":\n{\n"Cpus": 1\n}\n}')) == []


@pytest.mark.parametrize("step", [1, 1 << 20])
def test_an_event_that_was_torn_behind_an_attribute_costs_no_other(step: int) -> None:
    for torn in ('{\n"Cluster": 12,\n', '{\n"a": {\n"b": [1]\n},\n', '{\n"a": [\n{}\n],\n', "{\n"):
        assert len(read(torn + JSON + JSON, step)) == 2, torn


@pytest.mark.parametrize("step", [1, 1 << 20])
@pytest.mark.parametrize("whole", [WHOLE, JSON])
def test_an_event_that_was_torn_costs_no_other(whole: str, step: int) -> None:
    for end in range(1, len(whole) - 2):
        assert len(read(whole[:end] + whole + whole, step)) == 2, whole[:end]


def test_an_event_is_waited_for_until_it_is_whole() -> None:
    reader = AnyFormReader()
    assert reader.feed(WHOLE[:-5].encode()) == []
    assert len(reader.feed(WHOLE[-5:].encode())) == 1


@pytest.mark.parametrize("whole", [WHOLE, JSON])
def test_zeros_in_and_between_ads_are_nothing(whole: str) -> None:
    zeros = "\0" * 9
    assert len(read(whole[:70] + zeros + whole[70:] + zeros + whole)) == 2
