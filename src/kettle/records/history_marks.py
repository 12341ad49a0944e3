"""Where each record of a history file lies, and what an index needs to know of it.

Pure: pieces of a file in, marks out. The index itself is `runtime/storage/history_index.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kettle.named_tuples import NamedTuple
from kettle.records.history import LONGEST_RECORD_BYTES

# An id or time that a record's lines do not plainly say: it may be any.
UNKNOWN = -1
# The same of an owner.
UNKNOWN_OWNER = ""

# Numbers that fit in 64 bits whatever their digits; those with a leading zero are octal.
_DIGITS = 18
_BANNER = b"***"


class Mark(NamedTuple):
    """One record: its first byte, where its banner begins and ends, and what its ad says."""

    start: int
    banner: int
    stop: int
    cluster: int
    proc: int
    # In lower case.
    owner: str
    completed: int


class TooLongError(ValueError):
    """A record is longer than any of ours: such a file is read as it is."""


def read_marks(pieces: Iterable[bytes], offset: int) -> Iterator[Mark]:
    """Yield the marks of whole records in a part of a file that begins at `offset`.

    The part begins where a record begins. What follows the last banner is not a record yet. Raises
    TooLongError.
    """
    data = b""
    for piece in pieces:
        data += piece
        position = 0
        while (found := _next_banner(data, position)) is not None:
            banner, stop = found
            yield _mark(data[position:banner], offset + position, offset + banner, offset + stop)
            position = stop
        data = data[position:]
        offset += position
        if len(data) > LONGEST_RECORD_BYTES:
            raise TooLongError(f"a record at {offset}")


def _next_banner(data: bytes, position: int) -> tuple[int, int] | None:
    """Return where the next whole banner line begins and ends."""
    banner = position
    if not data.startswith(_BANNER, position):
        banner = data.find(b"\n" + _BANNER, position) + 1
        if banner == 0:
            return None
    end = data.find(b"\n", banner)
    return None if end < 0 else (banner, end + 1)


def _mark(body: bytes, start: int, banner: int, stop: int) -> Mark:
    lines = b"\n" + body.lower()
    if b"\n " in lines or b"\n\t" in lines:
        # Nobody writes such lines, but they count.
        return Mark(start, banner, stop, UNKNOWN, UNKNOWN, UNKNOWN_OWNER, UNKNOWN)
    owner = _value(lines, b"\nowner")
    plain = len(owner) > 1 and owner[:1] == owner[-1:] == b'"' and b"\\" not in owner
    return Mark(
        start,
        banner,
        stop,
        _number(lines, b"\nclusterid"),
        _number(lines, b"\nprocid"),
        _text(owner[1:-1]) if plain else UNKNOWN_OWNER,
        _number(lines, b"\ncompletiondate"),
    )


def _text(raw: bytes) -> str:
    """Return a lower-case ASCII string; of others only expressions know what they equal."""
    return raw.decode("ascii") if raw.isascii() else UNKNOWN_OWNER


def _value(lines: bytes, name: bytes) -> bytes:
    """Return what the only line that begins so says; empty if there are none or several."""
    at = lines.find(name)
    if at < 0 or lines.find(name, at + 1) >= 0:
        return b""
    line = lines[at + len(name) : lines.find(b"\n", at + 1)]
    before, equals, value = line.partition(b"=")
    return value.strip() if equals and not before.strip() else b""


def _number(lines: bytes, name: bytes) -> int:
    value = _value(lines, name)
    if not value.isdigit() or len(value) > _DIGITS or (value[:1] == b"0" and value != b"0"):
        return UNKNOWN
    return int(value)
