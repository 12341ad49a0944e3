"""Why the value of an expression is an error, as far as the wheel's `lastError` tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kettle.classad.compile import evaluate_lazily
from kettle.classad.nodes import AttributeReference, Binary, Call, Conditional, Parentheses, Unary
from kettle.classad.operators import COMPARISONS
from kettle.classad.state import new_state
from kettle.classad.values import ERROR, AbsoluteTime, RelativeTime
from kettle.compat.classad2.convert import CONTEXT
from kettle.compat.classad2.names import LAST_ERROR

if TYPE_CHECKING:
    from kettle.classad import ClassAd
    from kettle.classad.operators import COMPARISONS
from kettle.classad.values import Expr, Value

_TEXT_AGAINST_OTHER: Final = "strings can only be compared to strings"
_OTHERS: Final = (bool, int, float, AbsoluteTime, RelativeTime)
# Limit: parts of an expression that are looked at; all together are no more work than an evaluation
# may be (`state.MOST_STEPS`).
_MOST_PARTS: Final = 64


def note_error(value: Value, tree: Expr, ad: ClassAd | None, target: ClassAd | None) -> None:
    """Keep for `lastError` why this value of an expression is an error, if that is told."""
    if value is ERROR and _compares_text_with_other(tree, ad, target):
        LAST_ERROR.text = _TEXT_AGAINST_OTHER


def _compares_text_with_other(tree: Expr, ad: ClassAd | None, target: ClassAd | None) -> bool:
    state = new_state(ad, target, CONTEXT)

    def value_of(part: Expr) -> Value:
        return evaluate_lazily(part, state)

    waiting = [tree]
    for _ in range(_MOST_PARTS):
        if not waiting or not state.charge(0):
            return False
        part = waiting.pop()
        if value_of(part) is not ERROR:
            continue
        if isinstance(part, Binary) and part.operator in COMPARISONS:
            left, right = value_of(part.left), value_of(part.right)
            if _is_text_and_other(left, right) or _is_text_and_other(right, left):
                return True
        waiting.extend(_inside(part, ad, target))
    return False


def _is_text_and_other(one: Value, other: Value) -> bool:
    return isinstance(one, str) and isinstance(other, _OTHERS)


def _inside(part: Expr, ad: ClassAd | None, target: ClassAd | None) -> Iterator[Expr]:
    """Yield what the value of a part comes from."""
    if isinstance(part, Parentheses):
        yield part.inner
    elif isinstance(part, Unary):
        yield part.operand
    elif isinstance(part, Binary):
        yield from (part.left, part.right)
    elif isinstance(part, Conditional):
        yield from (each for each in (part.condition, part.yes, part.no) if each is not None)
    elif isinstance(part, Call):
        yield from part.arguments
    elif isinstance(part, AttributeReference):
        for where in (ad, target):
            found = None if where is None else where.lookup(part.name)
            if found is not None:
                yield found
                return
