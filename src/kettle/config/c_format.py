"""A number printed as C's printf() prints it, for `$INT()` and `$REAL()`.

A format has exactly one conversion. What a C program would take from somewhere else than the number
(`%p`, `%n`, `%*d`, `%Lf`) is no format here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kettle.octets import to_text
from kettle.patterns import late_pattern
from kettle.remembered import Answers

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXT = r"(?:[^%]|%%)*"
# Limit: a width and a precision of four digits; nobody reads a wider number, and a few characters
# more of a format would otherwise fill the memory of whoever expands it.
_HEAD = r"%([-+ #0']*)([1-9]\d{0,3})?(?:\.(\d{0,4}))?"
_INTEGER = late_pattern(rf"({_TEXT}){_HEAD}([hlqjzt]*)([dixXouc])({_TEXT})")
_REAL = late_pattern(rf"({_TEXT}){_HEAD}(l?)([eEfFgGaA])({_TEXT})")
# What a letter of length says of a whole number's bits; two of one kind are `hh` and `ll`.
_BITS = {"": 32, "h": 16, "hh": 8}


class _Form(NamedTuple):
    """A format: Python's for the number alone, and what has to be done before and after."""

    before: str
    flags: str
    width: int
    precision: int | None
    bits: int
    letter: str
    after: str


def is_integer_format(text: str) -> bool:
    """Tell whether a format fits one whole number."""
    return _INTEGER.fullmatch(text) is not None


def is_real_format(text: str) -> bool:
    """Tell whether a format fits one real number."""
    return _REAL.fullmatch(text) is not None


def render(format_text: str, value: float) -> str:
    """Format a number with a format that fits it."""
    form = _forms[format_text]
    if form.letter in "aA":
        shown = _hexadecimal(value, form)
    elif form.letter in "dxXoc":
        shown = _whole(int(value), form)
    else:
        shown = f"{_start(form)}{form.letter}" % value
    return f"{form.before}{shown}{form.after}"


def _read(text: str) -> _Form:
    found = _INTEGER.fullmatch(text) or _REAL.fullmatch(text)
    assert found is not None
    before, flags, width, precision, size, letter, after = found.groups()
    bits = _BITS.get(size, 64)
    if letter in "iu":
        # An unsigned number is one whose sign is a bit like the others.
        letter, bits = "d", -bits if letter == "u" else bits
    elif letter in "xXo":
        bits = -bits
    exact = None if precision is None else int(precision or 0)
    flags = flags.replace("'", "")
    if exact is not None and letter in "dxXo":
        flags = flags.replace("0", "")
    plain: Callable[[str], str] = lambda part: part.replace("%%", "%")  # noqa: E731
    return _Form(plain(before), flags, int(width or 0), exact, bits, letter, plain(after))


# Limit: the bytes of the formats that are remembered.
_forms: Final[Answers[str, _Form]] = Answers(_read, 1 << 16)


def _start(form: _Form) -> str:
    width = form.width or ""
    return f"%{form.flags}{width}" + ("" if form.precision is None else f".{form.precision}")


def _pad(text: str, form: _Form) -> str:
    return text.ljust(form.width) if "-" in form.flags else text.rjust(form.width)


def _whole(number: int, form: _Form) -> str:
    if form.letter == "c":
        # A letter is one byte, and nothing where that is zero, which ends a text of C's.
        return _pad(to_text(bytes([number & 0xFF]).strip(b"\0")), form)
    bits = abs(form.bits)
    number &= (1 << bits) - 1
    if form.bits > 0 and number >> (bits - 1):
        number -= 1 << bits
    if form.letter == "o" and "#" in form.flags:
        flags = form.flags.replace("#", "")
        digits = max(form.precision or 0, len(f"{number:o}") + bool(number))
        form = form._replace(flags=flags, precision=digits)
    elif not number:
        form = form._replace(flags=form.flags.replace("#", ""))
    return f"{_start(form)}{form.letter}" % number


def _hexadecimal(value: float, form: _Form) -> str:
    digits, p, power = float(value).hex().partition("p")
    if p:
        digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    text = f"{digits}{p}{power}"
    return _pad(text.upper() if form.letter == "A" else text, form)
