"""What the operators do to values: four-valued logic, arithmetic, comparison.

ERROR wins over UNDEFINED, UNDEFINED over the rest. Booleans count as 0 and 1 next to numbers,
integers wrap at 64 bits, strings compare without regard to case except under `=?=` and `=!=`.
The operators that do not evaluate both sides (`&&`, `||`, `?:`) are in `compile.py`; this module
never evaluates an expression. Source: the vectors in operators.json.
"""

from __future__ import annotations

import math
import operator as _python
from collections.abc import Callable
from typing import Any, Final

from kettle.classad.values import (
    ERROR,
    UNDEFINED,
    AbsoluteTime,
    RelativeTime,
    Value,
    fold_case,
    wrap_integer,
)
from kettle.digits import MAX_INTEGER, saturate_32

Operation = Callable[[Value, Value], Value]
_NUMBERS: Final = frozenset({bool, int, float})


def _divide_integers(left: int, right: int) -> Value:
    if right == 0:
        return ERROR
    quotient = abs(left) // abs(right)
    # Compat: the one that 64 bits do not hold is the greatest that they do, as in the reference;
    # shown by the script functions.py.
    return min(-quotient if (left < 0) != (right < 0) else quotient, MAX_INTEGER)


def _remainder_integers(left: int, right: int) -> Value:
    if right == 0:
        return ERROR
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _real_or_error(number: float) -> Value:
    # Compat: only overflow upwards is an error in the reference; shown by probes.json.
    return ERROR if number == math.inf else number


def _strict_result(left: Value, right: Value) -> Value | None:
    if left is ERROR or right is ERROR:
        return ERROR
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    return None


def add(left: Value, right: Value) -> Value:
    """Return `left + right`."""
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        total = left + right  # type: ignore[operator]
        return wrap_integer(total) if type(total) is int else _real_or_error(total)  # type: ignore[arg-type]
    strict = _strict_result(left, right)
    return strict if strict is not None else _add_times(left, right)


def _add_times(left: Value, right: Value) -> Value:
    if isinstance(left, RelativeTime):
        if isinstance(right, RelativeTime):
            return RelativeTime(left.seconds + right.seconds)
        if isinstance(right, AbsoluteTime):
            left, right = right, left
    if isinstance(left, AbsoluteTime) and isinstance(right, RelativeTime):
        return _moved(left, saturate_32(right.seconds))
    return ERROR


def _moved(moment: AbsoluteTime, seconds: int) -> AbsoluteTime:
    return AbsoluteTime(wrap_integer(moment.seconds + seconds), moment.offset_seconds)


def subtract(left: Value, right: Value) -> Value:
    """Return `left - right`."""
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        difference = left - right  # type: ignore[operator]
        return wrap_integer(difference) if type(difference) is int else _real_or_error(difference)
    strict = _strict_result(left, right)
    if strict is not None:
        return strict
    if isinstance(left, AbsoluteTime):
        if isinstance(right, AbsoluteTime):
            return RelativeTime(left.seconds - right.seconds)
        if isinstance(right, RelativeTime):
            return _moved(left, -saturate_32(right.seconds))
    if isinstance(left, RelativeTime) and isinstance(right, RelativeTime):
        return RelativeTime(left.seconds - right.seconds)
    return ERROR


def multiply(left: Value, right: Value) -> Value:
    """Return `left * right`."""
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        product = left * right  # type: ignore[operator]
        return wrap_integer(product) if type(product) is int else _real_or_error(product)  # type: ignore[arg-type]
    strict = _strict_result(left, right)
    if strict is not None:
        return strict
    if isinstance(right, RelativeTime):
        left, right = right, left
    if isinstance(left, RelativeTime) and type(right) in (int, float):
        return RelativeTime(left.seconds * right)  # type: ignore[operator]
    return ERROR


def divide_reals(left: float, right: float) -> float:
    """Return the quotient as the processor gives it, infinite or not a number included."""
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def divide(left: Value, right: Value) -> Value:
    """Return `left / right`; integers are divided towards zero."""
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        if type(left) is float or type(right) is float:
            return _real_or_error(divide_reals(float(left), float(right)))  # type: ignore[arg-type]
        return _divide_integers(left, right)  # type: ignore[arg-type]
    strict = _strict_result(left, right)
    if strict is not None:
        return strict
    if isinstance(left, RelativeTime) and isinstance(right, int | float):
        return ERROR if type(right) is bool else RelativeTime(divide_reals(left.seconds, right))
    return ERROR


def remainder(left: Value, right: Value) -> Value:
    """Return `left % right`, with the sign of `left`."""
    if isinstance(left, int) and isinstance(right, int):
        return _remainder_integers(left, right)
    strict = _strict_result(left, right)
    return strict if strict is not None else ERROR


def _bitwise(combine: Callable[[int, int], int]) -> Operation:
    def apply(left: Value, right: Value) -> Value:
        if type(left) is int and type(right) is int:
            return wrap_integer(combine(left, right))
        strict = _strict_result(left, right)
        return strict if strict is not None else ERROR

    return apply


def _shift_left(left: int, right: int) -> int:
    return left << (right & 63)


def _shift_right(left: int, right: int) -> int:
    if left >= 0:
        return left >> (right & 63)
    # Compat: negative numbers are shifted bit by bit in the reference, however often;
    # shown by operators.json.
    return left >> min(max(right, 0), 63)


def _shift_right_unsigned(left: int, right: int) -> int:
    count = right & 63
    if left < 0 and count == 0:
        # Compat: the reference's mask for the sign is empty here; shown by operators.json.
        return 0
    return (left & ((1 << 64) - 1)) >> count


def _compare(test: Callable[[Any, Any], bool]) -> Operation:
    def apply(left: Value, right: Value) -> Value:
        kind = type(left)
        if kind in _NUMBERS and type(right) in _NUMBERS:
            return test(left, right)
        if kind is str and type(right) is str:
            return test(fold_case(left), fold_case(right))  # type: ignore[arg-type]
        strict = _strict_result(left, right)
        if strict is not None:
            return strict
        if isinstance(left, AbsoluteTime) and isinstance(right, AbsoluteTime):
            return test(left.seconds, right.seconds)
        if isinstance(left, RelativeTime) and isinstance(right, RelativeTime):
            return test(left.seconds, right.seconds)
        return ERROR

    return apply


def is_same(left: Value, right: Value) -> Value:
    """Return `left =?= right`: same type and same value, strings with case."""
    if type(left) is not type(right):
        return False
    if type(left) is float:
        return left == right
    if isinstance(left, bool | int | str):
        return left == right
    if isinstance(left, AbsoluteTime | RelativeTime):
        return left == right
    if left is UNDEFINED or left is ERROR:
        return True
    return ERROR


def is_different(left: Value, right: Value) -> Value:
    """Return `left =!= right`."""
    same = is_same(left, right)
    return same if same is ERROR else not same


# What each comparison asks of two numbers. All are undefined or an error where a side is.
COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": _python.lt,
    "<=": _python.le,
    ">": _python.gt,
    ">=": _python.ge,
    "==": _python.eq,
    "!=": _python.ne,
}
less: Final = _compare(_python.lt)
less_or_equal: Final = _compare(_python.le)
greater: Final = _compare(_python.gt)
greater_or_equal: Final = _compare(_python.ge)
equal: Final = _compare(_python.eq)
not_equal: Final = _compare(_python.ne)

BINARY: Final[dict[str, Operation]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
    "&": _bitwise(_python.and_),
    "|": _bitwise(_python.or_),
    "^": _bitwise(_python.xor),
    "<<": _bitwise(_shift_left),
    ">>": _bitwise(_shift_right),
    ">>>": _bitwise(_shift_right_unsigned),
    "<": less,
    "<=": less_or_equal,
    ">": greater,
    ">=": greater_or_equal,
    "==": equal,
    "!=": not_equal,
    "=?=": is_same,
    "=!=": is_different,
}


def negate(value: Value) -> Value:
    """Return `-value`."""
    kind = type(value)
    if kind is int:
        return wrap_integer(-value)  # type: ignore[operator, arg-type]
    if kind is float:
        return -value  # type: ignore[operator]
    if isinstance(value, RelativeTime):
        return RelativeTime(-value.seconds)
    return UNDEFINED if value is UNDEFINED else ERROR


def keep(value: Value) -> Value:
    """Return `+value`."""
    if type(value) in (int, float) or value is UNDEFINED or isinstance(value, RelativeTime):
        return value
    return ERROR


def invert(value: Value) -> Value:
    """Return `~value`."""
    if type(value) is int:
        return ~value
    return UNDEFINED if value is UNDEFINED else ERROR


def logical_not(value: Value) -> Value:
    """Return `!value`; numbers count as booleans."""
    if type(value) in _NUMBERS:
        return not value
    return UNDEFINED if value is UNDEFINED else ERROR


UNARY: Final[dict[str, Callable[[Value], Value]]] = {
    "-": negate,
    "+": keep,
    "~": invert,
    "!": logical_not,
}


def truth(value: Value) -> Value:
    """Return what `&&`, `||` and `!` take a value for: a boolean, UNDEFINED or ERROR."""
    if value is True or value is False:
        return value
    if type(value) in _NUMBERS:
        return value != 0
    return UNDEFINED if value is UNDEFINED else ERROR
