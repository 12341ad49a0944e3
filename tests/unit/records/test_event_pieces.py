"""A growing log is cut into events in time linear in its length, and at the call."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kettle.records import event_pieces
from kettle.records.event_forms import render
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_kinds import ExecuteEvent, GenericEvent
from kettle.records.event_log import EventReader, Format, Style
from kettle.records.event_pieces import AdPieces, Pieces


class Counted(bytearray):
    """A buffer that counts how many bytes are looked through and moved."""

    looked = 0

    def find(self, wanted: Any, start: Any = 0, end: Any = None) -> int:
        """Find as ever."""
        found = super().find(wanted, start)
        Counted.looked += (found if found >= 0 else len(self)) - start + len(wanted)
        return found

    def rfind(self, wanted: Any, start: Any = 0, end: Any = None) -> int:
        """Find as ever."""
        found = super().rfind(wanted, start, end)
        Counted.looked += end - (found if found >= 0 else start)
        return found

    def __add__(self, other: Any) -> bytearray:
        Counted.looked += len(self)
        return super().__add__(other)

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        Counted.looked += len(part) if isinstance(part, bytearray) else 1
        return part


class CountedPattern:
    """A pattern that counts how many bytes it looks through."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._pattern = pattern

    def search(self, buffer: bytearray, start: int) -> re.Match[bytes] | None:
        """Search as ever."""
        found = self._pattern.search(buffer, start)
        Counted.looked += (found.end() if found else len(buffer)) - start
        return found


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Counted]:
    monkeypatch.setattr(event_pieces, "bytearray", Counted, raising=False)
    marks = {form: CountedPattern(mark) for form, mark in event_pieces._MARKS.items()}
    monkeypatch.setattr(event_pieces, "_MARKS", marks)
    monkeypatch.setattr(event_pieces, "_IN_STRING", CountedPattern(event_pieces._IN_STRING))
    Counted.looked = 0
    return Counted


@pytest.mark.parametrize("form", list(Format))
def test_an_event_that_grows_in_many_polls_is_looked_through_once(
    form: Format, counted: type[Counted]
) -> None:
    log = render(GenericEvent(info="word " * 20_000), Style(form=form))
    reader = AnyFormReader()
    events = [event for at in range(0, len(log), 100) for event in reader.feed(log[at : at + 100])]
    assert len(events) == 1
    # Each byte is looked through once and handed out once, a few more at the seams.
    assert len(log) <= counted.looked < 3 * len(log)


@pytest.mark.parametrize("form", list(Format))
def test_what_is_fed_counts_though_nobody_looks_at_the_answer(form: Format) -> None:
    log = render(GenericEvent(info="a"), Style(form=form)) * 2
    reader = AnyFormReader()
    reader.feed(log[:-5])
    assert [event.number for event in reader.feed(log[-5:])] == [8]
    text = EventReader()
    text.feed(b"no event\n...\n")
    assert (text.skipped, text.offset) == (1, 13)


@pytest.mark.parametrize("end", [b"...", b"</c>", b"}"])
def test_pieces_are_the_same_wherever_the_log_was_cut(end: bytes) -> None:
    log = b"a\nb\n" + end + b"\n" + end + b"\n " + end + b"\n" + end + b"x\n" + end + b"\nrest\n"
    whole = Pieces(end).feed(log)
    assert b"".join(whole) + b"rest\n" == log
    assert len(whole) == 3
    for cut in range(len(log)):
        pieces = Pieces(end)
        assert pieces.feed(log[:cut]) + pieces.feed(log[cut:]) == whole
    pieces = Pieces(end)
    assert [piece for byte in log for piece in pieces.feed(bytes([byte]))] == whole
    assert pieces.offset == len(log) - len(b"rest\n")


def test_more_than_an_event_can_have_is_thrown_away() -> None:
    pieces = Pieces(b"...")
    assert pieces.feed(bytes(event_pieces.MAX_EVENT_BYTES + 1)) == []
    assert (pieces.thrown, pieces.offset) == (1, event_pieces.MAX_EVENT_BYTES + 1)
    assert pieces.feed(b"\n...\na\n...\n") == [b"\n...\n", b"a\n...\n"]


@pytest.mark.parametrize("form", [Format.XML, Format.JSON])
@pytest.mark.parametrize("apart", [1, 2, 7, 10_000])
@pytest.mark.parametrize("between", ["", "\n", "\n\n"])
def test_ads_may_share_lines(form: Format, apart: int, between: str) -> None:
    said = 'a } " {b\\ </c> <c> c'
    events = [GenericEvent(cluster=number, info=said) for number in range(4)]
    lines = [render(event, Style(form=form)).replace(b"\n", b" ").strip() for event in events]
    found, skipped = read_apart(between.encode().join(lines), apart)
    assert [(event.cluster, event.info) for event in found] == [(n, said) for n in range(4)]
    assert skipped == 0


@pytest.mark.parametrize("form", [Format.XML, Format.JSON])
@pytest.mark.parametrize("apart", [1, 7, 10_000])
def test_a_torn_ad_and_words_between_cost_no_other(form: Format, apart: int) -> None:
    whole = [
        render(GenericEvent(cluster=number, info='a "b'), Style(form=form)) for number in (1, 2)
    ]
    for cut in range(1, len(whole[0]) - 1):
        found, skipped = read_apart(whole[0][:cut].rstrip(b"\n") + b"\n" + whole[1], apart)
        assert [event.cluster for event in found] == [2], cut
        assert skipped == 1, cut
    found, skipped = read_apart(whole[0] + b"some words\n" + whole[1], apart)
    assert ([event.cluster for event in found], skipped) == ([1, 2], 1)


@pytest.mark.parametrize("form", [Format.XML, Format.JSON])
@pytest.mark.parametrize("apart", [7, 10_000])
def test_an_event_right_behind_a_torn_one_is_read(form: Format, apart: int) -> None:
    """Also where it could be an ad of the torn one's, or the torn one ends in such an ad."""
    inner = {"Cpus": "1", "Odd": "{ [ a = 1 ],{ [ b = 2 ] } }", "Like": "[ c = [ d = 1 ] ]"}
    torn = render(ExecuteEvent(cluster=1, host='a "b', properties=inner), Style(form=form))
    last = ExecuteEvent(cluster=3, host="c", properties=inner)
    whole = [render(event, Style(form=form)) for event in (GenericEvent(cluster=2, info="x"), last)]
    for cut in range(1, len(torn) - 1):
        found, skipped = read_apart(torn[:cut] + b"".join(whole), apart)
        assert [event.cluster for event in found] == [2, 3], torn[:cut]
        assert (found[1].properties, skipped) == (last.properties, 1), torn[:cut]


@pytest.mark.parametrize("form", ["xml", "json"])
def test_ads_in_ads_are_looked_through_once(form: str, counted: type[Counted]) -> None:
    begin = {"xml": b'<c>\n<a n="a">', "json": b'{\n"a":'}[form]
    end = {"xml": b"\n</c>", "json": b"\n}"}[form]
    one = begin * 150 + end * 150
    log = one * 20
    assert AdPieces(form).feed(log) == [one] * 20
    assert counted.looked < 6 * len(log)


def read_apart(data: bytes, apart: int) -> tuple[list[Any], int]:
    reader = AnyFormReader()
    starts = range(0, len(data), apart)
    found = [event for start in starts for event in reader.feed(data[start : start + apart])]
    return found, reader.skipped


@pytest.mark.parametrize("form", ["xml", "json"])
def test_an_ad_longer_than_an_event_can_be_is_thrown_away(form: str) -> None:
    pieces = AdPieces(form)
    first = {"xml": b"<c>", "json": b'{"'}[form]
    last = {"xml": b"</c>", "json": b"{}"}[form]
    assert pieces.feed(first + bytes(event_pieces.MAX_EVENT_BYTES)) == []
    assert pieces.thrown == 1
    assert len(pieces.feed(b"\n" + first[:3].replace(b'"', b"}") + last)) >= 1


@pytest.mark.parametrize("form", [Format.TEXT, Format.XML, Format.JSON])
@pytest.mark.parametrize("apart", [1, 2, 7, 10_000])
def test_a_log_with_the_line_ends_of_windows_is_read(form: Format, apart: int) -> None:
    events = [GenericEvent(cluster=number, info=f"said {number}") for number in range(3)]
    text = b"".join(render(event, Style(form=form)) for event in events)
    data = text.replace(b"\n", b"\r\n")
    reader = AnyFormReader()
    found = [
        event
        for start in range(0, len(data), apart)
        for event in reader.feed(data[start : start + apart])
    ]
    assert [(event.cluster, event.info) for event in found] == [  # type: ignore[attr-defined]
        (event.cluster, event.info) for event in events
    ]
    assert reader.skipped == 0
