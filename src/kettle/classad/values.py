"""The values an expression can have: what they are called, how they are told apart.

Booleans, integers (64 bits, two's complement), reals and strings are Python's own. UNDEFINED and
ERROR are singletons. Times are two small classes. Inside the evaluator a list is an `ExprList`,
whose elements are evaluated when they are asked for; outside it is a Python list
(`ClassAd.evaluate` converts). Operators on values are in `operators.py`.
"""

from __future__ import annotations

import datetime as _datetime
from typing import TYPE_CHECKING, Final, TypeAlias, Union

if TYPE_CHECKING:
    from kettle.classad.ad import ClassAd
    from kettle.classad.nodes import Expr

_MAX_INTEGER: Final = (1 << 63) - 1
_MIN_INTEGER: Final = -(1 << 63)
_MODULUS: Final = 1 << 64


_MIN_32: Final = -(1 << 31)


def _int_32(number: float) -> int:
    """Return a real cut off to 32 bits; the smallest such integer if it does not fit."""
    return int(number) if _MIN_32 < number < 1 << 31 else _MIN_32


class Undefined:
    """The value of an attribute nobody set; there is one, UNDEFINED."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        return False

    def __copy__(self) -> Undefined:
        return self

    def __deepcopy__(self, memo: object) -> Undefined:
        return self

    def __reduce__(self) -> str:
        return "UNDEFINED"


class Error:
    """The value of an expression that makes no sense; there is one, ERROR."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ERROR"

    def __bool__(self) -> bool:
        return False

    def __copy__(self) -> Error:
        return self

    def __deepcopy__(self, memo: object) -> Error:
        return self

    def __reduce__(self) -> str:
        return "ERROR"


UNDEFINED: Final = Undefined()
ERROR: Final = Error()


class AbsoluteTime:
    """A moment: seconds since the epoch, and the offset east of UTC it is written in."""

    __slots__ = ("offset_seconds", "seconds")

    def __init__(self, seconds: int, offset_seconds: int = 0) -> None:
        self.seconds: Final = seconds
        self.offset_seconds: Final = offset_seconds

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbsoluteTime):
            return NotImplemented
        return (self.seconds, self.offset_seconds) == (other.seconds, other.offset_seconds)

    def __hash__(self) -> int:
        return hash((AbsoluteTime, self.seconds, self.offset_seconds))

    def __str__(self) -> str:
        sign = "+" if self.offset_seconds > 0 else "-"
        minutes = abs(self.offset_seconds) // 60
        try:
            moment = _datetime.datetime(1970, 1, 1) + _datetime.timedelta(  # noqa: DTZ001
                seconds=self.seconds + self.offset_seconds
            )
        except OverflowError:
            return f"{self.seconds}"
        return f"{moment:%Y-%m-%dT%H:%M:%S}{sign}{minutes // 60:02d}:{minutes % 60:02d}"

    def __repr__(self) -> str:
        return f'absTime("{self}")'


class RelativeTime:
    """A span of time in seconds; it may be negative and may have a fraction."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds: Final = float(seconds)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RelativeTime):
            return NotImplemented
        return self.seconds == other.seconds

    def __hash__(self) -> int:
        return hash((RelativeTime, self.seconds))

    def __str__(self) -> str:
        whole = _int_32(self.seconds)
        if whole == _MIN_32:
            # Compat: what the reference prints for a span that does not fit in 32 bits.
            return "--24855+-3:-14:-8"
        sign = "-" if whole < 0 else ""
        days, rest = divmod(abs(whole), 86400)
        hours, rest = divmod(rest, 3600)
        minutes, seconds = divmod(rest, 60)
        if days:
            return f"{sign}{days}+{hours:02d}:{minutes:02d}:{seconds:02d}"
        if hours:
            return f"{sign}{hours:02d}:{minutes:02d}:{seconds:02d}"
        if minutes:
            return f"{sign}{minutes:02d}:{seconds:02d}"
        return f"{sign}{seconds:02d}"

    def __repr__(self) -> str:
        return f'relTime("{self}")'


class ExprList:
    """A list inside the evaluator: expressions, and the ad they are evaluated in."""

    __slots__ = ("elements", "scope")

    def __init__(self, elements: tuple[Expr, ...], scope: ClassAd | None = None) -> None:
        self.elements: Final = elements
        self.scope: Final = scope

    def __len__(self) -> int:
        return len(self.elements)


Value: TypeAlias = Union[
    bool,
    int,
    float,
    str,
    "list[Value]",
    "ClassAd",
    AbsoluteTime,
    RelativeTime,
    Undefined,
    Error,
    ExprList,
]


def wrap_integer(number: int) -> int:
    """Return the number as 64 bits in two's complement would hold it."""
    if _MIN_INTEGER <= number <= _MAX_INTEGER:
        return number
    number &= _MODULUS - 1
    return number - _MODULUS if number > _MAX_INTEGER else number


def wrap_32(number: int) -> int:
    """Return the number as 32 bits in two's complement would hold it."""
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >= 1 << 31 else number


def saturate_integer(number: float) -> int:
    """Return a real truncated to an integer as x86-64 does: out of range is the smallest one."""
    if number != number or number >= 9.223372036854775807e18 or number < -9.223372036854775808e18:
        return _MIN_INTEGER
    return int(number)
