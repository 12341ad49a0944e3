"""Whole numbers: those of 64 and of 32 bits, and those of others, who may write digits without end.

Python refuses to read thousands of digits, and would take the square of their number for less.
"""

from __future__ import annotations

# What a whole number of HTCondor's is: 64 bits, two's complement.
MIN_INTEGER = -(1 << 63)
MAX_INTEGER = (1 << 63) - 1
# Where it has an `int` of C's, 32 bits.
MIN_32 = -(1 << 31)
MAX_32 = (1 << 31) - 1

# Limit: a number that has more digits than this is one with that many; no number of ours has.
MOST_DIGITS = 30


def whole(text: str) -> int:
    """Return the number that decimal digits with a sign or without one write.

    ValueError for any other text, as of `int`.
    """
    if len(text) <= MOST_DIGITS:
        return int(text)
    sign = -1 if text[0] == "-" else 1
    digits = text[1:] if text[0] in "+-" else text
    if not digits.isdecimal():
        raise ValueError(f"{text[:MOST_DIGITS]!r}… is no whole number")
    digits = digits.lstrip("0") or "0"
    return sign * (int(digits) if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS)


def wrap_32(number: int) -> int:
    """Return the number as 32 bits in two's complement would hold it."""
    return (number - MIN_32) % (1 << 32) + MIN_32


def saturate_32(number: float) -> int:
    """Return a real cut off to 32 bits; the smallest such integer if it does not fit."""
    return int(number) if MIN_32 < number < MAX_32 + 1 else MIN_32
