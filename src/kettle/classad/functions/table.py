"""What a row of a function table is, and where the tables are found.

A strict function gets its arguments' values, a lazy one their expressions. Families are loaded
when the first call is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from kettle.classad.nodes import Expr
from kettle.classad.values import Value

if TYPE_CHECKING:
    from kettle.classad.state import State

StrictCall = Callable[["State", "list[Value]"], Value]
LazyCall = Callable[["State", "tuple[Expr, ...]"], Value]


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


_functions: Final[dict[str, Function]] = {}


def families() -> dict[str, Sequence[Function]]:
    """Return every family's table by its title."""
    from kettle.classad.functions.control import CONTROL
    from kettle.classad.functions.lists import LISTS
    from kettle.classad.functions.numbers import NUMBERS
    from kettle.classad.functions.predicates import PREDICATES
    from kettle.classad.functions.regex import PATTERNS
    from kettle.classad.functions.string_lists import STRING_LISTS
    from kettle.classad.functions.strings import STRINGS
    from kettle.classad.functions.system import SYSTEM
    from kettle.classad.functions.times import TIMES

    return {
        "Choice and evaluation": CONTROL,
        "Types": PREDICATES,
        "Numbers": NUMBERS,
        "Text": STRINGS,
        "Patterns": PATTERNS,
        "Lists": LISTS,
        "Text lists": STRING_LISTS,
        "Time": TIMES,
        "Environment, arguments, users": SYSTEM,
    }


def find_function(name: str) -> Function | None:
    """Return the built-in of this name, or None."""
    if not _functions:
        for rows in families().values():
            _functions.update((row.name.lower(), row) for row in rows)
    return _functions.get(name.lower())
