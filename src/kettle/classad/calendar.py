"""Calendar arithmetic of the time functions: moments to fields, text to moments, strftime.

Pure: the local zone is the context's. Text forms are those of the C locale.
"""

from __future__ import annotations

import datetime as _datetime
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from kettle.patterns import late_pattern

_EPOCH: Final = _datetime.date(1970, 1, 1).toordinal()
_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


class Fields(NamedTuple):
    """A moment taken apart; `month` from 1, `weekday` from Sunday as 0, `year_day` from 0."""

    year: int = 1900
    month: int = 1
    day: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: int = 0
    weekday: int = 0
    year_day: int = 0


def fields_of(seconds: int) -> Fields:
    """Return the fields of seconds since the epoch, read as UTC."""
    days, rest = divmod(seconds, 86_400)
    year, month, day = _civil(days)
    first, _ = _days_of(year, 1, 1), None
    return Fields(
        year, month, day, rest // 3600, rest // 60 % 60, rest % 60, (days + 4) % 7, days - first
    )


def _civil(days: int) -> tuple[int, int, int]:
    """Return year, month and day of a count of days since the epoch, in any century."""
    era, day = divmod(days + _EPOCH - 1, 146_097)
    date = _datetime.date.fromordinal(day + 1)
    return date.year + 400 * era, date.month, date.day


def _days_of(year: int, month: int, day: int) -> int:
    """Return days since the epoch; month and day may lie outside their ranges."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    era, inside = divmod(year - 1, 400)
    return _datetime.date(inside + 1, month, 1).toordinal() + era * 146_097 + day - 1 - _EPOCH


_MOMENT: Final = late_pattern(
    r"([0-9]{4})(?:[^0-9A-Za-z]?([0-9]{2})(?:[^0-9A-Za-z]?([0-9]{2}))?)?"
    r"(?:[ Tt]?([0-9]{2})(?::?([0-9]{2})(?::?([0-9]{2}))?)?)?\s*"
    r"(?:([Zz])|([+-])([0-9]{2}):?([0-9]{2}))?\Z"
)


def parse_moment(text: str, local_offset: Callable[[float], int]) -> tuple[int, int] | None:
    """Return (seconds since the epoch, offset) of text such as `2020-02-29T12:34:56+01:00`.

    What is missing at the end is the earliest, except that a missing day is day 0, as in the
    reference. Without a zone it is local time. None where the text is no moment.
    """
    found = _MOMENT.match(text.strip())
    if found is None:
        return None
    year, month, day, hours, minutes, seconds = (
        int(part) if part else None for part in found.groups()[:6]
    )
    assert year is not None
    days = _days_of(year, 1 if month is None else month, day or 0)
    moment = days * 86_400 + (hours or 0) * 3600 + (minutes or 0) * 60 + (seconds or 0)
    if found.group(7):
        offset = 0
    elif found.group(8):
        offset = int(found.group(9)) * 3600 + int(found.group(10)) * 60
        offset = -offset if found.group(8) == "-" else offset
    else:
        offset = local_offset(moment - local_offset(moment))
    # Compat: the last second before the epoch is how the C library says no.
    return None if moment - offset == -1 else (moment - offset, offset)


# No blanks may be taken by two repetitions in turn: that would cost the square of their number.
_SPAN_CLOCK: Final = late_pattern(
    r"(?:(-)\s*)?(?:([0-9]+)\+)?(?:(?:([0-9]+):)?([0-9]+):)?([0-9]+(?:\.[0-9]*)?)\Z"
)
_SPAN_LETTERS: Final = late_pattern(
    r"(?:(-)\s*)?(?:([0-9]+)\s*[dD]\s*)?(?:([0-9]+)\s*[hH]\s*)?(?:([0-9]+)\s*[mM]\s*)?"
    r"(?:([0-9]+(?:\.[0-9]*)?)\s*[sS])?\Z"
)


def parse_span(text: str) -> float | None:
    """Return the seconds in text such as `1+02:03:04` or `1d 2h`; None if it is no span."""
    text = text.strip()
    found = _SPAN_CLOCK.match(text) or _SPAN_LETTERS.match(text)
    if found is None:
        return None
    # As reals: there may be any number of digits.
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups()[1:5])
    total = days * 86_400 + hours * 3600 + minutes * 60 + seconds
    return -total if found.group(1) else total


def _week(at: Fields, first: int) -> int:
    return (at.year_day + 7 - (at.weekday - first) % 7) // 7


def _iso(at: Fields) -> tuple[int, int]:
    year, week = at.year, (at.year_day - (at.weekday - 1) % 7 + 10) // 7
    if week < 1:
        year -= 1
        week = _iso_weeks(year)
    elif week > _iso_weeks(year):
        year, week = year + 1, 1
    return year, week


def _iso_weeks(year: int) -> int:
    first = (_days_of(year, 1, 1) + 4) % 7
    leap = _days_of(year + 1, 1, 1) - _days_of(year, 1, 1) == 366
    return 53 if first == 4 or (leap and first == 3) else 52


# fmt: off
# Directive to (its text, default width, default filling).
_DIRECTIVES: Final[dict[str, tuple[Callable[[Fields], object], int, str]]] = {
    "a": (lambda at: _DAYS[at.weekday][:3], 0, " "),
    "A": (lambda at: _DAYS[at.weekday], 0, " "),
    "b": (lambda at: _MONTHS[at.month - 1][:3], 0, " "),
    "B": (lambda at: _MONTHS[at.month - 1], 0, " "),
    "h": (lambda at: _MONTHS[at.month - 1][:3], 0, " "),
    "C": (lambda at: at.year // 100, 2, "0"),
    "d": (lambda at: at.day, 2, "0"),
    "e": (lambda at: at.day, 2, " "),
    "g": (lambda at: _iso(at)[0] % 100, 2, "0"),
    "G": (lambda at: _iso(at)[0], 1, "0"),
    "H": (lambda at: at.hours, 2, "0"),
    "I": (lambda at: (at.hours + 11) % 12 + 1, 2, "0"),
    "j": (lambda at: at.year_day + 1, 3, "0"),
    "k": (lambda at: at.hours, 2, " "),
    "l": (lambda at: (at.hours + 11) % 12 + 1, 2, " "),
    "m": (lambda at: at.month, 2, "0"),
    "M": (lambda at: at.minutes, 2, "0"),
    "n": (lambda _: "\n", 0, " "),
    "p": (lambda at: "AM" if at.hours < 12 else "PM", 0, " "),
    "P": (lambda at: "am" if at.hours < 12 else "pm", 0, " "),
    "S": (lambda at: at.seconds, 2, "0"),
    "t": (lambda _: "\t", 0, " "),
    "u": (lambda at: at.weekday or 7, 1, "0"),
    "U": (lambda at: _week(at, 0), 2, "0"),
    "V": (lambda at: _iso(at)[1], 2, "0"),
    "w": (lambda at: at.weekday, 1, "0"),
    "W": (lambda at: _week(at, 1), 2, "0"),
    "y": (lambda at: at.year % 100, 2, "0"),
    "Y": (lambda at: at.year, 1, "0"),
    # Compat: the reference never knows the offset here.
    "z": (lambda _: "+0000", 0, " "),
    "%": (lambda _: "%", 0, " "),
}
_COMPOSITES: Final = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "r": "%I:%M:%S %p",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "x": "%m/%d/%y",
    "X": "%H:%M:%S",
}
# fmt: on
_DIRECTIVE: Final = late_pattern(r"%([-_0^#]*)([0-9]{0,4})[EO]?([A-Za-z%])")


def format_fields(template: str, at: Fields, seconds: int, zone: str) -> str:
    """Return the template with its strftime directives filled in; unknown ones stay."""

    def fill(found: re.Match[str]) -> str:
        flags, width, letter = found.groups()
        if letter in _COMPOSITES:
            text = format_fields(_COMPOSITES[letter], at, seconds, zone)
            return text.rjust(int(width or 0))
        if letter == "Z":
            return zone.rjust(int(width or 0))
        if letter == "s":
            return str(seconds)
        row = _DIRECTIVES.get(letter)
        if row is None:
            return found.group()
        value, default, filling = row
        text = str(value(at))
        if "^" in flags:
            text = text.upper()
        if "-" in flags:
            return text
        filling = " " if "_" in flags else "0" if "0" in flags else filling
        return text.rjust(int(width) if width else default, filling)

    return _DIRECTIVE.sub(fill, template)
