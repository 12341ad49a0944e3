"""What a row of a function table is; the families' tables are gathered in `library.py`.

A strict function gets its arguments' values, a lazy one their expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kettle.classad.state import State
from kettle.classad.values import Expr, Value

StrictCall = Callable[[State, list[Value]], Value]
LazyCall = Callable[[State, tuple[Expr, ...]], Value]


class StrictFunction(NamedTuple):
    """Called with the values of the arguments."""

    call: StrictCall


class LazyFunction(NamedTuple):
    """Called with the arguments' expressions, which it evaluates as it needs them."""

    call: LazyCall


class Function(NamedTuple):
    """A built-in: how it is called, what it does, and examples which a test runs.

    An example is an expression and its value in new syntax.
    """

    name: str
    signature: str
    doc: str
    examples: tuple[tuple[str, str], ...]
    apply: StrictFunction | LazyFunction


def strict(
    name: str, signature: str, doc: str, call: StrictCall, *examples: tuple[str, str]
) -> Function:
    """Return the row of a function of values."""
    return Function(name, signature, doc, examples, StrictFunction(call))


def lazy(
    name: str, signature: str, doc: str, call: LazyCall, *examples: tuple[str, str]
) -> Function:
    """Return the row of a function of expressions."""
    return Function(name, signature, doc, examples, LazyFunction(call))
