"""Which jobs an expression can mean, as far as its comparisons of attributes with values tell.

An expression such as `(ClusterId == 7 && ProcId == 0) || DAGManJobId =?= 7` becomes alternatives of
clauses. They are true of every ad that the expression is true of, and of others: whoever looks jobs
up by them evaluates the expression for each that is found. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import product

from kettle.classad import Expr
from kettle.classad.nodes import AttributeReference, Binary, Literal, Parentheses, Selection
from kettle.structs import Struct

# Limit: alternatives of one expression; with more, looking things up is no gain.
MOST_ALTERNATIVES = 1000

_MIRRORED = {"==": "==", "=?=": "==", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


class Clause(Struct):
    """A comparison: an attribute in lower case, one of == < <= > >=, a number or a string.

    Strings, which expressions compare without regard to case, are in lower case.
    """

    name: str
    operator: str
    value: int | float | str


Alternative = tuple[Clause, ...]


def read_alternatives(expression: Expr, names: AbstractSet[str]) -> list[Alternative] | None:
    """Return alternatives of clauses about some attributes (in lower case).

    None if there are ads without any such clause for which the expression is true.
    """
    expression = _bare(expression)
    if isinstance(expression, Literal):
        return [] if expression.value is False else None
    if not isinstance(expression, Binary):
        return None
    if expression.operator == "||":
        return _any_of(expression, names)
    if expression.operator == "&&":
        return _all_of(expression, names)
    clause = _clause(expression, names)
    return None if clause is None else [(clause,)]


def _bare(expression: Expr) -> Expr:
    while isinstance(expression, Parentheses):
        expression = expression.inner
    return expression


def _any_of(expression: Binary, names: AbstractSet[str]) -> list[Alternative] | None:
    found: list[Alternative] = []
    for part in _parts(expression):
        alternatives = read_alternatives(part, names)
        if alternatives is None or len(found) + len(alternatives) > MOST_ALTERNATIVES:
            return None
        found += alternatives
    return found


def _all_of(expression: Binary, names: AbstractSet[str]) -> list[Alternative] | None:
    found: list[Alternative] | None = None
    for part in _parts(expression):
        alternatives = read_alternatives(part, names)
        if alternatives is None:
            continue
        if found is None:
            found = alternatives
        elif len(found) * len(alternatives) <= MOST_ALTERNATIVES:
            found = [first + second for first, second in product(found, alternatives)]
    return found


def _parts(expression: Binary) -> Iterator[Expr]:
    """Yield what a chain of one operator joins; chains may be longer than calls may be deep."""
    waiting: list[Expr] = [expression]
    while waiting:
        part = _bare(waiting.pop())
        if isinstance(part, Binary) and part.operator == expression.operator:
            waiting += (part.right, part.left)
        else:
            yield part


def _clause(expression: Binary, names: AbstractSet[str]) -> Clause | None:
    operator = expression.operator
    if operator not in _MIRRORED:
        return None
    left, right = _bare(expression.left), _bare(expression.right)
    if isinstance(left, Literal):
        left, right, operator = right, left, _MIRRORED[operator]
    elif operator == "=?=":
        operator = "=="
    name = _own_attribute(left)
    if name not in names or not isinstance(right, Literal):
        return None
    value = right.value
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    return Clause(name, operator, value.lower() if isinstance(value, str) else value)


def _own_attribute(expression: Expr) -> str:
    """Return the lower-case name of an attribute of the ad itself, empty for anything else."""
    if isinstance(expression, AttributeReference) and not expression.absolute:
        return expression.key
    if isinstance(expression, Selection) and isinstance(expression.base, AttributeReference):
        return expression.key if expression.base.key == "my" else ""
    return ""
