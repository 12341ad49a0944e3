"""Sizes in submit descriptions: a number with or without a unit."""

from __future__ import annotations

import re

from kettle.digits import MIN_INTEGER
from kettle.octets import BLANKS
from kettle.patterns import late_pattern

SIZE = late_pattern(r"(?=[-+]?\d|\.)([-+]?\d*)(?:\.(\d*))?\s*(?:([KMGT])B?)?", re.IGNORECASE)
# Limit: longer texts are no sizes; what becomes of thousands of digits nobody waits for.
LONGEST = 256
KIB = {"K": 1, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30}


def parse_size(text: str, unit: str) -> int | None:
    """Read a size with an optional unit; the result is in `unit` (K or M), rounded up.

    None where it is not a size but an expression; a point without digits is 0. As in the reference
    the bytes are counted as a real number, whose last digits a very large size has not.
    """
    match = _read(text)
    if match is None:
        return None
    whole, fraction, suffix = match.groups()
    # As in the reference three digits of a fraction count, and it goes upward below zero, too.
    number = float(whole or 0) + float(f"0.{fraction[:3]}" if fraction else 0)
    suffix = (suffix or unit).upper()
    divisor = KIB[unit] * 1024
    # Compat: below zero, too, it is rounded up by whole bytes, to the next number but one
    # (test_sizes_below_zero_are_what_the_reference_makes_of_them).
    total = number * KIB[suffix] * 1024 + divisor - 1
    # What no number of 64 bits can be is the least one, as where C does it.
    count = int(total) if MIN_INTEGER <= total < -MIN_INTEGER else MIN_INTEGER
    return count // divisor if count >= 0 else -(-count // divisor)


def missing_unit(text: str) -> bool:
    """Tell whether a size is a bare number."""
    match = _read(text)
    return match is not None and match.group(3) is None


def _read(text: str) -> re.Match[str] | None:
    return SIZE.fullmatch(text.strip(BLANKS)) if len(text) <= LONGEST else None
