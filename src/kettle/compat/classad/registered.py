"""Functions of a program's own, called by name from expressions: `register`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kettle.classad import ERROR, Expr
from kettle.classad import ClassAd as Ad
from kettle.classad.functions.library import add_function, find_function
from kettle.classad.functions.table import LazyCall, lazy
from kettle.classad.nodes import AdNode, ListNode, Literal
from kettle.compat.classad.ads import ClassAd, ExprTree, given_value, to_value
from kettle.compat.classad.failures import FAILURES
from kettle.compat.classad.names import ClassAdOSError
from kettle.compat.classad2.convert import is_time

if TYPE_CHECKING:
    from kettle.classad.state import State
    from kettle.classad.values import Value


# What the program registered last under each name, by its name in lower case. Expressions of one
# text share what is made of them, so the row of the function table is one for all of a name's.
_REGISTERED: Final[dict[str, LazyCall]] = {}


def register(function: Callable[..., Any], name: str | None = None) -> None:
    """Have expressions call a function of Python's, by its own name or another.

    It is given the arguments as an ad shows what is in it: constants, times, lists and ads as
    Python's values, all else as expressions that know the ad they are evaluated in. Where it has a
    parameter `state`, or takes any name (`**named`), it is given that ad, too. What it raises,
    `eval` raises, and ClassAdValueError where it returns what no expression is. What is registered
    under the name before is replaced; a built-in function stays what it is.

    Compat: a name is found however it is spelled; the wheel raises KeyError where its case is
    another. HTCondor's own functions (`stringListMember`) are built in, which the wheel knows
    only once `htcondor` is imported. Shown by
    test_a_registered_name_is_found_without_regard_to_case and
    test_a_built_in_function_stays_what_it_is.
    """
    known = name if name is not None else function.__name__
    if not isinstance(known, str):
        raise TypeError("the function's name must be a string")
    key = known.lower()
    if key not in _REGISTERED:
        if find_function(key) is not None:
            return
        call: LazyCall = lambda state, arguments: _REGISTERED[key](state, arguments)  # noqa: E731
        add_function(lazy(known, f"{known}(...)", "A function of the program's own.", call))
    _REGISTERED[key] = _caller(function)


def _caller(function: Callable[..., Any]) -> LazyCall:
    """Return what calls a function of Python's from an expression."""
    wants_ad = _wants_ad(function)

    def call(state: State, arguments: tuple[Expr, ...]) -> Value:
        if FAILURES:
            # The evaluation ends with what was raised: nothing more is called for it. Else one that
            # calls itself twice, by way of attributes, would go on for ever.
            return ERROR
        found = state.ad
        around = ClassAd._of_engine(found if isinstance(found, Ad) else Ad())  # noqa: SLF001
        scope = around if isinstance(found, Ad) else None
        given = [_shown(one, state, scope) for one in arguments]
        named = {"state": around} if wants_ad and isinstance(found, Ad) else {}
        try:
            result: Value = given_value(function(*given, **named)).closure(state)
            return result
        except Exception as error:  # noqa: BLE001 - whatever the program raises
            FAILURES.append(error)
            return ERROR

    return call


def _shown(argument: Expr, state: State, scope: ClassAd | None) -> Any:
    if isinstance(argument, Literal | ListNode | AdNode) or is_time(argument):
        return to_value(argument.closure(state), scope)
    return ExprTree._of(argument, scope)  # noqa: SLF001 - a class of this room


def _wants_ad(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
        takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        return takes_any or "state" in parameters
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
