"""Histograms as ads carry them: the limits of their buckets, and how many fell into each.

`"30Sec, 1Min, 3Min"` are three limits and so four buckets; a value belongs to the first bucket
whose limit is above it, else to the last.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from kettle.errors import UsageError

_UNITS = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40}
_UNITS |= {"sec": 1, "min": 60, "hr": 3600, "day": 86400}

RUNTIME_LIMITS = (
    "30Sec, 1Min, 3Min, 10Min, 30Min, 1Hr, 3Hr, 6Hr, 12Hr, 1Day, 2Day, 4Day, 8Day, 16Day"
)
"""Spans of time by which the reference sorts jobs."""

SIZE_LIMITS = "64Kb, 256Kb, 1Mb, 4Mb, 16Mb, 64Mb, 256Mb, 1Gb, 4Gb, 16Gb, 64Gb, 256Gb"
"""Sizes of memory images by which the reference sorts jobs."""


def parse_limits(text: str) -> tuple[int, ...]:
    """Read limits, in bytes or seconds; UsageError if they are no rising list of sizes or spans."""
    limits = []
    for word in text.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*([A-Za-z]+)\s*", word)
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            raise UsageError(f"'{word.strip()}' is no limit of a histogram")
        limits.append(int(match[1]) * unit)
    if limits != sorted(set(limits)):
        raise UsageError(f"the limits of a histogram must rise: {text}")
    return tuple(limits)


class Histogram:
    """How many values fell into each bucket."""

    def __init__(self, limits: tuple[int, ...]) -> None:
        self._limits = limits
        self.counts = [0] * (len(limits) + 1)

    def bucket(self, value: float) -> int:
        """Return the number of the bucket that a value belongs to."""
        return bisect_right(self._limits, value)

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[self.bucket(value)] += 1

    def __str__(self) -> str:
        return ", ".join(str(count) for count in self.counts)
