"""Which ads of a file a command line means: a constraint as a test."""

from __future__ import annotations

import time

from kettle.classad import ClassAd, parse_expression
from kettle.errors import KettleError

# Limit: CPU seconds of the tests that take long, all together. One evaluation is bounded, so that a
# daemon goes on with others; here they are one after the other, and somebody waits.
_MOST_SECONDS = 2.0
# A test that takes less is no trouble, however many there are.
_LONG_SECONDS = 0.1


class AdFilter:
    """A test whether a constraint is true of an ad; numbers count as booleans.

    Raises ClassAdSyntaxError for a constraint that does not parse.
    """

    def __init__(self, constraint: str) -> None:
        self._everything = constraint == "true"
        self.expression = parse_expression(constraint)
        self._spent = 0.0

    def __call__(self, ad: ClassAd) -> bool:
        """Tell whether the constraint is true of an ad; KettleError where that costs too much."""
        if self._everything:
            return True
        began = time.process_time()
        satisfied = ad.satisfies(self.expression)
        took = time.process_time() - began
        if took > _LONG_SECONDS:
            self._spent += took
            if self._spent > _MOST_SECONDS:
                raise KettleError(
                    f"the constraint takes {took:.1f} seconds an ad; gave up",
                    hint="an attribute that names another twice doubles the work",
                )
        return satisfied
