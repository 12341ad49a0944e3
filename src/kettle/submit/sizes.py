"""Sizes in submit descriptions: a number with or without a unit."""

from __future__ import annotations

import math
import re

from kettle.patterns import late_pattern

SIZE = late_pattern(r"([-+]?(?:\d+(?:\.\d*)?|\.\d+))\s*(?:([KMGT])B?)?", re.IGNORECASE)
# Limit: numbers beyond this are no sizes.
MOST = float(1 << 62)
# Limit: longer texts are no sizes; what becomes of thousands of digits nobody waits for.
LONGEST = 256
KIB = {"K": 1, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30}


def parse_size(text: str, unit: str) -> int | None:
    """Read a size with an optional unit; the result is in `unit` (K or M), rounded up.

    None where it is not a size but an expression, or more than any machine has.
    """
    match = _read(text)
    if match is None:
        return None
    number, suffix = float(match.group(1)), (match.group(2) or unit).upper()
    if number > MOST:
        return None
    if number < 0:
        # Compat: the reference rounds it up by whole bytes, to the next number but one
        # (test_sizes_below_zero_are_what_the_reference_makes_of_them).
        most = int(number * KIB[suffix] * 1024) + KIB[unit] * 1024 - 1
        return -(max(0, -most) // (KIB[unit] * 1024))
    return math.ceil(number * KIB[suffix] / KIB[unit])


def missing_unit(text: str) -> bool:
    """Tell whether a size is a bare number."""
    match = _read(text)
    return match is not None and match.group(2) is None


def _read(text: str) -> re.Match[str] | None:
    return SIZE.fullmatch(text) if len(text) <= LONGEST else None
