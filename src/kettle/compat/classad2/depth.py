"""How deep lists and ads may lie in one another: what is deeper is refused in a sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from kettle.classad.nodes import BRACKET_DEPTH, MAX_DEPTH
from kettle.compat.classad2.names import ClassAdException

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")

# Limit: the lists, ads and dictionaries around a value, as many as a text may have that is read
# back; one of them is the ad itself.
MOST_LEVELS: Final = MAX_DEPTH // BRACKET_DEPTH
VALUE_LEVELS: Final = MOST_LEVELS - 1


class NestingError(ClassAdException, ValueError):
    """What is nested deeper than an expression may be."""


def one_level_less(levels: int) -> int:
    """Return how many levels may lie in what is inside; NestingError if it lies too deep.

    Compat: the wheel takes a value of Python's however deep, which its parser then does not read
    back, and dies of a list that is in itself. Shown by test_values_nested_too_deeply_are_refused.
    """
    if levels == 0:
        raise NestingError(f"The value is nested more than {MOST_LEVELS} levels deep.")
    return levels - 1


def too_deep() -> NestingError:
    """Return what is raised for an expression that was put together too deeply."""
    return NestingError("The expression is nested too deeply.")


def bounded(method: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """Have a method raise NestingError where Python's stack would end.

    Compat: the wheel goes on until the process's own stack ends, and dies there. Shown by
    test_an_expression_too_deep_to_walk_is_refused.
    """

    @functools.wraps(method)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Returned:
        try:
            return method(*given, **named)
        except RecursionError:
            raise too_deep() from None

    return call
