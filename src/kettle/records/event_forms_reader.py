"""Reads a growing event log of any form: text, XML or JSON, told apart by how it begins.

A log in XML or JSON is a row of ads, each of which ends with a line of its own that nothing
inside an ad can be: `</c>` or `}` without a blank before it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kettle.classad import parse_ads
from kettle.errors import ClassAdSyntaxError
from kettle.records.event_base import Event
from kettle.records.event_forms import event_from_ad
from kettle.records.event_log import MAX_EVENT_BYTES, EventReader

_ENDS = {b"<": (b"\n</c>\n", "xml"), b"{": (b"\n}\n", "json")}
_HEADS = (b"<?xml", b"<!DOCTYPE", b"<classads>")


class AdReader:
    """Reads the ads of a growing XML or JSON log; what is no event counts as `skipped`."""

    def __init__(self, end: bytes, form: str) -> None:
        self._end = end
        self._form = form
        self._buffer = b""
        self.skipped = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """Take more bytes of the log and return the events that are now complete."""
        self._buffer += data
        start = 0
        while (stop := self._buffer.find(self._end, start)) >= 0:
            piece, start = self._buffer[start : stop + len(self._end)], stop + len(self._end)
            event = self._read(piece)
            if event is None:
                self.skipped += 1
            else:
                yield event
        self._buffer = self._buffer[start:]
        if len(self._buffer) > MAX_EVENT_BYTES:
            self.skipped += 1
            self._buffer = b""

    def _read(self, piece: bytes) -> Event | None:
        lines = piece.split(b"\n")
        while lines and lines[0].startswith(_HEADS):
            del lines[0]
        text = b"\n".join(lines).decode("utf-8", "surrogateescape")
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

    def feed(self, data: bytes) -> Iterator[Event]:
        """Take more bytes of the log and return the events that are now complete."""
        if self._reader is None:
            begun = data.lstrip()
            if not begun:
                return iter(())
            found = _ENDS.get(begun[:1])
            self._reader = AdReader(*found) if found else EventReader(year=self._year)
        return self._reader.feed(data)
