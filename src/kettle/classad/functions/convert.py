"""How functions read their arguments: as text, as numbers, as lists."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from kettle.classad.nodes import literal
from kettle.classad.state import State
from kettle.classad.unparse import render_value
from kettle.classad.values import (
    ERROR,
    UNDEFINED,
    AbsoluteTime,
    Expr,
    ExprList,
    RelativeTime,
    Value,
)
from kettle.digits import saturate_32
from kettle.patterns import late_pattern

# What an element counts as.
_ELEMENT_BYTES: Final = 64
_NUMBER: Final = late_pattern(
    r"[ \t\n\r\f\v]*([+-]?)(?:"
    r"(0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)|(inf(?:inity)?|nan)"
    r"|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))",
    re.IGNORECASE,
)


def text_of(value: Value) -> str:
    """Return a value as `strcat` joins it: strings and times bare, the rest as printed."""
    if isinstance(value, str):
        return value
    if isinstance(value, AbsoluteTime | RelativeTime):
        return str(value)
    return render_value(value)


def number_in(text: str) -> float | None:
    """Return the number the text starts with, None if it starts with none."""
    found = _NUMBER.match(text)
    if found is None:
        return None
    sign = -1.0 if found.group(1) == "-" else 1.0
    if found.group(2):
        return sign * _hexadecimal(found.group(2))
    return sign * float(found.group(3) or found.group(4))


def _hexadecimal(text: str) -> float:
    """Return a hexadecimal number as strtod reads it: infinite beyond all reals."""
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.inf


def real_of(value: Value) -> float | None:
    """Return a value as a real: numbers, booleans, times, text that starts with a number."""
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        return number_in(value)
    if isinstance(value, AbsoluteTime):
        return float(value.seconds)
    # Compat: of a span the reference has whole seconds, in 32 bits (test_a_span_as_a_number).
    return float(saturate_32(value.seconds)) if isinstance(value, RelativeTime) else None


def first_special(values: list[Value]) -> Value | None:
    """Return the first of the values that is UNDEFINED or ERROR, None if there is none."""
    for value in values:
        if value is UNDEFINED or value is ERROR:
            return value
    return None


def error_or_undefined(values: list[Value]) -> Value | None:
    """Return ERROR if one of the values is, else UNDEFINED if one is, else None."""
    if any(value is ERROR for value in values):
        return ERROR
    return UNDEFINED if any(value is UNDEFINED for value in values) else None


def undefined_or_error(values: list[Value]) -> Value | None:
    """Return UNDEFINED if one of the values is, else ERROR if one is, else None."""
    if any(value is UNDEFINED for value in values):
        return UNDEFINED
    return ERROR if any(value is ERROR for value in values) else None


def elements_of(state: State, items: ExprList) -> Sequence[Value]:
    """Return the values of a list's elements; SpentError if they are too long together.

    Compat: they are evaluated where the call stands, not where the list does, though `list[0]` is
    evaluated there (test_functions_evaluate_elements_where_the_call_stands).
    """
    plain = items.plain
    if plain is not None:
        state.spend(_ELEMENT_BYTES * len(plain.values) + plain.size)
        return plain.values
    values = [state.evaluate_in(element, state.ad) for element in items.elements]
    texts = sum(len(value) for value in values if type(value) is str)
    state.spend(_ELEMENT_BYTES * len(values) + texts)
    return values


def list_of(values: list[Value]) -> ExprList:
    """Return a list of plain values."""
    elements: tuple[Expr, ...] = tuple(literal(value) for value in values)
    return ExprList(elements)
