"""Which expressions have functions of their own, and for how long.

An expression that the closures evaluate again and again is worth the millisecond that a function
takes to be made. One that is asked of ads of several kinds may get several; where that does not
help either, the closures stay.
"""

from __future__ import annotations

from typing import Final

from kettle.classad.generated import generate
from kettle.classad.values import HOT, Ad, Hot, Tree

# Limit: the functions of an expression, for ads alone or for those of a match, and how often one
# is tried for: each time takes twice as many evaluations as the time before.
_MOST_RUNS: Final = 4
_MOST_TRIES: Final = 6
# Limit: the bytes of all generated functions. When they are spent all are dropped, and those that
# are still needed are made again.
_MOST_BYTES: Final = 4 * 1024 * 1024


class _Kept:
    """The expressions that have functions now, and the bytes these take."""

    def __init__(self) -> None:
        self.held = 0
        self.all: list[Hot] = []

    def take(self, hot: Hot, cost: int) -> None:
        """Count the bytes of a function; drop all others' first where they are too many."""
        if self.held + cost > _MOST_BYTES:
            for each in self.all:
                each.forget()
            self.all.clear()
            self.held = 0
        self.held += cost
        self.all.append(hot)


_kept: Final = _Kept()


def cool(expr: Tree, heat: int | Hot, ad: Ad, target: Ad | None) -> None:
    """Generate a function for an expression that the closures evaluate too often.

    `heat` is the expression's own; it has come to HOT, or there are functions without an answer.
    """
    if isinstance(heat, int):
        heat = expr.heat = Hot()
    else:
        heat.misses += 1
        if heat.misses < HOT << heat.tries:
            return
    heat.misses = 0
    heat.tries += 1
    _add(expr, heat, ad, target)


def _add(expr: Tree, hot: Hot, ad: Ad, target: Ad | None) -> None:
    runs = hot.alone if target is None else hot.matched
    if hot.tries > _MOST_TRIES or len(runs) >= _MOST_RUNS:
        # The closures are the best there is for it.
        hot.misses = -(1 << 62)
        return
    made = generate(expr, ad, target)
    if made is None:
        return
    run, cost = made
    _kept.take(hot, cost)
    if target is None:
        hot.alone = (*hot.alone, run)
    else:
        hot.matched = (*hot.matched, run)
