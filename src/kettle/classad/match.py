"""Whether two ads want each other: their Requirements, each with the other as TARGET."""

from __future__ import annotations

from kettle.classad.ad import ClassAd
from kettle.classad.context import Context
from kettle.classad.operators import truth


def matches(ad: ClassAd, other: ClassAd, context: Context | None = None) -> bool:
    """Return whether `other`'s Requirements, with `ad` as TARGET, are true.

    An ad without Requirements wants nobody. Numbers count as booleans. Source: match.json.
    """
    return truth(other.evaluate("Requirements", ad, context)) is True


def symmetric_match(left: ClassAd, right: ClassAd, context: Context | None = None) -> bool:
    """Return whether each ad satisfies the other's Requirements."""
    return matches(left, right, context) and matches(right, left, context)
