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
PlainCall = Callable[[list[Value]], Value]
LazyCall = Callable[[State, tuple[Expr, ...]], Value]


class StrictFunction(NamedTuple):
    """Called with the values of the arguments.

    `call` is handed the state and may read it; a function of its values alone has `plain` instead,
    which cannot. Generated code calls a function again where it gives up, so one whose calls mean
    something besides their value, or that looks at the evaluation under way, must not be repeated.
    """

    call: StrictCall
    plain: PlainCall | None = None
    may_repeat: bool = True


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
    name: str,
    signature: str,
    doc: str,
    call: StrictCall,
    *examples: tuple[str, str],
    may_repeat: bool = True,
) -> Function:
    """Return the row of a function of values that may read the state of the evaluation."""
    return Function(name, signature, doc, examples, StrictFunction(call, None, may_repeat))


def plain(
    name: str, signature: str, doc: str, call: PlainCall, *examples: tuple[str, str]
) -> Function:
    """Return the row of a function of its values alone."""
    apply = StrictFunction(lambda _state, values: call(values), call)
    return Function(name, signature, doc, examples, apply)


def lazy(
    name: str, signature: str, doc: str, call: LazyCall, *examples: tuple[str, str]
) -> Function:
    """Return the row of a function of expressions."""
    return Function(name, signature, doc, examples, LazyFunction(call))


# Texts up to this long cost nothing to speak of.
SMALL: Final = 63


def call_strict(call: StrictCall, state: State, values: list[Value]) -> Value:
    """Return what the function makes of the values."""
    if not _can_read_all(state, values):
        return ERROR
    try:
        return call(state, values)
    except FAULT:
        return ERROR


def call_plain(call: PlainCall, state: State, values: list[Value]) -> Value:
    """Return what a function of its values alone makes of them, whose reading is counted."""
    if not _can_read_all(state, values):
        return ERROR
    try:
        return call(values)
    except FAULT:
        return ERROR


def _can_read_all(state: State, values: list[Value]) -> bool:
    """Charge what a function may read of its values; False if it is too much."""
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) > SMALL and not state.charge(len(value)):  # type: ignore[arg-type]
                return False
        elif (kind is ExprList or kind is ClassAd) and not _can_read(state, value):
            return False
    return True


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
