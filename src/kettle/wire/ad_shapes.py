"""The shape that ads have in common, and runs of ads of one shape.

`AdShape` is a pattern that takes the values out of ads which have the same names, and perhaps the
same end; an `AdRun` is many such ads, their names said once. Who learns the shapes is
`similar_ads`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence

from kettle.classad import ClassAd, is_expression
from kettle.errors import RemoteProtocolError
from kettle.wire.codec import Reader

_unpack_integer = struct.Struct(">q").unpack_from
# Limit: lines, and letters, of a shape: making one takes 0.1 ms a line.
MOST_LINES = 1000
MOST_LETTERS = 64 * 1024
# Limit: ads of a run: their values are taken apart together.
LONGEST_RUN = 100
# A line: two bytes of its length, of eight, and its value, in which nothing is tried twice. What is
# longer than two bytes can say is none of the kind.
_LINE = rb"\0\0\0\0\0\0(..)%s = ([^\0]{1,%d}+)\0"
_LONGEST_LINE = (1 << 16) - 1
# White space that hardly any value has anywhere, beside the blank.
_RARE_BLANKS = b"\t\n\v\f\r\x1c\x1d\x1e\x1f"

# A compiled pattern's method.
Match = Callable[..., "re.Match[bytes] | None"]


class AdRun:
    """Ads with the same names and the same parent.

    `model` is one of them, `rows` are the texts of each, in old syntax and in the model's order;
    iterating makes the ads.
    """

    __slots__ = ("model", "rows")

    def __init__(self, model: ClassAd, rows: list[tuple[str, ...]]) -> None:
        self.model = model
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ClassAd]:
        return map(self.model.with_texts, self.rows)

    def texts(self, key: str) -> list[str] | None:
        """Return the texts under a lower-case name; None if there are none, or not as texts."""
        place = next((place for place, each in enumerate(self.model.table) if each == key), None)
        if place is not None:
            return [row[place] for row in self.rows]
        parent = self.model.parent
        raw = parent.table.get(key) if parent is not None and parent.parent is None else None
        return [raw] * len(self.rows) if isinstance(raw, str) else None


def each_ad(found: Iterable[ClassAd | AdRun]) -> Iterator[ClassAd]:
    """Yield single ads and those of runs, one by one."""
    for each in found:
        if isinstance(each, ClassAd):
            yield each
        else:
            yield from each


class AdShape:
    """Names, one after the other, in front of an end that is always the same.

    `before` are bytes that each such ad follows in a message.
    """

    __slots__ = ("_before", "_beyond", "_fullmatch", "_match", "_source", "_width", "end", "model")

    def __init__(self, count: int, model: ClassAd, end: bytes, before: bytes = b"") -> None:
        names = [name.encode("utf-8", "surrogateescape") for name in model.own_names()]
        # Bytes of a line that are not its value, the NUL included.
        beyond = [len(name) + len(b" = \0") for name in names]
        self._width = len(names)
        self._beyond = struct.pack(f">{len(beyond)}H", *beyond)
        lines = b"".join(
            _LINE % (re.escape(name), max(1, _LONGEST_LINE - more))
            for name, more in zip(names, beyond, strict=True)
        )
        self._source = re.escape(count.to_bytes(8, "big")) + lines
        self._before = before
        # Compiled when they are needed: a shape serves whole bodies, or parts of messages.
        self._fullmatch: Match | None = None
        self._match: Match | None = None
        self.model = model
        self.end = end

    def read(self, body: bytes) -> ClassAd | None:
        """Return the ad of a body of this shape, None for another."""
        end = self.end
        if not body.endswith(end):
            return None
        found = self._whole()(body, 0, len(body) - len(end))
        texts = None if found is None else self._texts(found.groups())
        return None if texts is None else self.model.with_texts(texts)

    def _whole(self) -> Match:
        """Return what takes a body apart, but for its end."""
        if self._fullmatch is None:
            self._fullmatch = re.compile(self._source, re.DOTALL).fullmatch
        return self._fullmatch

    def _next(self) -> Match:
        """Return what takes the next ad of a message apart."""
        if self._match is None:
            source = re.escape(self._before) + self._source + re.escape(self.end)
            self._match = re.compile(source, re.DOTALL).match
        return self._match

    def take(self, reader: Reader) -> ClassAd | None:
        """Return the next ad of a message, None if it has another shape."""
        groups = reader.take(self._next())
        return self.model.with_texts(self._checked(groups)) if groups else None

    def take_run(self, reader: Reader) -> AdRun | None:
        """Return the next ads of a message that have this shape, None if the next has another."""
        groups: list[bytes] = []
        for _ in range(LONGEST_RUN):
            found = reader.take(self._next())
            if not found:
                break
            groups += found
        return self._run(self._checked(groups)) if groups else None

    def read_run(self, bodies: Sequence[bytes]) -> AdRun | None:
        """Return the ads of bodies of this shape, None if one of them has another."""
        end, fullmatch = self.end, self._whole()
        groups: list[bytes] = []
        for body in bodies:
            found = fullmatch(body, 0, len(body) - len(end)) if body.endswith(end) else None
            if found is None:
                return None
            groups += found.groups()
        texts = self._texts(groups)
        return None if texts is None else self._run(texts)

    def _run(self, texts: list[str]) -> AdRun:
        each = iter(texts)
        return AdRun(self.model, list(zip(*[each] * self._width, strict=True)))

    def _checked(self, groups: Sequence[bytes]) -> list[str]:
        texts = self._texts(groups)
        if texts is None:
            raise RemoteProtocolError(
                "an ad has a line that is empty, not as long as it says, or several"
            )
        return texts

    def _texts(self, groups: Sequence[bytes]) -> list[str] | None:
        """Return the values of one ad, or of several, out of what the pattern took apart.

        None if a line is not as long as it says, or empty, or could pass for more lines than one as
        in `Reader.ad`: a value with a line end that is no expression.
        """
        values = groups[1::2]
        ads = len(values) // self._width
        # As one number each: two bytes a line, and none so long that it would need a third.
        sizes = int.from_bytes(struct.pack(f">{len(values)}H", *map(len, values)), "big")
        sizes += int.from_bytes(self._beyond * ads, "big")
        if sizes != int.from_bytes(b"".join(groups[::2]), "big"):
            return None
        encoded = b"\0".join(values)
        joined = encoded.decode("utf-8", "surrogateescape")
        texts = joined.split("\0")
        if _has_no_margins(encoded, joined):
            return texts
        texts = list(map(str.strip, texts))
        if any("\n" in text and not is_expression(text) for text in texts):
            return None
        return texts if all(texts) else None


def _has_no_margins(encoded: bytes, joined: str) -> bool:
    """Tell whether no text of several, with a NUL between them, has a blank at an end.

    They are given encoded, too; the answer is no where it would take a closer look.
    """
    return (
        joined.isascii()
        and b" \0" not in encoded
        and b"\0 " not in encoded
        and len(encoded.translate(None, _RARE_BLANKS)) == len(encoded)
        and joined.strip() == joined
    )


def find_shape(body: bytes, common: int) -> AdShape | None:
    """Return the shape of a body of which so many bytes at the end are another's, too."""
    try:
        count = int(_unpack_integer(body)[0])
        starts = _line_starts(body, count)
        own = sum(start < len(body) - common for start in starts[:-1])
        if not 0 < own <= MOST_LINES or starts[own] > MOST_LETTERS:
            return None
        lines = body[8 : starts[own]]
        model = Reader(own.to_bytes(8, "big") + lines, encrypted=True).ad(types=False)
        end = body[starts[own] :]
        shared = Reader((count - own).to_bytes(8, "big") + end, encrypted=True).ad()
    except (struct.error, RemoteProtocolError):
        return None
    # An attribute that is there twice counts in the order of the lines.
    if len({*model.table, *shared.table}) < count:
        return None
    model.parent = shared if len(shared) else None
    return AdShape(count, model, end)


def _line_starts(body: bytes, count: int) -> list[int]:
    """Return where each line of an ad begins, and where the last one ends."""
    starts = [8]
    for _ in range(count):
        size = int(_unpack_integer(body, starts[-1])[0])
        if size <= 0:
            raise RemoteProtocolError("a line without a length")
        starts.append(starts[-1] + 8 + size)
    return starts
