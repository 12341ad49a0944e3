"""Whether two ads want each other: their Requirements, each with the other as TARGET."""

from __future__ import annotations

from kettle.classad.ad import ClassAd
from kettle.classad.context import Context
from kettle.classad.operators import truth
from kettle.classad.values import RelativeTime


def matches(ad: ClassAd, other: ClassAd, context: Context | None = None) -> bool:
    """Return whether `other`'s Requirements, with `ad` as TARGET, are true.

    An ad without Requirements wants nobody. Numbers and spans of time count as booleans.
    Source: vectors/classad/match.json.
    """
    condition = other.entry("requirements")
    if condition is None:
        return False
    value = condition.evaluate(other, ad, context)
    if value is True or value is False:
        return value
    if isinstance(value, RelativeTime):
        return value.seconds != 0
    return truth(value) is True


def symmetric_match(left: ClassAd, right: ClassAd, context: Context | None = None) -> bool:
    """Return whether each ad satisfies the other's Requirements."""
    return matches(left, right, context) and matches(right, left, context)
