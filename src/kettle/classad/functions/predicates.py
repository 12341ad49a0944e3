"""Questions about the type of a value. None of them is ever UNDEFINED."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kettle.classad.ad import ClassAd
from kettle.classad.functions.table import Function, PlainCall, plain
from kettle.classad.values import ERROR, UNDEFINED, AbsoluteTime, ExprList, RelativeTime, Value


def _asks(test: Callable[[Value], bool]) -> PlainCall:
    def call(values: list[Value]) -> Value:
        return test(values[0]) if len(values) == 1 else ERROR

    return call


def _of_type(*kinds: type) -> PlainCall:
    return _asks(lambda value: type(value) in kinds)


# fmt: off
PREDICATES: Final[tuple[Function, ...]] = (
    plain("isUndefined", "isUndefined(value)", "Whether the value is undefined.",
          _asks(lambda value: value is UNDEFINED),
          ("isUndefined(Nope)", "true"), ("isUndefined(1)", "false")),
    plain("isError", "isError(value)", "Whether the value is error.",
          _asks(lambda value: value is ERROR),
          ("isError(1 / 0)", "true"), ("isError(undefined)", "false")),
    plain("isString", "isString(value)", "Whether the value is a string.",
          _of_type(str), ('isString("x")', "true"), ("isString(1)", "false"),
          ("isString(undefined)", "false")),
    plain("isInteger", "isInteger(value)", "Whether the value is an integer; text is not.",
          _of_type(int), ("isInteger(3)", "true"), ('isInteger("3")', "false")),
    plain("isReal", "isReal(value)", "Whether the value is a real number.",
          _of_type(float), ("isReal(3.0)", "true"), ("isReal(3)", "false")),
    plain("isBoolean", "isBoolean(value)", "Whether the value is a boolean; a number is not.",
          _of_type(bool), ("isBoolean(true)", "true"), ("isBoolean(1)", "false")),
    plain("isList", "isList(value)", "Whether the value is a list.",
          _of_type(ExprList), ("isList({ 1,2 })", "true"), ('isList("a,b")', "false")),
    plain("isClassAd", "isClassAd(value)", "Whether the value is an ad.",
          _of_type(ClassAd), ("isClassAd([ a = 1 ])", "true"), ("isClassAd({ 1 })", "false")),
    plain("isAbsTime", "isAbsTime(value)", "Whether the value is a moment.",
          _of_type(AbsoluteTime), ("isAbsTime(absTime(0))", "true"), ("isAbsTime(0)", "false")),
    plain("isRelTime", "isRelTime(value)", "Whether the value is a span of time.",
          _of_type(RelativeTime), ("isRelTime(relTime(5))", "true"), ('isRelTime("5")', "false")),
)
# fmt: on
