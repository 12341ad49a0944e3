"""Which numbers a knob takes: the ranges that tables of knobs name, and what a fault says of them.

`within` is what a daemon takes at all, as HTCondor's daemons stop for what is outside; `sense` is
what a number that is taken can mean, and outside of it the nearest bound counts. Each knob has its
own in its row, and readers and checks ask no other place. Source: the ranges in the reference's
table of knobs, those in its calls for names that the table does not have, and what its daemons of
25.14.1 start with.
"""

from __future__ import annotations

from kettle.digits import MAX_INTEGER, MIN_INTEGER
from kettle.named_tuples import NamedTuple

# What a whole number of the reference's configuration holds; a few have 64 bits.
_MOST = (1 << 31) - 1
# Bounds that every number of its size has.
_LOWEST = (float("-inf"), -_MOST - 1, MIN_INTEGER)
_HIGHEST = (float("inf"), _MOST, MAX_INTEGER)


class Range(NamedTuple):
    """The numbers from `least` to `most`, both of them included."""

    least: float
    most: float

    def holds(self, value: float) -> bool:
        """Tell whether a number is in it."""
        return self.least <= value <= self.most

    def nearest(self, value: float) -> float:
        """Return the number of the range that is nearest to one."""
        return min(max(value, self.least), self.most)

    def with_(self, other: Range) -> Range:
        """Return what reaches from the lower of the least numbers to the higher of the most."""
        return Range(min(self.least, other.least), max(self.most, other.most))

    def words(self, value: float | None = None) -> str:
        """Name the bounds; what every number of its size has only where `value` is beyond it."""
        is_low, is_high = self.least in _LOWEST, self.most in _HIGHEST
        if value is not None:
            is_low, is_high = is_low and value >= self.least, is_high and value <= self.most
        low = "" if is_low else f"{self.least:.12g}"
        high = "" if is_high else f"{self.most:.12g}"
        if low and high:
            return f"from {low} to {high}"
        return f"of at least {low}" if low else f"of at most {high}" if high else ""


# Fractions, and whole numbers of 32 bits.
ANY = Range(float("-inf"), float("inf"))
NOT_NEGATIVE = Range(0.0, float("inf"))
FRACTION = Range(0.0, 1.0)
WHOLE = Range(-_MOST - 1, _MOST)
COUNT = Range(0, _MOST)
POSITIVE = Range(1, _MOST)
# -1 stands for "without end", or "whatever is usual".
OR_NONE = Range(-1, _MOST)
PORT = Range(0, 65_535)
# Whole numbers of 64 bits.
LONG = Range(MIN_INTEGER, MAX_INTEGER)
BYTES = Range(0, MAX_INTEGER)

# The `instead` of a row whose reader uses each number as it stands, also one that makes no sense.
AS_IT_IS = "it is taken as it is"
