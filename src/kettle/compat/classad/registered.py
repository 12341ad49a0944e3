"""Functions of a program's own, called by name from expressions: `register`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kettle.classad import ERROR, Expr
from kettle.classad import ClassAd as Ad
from kettle.classad.functions.library import add_function
from kettle.classad.functions.table import lazy
from kettle.compat.classad.ads import ClassAd, to_value, tree_of
from kettle.compat.classad.failures import FAILURES
from kettle.compat.classad.names import ClassAdOSError

if TYPE_CHECKING:
    from kettle.classad.state import State
    from kettle.classad.values import Value


def register(function: Callable[..., Any], name: str | None = None) -> None:
    """Have expressions call a function of Python's, by its own name or another.

    It is given the arguments as Python's values, and, where it has a parameter `state`, the ad
    that the expression is evaluated in. What it raises, `eval` raises.
    """
    known = name if name is not None else function.__name__
    wants_ad = _wants_ad(function)

    def call(state: State, arguments: tuple[Expr, ...]) -> Value:
        found = state.ad
        around = ClassAd._of_engine(found if isinstance(found, Ad) else Ad())  # noqa: SLF001
        given = [to_value(one.closure(state), around) for one in arguments]
        named = {"state": around} if wants_ad else {}
        try:
            result: Value = tree_of(function(*given, **named)).closure(state)
            return result
        except Exception as error:  # noqa: BLE001 - whatever the program raises
            FAILURES.append(error)
            return ERROR

    add_function(lazy(known, f"{known}(...)", "A function of the program's own.", call))


def _wants_ad(function: Callable[..., Any]) -> bool:
    try:
        return "state" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def registerLibrary(path: str) -> None:  # noqa: N802 - the wheel's name
    """Refuse a library of functions in C++: nothing of Kettle's can call them.

    `register` takes functions of Python's.
    """
    if not isinstance(path, str):
        raise TypeError("the library's path must be a string")
    raise ClassAdOSError(
        f"{path} cannot be loaded: Kettle's ClassAds are not in C++. Register functions of Python's"
    )
