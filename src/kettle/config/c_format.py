"""A number printed as C's printf() prints it, for `$INT()` and `$REAL()`.

A format has exactly one conversion. What a C program would take from somewhere else than the number
(`%p`, `%n`, `%*d`, `%Lf`) is no format here.
"""

from __future__ import annotations

from functools import lru_cache
from math import copysign, isfinite
from typing import TYPE_CHECKING, Final

from kettle.named_tuples import NamedTuple
from kettle.octets import to_text
from kettle.patterns import late_pattern
from kettle.remembered import Answers

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXT = r"(?:[^%]|%%)*"
# Limit: a width and a precision of four digits; nobody reads a wider number, and a few characters
# more of a format would otherwise fill the memory of whoever expands it.
_HEAD = r"%([-+ #0']*)([1-9]\d{0,3})?(?:\.(\d{0,4}))?"
_INTEGER = late_pattern(rf"({_TEXT}){_HEAD}([hlqjztL]*)([dixXouc])({_TEXT})")
_REAL = late_pattern(rf"({_TEXT}){_HEAD}(l?)([eEfFgGaA])({_TEXT})")
# What a letter of length says of a whole number's bits; two of one kind are `hh` and `ll`.
_BITS = {"": 32, "h": 16, "hh": 8}
_WHOLE: Final = frozenset("dixXouc")


class Conversion(NamedTuple):
    """What stands between `%` and the letter, the length left out, and the letter."""

    flags: str
    width: int
    precision: int | None
    letter: str


class _Form(NamedTuple):
    """A format taken apart: one conversion, and the text around it."""

    before: str
    conversion: Conversion
    bits: int
    after: str


@lru_cache(maxsize=64)
def is_integer_format(text: str) -> bool:
    """Tell whether a format fits one whole number."""
    return _INTEGER.fullmatch(text) is not None


def is_real_format(text: str) -> bool:
    """Tell whether a format fits one real number."""
    return _REAL.fullmatch(text) is not None


def render(format_text: str, value: float) -> str:
    """Format a number with a format that fits it."""
    form = _forms[format_text]
    if form.conversion.letter in _WHOLE:
        shown = _filled(int(value), form) or convert_whole(int(value), form.conversion, form.bits)
    else:
        shown = convert_real(float(value), form.conversion)
    # A byte that is zero ends a text of C's.
    return f"{form.before}{shown}{form.after}".partition("\0")[0]


def _filled(number: int, form: _Form) -> str:
    """Convert with what nearly all formats are, `%d` or `%05d`; empty for others."""
    flags, width, precision, letter = form.conversion
    half = 1 << (form.bits - 1)
    if letter != "d" or precision is not None or flags not in {"", "0"}:
        return ""
    if not -half <= number < half:
        return ""
    return str(number).zfill(width) if flags else str(number).rjust(width)


def convert_whole(number: int, conversion: Conversion, bits: int = 64) -> str:
    """Convert as much of a whole number as so many bits hold, with one of `dixXouc`."""
    flags, _, precision, letter = conversion
    if letter == "c":
        # A letter is one byte.
        return _pad("", to_text(bytes([number & 0xFF])), conversion, zeros=False)
    number &= (1 << bits) - 1
    # Letters but these take the sign for a bit like the others.
    if is_signed := letter in "di":
        number -= (number >> (bits - 1)) << bits
    digits = f"{abs(number):{letter if letter in 'xXo' else 'd'}}"
    if precision is not None:
        digits = digits.rjust(precision, "0") if number or precision else ""
    if letter == "o" and "#" in flags and not digits.startswith("0"):
        digits = f"0{digits}"
    prefix = f"0{letter}" if letter in "xX" and "#" in flags and number else ""
    sign = _sign(flags, is_negative=number < 0) if is_signed else ""
    return _pad(sign + prefix, digits, conversion, zeros=precision is None)


def convert_real(number: float, conversion: Conversion) -> str:
    """Convert a real number with one of `eEfFgGaA`."""
    flags, _, precision, letter = conversion
    sign = _sign(flags, is_negative=copysign(1, number) < 0)
    size = abs(number)
    if not isfinite(size):
        text = f"{size:f}"
        return _pad(sign, text.upper() if letter.isupper() else text, conversion, zeros=False)
    sharp = "#" if "#" in flags else ""
    if letter in "aA":
        text = _hexadecimal(size, precision, sharp)
        prefix, digits = f"0{'xX'[letter == 'A']}", text.upper() if letter == "A" else text
        return _pad(sign + prefix, digits, conversion, zeros=True)
    exact = "" if precision is None else f".{precision}"
    return _pad(sign, f"%{sharp}{exact}{letter}" % size, conversion, zeros=True)


def _read(text: str) -> _Form:
    found = _INTEGER.fullmatch(text) or _REAL.fullmatch(text)
    assert found is not None
    before, flags, width, precision, size, letter, after = found.groups()
    exact = None if precision is None else int(precision or 0)
    plain: Callable[[str], str] = lambda part: part.replace("%%", "%")  # noqa: E731
    conversion = Conversion(flags, int(width or 0), exact, letter)
    return _Form(plain(before), conversion, _BITS.get(size, 64), plain(after))


# Limit: the bytes of the formats that are remembered.
_forms: Final[Answers[str, _Form]] = Answers(_read, 1 << 16)


def _sign(flags: str, *, is_negative: bool) -> str:
    if is_negative:
        return "-"
    return "+" if "+" in flags else " " if " " in flags else ""


def _pad(start: str, text: str, conversion: Conversion, *, zeros: bool) -> str:
    """Fill a text up to the width, with zeros behind its start where they may be."""
    flags, width = conversion.flags, conversion.width
    if "-" in flags:
        return f"{start}{text}".ljust(width)
    if zeros and "0" in flags:
        return start + text.rjust(width - len(start), "0")
    return f"{start}{text}".rjust(width)


def _hexadecimal(size: float, precision: int | None, sharp: str) -> str:
    """Return a number of no sign in hexadecimal digits, `0x` left out."""
    digits, _, power = size.hex().removeprefix("0x").partition("p")
    first, _, rest = digits.partition(".")
    if precision is None:
        rest = rest.rstrip("0")
    elif precision < len(rest):
        # Both are exact: no number has more digits than a real holds.
        kept = round(int(first + rest, 16) / (1 << 4 * (len(rest) - precision)))
        digits = f"{kept:0{precision + 1}x}"
        first, rest = digits[0], digits[1:]
    else:
        rest = rest.ljust(precision, "0")
    return f"{first}{'.' if rest or sharp else ''}{rest}p{power}"
