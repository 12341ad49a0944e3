"""Wherever a log of ads was cut, whole, torn and nested events are the same pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_pieces import MAX_DEPTH, MAX_EVENT_BYTES, AdPieces

FORMS = ("xml", "json")
Said = int | str | dict[str, object] | list[object]


def write(said: dict[str, Said], form: str) -> str:
    """Return an ad whose inner ads end where their lines begin."""
    if form == "json":
        return json.dumps(said, indent=0)
    lines = [f'<a n="{name}">{as_xml(it)}</a>\n' for name, it in said.items()]
    return f"<c>\n{''.join(lines)}</c>"


def as_xml(said: object) -> str:
    if isinstance(said, dict):
        return write(said, "xml")
    if isinstance(said, list):
        return f"<l>{''.join(map(as_xml, said))}</l>"
    return f"<i>{said}</i>" if isinstance(said, int) else f"<s>{said}</s>"


def cut(log: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(place for place in places if place < len(log)), len(log)]
    return [log[start:end] for start, end in pairwise(edges)]


def read(form: str, chunks: Iterable[bytes]) -> tuple[list[bytes], int]:
    pieces = AdPieces(form)
    return [piece for chunk in chunks for piece in pieces.feed(chunk)], pieces.thrown


def numbers(*parts: str, step: int = 1 << 20) -> list[int | None]:
    """Return the clusters of the events of a log."""
    reader, data = AnyFormReader(), "".join(parts).encode()
    steps = (data[at : at + step] for at in range(0, len(data), step))
    return [event.cluster for chunk in steps for event in reader.feed(chunk)]


def event(cluster: int, form: str, **more: Said) -> str:
    said: dict[str, Said] = {"EventTypeNumber": 28, "EventTime": "2026-03-01T10:11:12"}
    return write({**said, "Cluster": cluster, **more}, form) + "\n"


# An event that was torn where an ad could be the next value.
BEGUN = {"json": '{\n"Note":', "xml": '<c>\n<a n="Note">'}
NESTED: Sequence[dict[str, Said]] = (
    {},
    {"Note": {"EventTypeNumber": 1}, "Z": 2},
    {"Z": 2, "Note": {"EventTypeNumber": 1}},
    {"Note": {"Deep": {"eventtypenumber": 1}}},
    {"Note": {"JobEventTypeNumberX": 1, "Z": "EventTypeNumber"}},
    {"List": [{"EventTypeNumber": 1}, {"EventTypeNumber": 2}], "Z": "why: {"},
    {"Z": 'a " } <l> why:', "Note": {"a": {"b": {}}}, "EventTypeNumber": 3},
)
PARTS = st.tuples(
    st.sampled_from(NESTED), st.one_of(st.none(), st.integers(1, 400)), st.sampled_from(["", "\n"])
)


@pytest.mark.parametrize("form", FORMS)
@given(parts=st.lists(PARTS, max_size=6), places=st.lists(st.integers(1, 1500), max_size=30))
def test_any_chunks_are_cut_into_the_same_ads(
    form: str,
    parts: list[tuple[dict[str, Said], int | None, str]],
    places: list[int],
) -> None:
    """A part is an event, how much of it was written before it was torn, and what is behind it."""
    written = ((event(1, form, **said), end, behind) for said, end, behind in parts)
    log = "".join(text[:end] + behind for text, end, behind in written).encode()
    whole = read(form, [log])
    assert read(form, cut(log, places)) == whole
    assert read(form, cut(log, range(1, len(log)))) == whole


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", [1, 1 << 20])
def test_an_event_in_another_s_attribute_does_not_end_it(form: str, step: int) -> None:
    for said in NESTED:
        found = numbers(*(event(cluster, form, **said) for cluster in (1, 2)), step=step)
        assert found == [1, 2], said


@pytest.mark.parametrize("form", FORMS)
def test_an_event_that_could_be_an_attribute_is_told_with_the_next(form: str) -> None:
    first, second = event(1, form), event(2, form)
    assert numbers(BEGUN[form], first) == []
    assert numbers(BEGUN[form], first, second) == [1, 2]
    # A line of its own shows what it is.
    assert numbers(BEGUN[form], "\n", first) == [1]


@pytest.mark.parametrize("form", FORMS)
def test_an_event_s_number_that_is_no_own_attribute_makes_no_event(form: str) -> None:
    """An ad behind which another was torn is thrown away with it, unless it is an event."""
    no_events: list[dict[str, Said]] = [
        {"Z": "EventTypeNumber"},
        {"JobEventTypeNumberX": 1},
        {"JobEventTypeNumber": 1, "EventTypeNumberX": 1},
        {"Z": ["a", "EventTypeNumber"], "Y": 2},
        {"Z": {"EventTypeNumber": 1}, "Y": 2},
        {"Z": [{"a": 1}, {"EventTypeNumber": 1}], "Y": 2},
    ]
    for said in no_events:
        log = f"{BEGUN[form]}{write(said, form)}\n{event(2, form)}"
        assert read(form, [log.encode()]) == ([event(2, form).strip().encode()], 1), said
    log = BEGUN[form] + write({"eventtypeNUMBER": 1}, form) + "\n" + event(2, form)
    assert len(read(form, [log.encode()])[0]) == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_torn_event_between_whole_ones_costs_none_wherever_the_log_is_cut(form: str) -> None:
    whole = [event(number, form) for number in (1, 2, 3)]
    log = "".join((whole[0], BEGUN[form], *whole[1:])).encode()
    for place in range(len(log)):
        ads = [one.strip().encode() for one in whole]
        assert read(form, [log[:place], log[place:]]) == (ads, 1), log[:place]


@pytest.mark.parametrize("form", FORMS)
def test_an_event_that_is_waited_with_for_too_long_is_thrown_away(form: str) -> None:
    blanks = b" " * MAX_EVENT_BYTES
    chunks = [BEGUN[form].encode() + event(1, form).encode(), blanks, event(2, form).encode()]
    assert read(form, chunks) == ([event(2, form).strip().encode()], 1)


def test_a_string_that_was_torn_before_an_event_is_no_attribute() -> None:
    for torn in ('{\n"Note": "why:', '{\n"Notes": [\n"why,'):
        assert numbers(event(1, "json"), torn, event(2, "json")) == [1, 2], torn


@pytest.mark.parametrize("form", FORMS)
def test_ads_that_are_open_in_one_another_are_bounded(form: str) -> None:
    begin = {"xml": '<c><a n="a">', "json": '{"a":'}[form]
    pieces = AdPieces(form)
    assert pieces.feed(begin.encode() * MAX_DEPTH * 30) == []
    assert pieces.thrown == 29
    assert len(pieces.feed(b"\n" + event(1, form).encode())) == 1
    assert pieces.thrown == 30
