"""Moments, spans and amounts as the classic tools' tables show them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kettle.digits import MIN_INTEGER

if TYPE_CHECKING:
    from kettle.classad import ClassAd, Value

# A span of this many seconds, more than the age of the world, is none.
_ENDLESS = 1e18
_DAY, _HOUR, _MINUTE = 86400, 3600, 60


def as_whole(number: int | float) -> int:
    """Cut a number towards zero; the least there is stands for a real that no whole number is."""
    if isinstance(number, float) and not MIN_INTEGER <= number < -MIN_INTEGER:
        return MIN_INTEGER
    return int(number)


def local_time(moment: float) -> time.struct_time | None:
    """Return a moment by this machine's calendar; None for one that is on none."""
    try:
        return time.localtime(int(moment)) if moment > -1 else None
    except (OverflowError, ValueError, OSError):
        return None


def format_long_moment(moment: float) -> str:
    """Return `Fri Jan 15 08:00:00 2027` in local time."""
    local = local_time(moment)
    return "???" if local is None else time.asctime(local)


def format_span(seconds: float) -> str:
    """Return `  1+02:03:04`: days, hours, minutes, seconds, all negative back in time."""
    # Compat: ads say what they like: of what is no span, infinity and NaN among it, nothing is
    # known; the reference prints the days of 2^63 seconds
    # (test_tables_show_a_time_that_is_none_as_unknown).
    if not -_ENDLESS < seconds < _ENDLESS:
        return "[?????]"
    sign = -1 if seconds < 0 else 1
    days, rest = divmod(abs(int(seconds)), _DAY)
    hours, rest = divmod(rest, _HOUR)
    minutes, rest = divmod(rest, _MINUTE)
    parts = (sign * part for part in (hours, minutes, rest))
    return f"{sign * days:3d}+" + ":".join(f"{part:02d}" for part in parts)


def format_moment(moment: float) -> str:
    """Return ` 1/15 08:00` in local time; a negative moment is not known."""
    local = local_time(moment)
    if local is None:
        return "    ???    "
    return f"{local.tm_mon:2d}/{local.tm_mday:<2d} {local.tm_hour:02d}:{local.tm_min:02d}"


def format_moment_with_year(moment: float) -> str:
    """Return `01/15/2027 08:00` in local time."""
    local = local_time(moment)
    if local is None:
        return "      ???       "
    return (
        f"{local.tm_mon:02d}/{local.tm_mday:02d}/{local.tm_year} "
        f"{local.tm_hour:02d}:{local.tm_min:02d}"
    )


# The units of an amount of bytes.
_UNITS = ("B ", "KB", "MB", "GB")
_UNIT = 1024
# As much of an amount as is shown.
_WIDEST = 79


def readable(units: float) -> Callable[[str], Callable[[ClassAd], str | None]]:
    """Return ways to show an attribute that is an amount of `units` bytes."""
    show_amount = readable_amount(units)

    def choose(attribute: str) -> Callable[[ClassAd], str | None]:
        def show(ad: ClassAd) -> str | None:
            amount = ad.evaluate(attribute)
            counts = isinstance(amount, (int, float)) and not isinstance(amount, bool)
            return show_amount(amount) if counts else None

        return show

    return choose


def readable_amount(units: float) -> Callable[[Value], str]:
    """Return the way to show an amount of `units` bytes; 1024 of a unit stay so."""

    def show(value: Value) -> str:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return " " * 8
        amount = value * units
        for unit in _UNITS:
            if amount <= _UNIT:
                return f"{amount:.1f} {unit}"
            amount /= _UNIT
        return f"{amount:.1f} TB"[:_WIDEST]

    return show
