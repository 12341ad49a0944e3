"""Arguments that many methods take: lists of texts, jobs, expressions."""

from __future__ import annotations

from kettle.classad import parse_expression


def check_expression(text: str) -> None:
    """Raise ClassAdSyntaxError for a constraint that is none."""
    parse_expression(text or "true", old=True)


def texts_of(value: object, what: str) -> list[str]:
    """Return a list of texts; TypeError if it is none."""
    if not isinstance(value, list):
        raise TypeError(f"{what} must be a list")
    if not all(isinstance(one, str) for one in value):
        raise TypeError(f"{what} must be a list of strings")
    return list(value)
