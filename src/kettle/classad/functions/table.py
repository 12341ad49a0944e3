"""What a row of a function table is; the families' tables are gathered in `library.py`.

A strict function gets its arguments' values, a lazy one their expressions. What a call may read is
counted, what it raises is ERROR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kettle.classad.ad import ClassAd
from kettle.classad.nodes import ListNode, Literal, size_in_steps
from kettle.classad.state import FAULT, MOST_STEPS, State
from kettle.classad.values import ERROR, Expr, ExprList, Value
from kettle.named_tuples import NamedTuple

StrictCall = Callable[[State, list[Value]], Value]
PlainCall = Callable[[list[Value]], Value]
LazyCall = Callable[[State, tuple[Expr, ...]], Value]


class Price(NamedTuple):
    """What a call counts as: so many steps, and so many bytes for each byte that it reads.

    A step stands for ten microseconds at most (test_no_function_costs_more_than_it_counts_as).
    """

    steps: int = 1
    each: int = 1


COMMON: Final = Price()


class Free:
    """There is one, FREE."""

    __slots__ = ()


# Stands for an argument that is no constant.
FREE: Final = Free()
# Limit: the characters of a text that is a short one: what a function reads of a few hundred of
# them need not be counted.
LONGEST_SHORT: Final = 2048


class Prepared(NamedTuple):
    """A call of which some arguments are constants: a function of the others, in their order.

    They are no lists, and texts of at most `longest` characters. `size` is the bytes that it takes.
    """

    call: Callable[..., Value]
    longest: int = LONGEST_SHORT
    size: int = 0


Preparer = Callable[[Sequence[Value | Free]], Prepared | None]


class StrictFunction(NamedTuple):
    """Called with the values of the arguments.

    `call` is handed the state and may read it; a function of its values alone has `plain` instead,
    which cannot. Generated code calls a function again where it gives up, so one whose calls mean
    something besides their value, or that looks at the evaluation under way, must not be repeated.

    Generated code prefers `prepare`, which may have a shorter way where some arguments are
    constants, then `short`, which says the same of values that are short texts and no lists: a
    function of its values alone, though `call` counts what it makes of long ones. It is `plain`
    where there is one.
    """

    call: StrictCall
    plain: PlainCall | None = None
    may_repeat: bool = True
    price: Price = COMMON
    short: PlainCall | None = None
    prepare: Preparer | None = None


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
    price: Price = COMMON,
    short: PlainCall | None = None,
    prepare: Preparer | None = None,
) -> Function:
    """Return the row of a function of values that may read the state of the evaluation."""
    apply = StrictFunction(call, None, may_repeat, price, short, prepare)
    return Function(name, signature, doc, examples, apply)


def plain(
    name: str,
    signature: str,
    doc: str,
    call: PlainCall,
    *examples: tuple[str, str],
    price: Price = COMMON,
    prepare: Preparer | None = None,
) -> Function:
    """Return the row of a function of its values alone."""
    apply = StrictFunction(
        lambda _state, values: call(values), call, price=price, short=call, prepare=prepare
    )
    return Function(name, signature, doc, examples, apply)


def lazy(
    name: str, signature: str, doc: str, call: LazyCall, *examples: tuple[str, str]
) -> Function:
    """Return the row of a function of expressions."""
    return Function(name, signature, doc, examples, LazyFunction(call))


# Texts up to this long cost nothing to speak of.
SMALL: Final = 63
# What an attribute of an ad, and so many nodes of an expression, count as where they may be read.
_ENTRY_BYTES: Final = 64


def call_strict(
    call: StrictCall, state: State, values: list[Value], price: Price = COMMON
) -> Value:
    """Return what the function makes of the values, whose reading is counted."""
    if not _can_read_all(state, values, price):
        return ERROR
    try:
        return call(state, values)
    except FAULT:
        return ERROR


def call_plain(call: PlainCall, state: State, values: list[Value], price: Price = COMMON) -> Value:
    """Return what a function of its values alone makes of them, whose reading is counted."""
    if not _can_read_all(state, values, price):
        return ERROR
    try:
        return call(values)
    except FAULT:
        return ERROR


def _can_read_all(state: State, values: list[Value], price: Price) -> bool:
    """Charge a call, and what it may read of its values; False if it is too much."""
    steps, each = price
    state.steps += steps
    for value in values:
        kind = type(value)
        if kind is str:
            size = len(value) * each  # type: ignore[arg-type]
            if size > SMALL and not state.charge(size):
                return False
        elif (kind is ExprList or kind is ClassAd) and not _can_read(state, value, each):
            return False
    return state.steps <= MOST_STEPS


def _can_read(state: State, value: Value, each: int) -> bool:
    """Charge what a function may read of a list or an ad: what it is made of, all through.

    Lists of lists may be one and the same many times over.
    """
    if type(value) is ExprList and (known := value.plain) is not None:
        return state.charge(max((8 * len(known.values) + known.size) * each, 64))
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, ExprList | ListNode):
            plain = [part.value if type(part) is Literal else part for part in item.elements]
            pending += [part for part in plain if isinstance(part, ExprList | ListNode)]
            size = 8 * len(plain) + sum(map(_size_of, plain))
        else:
            size = _ENTRY_BYTES * len(item.table) if isinstance(item, ClassAd) else 0
        if not state.charge(max(size * each, 64)):
            return False
    return True


def _size_of(part: object) -> int:
    """Return the bytes that an element of a list counts as beside its place."""
    if type(part) is str:
        return len(part)
    is_more = isinstance(part, Expr) and not isinstance(part, ListNode)
    return _ENTRY_BYTES * size_in_steps(part) if is_more else 0  # type: ignore[arg-type]
