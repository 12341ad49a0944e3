"""Whether an expression can be true at all, whatever the ads say in which it is evaluated.

What is said here holds for every ad; the other way round nothing is promised: an expression of
which nothing is said may be false for ever, too. What is written as a plain `false` or `undefined`
is meant so, and nothing is said of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final

from kettle.classad.flatten import flatten
from kettle.classad.nodes import (
    AttributeReference,
    Binary,
    Call,
    Conditional,
    Literal,
    Parentheses,
    Selection,
    children,
)
from kettle.classad.operators import COMPARISONS, truth
from kettle.classad.unparse import unparse
from kettle.classad.values import ERROR, UNDEFINED, Expr

_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "=?=": "=?="}
# Comparisons that are not true of what is the same on both sides, whatever it is.
_UNEQUAL: Final = frozenset({"<", ">", "!=", "=!="})
# What these say is known only when they are asked, in an ad, or on another host, by another
# configuration; so it is of calls like time().
_UNSTEADY: Final = frozenset(
    {"random", "eval", "evalineachcontext", "countmatches", "evalinenvironment", "formattime"}
    | {"usermap", "userhome", "getenv", "splitusername", "splitslotname"}
)
# Names that have a value in every ad, and another one a second later.
_MOVING: Final = frozenset({"currenttime"})
# Limit: the first demands of an attribute, with which all its others are compared.
_MOST_COMPARED: Final = 16


def why_never_true(expr: Expr) -> str:
    """Return why no ad makes the expression true, empty where one may or it is a plain word."""
    plain = _bare(expr)
    if isinstance(plain, Literal) and not isinstance(plain.value, str):
        return ""
    return _why(flatten(expr) if _is_steady(expr) else expr)


def _is_steady(expr: Expr) -> bool:
    """Tell whether the parts that need no ad have the same value at all times."""
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, Call) and (not node.arguments or node.name.lower() in _UNSTEADY):
            return False
        if isinstance(node, AttributeReference | Selection) and node.key in _MOVING:
            return False
        pending += children(node)
    return True


def _bare(expr: Expr) -> Expr:
    while isinstance(expr, Parentheses):
        expr = expr.inner
    return expr


def _why(expr: Expr) -> str:
    expr = _bare(expr)
    match expr:
        case Literal():
            return _why_value(expr)
        case Conditional():
            return _why_all(_outcomes(expr))
        case Binary(operator="||"):
            reasons = [_why(part) for part in _parts(expr, "||")]
            return reasons[0] if all(reasons) else ""
        case Binary(operator="&&"):
            parts = _parts(expr, "&&")
            return next(filter(None, map(_why, parts)), "") or _contradiction(parts)
        case Binary() if expr.operator in COMPARISONS or expr.operator in _UNEQUAL:
            return _why_compared(expr)
    return ""


def _outcomes(expr: Conditional) -> Iterator[Expr]:
    """Yield what conditionals that stand in one another come to, the last one last."""
    pending: list[Expr] = [expr]
    while pending:
        node = _bare(pending.pop())
        if isinstance(node, Conditional):
            pending += [node.no, node.condition if node.yes is None else node.yes]
        else:
            yield node


def _why_all(outcomes: Iterable[Expr]) -> str:
    """Return why the last one is never true, empty where one of them may be."""
    reason = ""
    for outcome in outcomes:
        reason = _why(outcome)
        if not reason:
            break
    return reason


def _why_value(expr: Literal) -> str:
    """Return why a value that is written out is not true, empty if it is."""
    if truth(expr.value) is True:
        return ""
    if isinstance(expr.value, str):
        return "it is a string, which is never true"
    return f"it is always {unparse(expr, old=True)}"


def _why_compared(expr: Binary) -> str:
    """Return why a comparison is never true, empty where it may be.

    It is not with what nothing is equal to, of something with itself, and of a time before 1970.
    """
    for side in (expr.left, expr.right) if expr.operator in COMPARISONS else ():
        value = _value_of(side)
        if value is UNDEFINED or value is ERROR:
            word = unparse(side, old=True)
            return f"{unparse(expr, old=True)} is always {word}: =?= asks for it"
    if expr.operator in _UNEQUAL and _is_steady(expr):
        one, two = (unparse(_bare(side), old=True) for side in (expr.left, expr.right))
        if one == two:
            return f"{one} is compared with itself"
    return _why_no_time(expr)


def _why_no_time(expr: Binary) -> str:
    """Return why no time is as a comparison wants it, empty for anything else."""
    left, right, operator = _bare(expr.left), _bare(expr.right), expr.operator
    if isinstance(left, Literal):
        left, right, operator = right, left, _MIRRORED.get(operator, "")
    value = _value_of(right)
    if not (_is_now(left) and type(value) in {int, float} and operator in _MIRRORED):
        return ""
    assert isinstance(value, int | float)
    if _Claim(expr, operator, value).excludes(_Claim(expr, ">=", 0)):
        return f"{unparse(left, old=True)} is never less than 0"
    return ""


def _is_now(expr: Expr) -> bool:
    if isinstance(expr, Call):
        return expr.name.lower() == "time" and not expr.arguments
    return isinstance(expr, AttributeReference | Selection) and expr.key in _MOVING


def _value_of(expr: Expr) -> object:
    """Return the value that is written out, None if there is none."""
    expr = _bare(expr)
    return expr.value if isinstance(expr, Literal) else None


def _parts(expr: Expr, operator: str) -> list[Expr]:
    """Return what a chain of one operator joins, from the left."""
    found: list[Expr] = []
    pending = [expr]
    while pending:
        node = _bare(pending.pop())
        if isinstance(node, Binary) and node.operator == operator:
            pending += [node.right, node.left]
        else:
            found.append(node)
    return found


class _Claim:
    """What one comparison demands of an attribute: it is from `low` to `high`, or the value."""

    __slots__ = ("closed_high", "closed_low", "high", "low", "node", "word")

    def __init__(self, node: Expr, operator: str, value: float | str) -> None:
        self.node: Final = node
        self.word: str | None = None
        self.low, self.high = -math.inf, math.inf
        self.closed_low = operator != ">"
        self.closed_high = operator != "<"
        if isinstance(value, str):
            self.word = value.lower()
            return
        if operator in {">", ">=", "==", "=?="}:
            self.low = value
        if operator in {"<", "<=", "==", "=?="}:
            self.high = value

    def excludes(self, other: _Claim) -> bool:
        """Tell whether no value meets both."""
        if self.word is not None or other.word is not None:
            # A string beside a number is no order that is ever true.
            return self.word != other.word
        low, low_open = max((self.low, not self.closed_low), (other.low, not other.closed_low))
        high, high_closed = min((self.high, self.closed_high), (other.high, other.closed_high))
        return low > high or (low == high and (low_open or not high_closed))


def _contradiction(parts: list[Expr]) -> str:
    """Return which two of the parts can never be true together, empty if none are seen."""
    claims: dict[str, list[_Claim]] = {}
    for part in parts:
        found = _claim(part)
        if found is None:
            continue
        key, claim = found
        known = claims.setdefault(key, [])
        for other in known[:_MOST_COMPARED]:
            if claim.excludes(other):
                one, two = unparse(other.node, old=True), unparse(claim.node, old=True)
                return f"{one} and {two} are never true together"
        known.append(claim)
    return ""


def _claim(part: Expr) -> tuple[str, _Claim] | None:
    """Return of which attribute a comparison demands what, None if it is no such one."""
    if not isinstance(part, Binary) or part.operator not in _MIRRORED:
        return None
    left, right, operator = _bare(part.left), _bare(part.right), part.operator
    if isinstance(left, Literal):
        left, right, operator = right, left, _MIRRORED[operator]
    if not isinstance(left, AttributeReference | Selection) or not isinstance(right, Literal):
        return None
    value = right.value
    is_number = type(value) in {int, float}
    if not is_number and not (isinstance(value, str) and operator in {"==", "=?="}):
        return None
    assert isinstance(value, int | float | str)
    return unparse(left, old=True).lower(), _Claim(part, operator, value)
