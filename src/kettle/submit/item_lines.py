"""The items of a queue statement: one a line, all at hand or read from their file when wanted.

A cluster that makes its jobs later may have a million of them for as long as it is there; only
where every so many bytes begin is remembered then. Reading the file is the caller's.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

from kettle.errors import ChangedError
from kettle.octets import BLANKS

# Limit: the items that a schedd takes for one cluster whose jobs it makes later, and their bytes:
# they are gone through before its first job is made, and lie in SPOOL as long as it is there.
MOST_ITEMS = 2_000_000
MOST_ITEM_BYTES = 1 << 30
# Limit: bytes of one item, which is read whole: no job could hold more (`schedd.queue.ad_sizes`).
MOST_ROW_BYTES = 4 * 1024 * 1024

# A place is remembered at the first line that begins behind so many bytes, and so many, or one
# line, are read at a time.
_APART_BYTES = 16 * 1024


def split_lines(text: str) -> list[str]:
    """Return the items of a text; what ends in a line break has none behind it."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.strip(BLANKS) for line in lines]


def join_continued(lines: list[str]) -> list[str]:
    """Return the items of what somebody wrote: a line goes on behind a backslash, no comment does.

    Compat: inside a continued line the reference takes a comment's end for a part of it; here a
    comment is none (test_a_line_of_items_goes_on_behind_a_backslash).
    """
    if not any(line.endswith("\\") for line in lines):
        return lines
    found: list[str] = []
    begun: list[str] = []
    for line in lines:
        is_comment = line.startswith("#")
        if begun and is_comment:
            continue
        begun.append(line.removesuffix("\\"))
        if is_comment or not line.endswith("\\"):
            found.append("".join(begun).strip(BLANKS))
            begun = []
    return [*found, "".join(begun).strip(BLANKS)] if begun else found


class ItemLines(Sequence[str]):
    """The items of a file that stays as it is."""

    def __init__(
        self,
        pieces: Iterable[bytes],
        read: Callable[[int, int], bytes],
        name: str = "the file of items",
    ) -> None:
        """Go through the file once; `read` returns bytes from an offset on, up to a number.

        `name` is what errors call the file.
        """
        self._read = read
        self._name = name
        # Where lines begin, and their numbers.
        self._offsets, self._numbers = array("Q", (0,)), array("Q", (0,))
        size = lines = ended = 0
        for piece in pieces:
            for begin in range(0, len(piece), _APART_BYTES):
                window = piece[begin : begin + _APART_BYTES]
                count = window.count(b"\n")
                if count:
                    lines += count
                    ended = size + begin + window.rfind(b"\n") + 1
                    self._offsets.append(ended)
                    self._numbers.append(lines)
            size += len(piece)
        self._count = lines + (size > ended)
        self._size = size
        # The last lines that were read, and the number of the first of them.
        self._first, self._lines = 0, [""] * 0

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        """Return an item; ChangedError if the lines are others now, and what `read` raises."""
        if isinstance(index, slice):
            return [self[each] for each in range(self._count)[index]]
        number = range(self._count)[index]
        if not self._first <= number < self._first + len(self._lines):
            self._load(number)
        return self._lines[number - self._first]

    def __iter__(self) -> Iterator[str]:
        """Yield all items; the errors of `self[index]`."""
        number = 0
        while number < self._count:
            self._load(number)
            number = self._first + len(self._lines)
            yield from self._lines

    def _load(self, number: int) -> None:
        place = bisect_right(self._numbers, number) - 1
        offset, first = self._offsets[place], self._numbers[place]
        more = place + 1 < len(self._offsets)
        end = self._offsets[place + 1] if more else self._size
        behind = self._numbers[place + 1] if more else self._count
        lines = split_lines(self._read(offset, end - offset).decode("utf-8", "surrogateescape"))
        if len(lines) != behind - first:
            # Every item behind would be another job's.
            raise ChangedError(
                f"{self._name} has changed: {len(lines)} items are where {behind - first} were"
            )
        self._first, self._lines = first, lines
