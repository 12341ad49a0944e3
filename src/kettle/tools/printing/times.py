"""Moments and spans as the classic tools' tables show them."""

from __future__ import annotations

import time

_DAY, _HOUR, _MINUTE = 86400, 3600, 60


def format_span(seconds: float) -> str:
    """Return `  1+02:03:04`: days, hours, minutes, seconds; a negative span is not known."""
    whole = int(seconds)
    if whole < 0:
        return "[?????]"
    days, rest = divmod(whole, _DAY)
    hours, rest = divmod(rest, _HOUR)
    minutes, rest = divmod(rest, _MINUTE)
    return f"{days:3d}+{hours:02d}:{minutes:02d}:{rest:02d}"


def format_moment(moment: float) -> str:
    """Return ` 1/15 08:00` in local time; a negative moment is not known."""
    if moment < 0:
        return "    ???    "
    local = time.localtime(int(moment))
    return f"{local.tm_mon:2d}/{local.tm_mday:<2d} {local.tm_hour:02d}:{local.tm_min:02d}"


def format_moment_with_year(moment: float) -> str:
    """Return `01/15/2027 08:00` in local time."""
    local = time.localtime(int(moment))
    return (
        f"{local.tm_mon:02d}/{local.tm_mday:02d}/{local.tm_year} "
        f"{local.tm_hour:02d}:{local.tm_min:02d}"
    )
