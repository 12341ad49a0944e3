"""What a row of a function table is; the families' tables are gathered in `library.py`.

A strict function gets its arguments' values, a lazy one their expressions. What a call may read is
counted, what it raises is ERROR.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from kettle.classad.ad import ClassAd
from kettle.classad.nodes import ListNode, Literal
from kettle.classad.state import FAULT, State
from kettle.classad.values import ERROR, Expr, ExprList, Value

StrictCall = Callable[[State, list[Value]], Value]
LazyCall = Callable[[State, tuple[Expr, ...]], Value]


class StrictFunction(NamedTuple):
    """Called with the values of the arguments."""

    call: StrictCall

    @property
    def stateless(self) -> bool:
        """Tell whether it does not look at the state; its first argument is `_state` then."""
        code = getattr(self.call, "__code__", None)
        return code is not None and code.co_varnames[:1] == ("_state",)


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


# Texts up to this long cost nothing to speak of.
SMALL: Final = 63


def call_strict(call: StrictCall, state: State, values: list[Value]) -> Value:
    """Return what the function makes of the values."""
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) > SMALL and not state.charge(len(value)):  # type: ignore[arg-type]
                return ERROR
        elif (kind is ExprList or kind is ClassAd) and not _can_read(state, value):
            return ERROR
    try:
        return call(state, values)
    except FAULT:
        return ERROR


def _can_read(state: State, value: Value) -> bool:
    """Charge what a function may read of a list or an ad: what it is made of, all through.

    Lists of lists may be one and the same many times over.
    """
    if type(value) is ExprList and (known := value.plain) is not None:
        return state.charge(max(8 * len(known.values) + known.size, 64))
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, ExprList | ListNode):
            plain = [each.value if type(each) is Literal else each for each in item.elements]
            pending += [each for each in plain if isinstance(each, ExprList | ListNode)]
            size = 8 * len(plain) + sum(len(each) for each in plain if type(each) is str)
        else:
            size = 8 * len(item.table) if isinstance(item, ClassAd) else 0
        if not state.charge(max(size, 64)):
            return False
    return True
