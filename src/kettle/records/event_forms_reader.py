"""Reads a growing event log of any form: text, XML or JSON, told apart by how it begins.

A log in XML or JSON is a row of ads, each of which ends with a line of its own that nothing
inside an ad can be: `</c>` or `}` without a blank before it.
"""

from __future__ import annotations

import itertools

from kettle.classad import parse_ads
from kettle.errors import ClassAdSyntaxError
from kettle.records.event_base import Event
from kettle.records.event_forms import event_from_ad
from kettle.records.event_log import EventReader
from kettle.records.event_pieces import Pieces

_ENDS = {b"<": (b"</c>", "xml"), b"{": (b"}", "json")}
_HEADS = (b"<?xml", b"<!DOCTYPE", b"<classads>")


class AdReader:
    """Reads the ads of a growing XML or JSON log; what is no event counts as `skipped`."""

    def __init__(self, end: bytes, form: str) -> None:
        self._form = form
        self._pieces = Pieces(end)
        self._not_events = 0

    @property
    def skipped(self) -> int:
        """How many pieces of the log were no events."""
        return self._not_events + self._pieces.thrown

    def feed(self, data: bytes) -> list[Event]:
        """Take more bytes of the log and return the events that are now complete."""
        found = [self._read(piece) for piece in self._pieces.feed(data)]
        events = [event for event in found if event is not None]
        self._not_events += len(found) - len(events)
        return events

    def _read(self, piece: bytes) -> Event | None:
        lines = piece.replace(b"\r\n", b"\n").split(b"\n")
        body = itertools.dropwhile(lambda line: line.startswith(_HEADS), lines)
        text = b"\n".join(body).decode("utf-8", "surrogateescape")
        try:
            ad = next(parse_ads(text, self._form), None)
        except (ClassAdSyntaxError, ValueError):
            return None
        return event_from_ad(ad) if ad is not None else None


class AnyFormReader:
    """Reads a growing log whose form its first bytes show."""

    def __init__(self, *, year: int = 1970) -> None:
        self._year = year
        self._reader: EventReader | AdReader | None = None

    @property
    def skipped(self) -> int:
        """How many pieces of the log were no events."""
        return self._reader.skipped if self._reader is not None else 0

    def feed(self, data: bytes) -> list[Event]:
        """Take more bytes of the log and return the events that are now complete."""
        if self._reader is None:
            begun = data.lstrip()
            if not begun:
                return []
            found = _ENDS.get(begun[:1])
            self._reader = AdReader(*found) if found else EventReader(year=self._year)
        return self._reader.feed(data)
