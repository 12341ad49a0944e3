"""Python's values to expressions and back, as the wheel's `classad2` converts them."""

from __future__ import annotations

import datetime
import functools
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from kettle.classad import ERROR, UNDEFINED, AbsoluteTime, Expr, RelativeTime, parse_expression
from kettle.classad import ClassAd as Ad
from kettle.classad.ad import to_expression
from kettle.classad.compile import evaluate_lazily
from kettle.classad.context import Context, set_ambient
from kettle.classad.nodes import AdNode, Call, ListNode, Literal, literal
from kettle.classad.state import new_state
from kettle.classad.values import ExprList
from kettle.classad.values import Value as EngineValue
from kettle.compat.classad2.depth import one_level_less
from kettle.compat.classad2.names import ClassAdException, Value
from kettle.digits import MAX_INTEGER, MIN_INTEGER
from kettle.errors import ClassAdSyntaxError
from kettle.octets import to_bytes

if TYPE_CHECKING:
    from random import Random

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")


def _dice() -> Random:
    import random

    return random.Random()  # noqa: S311 - dice, not secrets


def _home_of(user: str) -> str | None:
    import pwd

    try:
        return pwd.getpwnam(user).pw_dir
    except KeyError:
        return None


# What `userMap` looks in, by name in lower case: filled by programs that load such maps.
USER_MAPS: Final[dict[str, Callable[[str], str | None]]] = {}

# The world as expressions of a program see it: its own, and not the one that a daemon installs.
CONTEXT: Final = Context(
    now=time.time,
    random=_dice,
    utc_offset=lambda seconds: time.localtime(seconds).tm_gmtoff,
    zone_name=lambda seconds: time.localtime(seconds).tm_zone,
    user_maps=USER_MAPS,
    home_of=_home_of,
)


def in_this_world(read: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """Have a function read moments that name no zone as those of the program's own.

    The parser works them out, and asks the ambient world, which knows no zone by itself.
    """

    @functools.wraps(read)
    def call(*given: _Given.args, **named: _Given.kwargs) -> _Returned:
        before = set_ambient(CONTEXT)
        try:
            return read(*given, **named)
        finally:
            set_ambient(before)

    return call


def whole_text(text: str) -> str:
    """Return a text as C reads all of it; ValueError if a NUL ends it before, as in the wheel.

    Of a text of another class, such as a member of an enumeration, its letters count alone.
    """
    if type(text) is not str:
        text = str.__str__(text)
    if "\0" in text:
        raise ValueError("embedded null character")
    if not text.isascii():
        # UnicodeEncodeError for half a character, as in the wheel; what is no UTF-8 is let through.
        to_bytes(text)
    return text


def ready_value(
    expr: Expr, wrap_ad: Callable[[Ad], object], wrap_tree: Callable[[Expr], object]
) -> Any:
    """Return a value for what is written as one, the expression for what must be evaluated."""
    if isinstance(expr, Literal) or is_time(expr):
        return to_python(evaluate_lazily(expr, new_state(None, None, CONTEXT)), wrap_ad, wrap_tree)
    if isinstance(expr, ListNode):
        return [ready_value(element, wrap_ad, wrap_tree) for element in expr.elements]
    if isinstance(expr, AdNode):
        return wrap_ad(Ad.view_of(expr, None))
    return wrap_tree(expr)


def is_time(expr: Expr) -> bool:
    """Return whether the expression is a time as it is written: the parser leaves it a call."""
    if not isinstance(expr, Call) or expr.name not in ("absTime", "relTime"):
        return False
    argument = expr.arguments[0] if len(expr.arguments) == 1 else None
    return isinstance(argument, Literal) and isinstance(argument.value, str)


def to_python(
    value: EngineValue, wrap_ad: Callable[[Ad], object], wrap_tree: Callable[[Expr], object]
) -> Any:
    """Return a value of the engine's as Python's; times are datetimes in UTC, spans are floats."""
    if value is UNDEFINED:
        return Value.Undefined
    if value is ERROR:
        return Value.Error
    if isinstance(value, AbsoluteTime):
        return datetime.datetime.fromtimestamp(value.seconds, datetime.UTC)
    if isinstance(value, RelativeTime):
        return value.seconds
    if isinstance(value, ExprList):
        return [ready_value(element, wrap_ad, wrap_tree) for element in value.elements]
    if isinstance(value, list):
        return [to_python(item, wrap_ad, wrap_tree) for item in value]
    if isinstance(value, Ad):
        return wrap_ad(value)
    if isinstance(value, str):
        # A string ends at a NUL: it is read as C reads one.
        return value.partition("\0")[0]
    return value


def from_python(value: object, convert: Callable[[object, int], Expr], levels: int) -> Expr:
    """Return the expression a value of Python's is; `convert` is for what is in it.

    So many `levels` may lie in it. Raises ClassAdException for what ClassAds have no value for.
    """
    if value is None or value is Value.Undefined:
        return literal(UNDEFINED)
    if value is Value.Error:
        return literal(ERROR)
    if isinstance(value, datetime.datetime):
        return _moment(AbsoluteTime(utc_seconds(value)))
    if isinstance(value, bool | float):
        return to_expression(value)
    if isinstance(value, str):
        # How a class of a program's own shows it does not count.
        return to_expression(str.__str__(value))
    if isinstance(value, bytes):
        return Literal(value.decode("utf-8", "surrogateescape"))
    if isinstance(value, int):
        if not MIN_INTEGER <= value <= MAX_INTEGER:
            # Compat: the wheel raises a SystemError here; shown by
            # test_what_makes_the_wheel_fault_raises_what_can_be_caught.
            raise OverflowError("int too big to convert")
        return literal(int(value))
    if isinstance(value, Iterable):
        inside = one_level_less(levels)
        return ListNode(tuple(convert(item, inside) for item in value))
    raise ClassAdException("Unable to convert Python object to a ClassAd expression.")


def _moment(moment: AbsoluteTime) -> Expr:
    if not str(moment)[:4].isdecimal():
        # Of the first thousand years: printed, and read back as another one.
        return Literal(moment)
    try:
        return parse_expression(f'absTime("{moment}")')
    except ClassAdSyntaxError:
        # The second before 1970, and years of five digits: printed, and not read back.
        return Literal(moment)


def utc_seconds(moment: datetime.datetime) -> int:
    """Return whole seconds since the epoch; a moment without a zone is local time.

    Compat: the wheel forgets the zone of a moment that has one, and its hours are taken for UTC's;
    we do not. Shown by test_a_moment_of_another_zone_stays_the_same_moment.
    """
    if moment.tzinfo is None or moment.tzinfo.utcoffset(moment) is None:
        moment = moment.astimezone()
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return (moment - epoch) // datetime.timedelta(seconds=1)
