"""Calendar arithmetic of the time functions: moments to fields, text to moments, strftime.

Pure: the local zone is the context's. Text forms are those of the C locale.
"""

from __future__ import annotations

import datetime as _datetime
import math
import re
from collections.abc import Callable
from typing import Final

from kettle.digits import MAX_32, saturate_32, wrap_32
from kettle.named_tuples import NamedTuple
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
    """A moment taken apart; `month` from 1, `weekday` from Sunday as 0, `year_day` from 0.

    `dated` puts in the last two.
    """

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
    return dated(Fields(*_civil(days), rest // 3600, rest // 60 % 60, rest % 60))


def seconds_of(at: Fields) -> int:
    """Return the seconds since the epoch of fields that are UTC's; any may be out of its range."""
    days = _days_of(at.year, at.month, at.day)
    return days * 86_400 + at.hours * 3600 + at.minutes * 60 + at.seconds


def dated(at: Fields) -> Fields:
    """Return the fields with the day of the week and of the year that belong to their date.

    Compat: the reference's own arithmetic, of dates that there are not, too, and before the year 1,
    where its day of the week is another or none. Shown by the script functions.py.
    """
    passed = _quotient(367 * at.month - 362, 12) + at.day
    if at.month > 2:
        passed -= 1 if _is_leap(at.year) else 2
    year = at.year - 1
    leaps = _quotient(year, 4) - _quotient(year, 100) + _quotient(year, 400)
    total = wrap_32(365 * year + leaps + passed)
    return at._replace(weekday=total - 7 * _quotient(total, 7), year_day=passed - 1)


def _quotient(number: int, by: int) -> int:
    """Return the quotient, rounded towards zero."""
    return number // by if number >= 0 else -(-number // by)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


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


# What stands between two fields of a moment is no digit, whatever it is; a field that ends the text
# is not one unless it has two characters.
_YEAR: Final = late_pattern(r"[^0-9]*+([0-9].{3})", re.DOTALL)
_FIELD: Final = late_pattern(r"[^0-9]*+([0-9].)", re.DOTALL)
_FIGURES: Final = late_pattern(r"[0-9]+")
_ZONE: Final = late_pattern(r"(.*)([+-])([0-9]{2}):?([0-9]{2})\Z", re.DOTALL)
_SPACE: Final = " \t\n\v\f\r"


# Days, one of which at least is in any zone's winter.
_SEASONS: Final = (0, 91, 182, 273)


def in_winter(seconds: int, offset_at: Callable[[float], int]) -> int:
    """Return a moment of the year that follows in which clocks are not put forward."""
    return min((seconds + days * 86_400 for days in _SEASONS), key=offset_at)


def parse_moment(text: str, local_offset: Callable[[float], int]) -> tuple[int, int] | None:
    """Return (seconds since the epoch, offset) of text such as `2020-02-29T12:34:56+01:00`.

    A year of four characters and up to five fields of two, each beginning with a digit, whatever
    stands between them; behind them a zone, without which it is local time. What is missing at the
    end is the earliest, except that a missing day is day 0, as in the reference. None where the
    text is no moment.
    """
    offset = None
    zoned = text.rstrip(_SPACE)
    if zoned[-1:] in {"Z", "z"} and len(zoned) > 1:
        text, offset = zoned[:-1], 0
    elif (zone := _ZONE.match(text)) is not None and zone[1]:
        text = zone[1]
        offset = int(zone[3]) * 3600 + int(zone[4]) * 60
        offset = -offset if zone[2] == "-" else offset
    found = _YEAR.match(text)
    if found is None:
        return None
    fields = [_leading(found[1])]
    while len(fields) < 6 and (next_one := _FIELD.match(text, found.end())) is not None:
        found = next_one
        fields.append(_leading(found[1]))
    if _FIGURES.search(text, found.end()):
        return None
    year, month, day, hours, minutes, seconds = [*fields, *(1, 0, 0, 0, 0)[len(fields) - 1 :]]
    moment = seconds_of(Fields(year, month, day, hours, minutes, seconds))
    # The offset is that of the moment whose fields these are in winter: so an hour that comes twice
    # is the later one, as in the reference (test_an_hour_that_comes_twice_is_the_later_one).
    local = local_offset(moment - local_offset(in_winter(moment, local_offset)))
    # Compat: the last second before the epoch is how the C library says no
    # (functions_time.json).
    if moment - local == -1:
        return None
    offset = local if offset is None else offset
    return moment - offset, offset


def _leading(field: str) -> int:
    """Return the number at the beginning of a field."""
    found = _FIGURES.match(field)
    return int(found[0]) if found is not None else 0


def moment_text(seconds: int, offset: int) -> str:
    """Return a moment as `parse_moment` takes it; `offset` is that of its zone."""
    try:
        at = fields_of(seconds + offset)
    except OverflowError:
        return f"{seconds}"
    minutes = abs(offset) // 60
    return (
        f"{at.year}-{at.month:02d}-{at.day:02d}T{at.hours:02d}:{at.minutes:02d}:{at.seconds:02d}"
        f"{'+' if offset > 0 else '-'}{minutes // 60:02d}:{minutes % 60:02d}"
    )


# Of a span's text read backwards: seconds, minutes, hours and days, each of which may be missing,
# and the sign. No blanks may be taken by two repetitions in turn: that would cost the square of
# their number.
_SPAN_BACKWARDS: Final = late_pattern(
    r"\s*+(?:[sS]\s*+([0-9]*+(?:\.[0-9]*+)?+)|([0-9]++(?:\.[0-9]*+)?+))?+"
    r"\s*+(?:[mM:]\s*+([0-9]*+))?+\s*+(?:[hH:]\s*+([0-9]*+))?+\s*+(?:[dD+]\s*+([0-9]*+))?+"
    r"\s*+(-)?+\s*+\Z",
    re.ASCII,
)


def parse_span(text: str) -> float | None:
    """Return the seconds in text such as `1+02:03:04` or `1d 2h`; None if it is no span.

    Compat: as in the reference a number without digits is 0, and so is one of minutes, hours or
    days that 32 bits do not hold; what they make together has 32 bits too
    (test_spans_of_huge_parts).
    """
    found = _SPAN_BACKWARDS.match(text[::-1])
    if found is None:
        return None
    seconds = (found[1] or found[2] or "")[::-1]
    minutes, hours, days = (_figures((found[at] or "")[::-1]) for at in (3, 4, 5))
    whole = wrap_32(days * 86_400 + hours * 3600 + minutes * 60)
    total = whole + (float(seconds) if seconds not in {"", "."} else 0.0)
    return -total if found[6] else total


def _figures(text: str) -> int:
    """Return the number that the figures say, 0 for none or for what 32 bits do not hold."""
    figures = text.lstrip("0")
    number = int(figures) if figures and len(figures) < 11 else 0
    return number if number <= MAX_32 else 0


def span_text(seconds: float) -> str:
    """Return a span as `parse_span` takes it.

    Compat: what 32 bits do not hold is what the reference makes of it, and no span
    (test_spans_of_huge_parts).
    """
    size = abs(seconds)
    whole = saturate_32(size)
    rest, sign = abs(whole), -1 if whole < 0 else 1
    days, hours, minutes, last = (
        sign * part for part in (rest // 86_400, rest // 3600 % 24, rest // 60 % 60, rest % 60)
    )
    fraction = size - math.floor(size) if math.isfinite(size) else math.nan
    text = f"{last:02d}" if fraction == 0 else f"{last + fraction:02g}"
    text = "-nan" if text == "nan" else text
    if minutes or hours or days:
        text = f"{minutes:02d}:{text}"
    if hours or days:
        text = f"{hours:02d}:{text}"
    if days:
        text = f"{days}+{text}"
    return f"-{text}" if seconds < 0 else text


def _week(at: Fields, passed: int) -> int:
    """Return the week of the year, where so many days of a week have passed."""
    return _quotient(at.year_day + 7 - passed, 7)


def _iso(at: Fields) -> tuple[int, int]:
    """Return the year and the week, whose Thursday is in that year."""
    year, days = at.year, _since_iso_monday(at.year_day, at.weekday)
    if days < 0:
        year -= 1
        days = _since_iso_monday(at.year_day + 365 + _is_leap(year), at.weekday)
    else:
        later = _since_iso_monday(at.year_day - 365 - _is_leap(year), at.weekday)
        if later >= 0:
            year, days = year + 1, later
    return year, _quotient(days, 7) + 1


def _since_iso_monday(year_day: int, weekday: int) -> int:
    """Return the days since the Monday of the year's first week."""
    number = year_day - weekday + 25
    return year_day - (number - 7 * _quotient(number, 7)) + 3


def _named(names: tuple[str, ...], index: int) -> str:
    return names[index] if 0 <= index < len(names) else "?"


# fmt: off
# Directive to (its text, default width, default filling).
_DIRECTIVES: Final[dict[str, tuple[Callable[[Fields], object], int, str]]] = {
    "a": (lambda at: _named(_DAYS, at.weekday)[:3], 0, " "),
    "A": (lambda at: _named(_DAYS, at.weekday), 0, " "),
    "b": (lambda at: _named(_MONTHS, at.month - 1)[:3], 0, " "),
    "B": (lambda at: _named(_MONTHS, at.month - 1), 0, " "),
    "h": (lambda at: _named(_MONTHS, at.month - 1)[:3], 0, " "),
    "C": (lambda at: at.year // 100, 1, "0"),
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
    "u": (lambda at: (at.weekday + 6) % 7 + 1, 1, "0"),
    "U": (lambda at: _week(at, at.weekday), 2, "0"),
    "V": (lambda at: _iso(at)[1], 2, "0"),
    "w": (lambda at: at.weekday, 1, "0"),
    "W": (lambda at: _week(at, (at.weekday + 6) % 7), 2, "0"),
    "y": (lambda at: at.year % 100, 2, "0"),
    "Y": (lambda at: at.year, 1, "0"),
    # Compat: the reference never knows the offset here (time_zones.json).
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
    """Return the template with its strftime directives filled in; unknown ones stay.

    `seconds` is what `%s` stands for, `zone` what `%Z` does.
    """

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
        least = int(width) if width else default
        return text.zfill(least) if filling == "0" else text.rjust(least, filling)

    return _DIRECTIVE.sub(fill, template)
