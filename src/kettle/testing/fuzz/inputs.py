"""Inputs out of samples: each follows from a seed, a decoder's name and a number.

Most are samples with something wrong in them, because bytes that are wrong everywhere are turned
away by the first check.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence

from kettle.digits import MAX_INTEGER, MIN_INTEGER
from kettle.testing.fuzz.grammar import Grammar

# Limit: no input is longer; what is bounded by size is tested by itself.
LONGEST = 64 * 1024

_INTERESTING = (
    0,
    1,
    -1,
    2,
    127,
    255,
    256,
    65_535,
    2**31 - 1,
    -(2**31),
    2**32,
    MAX_INTEGER,
    MIN_INTEGER,
)
_WORDS = (
    b"\0",
    b"\n",
    b'"',
    b"\\",
    b"(",
    b")",
    b"{",
    b"[",
    b"$(",
    b"$(A)",
    b"$$(",
    b"#",
    b"<",
    b">",
    b"?",
    b"&",
    b"=",
    b"%",
    b"%zz",
    b"\xff\xfe",
    b"\xad\0",
    "ſ".encode(),
    "²".encode(),
    "\x85".encode(),
    "\u2028".encode(),
    b"-",
    b"+",
    b"1e999",
    b"0x",
    b"9" * 30,
    b"...\n",
    b"MaGic6.0",
    b"CRAP",
    b"ZKM\0",
    b"undefined",
    b"error",
    b"A = A\n",
    b"include : x\n",
    b"use ROLE: x\n",
    b"queue 5\n",
    b"@=end\n",
)
# What opens something, parts it or means nothing: many in a row show what is read again and again.
_PILED = (
    *(b" ", b"\t", b"\n", b"\0", b"a", b"9", b"-", b".", b",", b";", b"=", b"a=", b"a = 1\n"),
    *(
        b'"',
        b"'",
        b"\\",
        b'\\"',
        b"(",
        b"{",
        b"[",
        b"[a=",
        b"[[:",
        b"[[.",
        b"(?",
        b"(?#",
        b"<",
        b"<a>",
    ),
    *(
        b"/*",
        b"/* ",
        b"//",
        b"#",
        b"$(",
        b"$(A",
        b"$INT(",
        b"if ",
        b"a|",
        b"a?",
        b"a&&",
        b"a::",
        b"!",
    ),
)


def _flip(data: bytearray, source: random.Random) -> None:
    data[source.randrange(len(data))] ^= 1 << source.randrange(8)


def _replace(data: bytearray, source: random.Random) -> None:
    data[source.randrange(len(data))] = source.randrange(256)


def _insert_word(data: bytearray, source: random.Random) -> None:
    place = source.randrange(len(data) + 1)
    data[place:place] = source.choice(_WORDS)


def _insert_number(data: bytearray, source: random.Random) -> None:
    place = source.randrange(len(data) + 1)
    number = struct.pack(">q", source.choice(_INTERESTING))
    data[place : place + source.choice((0, 8))] = number


def _break_line(data: bytearray, source: random.Random) -> None:
    """Put a NUL over a byte, and a wrong length over a number behind it."""
    place = source.randrange(len(data))
    data[place] = 0
    number = data.find(bytes(7), place + 1)
    if number >= 0:
        size = source.choice((*_INTERESTING, -source.randrange(len(data)), len(data)))
        data[number : number + 8] = struct.pack(">q", size)


def _cut(data: bytearray, source: random.Random) -> None:
    start = source.randrange(len(data))
    del data[start : start + 1 + source.randrange(1 + len(data) // 2)]


def _end(data: bytearray, source: random.Random) -> None:
    del data[source.randrange(len(data)) :]


def _repeat(data: bytearray, source: random.Random) -> None:
    start = source.randrange(len(data))
    piece = bytes(data[start : start + 1 + source.randrange(40)])
    data[start:start] = piece * source.choice((2, 3, 10, 100, 1000))


def _pile(data: bytearray, source: random.Random) -> None:
    place = source.randrange(len(data) + 1)
    pile = source.choice(_PILED) * source.choice((20, 200, 2_000, 20_000))
    data[place:place] = pile + source.choice((b"", b"", b"x", b'"', source.choice(_WORDS)))


def _swap(data: bytearray, source: random.Random) -> None:
    first, second = source.randrange(len(data)), source.randrange(len(data))
    data[first], data[second] = data[second], data[first]


_CHANGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flip,
    _replace,
    _insert_word,
    _insert_word,
    _insert_number,
    _break_line,
    _cut,
    _end,
    _repeat,
    _pile,
    _swap,
)


def make_input(
    samples: Sequence[bytes],
    name: str,
    seed: int,
    number: int,
    grammars: Sequence[Grammar] = (),
) -> bytes:
    """Return input `number` of a seed for the decoder `name`.

    Where there are grammars, most inputs are texts of theirs, half of those with nothing wrong.
    """
    source = random.Random(f"{seed}/{name}/{number}")  # noqa: S311 - it has to be repeatable
    kind = source.random()
    if kind < 0.05:
        return source.randbytes(source.randrange(200))
    least = 1
    if grammars and kind < 0.8:
        text = source.choice(grammars).make(source)
        data = bytearray(text.encode("utf-8", "surrogateescape"))
        least = 0
    else:
        data = bytearray(source.choice(samples))
    if 0.05 <= kind < 0.2:
        other = source.choice(samples)
        data = data[: source.randrange(len(data) + 1)] + other[source.randrange(len(other) + 1) :]
    for _ in range(least + min(int(source.expovariate(0.7)), 12)):
        if not data:
            data += source.choice(_WORDS)
        source.choice(_CHANGES)(data, source)
        del data[LONGEST:]
    return bytes(data)
