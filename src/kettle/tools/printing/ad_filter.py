"""Which ads of a file a command line means: a constraint as a test."""

from __future__ import annotations

from kettle.classad import ClassAd, parse_expression


class AdFilter:
    """A test whether a constraint is true of an ad; numbers count as booleans.

    Raises ClassAdSyntaxError for a constraint that does not parse.
    """

    def __init__(self, constraint: str) -> None:
        self._everything = constraint == "true"
        self.expression = parse_expression(constraint)

    def __call__(self, ad: ClassAd) -> bool:
        """Tell whether the constraint is true of an ad."""
        return self._everything or ad.satisfies(self.expression)
