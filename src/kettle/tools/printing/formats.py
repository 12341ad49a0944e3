"""printf formats as the tools read them: taken apart, and what they make of a text or a number.

The rules are the reference's, taken from its output (vectors `output/cases.json`). Which value is
shown, and what stands where there is none, is said by the columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kettle.octets import to_bytes, to_text
from kettle.patterns import late_pattern
from kettle.structs import Struct
from kettle.tools.printing.times import as_whole, format_moment, format_span
from kettle.tools.printing.widths import length

# %, flags, width, precision, a length of whole numbers, the conversion.
_CONVERSION = late_pattern(
    r"%([-+ #0']*+)(\d*)(?:\.(\d*))?(hh|h|ll|l|L|q(?=[diouxX])|j|z|t)?([a-zA-Z])"
)
# The text before the first conversion, and the same parts of that one.
_FIRST = late_pattern(r"((?:[^%]|%%)*+)%([-+ #0']*+)(\d*)(?:\.(\d*))?([hlLqjzt]*+)([a-zA-Z])")
_INTEGER_LETTERS = frozenset("diouxXc")
_REAL_LETTERS = frozenset("eEfFgGaA")
# Letters of spans and of moments.
TIMES = frozenset("TY")
_RAW = frozenset("rR")
# Letters of formats that show numbers as they are.
NUMBERS = frozenset("diouxXeEfFgGaA")
_BITS = {None: 32, "h": 16, "hh": 8}
_OWN_LETTERS = frozenset("vVrRTY")
_KNOWN_LETTERS = _INTEGER_LETTERS | _REAL_LETTERS | _OWN_LETTERS | {"s", "p"}
# Behind a backslash: the number of a byte in octal or hexadecimal digits, or one letter.
_ESCAPED = late_pattern(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]*+)|(.|\Z))", re.DOTALL)
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "?": "?",
}
# What a quoted word of a print-format file keeps before a letter that is none of these.
KEPT = "\\"


def unescape(text: str, before_others: str = "") -> str:
    r"""Return a format in which `\n`, `\101`, `\x41` and their like are what they mean in C.

    The byte 0 ends it. Before any other letter stands `before_others` in place of the backslash:
    nothing in a format, KEPT in a word.

    Compat: the reference adds up the digits of a number in a way of its own, by which `\101` is R,
    takes more of them, 8 and 9 as well, and `\X` in a word
    (test_a_number_behind_a_backslash_is_that_byte).
    """
    if "\\" not in text:
        return text

    def meant(found: re.Match[str]) -> str:
        octal, hexadecimal, letter = found.groups()
        if letter is not None:
            return _ESCAPES.get(letter) or before_others + letter
        number = int(octal, 8) & 0xFF if octal else int(hexadecimal[-2:] or "0", 16)
        return to_text(bytes((number,)))

    # Bytes side by side may be one letter.
    return to_text(to_bytes(_ESCAPED.sub(meant, text))).partition("\0")[0]


class Format(Struct):
    """A printf format taken apart: literal text around at most one conversion."""

    before: str
    after: str
    flags: str = ""
    width: int = 0
    precision: int | None = None
    # Empty when there is nothing to convert: the text is printed as it stands.
    letter: str = ""
    # What is seen of a whole number, as in C.
    bits: int = 64
    # Two conversions fit no single attribute: nothing is ever printed.
    impossible: bool = False

    @property
    def is_time(self) -> bool:
        """Whether it shows a span or a moment: at the right, with none of its literal text."""
        return self.letter in TIMES

    @property
    def is_raw(self) -> bool:
        """Whether it shows an expression as it is written."""
        return self.letter in _RAW


def read_conversion(text: str) -> Format | None:
    """Take the format of a print-format file apart; None if it shows no value, but itself.

    The first `%` that is no `%%` is the conversion, whatever follows.
    """
    text = unescape(text)
    found = _FIRST.match(text)
    if found is None or found[6] not in _KNOWN_LETTERS:
        return None
    return _assemble(found.groups(), text[found.end() :])


def _assemble(parts: Sequence[str | None], after: str) -> Format:
    """Return a format of the text before its conversion, the conversion's parts, what is after.

    Another conversion behind it fits no attribute.
    """
    before, flags, width, precision, length, letter = parts
    return Format(
        _bare(before or ""),
        _bare(after),
        flags or "",
        read_width(width or ""),
        None if precision is None else read_width(precision, _MOST_PRECISE),
        letter or "",
        _BITS.get(length or None, 64),
        _CONVERSION.search(after.replace("%%", "")) is not None,
    )


def _bare(text: str) -> str:
    return text.replace("%%", "%")


# Limit: no column is wider, and no value has more digits or letters.
_WIDEST = 4096
_MOST_PRECISE = 65_536
_MOST_DIGITS = 6


def read_width(digits: str, most: int = _WIDEST) -> int:
    """Return the width that digits say, however many they are; not more than `most`."""
    digits = digits.lstrip("0")
    if not digits:
        return 0
    return min(int(digits), most) if len(digits) <= _MOST_DIGITS else most


def parse_format(text: str) -> Format:
    """Take a format apart, escapes included.

    Compat: a length (`%20lv`) says nothing of a letter of the tools' own, at which the reference
    crashes (test_a_length_before_a_letter_changes_nothing).
    """
    text = unescape(text)
    position = 0
    while True:
        found = _CONVERSION.search(text, position)
        percent = text.find("%%", position)
        if found is not None and 0 <= percent < found.start() + 1:
            position = percent + 2
            continue
        break
    if found is None or found[5] not in _KNOWN_LETTERS:
        return Format(text, "")
    form = _assemble((text[: found.start()], *found.groups()), text[found.end() :])
    # Behind a letter of the tools' own, other conversions are text.
    form.impossible = form.impossible and form.letter not in _OWN_LETTERS
    return form


def pad_text(text: str, form: Format) -> str:
    """Return a text cut and filled up as C does, which counts bytes."""
    if not text.isascii():
        if form.precision is not None:
            text = to_text(to_bytes(text)[: form.precision])
        blanks = " " * (form.width - length(text))
        return text + blanks if "-" in form.flags else blanks + text
    text = text[: form.precision]
    return text.ljust(form.width) if "-" in form.flags else text.rjust(form.width)


def print_number(form: Format, value: int | float) -> str:
    """Apply the conversion of a number: as C does, or as a span or a moment."""
    if form.letter == "T":
        return format_span(value)
    if form.letter == "Y":
        return format_moment(value)
    # Late: few columns have a format of a number.
    from kettle.config.c_format import Conversion, convert_real, convert_whole

    conversion = Conversion(form.flags, form.width, form.precision, form.letter)
    if form.letter in _REAL_LETTERS:
        return convert_real(float(value), conversion)
    return convert_whole(as_whole(value), conversion, form.bits)


def print_address(form: Format, number: int | float) -> str:
    """Apply `%p`.

    Compat: whole numbers are taken for addresses, anything else for none
    (tables/recordings.json).
    """
    return pad_text(hex(as_whole(number)) if number > 0 else "(nil)", form)
