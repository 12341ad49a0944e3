"""Values inside a message: integers, strings, reals, secrets, ClassAds; bytes in and out.

`Writer` composes the body of one message, `Reader` takes one apart; neither knows packets or
ciphers (`wire.channel` does) and neither knows which values a command wants (`wire.messages`).
A string is prefixed by its length exactly when the stream's encryption is on, so both are told.
Source: wire notes, Primitives and ClassAds on the wire.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kettle.classad import ClassAd, is_expression
from kettle.errors import LocalProtocolError, RemoteProtocolError
from kettle.named_tuples import NamedTuple
from kettle.patterns import late_pattern

if TYPE_CHECKING:
    import re

_INTEGER = struct.Struct(">q")
_pack_integer = _INTEGER.pack
_unpack_integer = _INTEGER.unpack_from

_NULL = b"\xad"
_SECRET_MARKER = "ZKM"  # noqa: S105 - a word of the protocol
_MANTISSA_SCALE = 2147483647

# Limit: attributes of one ad, and bytes of one string on an encrypted stream (reference's bounds).
MAXIMUM_ATTRIBUTES = 1_000_000
MAXIMUM_STRING = 10_000_000

_PLAIN = late_pattern(r'-?\d+(?:\.\d+)?|"[^"\\]*"|true|false|undefined|TRUE|FALSE|True|False')

# Bytes that a line of an ad is expected to have at most, on average.
_WINDOW = 80
_LEAST_WINDOW = 32 * 1024

_ENCODED_INTEGERS = tuple(_pack_integer(number) for number in range(1024))
"""Small integers are most of what is sent: lengths, counts, codes."""

PRIVATE_ATTRIBUTES = frozenset(
    ("capability", "childclaimids", "claimid", "claimidlist", "claimids", "transferkey")
)
"""Attributes that are secrets, in lower case; so is every name beginning `_condor_priv`."""

_PRIVATE_BEGINNING = "_condor_priv"
_PRIVATE_FIRST_LETTERS = frozenset("cCtT_")


def is_private_attribute(name: str) -> bool:
    """Tell whether an attribute is a secret that only private ads may carry."""
    if name[:1] not in _PRIVATE_FIRST_LETTERS:
        return False
    lowered = name.lower()
    return lowered in PRIVATE_ATTRIBUTES or lowered.startswith(_PRIVATE_BEGINNING)


def has_secrets(ad: ClassAd) -> bool:
    """Tell whether an ad, or one it is chained to, has a secret attribute."""
    one: ClassAd | None = ad
    while one is not None:
        # The view asks for the six names; the set would be asked for each of the ad's.
        if not one.table.keys().isdisjoint(PRIVATE_ATTRIBUTES):
            return True
        # All names at once first: hardly any ad has one that begins so.
        if _PRIVATE_BEGINNING in "".join(one.table) and any(
            key.startswith(_PRIVATE_BEGINNING) for key in one.table
        ):
            return True
        one = one.parent
    return False


def split_names(text: str) -> list[str]:
    """Split a projection's text at blanks, commas and newlines, dropping what is no name.

    Clients send formatting fragments along with names (`Memory/1024.0`); those are ignored.
    """
    words = text.replace(",", " ").split()
    return [word for word in words if word.replace("_", "a").replace(".", "a").isalnum()]


def is_plain_value(text: str) -> bool:
    """Tell whether an attribute's text is a value as it stands, which needs no other attribute."""
    return _PLAIN.fullmatch(text) is not None


def asked_names(names: Iterable[str]) -> dict[str, str]:
    """Return the names by their lower case, each as it is spelled first."""
    asked: dict[str, str] = {}
    for name in names:
        asked.setdefault(name.lower(), name)
    return asked


def expand_projection(ad: ClassAd, names: Iterable[str]) -> list[str]:
    """Return `names` and, recursively, the attributes of the same ad that they refer to."""
    wanted: dict[str, str] = {}
    queue = list(names)
    for name in queue:
        key = name.lower()
        if key in wanted:
            continue
        wanted[key] = name
        if is_plain_value(ad.text(name) or ""):
            continue
        expression = ad.lookup(name)
        if expression is not None and not expression.is_literal:
            # Late: most tools never get so far.
            from kettle.classad.references import find_references

            internal, _ = find_references(expression, ad)
            queue.extend(sorted(internal))
    return list(wanted.values())


def _split_real(number: float) -> tuple[int, int]:
    """Return mantissa and exponent as the wire has them; the mantissa is cut, not rounded."""
    mantissa, exponent = math.frexp(number)
    return int(mantissa * _MANTISSA_SCALE), exponent


class EncodedLines(NamedTuple):
    """An ad as a message in the clear has it, without its count and types: for `Writer.ad_upon`."""

    number: int
    data: bytes


def encode_lines(ad: ClassAd) -> EncodedLines:
    """Return an ad's lines, those of its parent and its secrets included."""
    body = Writer().ad(ad, private=True, types=False).getvalue()
    return EncodedLines(_unpack_integer(body)[0], body[_INTEGER.size :])


class Writer:
    """The body of one message under composition; methods return the writer, so calls chain."""

    __slots__ = ("_parts", "encrypted")

    def __init__(self, encrypted: bool = False) -> None:
        self.encrypted = encrypted
        self._parts: list[bytes] = []

    def integer(self, number: int) -> Writer:
        """Append a 64-bit integer (any C integer, enum, time or boolean travels like this)."""
        if 0 <= number < 1024:
            self._parts.append(_ENCODED_INTEGERS[number])
            return self
        try:
            self._parts.append(_pack_integer(number))
        except struct.error as error:
            raise LocalProtocolError(f"{number} does not fit in 64 bits") from error
        return self

    def byte(self, number: int) -> Writer:
        """Append one byte, 0 to 255."""
        self._parts.append(bytes((number,)))
        return self

    def raw(self, data: bytes | bytearray | memoryview) -> Writer:
        """Append bytes as they are; their length is the business of the message."""
        self._parts.append(bytes(data))
        return self

    def string(self, text: str | None) -> Writer:
        """Append a string, or the null string for None."""
        if text is None:
            self._parts.append(_ENCODED_INTEGERS[1] + _NULL if self.encrypted else _NULL)
            return self
        data = text.encode("utf-8", "surrogateescape")
        if b"\0" in data:
            raise LocalProtocolError("a string with a NUL byte cannot be sent")
        if self.encrypted:
            self.integer(len(data) + 1)
        self._parts.append(data + b"\0")
        return self

    def secret(self, text: str | None) -> Writer:
        """Append a secret. Under AES, and with no key at all, it is an ordinary string."""
        return self.string(text)

    def real(self, number: float) -> Writer:
        """Append a real as mantissa and exponent; it keeps 31 bits of mantissa.

        Infinities and not-a-number have no form on the wire: LocalProtocolError.
        """
        if not math.isfinite(number):
            raise LocalProtocolError(f"{number} cannot be sent")
        mantissa, exponent = _split_real(number)
        return self.integer(mantissa).integer(exponent)

    def ad(
        self,
        ad: ClassAd,
        *,
        private: bool = False,
        types: bool = True,
        server_time: int | None = None,
        projection: Iterable[str] | None = None,
    ) -> Writer:
        """Append an ad with its parent's attributes.

        `private` sends secret attributes too (left out otherwise), `types` the two empty trailing
        strings, `server_time` an extra attribute ServerTime (epoch seconds), `projection` only
        these attributes, exactly (see `expand_projection`).
        """
        if projection is None and server_time is None and not has_secrets(ad):
            return self._all_lines(ad.lines(), types=types)
        lines = ad.lines() if projection is None else _projected_lines(ad, projection)
        plain = not self.encrypted
        encoded: list[bytes] = []
        count = 0
        for line in lines:
            if line[0] in _PRIVATE_FIRST_LETTERS and is_private_attribute(
                line[: line.find("=")].rstrip()
            ):
                if not private:
                    continue
                if plain:
                    encoded.append(b"ZKM")
            encoded.append(line.encode("utf-8", "surrogateescape"))
            count += 1
        if server_time is not None:
            encoded.append(b"ServerTime = %d" % server_time)
            count += 1
        if types:
            encoded += (b"", b"")
        self.integer(count)
        self._append_strings(encoded)
        return self

    def _all_lines(self, lines: list[str], *, types: bool) -> Writer:
        """Append the lines of an ad that has no secrets: in the clear all of them are one text."""
        self.integer(len(lines))
        if types:
            lines += ("", "")
        if self.encrypted or not lines:
            self._append_strings([line.encode("utf-8", "surrogateescape") for line in lines])
            return self
        text = "\0".join(lines)
        if text.count("\0") != len(lines) - 1:
            raise LocalProtocolError("an attribute with a NUL byte cannot be sent")
        self._parts.append(text.encode("utf-8", "surrogateescape") + b"\0")
        return self

    def ad_upon(self, common: EncodedLines, own: ClassAd) -> Writer:
        """Append, in the clear, an ad of which many have the first lines, with its secrets.

        Where both have an attribute `own` counts: its line comes later.
        """
        if self.encrypted:
            raise LocalProtocolError("lines that are encoded in the clear cannot be encrypted")
        rest = encode_lines(own)
        self.integer(common.number + rest.number)
        self._parts += (common.data, rest.data, b"\0\0")
        return self

    def texts(self, attributes: Mapping[str, str]) -> Writer:
        """Append attributes and their expressions, as the lines of an ad."""
        return self._all_lines(
            [f"{name} = {text}" for name, text in attributes.items()], types=False
        )

    def ads_lines(self, lines: list[bytes], *, types: bool = True) -> Writer:
        """Append an ad given as encoded `Name = expression` lines without private attributes."""
        self.integer(len(lines))
        self._append_strings([*lines, b"", b""] if types else lines)
        return self

    def _append_strings(self, encoded: list[bytes]) -> None:
        """Append already encoded strings, none of which may have a NUL.

        Line ends are the peer's to read: old syntax has them in its strings as they are.
        """
        if not encoded:
            return
        joined = b"\0".join(encoded) + b"\0"
        if joined.count(b"\0") != len(encoded):
            raise LocalProtocolError("an attribute with a NUL byte cannot be sent")
        if self.encrypted:
            small = _ENCODED_INTEGERS
            parts = self._parts
            for line in encoded:
                size = len(line) + 1
                parts.append(small[size] if size < 1024 else _pack_integer(size))
                parts.append(line + b"\0")
        else:
            self._parts.append(joined)

    def getvalue(self) -> bytes:
        """Return the body composed so far."""
        return b"".join(self._parts)


def _projected_lines(ad: ClassAd, projection: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the attributes that are both wanted and there, spelled as asked for.

    Compat: so the reference answers (test_an_answer_spells_names_as_they_were_asked_for).
    """
    for name in asked_names(projection).values():
        text = ad.text(name)
        if text is not None:
            yield f"{name} = {text}"


class Reader:
    """The body of one received message; every method checks that the value is really there.

    Each raises RemoteProtocolError when the message is too short or a bound is broken.
    """

    __slots__ = ("_body", "_position", "encrypted")

    def __init__(self, body: bytes, encrypted: bool = False) -> None:
        self._body = body
        self._position = 0
        self.encrypted = encrypted

    @property
    def remaining(self) -> int:
        """How many bytes have not been read yet."""
        return len(self._body) - self._position

    def finish(self) -> None:
        """Declare the message read: unread bytes are an error."""
        if self._position != len(self._body):
            raise RemoteProtocolError(f"{self.remaining} bytes are left over in a message")

    def take(self, match: Callable[[bytes, int], re.Match[bytes] | None]) -> tuple[bytes, ...]:
        """Return the groups of what a pattern matches from here on, and go on behind it.

        Nothing is taken, and the result is empty, if it does not match.
        """
        found = match(self._body, self._position)
        if found is None:
            return ()
        self._position = found.end()
        return found.groups()

    def rest(self) -> bytes:
        """Return everything that has not been read yet."""
        data = self._body[self._position :]
        self._position = len(self._body)
        return data

    def integer(self) -> int:
        """Read a 64-bit integer."""
        try:
            number: int = _unpack_integer(self._body, self._position)[0]
        except struct.error as error:
            raise RemoteProtocolError("a message ends where an integer is expected") from error
        self._position += 8
        return number

    def next_integer(self, ahead: int = 0) -> int:
        """Return the integer that comes next, or so many bytes later, without reading it."""
        try:
            number: int = _unpack_integer(self._body, self._position + ahead)[0]
        except struct.error as error:
            raise RemoteProtocolError("a message ends where an integer is expected") from error
        return number

    def count(self, maximum: int) -> int:
        """Read an integer that counts things or bytes: 0 to `maximum`."""
        number = self.integer()
        if not 0 <= number <= maximum:
            raise RemoteProtocolError(f"a message has a count of {number}, not 0 to {maximum}")
        return number

    def boolean(self) -> bool:
        """Read an integer that is meant as a boolean."""
        return self.integer() != 0

    def byte(self) -> int:
        """Read one byte."""
        if self._position >= len(self._body):
            raise RemoteProtocolError("a message ends where a byte is expected")
        number = self._body[self._position]
        self._position += 1
        return number

    def raw(self, size: int) -> bytes:
        """Read `size` bytes as they are."""
        end = self._position + size
        if size < 0 or end > len(self._body):
            raise RemoteProtocolError(f"a message ends where {size} bytes are expected")
        data = self._body[self._position : end]
        self._position = end
        return data

    def _string_bytes(self) -> bytes:
        """Read one string, up to its first NUL as C has it; the null string is the byte AD."""
        body = self._body
        start = self._position
        if self.encrypted:
            size = self.integer()
            start += 8
            end = start + size
            if not 0 < size <= MAXIMUM_STRING or end > len(body):
                raise RemoteProtocolError(f"a message has a string of {size} bytes")
            self._position = end
            # Nobody could send on what has a NUL in it, nor name a file by it.
            return body[start:end].partition(b"\0")[0]
        end = body.find(b"\0", start)
        if body[start : start + 1] == _NULL:
            # In the clear the null string is this byte alone; no UTF-8 text begins with it.
            self._position = start + 1
            return _NULL
        if end < 0:
            raise RemoteProtocolError("a message ends inside a string")
        self._position = end + 1
        return body[start:end]

    def nullable_string(self) -> str | None:
        """Read a string; None for the null string."""
        data = self._string_bytes()
        return None if data == _NULL else data.decode("utf-8", "surrogateescape")

    def string(self) -> str:
        """Read a string; the null string reads as empty (see `nullable_string`)."""
        data = self._string_bytes()
        return "" if data == _NULL else data.decode("utf-8", "surrogateescape")

    def secret(self) -> str:
        """Read a secret; senders may leave NUL padding behind it."""
        return self.string().rstrip("\0")

    def real(self) -> float:
        """Read a real.

        The sender cut bits off, so many numbers mean the same bytes; this returns the one with the
        fewest digits.
        """
        mantissa = self.integer()
        exponent = self.integer()
        # The middle of what the sender may have meant, away from where its cutting ends.
        middle = mantissa + 0.5 if mantissa > 0 else mantissa - 0.5 if mantissa < 0 else 0.0
        try:
            number = math.ldexp(middle / _MANTISSA_SCALE, exponent)
        except OverflowError as error:
            raise RemoteProtocolError("a message has a real out of range") from error
        # Compat: the reference reads 50.0 as 49.99999998 (test_a_short_real_is_read_as_it_was).
        short = float(f"{number:.8g}")
        return short if _split_real(short) == (mantissa, exponent) else number

    def ad(self, *, types: bool = True, maximum: int = MAXIMUM_ATTRIBUTES) -> ClassAd:
        """Read an ad of at most `maximum` attributes; the expressions are parsed when used.

        Old syntax has the line ends of a string as they are; a name with one, and a value that with
        one is no expression, are errors at once: they could pass for more lines than one.
        """
        count = self.integer()
        if not 0 <= count <= maximum or count > self.remaining:
            raise RemoteProtocolError(f"a message has an ad of {count} attributes")
        start = self._position
        ad = ClassAd()
        lines = self._encrypted_lines(count) if self.encrypted else self._clear_lines(count)
        wrong = ad.insert_lines(lines)
        if wrong is not None:
            raise RemoteProtocolError(f"an ad has the line {wrong[:80]!r}, not Name = value")
        # The whole ad at once; the lengths of an encrypted one may look like line ends.
        if self._body.find(b"\n", start, self._position) >= 0:
            _check_line_ends(lines)
        if types:
            self._string_bytes()
            self._string_bytes()
        return ad

    def texts(self, maximum: int = MAXIMUM_ATTRIBUTES) -> dict[str, str]:
        """Read at most `maximum` attributes and their expressions (`Writer.texts`)."""
        count = self.count(maximum)
        lines = self._encrypted_lines(count) if self.encrypted else self._clear_lines(count)
        found: dict[str, str] = {}
        for line in lines:
            name, _, text = line.partition(" = ")
            if not name or not text:
                raise RemoteProtocolError(f"there is the line {line[:80]!r}, not Name = value")
            found[name] = text
        return found

    def _clear_lines(self, count: int) -> list[str]:
        """Read the lines of an ad from a clear stream, secret ones without their mark.

        A window of the body is split at once; what is not in it is read string by string.
        """
        start = self._position
        window = self._body[start : start + max(_LEAST_WINDOW, _WINDOW * (count + 1))]
        pieces = window.split(b"\0", count)
        marks = pieces.count(b"ZKM")
        if marks:
            # Each secret stands behind its mark, which is no line of its own.
            pieces = window.split(b"\0", count + marks)
            rest = pieces.pop()
            lines = [piece for piece in pieces if piece != b"ZKM"]
            usual = len(lines) == count and b"" not in lines and pieces[-1] != b"ZKM"
            pieces = [*lines, rest] if usual else []
        if len(pieces) <= count or b"\xad" in window:
            return [self._line() for _ in range(count)]
        self._position = start + len(window) - len(pieces.pop())
        return _decoded(pieces)

    def _encrypted_lines(self, count: int) -> list[str]:
        """Read the lines of an ad from an encrypted stream."""
        body, position, end = self._body, self._position, len(self._body)
        pieces: list[bytes] = []
        try:
            for _ in range(count):
                size = _unpack_integer(body, position)[0]
                start = position + 8
                position = start + size
                if not 0 < size <= MAXIMUM_STRING or position > end or body[position - 1]:
                    break
                pieces.append(body[start : position - 1])
        except struct.error as error:
            raise RemoteProtocolError("a message ends inside an ad") from error
        lines = _decoded(pieces)
        # A line with a NUL inside becomes two here: neither number alone says that all were whole.
        if len(pieces) != count or len(lines) != count or _SECRET_MARKER in lines:
            # Something unusual: read it again with every check and exception of a single string.
            return [self._line() for _ in range(count)]
        self._position = position
        return lines

    def _line(self) -> str:
        """Read one line of an ad; a secret one follows its mark."""
        line = self._string_bytes().decode("utf-8", "surrogateescape")
        return self.secret() if line == _SECRET_MARKER else line


def _decoded(pieces: list[bytes]) -> list[str]:
    """Return the texts of encoded lines, all of them in one call; one with a NUL becomes two."""
    return b"\0".join(pieces).decode("utf-8", "surrogateescape").split("\0") if pieces else []


def _check_line_ends(lines: list[str]) -> None:
    """Raise RemoteProtocolError for a line end in a name, or in a value that is no expression.

    The reference sends line ends within strings (a projection's, a hold's reason): those are read.
    """
    if "\n" not in "".join(lines):
        return
    for line in lines:
        if "\n" not in line:
            continue
        name, _, text = line.partition("=")
        if "\n" in name.strip() or not is_expression(text):
            raise RemoteProtocolError(f"an ad has a line end in {line[:80]!r}")
