"""All built-in functions, looked up by name without regard to case.

The families are loaded when the first call is compiled: most expressions have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kettle.classad.functions.table import Function

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


def function_names() -> list[str]:
    """Return the names of all functions, as their rows spell them."""
    find_function("")
    return [function.name for function in _functions.values()]


def add_function(function: Function) -> None:
    """Have expressions of this process find a function of the program's own by its name."""
    find_function("")
    _functions[function.name.lower()] = function
