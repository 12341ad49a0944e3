"""Cuts a growing log into pieces, each of which ends with a line that nothing inside one can be."""

from __future__ import annotations

# Limit: an event longer than this is no event; a reader would otherwise keep all of a wrong file.
MAX_EVENT_BYTES = 4 * 1024 * 1024


class Pieces:
    """The bytes of a growing log that no piece covers yet.

    A byte is looked at once, however often a log is asked for more and however long what it
    writes stays unfinished.
    """

    def __init__(self, end: bytes) -> None:
        """Take the line that ends a piece, without its newline, before which a return may stand."""
        self._end = end
        self._inner = b"\n" + end
        self._buffer = bytearray()
        # Up to where the buffer has no end.
        self._seen = 0
        # Offset in the log of the first byte that no piece covers.
        self.offset = 0
        # How often more than an event can have was thrown away.
        self.thrown = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Take more bytes and return the pieces that are now complete, each with its end."""
        self._buffer += data
        pieces = []
        start = 0
        while (stop := self._find_end(start)) >= 0:
            pieces.append(bytes(self._buffer[start:stop]))
            start = stop
        del self._buffer[:start]
        self.offset += start
        # An end may have begun.
        self._seen = max(0, len(self._buffer) - len(self._inner) - 1)
        if len(self._buffer) > MAX_EVENT_BYTES:
            self.thrown += 1
            self.offset += len(self._buffer)
            self._buffer.clear()
            self._seen = 0
        return pieces

    def _find_end(self, start: int) -> int:
        """Return where the piece that begins there ends, -1 if that has not come yet."""
        if self._buffer.startswith(self._end, start):
            stop = self._end_of_line(start + len(self._end))
            if stop >= 0:
                return stop
        position = max(start, self._seen)
        while (found := self._buffer.find(self._inner, position)) >= 0:
            stop = self._end_of_line(found + len(self._inner))
            if stop >= 0:
                return stop
            position = found + 1
        return -1

    def _end_of_line(self, position: int) -> int:
        """Return what is behind the end of a line that stands there, -1 if none does."""
        for end in (b"\n", b"\r\n"):
            if self._buffer.startswith(end, position):
                return position + len(end)
        return -1
