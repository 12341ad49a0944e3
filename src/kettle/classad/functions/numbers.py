"""Numbers: conversion, rounding, powers, quantities, chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from kettle.classad.functions.convert import real_of, text_of
from kettle.classad.functions.table import Function, PlainCall, plain, strict
from kettle.classad.state import State
from kettle.classad.values import (
    ERROR,
    UNDEFINED,
    ExprList,
    RelativeTime,
    Value,
    saturate_integer,
    wrap_integer,
)
from kettle.digits import saturate_32


def to_integer(values: list[Value]) -> Value:
    """`int(x)`: cut off towards zero."""
    if len(values) != 1:
        return ERROR
    value = values[0]
    if value is UNDEFINED:
        return UNDEFINED
    if isinstance(value, int):
        return int(value)
    number = real_of(value)
    return ERROR if number is None else saturate_integer(number)


def to_real(values: list[Value]) -> Value:
    """`real(x)`."""
    if len(values) != 1:
        return ERROR
    if values[0] is UNDEFINED:
        return UNDEFINED
    number = real_of(values[0])
    return ERROR if number is None else number


def to_string(values: list[Value]) -> Value:
    """`string(x)`: text as it is, other values as they print."""
    if len(values) != 1:
        return ERROR
    value = values[0]
    return value if value is UNDEFINED or value is ERROR else text_of(value)


def to_boolean(values: list[Value]) -> Value:
    """`bool(x)`: numbers are true unless zero, of texts only `true` and `false` mean anything."""
    if len(values) != 1:
        return ERROR
    value = values[0]
    if value is UNDEFINED:
        return UNDEFINED
    if isinstance(value, int | float):
        return value != 0
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), UNDEFINED)
    return saturate_32(value.seconds) != 0 if isinstance(value, RelativeTime) else ERROR


# Reals between this and its negative are integers that fit when they are rounded.
_EXACT: Final = 2.0**62


def _rounding(round_real: Callable[[float], int]) -> PlainCall:
    def call(values: list[Value]) -> Value:
        if len(values) != 1:
            return ERROR
        value = values[0]
        if type(value) is float and -_EXACT < value < _EXACT:
            return round_real(value)
        if isinstance(value, int):
            return int(value)
        number = real_of(value)
        if number is None:
            return ERROR
        if isinstance(value, RelativeTime) or not math.isfinite(number):
            return saturate_integer(number)
        return saturate_integer(round_real(number))

    return call


def power(values: list[Value]) -> Value:
    """`pow(base, exponent)`: an integer for integers unless the exponent is negative."""
    if len(values) != 2:
        return ERROR
    base, exponent = values
    x, y = real_of(base), real_of(exponent)
    if x is None or y is None:
        return ERROR
    if type(base) is int and type(exponent) is int and exponent >= 0:
        # Compat: rounded by adding a half whatever the sign, so pow(-2,3) is -7, as in the
        # reference; shown by functions_numbers.json.
        return saturate_integer(_power(x, y) + 0.5)
    return _power(x, y)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        odd = exponent == math.trunc(exponent) and exponent % 2 == 1
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        if base != 0:
            return math.nan
        return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf


def quantize(state: State, values: list[Value]) -> Value:
    """`quantize(x, step)`: the multiple of the step, or the list's element, that is enough."""
    if len(values) != 2:
        return ERROR
    amount, step = values
    number = real_of(amount)
    if number is None:
        return ERROR
    if not isinstance(step, ExprList):
        return _next_multiple(amount, step)
    last: Value = UNDEFINED
    for element in step.elements:
        last = state.evaluate_in(element, state.ad)
        found = real_of(last)
        if found is None:
            return ERROR
        if found >= number:
            return last
    return amount if last is UNDEFINED else _next_multiple(amount, last)


def _next_multiple(amount: Value, step: Value) -> Value:
    if type(amount) is int and type(step) is int:
        if step == 0:
            return amount
        total = wrap_integer(amount + step - 1)
        quotient = abs(total) // abs(step)
        if (total < 0) != (step < 0):
            quotient = -quotient
        return wrap_integer(quotient * step)
    x, unit = real_of(amount), real_of(step)
    if x is None or unit is None:
        return ERROR
    if unit == 0:
        return amount
    ratio = x / unit
    if not math.isfinite(ratio):
        return ratio * unit
    ceiling = float(math.ceil(ratio))
    return (math.copysign(ceiling, ratio) if ceiling == 0 else ceiling) * unit


def chance(state: State, values: list[Value]) -> Value:
    """`random([limit])`: from the context's dice."""
    if len(values) > 1:
        return ERROR
    if not values:
        return state.context.random.random()
    limit = values[0]
    if type(limit) is int and limit > 0:
        return state.context.random.randrange(limit)
    if type(limit) is float and limit > 0:
        return state.context.random.random() * limit
    return ERROR


# fmt: off
NUMBERS: Final[tuple[Function, ...]] = (
    plain("int", "int(value)",
          "The value as an integer: reals are cut off, text is read as far as it is a number.",
          to_integer, ("int(2.9)", "2"), ('int("12")', "12")),
    plain("real", "real(value)", "The value as a real number.",
          to_real, ("real(3)", "3.000000000000000E+00"),
          ('real("2.5")', "2.500000000000000E+00"), ("real(true)", "1.000000000000000E+00")),
    plain("string", "string(value)", "The value as text.",
          to_string, ("string(12)", '"12"'), ("string(1.5)", '"1.500000000000000E+00"'),
          ("string({ 1,2 })", '"{ 1,2 }"')),
    plain("bool", "bool(value)", "The value as a boolean; of texts only true and false are.",
          to_boolean, ('bool("true")', "true"), ("bool(0)", "false")),
    plain("floor", "floor(number)", "The greatest integer not above the number.",
          _rounding(math.floor), ("floor(2.7)", "2"), ("floor(-2.5)", "-3")),
    plain("ceiling", "ceiling(number)", "The smallest integer not below the number.",
          _rounding(math.ceil), ("ceiling(2.1)", "3"), ("ceiling(-2.1)", "-2"),
          ('ceiling("x")', "error")),
    plain("ceil", "ceil(number)", "The same as ceiling.",
          _rounding(math.ceil), ("ceil(2.1)", "3"), ("ceil(3)", "3")),
    plain("round", "round(number)", "The nearest integer; of two equally near, the even one.",
          _rounding(round), ("round(2.5)", "2"), ("round(3.5)", "4")),
    plain("pow", "pow(base, exponent)",
          "The base to the power of the exponent; an integer if both are and the exponent "
          "is not negative.",
          power, ("pow(2,10)", "1024"), ("pow(2,-1)", "5.000000000000000E-01")),
    strict("quantize", "quantize(amount, step | list)",
           "The smallest multiple of the step that is not less than the amount; with a list, its "
           "first element that is not less, else the smallest such multiple of the last.",
           quantize, ("quantize(130,{ 128 })", "256"), ("quantize(3,{ 1,2,4 })", "4"),
           ("quantize(130,100)", "200")),
    strict("random", "random([limit])",
           "A random real from 0 to 1, or number of the limit's type from 0 to below the limit.",
           chance, ("random(1)", "0"), ("random(1.0) < 1.0", "true"),
           may_repeat=False),
)
# fmt: on
