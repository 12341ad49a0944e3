"""Values as the tools show them: strings bare, everything else in ClassAd syntax."""

from __future__ import annotations

from collections.abc import Callable

from kettle.classad import ERROR, ClassAd, Expr, RelativeTime, Value, to_expression, unparse
from kettle.classad.calendar import span_text
from kettle.classad.nodes import AttributeReference, Selection

# How a column shows an ad: the text, or None where there is nothing to show.
Shown = Callable[[ClassAd], str | None]


def evaluate(ad: ClassAd, expression: Expr) -> Value:
    """Return a value; the elements of a list as they are written."""
    value = ad.evaluate_expression(expression)
    if value is ERROR or isinstance(value, list):
        # Late: few columns show a list.
        from kettle.classad.compile import evaluate_lazily
        from kettle.classad.state import new_state

        return evaluate_lazily(expression, new_state(ad))
    return value


def evaluate_name(ad: ClassAd, name: str) -> Value:
    """Return the value of an attribute; the elements of a list as they are written."""
    return evaluate(ad, AttributeReference(name))


def written(value: Value) -> str:
    """Return a value in ClassAd syntax; a span with its fraction."""
    if isinstance(value, RelativeTime):
        return f'relTime("{span_text(value.seconds)}")'
    return unparse(to_expression(value), old=True)


def show_value(ad: ClassAd, expression: Expr, *, quoted: bool = False) -> str:
    """Return a value as `%v` prints it, or `%V` with a string's quotes."""
    return bare_text(evaluate(ad, expression), quoted=quoted)


def bare_text(value: Value, *, quoted: bool = False) -> str:
    """Return a string as it is, unless it is to have quotes, and everything else as written."""
    return value if isinstance(value, str) and not quoted else written(value)


def as_number(value: Value) -> int | float | None:
    """Return the number that a value is; true is 1."""
    return value if isinstance(value, (bool, int, float)) else None


def raw_text(ad: ClassAd, text: str, expression: Expr) -> str:
    """Return the expression behind an attribute, or the asked-for expression itself.

    A name that is looked for elsewhere (`MY.Owner`) is the name of no attribute.
    """
    if text.isidentifier():
        found = ad.lookup(text)
        return "undefined" if found is None else unparse(found, old=True)
    if isinstance(expression, AttributeReference | Selection):
        return "undefined"
    return unparse(expression, old=True)
