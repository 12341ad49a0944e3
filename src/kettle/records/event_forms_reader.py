"""Reads a growing event log of any form: text, XML or JSON, told apart by how it begins.

A log in XML or JSON is a row of ads, each in lines of its own, as it is written, or not.
"""

from __future__ import annotations

from kettle.classad import parse_ads
from kettle.errors import ClassAdSyntaxError
from kettle.records.event_base import Event
from kettle.records.event_forms import event_from_ad
from kettle.records.event_log import EventReader
from kettle.records.event_pieces import AdPieces
from kettle.records.event_xml import loose_xml_ad

_FORMS = {b"<": "xml", b"{": "json"}


class AdReader:
    """Reads the ads of a growing XML or JSON log; what is no event counts as `skipped`."""

    def __init__(self, form: str) -> None:
        self._form = form
        self._pieces = AdPieces(form)
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
        text = piece.replace(b"\0", b"").replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")
        try:
            ad = next(parse_ads(text, self._form), None)
        except (ClassAdSyntaxError, ValueError):
            ad = loose_xml_ad(text) if self._form == "xml" else None
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
            form = _FORMS.get(begun[:1])
            self._reader = AdReader(form) if form else EventReader(year=self._year)
        return self._reader.feed(data)
