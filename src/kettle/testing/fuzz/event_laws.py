"""What holds of the events of a log, whatever it was: written and read again they are the same."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable

from kettle.records.event_base import Event
from kettle.records.event_forms import render
from kettle.records.event_forms_reader import AnyFormReader
from kettle.records.event_future import RawEvent
from kettle.records.event_log import Format, Style
from kettle.records.event_text import MAX_TEXT
from kettle.testing.fuzz.decoder import LawError

# A leap year, which the dates of the style without years are taken for.
YEAR = 2024
_STYLES = (
    Style(),
    Style(utc=True),
    Style(sub_second=True),
    Style(sub_second=True, utc=True),
    Style(iso=False),
    Style(Format.XML),
    Style(Format.JSON, utc=True),
)


def check_events(events: list[Event], *, as_text: bool) -> None:
    """Raise LawError unless events are the same after they were written and read, in every form.

    `as_text` are those of a log in text, which says all of them. What another writing cannot keep
    (what an ad did not say, a break within a line) is lost at the first, and nothing at the second.
    What has no header is not written again.
    """
    events = [one for one in events if not isinstance(one, RawEvent) or one.has_header]
    for style in _STYLES:
        printed = _print(events, style)
        first = _read(printed)
        again = _print(first, style)
        if style.form is not Format.TEXT:
            # Compat: an event that is no more than its lines is one of no known type as an ad
            # (test_lines_of_another_version_do_not_grow).
            first, printed, again = _read(again), again, _print(_read(again), style)
        if again != printed:
            raise LawError(f"{style}: {_difference(printed, again)}")
        if as_text and style.form is Format.TEXT:
            _check_equal(events, first)


def _check_equal(events: list[Event], first: list[Event]) -> None:
    """Raise LawError unless all came back that a line of text can say."""
    if len(events) != len(first):
        raise LawError(f"{len(events)} events become {len(first)}")
    for event, back in zip(events, first, strict=True):
        kept = _keepable(event, back.time)
        if back != kept and "\\r" not in repr(event) and len(repr(event)) < MAX_TEXT:
            raise LawError(f"{event!r} becomes {back!r}")


def _keepable(event: Event, time: float) -> Event:
    """Return an event at another time with its numbers as text shows them."""
    kept = copy.copy(event)
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if isinstance(value, float):
            setattr(kept, field.name, float(f"{value:.0f}"))
    kept.time = time
    return kept


def _print(events: Iterable[Event], style: Style) -> bytes:
    return b"".join(render(event, style) for event in events)


def _read(printed: bytes) -> list[Event]:
    return AnyFormReader(year=YEAR).feed(printed)


def _difference(printed: bytes, again: bytes) -> str:
    pairs = zip(printed.split(b"\n"), again.split(b"\n"), strict=False)
    first = next((pair for pair in pairs if pair[0] != pair[1]), (printed[-99:], again[-99:]))
    return f"{first[0][:200]!r} becomes {first[1][:200]!r}"
