"""Moments and spans: now, conversion, parts, text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from kettle.classad.ad import ClassAd
from kettle.classad.calendar import (
    Fields,
    dated,
    fields_of,
    format_fields,
    in_winter,
    parse_moment,
    parse_span,
    seconds_of,
)
from kettle.classad.functions.convert import real_of
from kettle.classad.functions.table import Function, Price, StrictCall, plain, strict
from kettle.classad.state import State, evaluate_entry
from kettle.classad.values import (
    ERROR,
    UNDEFINED,
    AbsoluteTime,
    RelativeTime,
    Value,
    saturate_integer,
)
from kettle.digits import saturate_32, wrap_32

# Of formatTime's template and text.
_LONGEST_TEMPLATE: Final = 1022
# What a letter of it counts as.
_DIRECTIVE_BYTES: Final = 32
# Limit: moments in years of more than 32 bits are ERROR; the reference gives what its memory has.
_FARTHEST: Final = 67_767_976_233_532_799


def now(state: State, values: list[Value]) -> Value:
    """`time()`."""
    return ERROR if values else int(state.context.now())


def current_time(state: State, values: list[Value]) -> Value:
    """`currentTime()`."""
    return ERROR if values else _local(state, int(state.context.now()))


def _local(state: State, seconds: int) -> Value:
    if abs(seconds) > _FARTHEST:
        return AbsoluteTime(seconds, 0)
    return AbsoluteTime(seconds, state.context.utc_offset(seconds))


def day_time(state: State, values: list[Value]) -> Value:
    """`dayTime()`: since local midnight."""
    if values:
        return ERROR
    seconds = int(state.context.now())
    return RelativeTime((seconds + state.context.utc_offset(seconds)) % 86_400)


def zone_offset(state: State, values: list[Value]) -> Value:
    """`timeZoneOffset()`."""
    return ERROR if values else RelativeTime(state.context.utc_offset(state.context.now()))


def to_moment(state: State, values: list[Value]) -> Value:
    """`absTime([moment[, offset]])`.

    Compat: a text that has to be worked out first is read as one that is written in the call is;
    the reference gives the text itself (test_a_text_that_is_worked_out_is_a_time).
    """
    if len(values) > 2:
        return ERROR
    if not values:
        return _local(state, int(state.context.now()))
    value = values[0]
    moment: Value = ERROR
    if value is UNDEFINED:
        moment = UNDEFINED
    elif isinstance(value, AbsoluteTime):
        moment = value
    elif isinstance(value, str):
        parsed = parse_moment(value, state.context.utc_offset)
        moment = ERROR if parsed is None else AbsoluteTime(*parsed)
    elif not isinstance(value, bool):
        number = real_of(value)
        if number is not None:
            moment = _local(state, _as_32(value, number))
    if len(values) == 1:
        return moment
    offset = real_of(values[1])
    if offset is None or isinstance(values[1], bool | str | AbsoluteTime):
        return ERROR
    if isinstance(value, str | AbsoluteTime):
        # Compat: as in the reference, what has its own offset stays what it is, text even text
        # (test_what_has_an_offset_gets_no_other).
        return value
    if not isinstance(moment, AbsoluteTime):
        return moment
    return AbsoluteTime(moment.seconds, _as_32(values[1], offset))


def _as_32(value: Value, number: float) -> int:
    """Return a number in 32 bits: an integer wraps, a real that does not fit is the smallest.

    Compat: the reference has no more for moments from numbers
    (test_a_moment_made_of_a_number_has_32_bits). With the largest integer as an offset it has no
    answer at all (test_the_largest_offset_wraps_too).
    """
    return wrap_32(value) if isinstance(value, int) else saturate_32(number)


def to_span(values: list[Value]) -> Value:
    """`relTime(seconds)`; of text it gives a real, as the reference does.

    Compat: also of one that has to be worked out first, which is always no time at all there
    (test_a_text_that_is_worked_out_is_a_time).
    """
    if len(values) != 1:
        return ERROR
    value = values[0]
    if value is UNDEFINED:
        return UNDEFINED
    if isinstance(value, str):
        seconds = parse_span(value)
        return ERROR if seconds is None else seconds
    if isinstance(value, bool):
        return ERROR
    if isinstance(value, RelativeTime):
        return value
    if isinstance(value, int):
        return RelativeTime(wrap_32(value))
    number = real_of(value)
    return ERROR if number is None else RelativeTime(number)


def _local_fields(state: State, seconds: int, offset: int | None = None) -> Fields | None:
    if abs(seconds) > _FARTHEST:
        return None
    return fields_of(seconds + (state.context.utc_offset(seconds) if offset is None else offset))


def _span_parts(seconds: float) -> tuple[int, int, int, int]:
    whole = saturate_32(seconds)
    size, sign = abs(whole), -1 if whole < 0 else 1
    return (
        sign * (size // 86_400),
        sign * (size % 86_400 // 3600),
        sign * (size % 3600 // 60),
        sign * (size % 60),
    )


def _part(of_moment: Callable[[Fields], int] | None, of_span: int | None) -> StrictCall:
    """Return a function that takes one field of a moment in local time, or of a span."""

    def call(state: State, values: list[Value]) -> Value:
        if len(values) != 1:
            return ERROR
        value = values[0]
        if isinstance(value, AbsoluteTime) and of_moment is not None:
            fields = _local_fields(state, value.seconds)
            return ERROR if fields is None else of_moment(fields)
        if isinstance(value, RelativeTime) and of_span is not None:
            return _span_parts(value.seconds)[of_span]
        return ERROR

    return call


def split_time(state: State, values: list[Value]) -> Value:
    """`splitTime(time)`: an ad with the time's parts."""
    if len(values) != 1:
        return ERROR
    value = values[0]
    if value is UNDEFINED:
        return UNDEFINED
    if isinstance(value, RelativeTime):
        size = abs(value.seconds)
        days, hours, minutes, whole = _span_parts(size)
        seconds = whole + (size % 1 if math.isfinite(size) else math.nan)
        leading = [days, hours, minutes]
        sign = -1 if value.seconds < 0 else 1
        for position, part in enumerate(leading):
            # Compat: parts of what does not fit are below zero anyway
            # (test_parts_of_a_span_that_does_not_fit).
            if part > 0:
                leading[position] = sign * part
                break
        else:
            seconds *= sign
        return ClassAd(
            {
                "Type": "RelativeTime",
                "Days": leading[0],
                "Hours": leading[1],
                "Minutes": leading[2],
                "Seconds": seconds,
            }
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = _local(state, saturate_32(value) if isinstance(value, float) else value)
    if not isinstance(value, AbsoluteTime):
        return ERROR
    fields = _local_fields(state, value.seconds, value.offset_seconds)
    if fields is None:
        return ERROR
    return ClassAd(
        {
            "Type": "AbsoluteTime",
            "Year": fields.year,
            "Month": fields.month,
            "Day": fields.day,
            "Hours": fields.hours,
            "Minutes": fields.minutes,
            "Seconds": fields.seconds,
            "Offset": value.offset_seconds,
        }
    )


def format_time(state: State, values: list[Value]) -> Value:
    """`formatTime([time[, template]])`."""
    if len(values) > 2:
        return ERROR
    value = values[0] if values else int(state.context.now())
    template = values[1] if len(values) == 2 else "%c"
    if not isinstance(template, str):
        return ERROR
    # Compat: a longer one is cut, as in the reference
    # (test_of_a_long_template_the_beginning_is_filled_in).
    template = template[:_LONGEST_TEMPLATE]
    state.spend(_DIRECTIVE_BYTES * len(template))
    if isinstance(value, ClassAd):
        fields: Fields | None = _fields_in(state, value)
    elif isinstance(value, AbsoluteTime):
        fields = _local_fields(state, value.seconds, value.offset_seconds)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        fields = _local_fields(state, saturate_32(value) if isinstance(value, float) else value)
    else:
        return ERROR
    if fields is None:
        return ERROR
    text = format_fields(template, fields, *_in_standard_time(state, fields))
    # Limit: where a width makes more of it the reference gives what lies in its memory.
    return text if len(text) <= _LONGEST_TEMPLATE else ERROR


def _in_standard_time(state: State, fields: Fields) -> tuple[int, str]:
    """Return the moment whose fields these are where clocks are never put forward, and the zone.

    Compat: so the reference reads what it is about to print, whatever zone or season the fields are
    of (test_seconds_of_a_time_are_those_of_its_fields_in_standard_time).
    """
    seconds = seconds_of(fields)
    near = seconds if abs(seconds) <= _FARTHEST else 0
    context = state.context
    winter = in_winter(near, context.utc_offset)
    shown = seconds - context.utc_offset(winter) if near == seconds else -1
    return shown, context.zone_name(winter)


def _fields_in(state: State, ad: ClassAd) -> Fields:
    def part(name: str, default: int) -> int:
        entry = ad.entry(name.lower())
        number = UNDEFINED if entry is None else evaluate_entry(state, entry, ad)
        return wrap_32(number) if type(number) is int else default

    return dated(
        Fields(
            part("Year", 1900),
            part("Month", 1),
            part("Day", 0),
            part("Hours", 0),
            part("Minutes", 0),
            part("Seconds", 0),
        )
    )


def interval(values: list[Value]) -> Value:
    """`interval(seconds)`: as days+hours:minutes:seconds, as much of it as there is."""
    if len(values) != 1:
        return ERROR
    value = values[0]
    number = real_of(value)
    if number is None:
        return ERROR
    seconds = wrap_32(value if isinstance(value, int) else saturate_integer(number))
    sign, rest = ("-", -seconds) if seconds < 0 else ("", seconds)
    days, rest = divmod(rest, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    if days:
        return f"{sign}{days}+{hours:02d}:{minutes:02d}:{rest:02d}"
    if hours:
        return f"{sign}{hours}:{minutes:02d}:{rest:02d}"
    return f"{sign}{minutes}:{rest:02d}" if minutes else f"{sign}{rest}"


# fmt: off
TIMES: Final[tuple[Function, ...]] = (
    strict("time", "time()", "The time now, in seconds since 1970.", now, ("time() >= 0", "true"),
           ("isInteger(time())", "true")),
    strict("currentTime", "currentTime()", "The moment now.", current_time,
           ("isAbsTime(currentTime())", "true"), ("isInteger(currentTime())", "false")),
    strict("dayTime", "dayTime()", "The span since midnight.", day_time,
           ("isRelTime(dayTime())", "true"), ("dayTime() < relTime(86401)", "true")),
    strict("timeZoneOffset", "timeZoneOffset()", "The local zone's offset from UTC.", zone_offset,
           ("isRelTime(timeZoneOffset())", "true"), ("isError(timeZoneOffset(1))", "true")),
    strict("absTime", "absTime([moment[, offset]])",
           "A moment from seconds since 1970 or text such as 2020-02-29T12:00:00Z.",
           to_moment, ("absTime(0,3600)", 'absTime("1970-01-01T01:00:00+01:00")'),
           ('absTime("2020-02-29T12:00:00Z")', 'absTime("2020-02-29T12:00:00-00:00")'),
           price=Price(steps=2)),
    plain("relTime", "relTime(seconds)", "A span of so many seconds.",
          to_span, ("relTime(90061)", 'relTime("1+01:01:01")'),
          ("relTime(-30)", 'relTime("-30")')),
    strict("splitTime", "splitTime(time)", "An ad with the parts of a moment or span.",
           split_time, ("splitTime(absTime(0,0)).Year", "1970"),
           ("splitTime(relTime(90061)).Hours", "1"), price=Price(steps=3)),
    strict("formatTime", "formatTime([time[, template]])",
           "The time as text, with the directives of strftime.",
           format_time, ('formatTime(0,"%Y-%m-%d")', '"1970-01-01"'),
           ('formatTime(splitTime(absTime(0,0)),"%H:%M")', '"00:00"'), price=Price(steps=6)),
    plain("interval", "interval(seconds)", "The seconds as days+hours:minutes:seconds.",
          interval, ("interval(3661)", '"1:01:01"'), ("interval(90061)", '"1+01:01:01"'),
          ("interval(59)", '"59"')),
    strict("getYear", "getYear(moment)", "The year.",
           _part(lambda at: at.year, None), ("getYear(absTime(0))", "1970"),
           ('getYear(absTime("2020-02-29T12:00:00Z"))', "2020")),
    strict("getMonth", "getMonth(moment)", "The month, from 1.",
           _part(lambda at: at.month, None), ("getMonth(absTime(0))", "1"),
           ('getMonth(absTime("2020-02-29T12:00:00Z"))', "2")),
    strict("getDayOfYear", "getDayOfYear(moment)", "The day of the year, from 0.",
           _part(lambda at: at.year_day, None), ("getDayOfYear(absTime(0))", "0"),
           ('getDayOfYear(absTime("2020-02-29T12:00:00Z"))', "59")),
    strict("getDayOfMonth", "getDayOfMonth(moment)", "The day of the month, from 1.",
           _part(lambda at: at.day, None), ("getDayOfMonth(absTime(0))", "1"),
           ('getDayOfMonth(absTime("2020-02-29T12:00:00Z"))', "29")),
    strict("getDayOfWeek", "getDayOfWeek(moment)", "The day of the week, Sunday is 0.",
           _part(lambda at: at.weekday, None), ("getDayOfWeek(absTime(0))", "4"),
           ('getDayOfWeek(absTime("2020-02-29T12:00:00Z"))', "6")),
    strict("getDays", "getDays(span)", "The whole days of a span.",
           _part(None, 0), ("getDays(relTime(90061))", "1"), ("getDays(absTime(0))", "error")),
    strict("getHours", "getHours(time)", "The hours.",
           _part(lambda at: at.hours, 1), ("getHours(relTime(90061))", "1"),
           ('getHours(absTime("2020-02-29T12:00:00Z"))', "12")),
    strict("getMinutes", "getMinutes(time)", "The minutes.",
           _part(lambda at: at.minutes, 2), ("getMinutes(relTime(90061))", "1"),
           ("getMinutes(relTime(59))", "0")),
    strict("getSeconds", "getSeconds(time)", "The seconds.",
           _part(lambda at: at.seconds, 3), ("getSeconds(relTime(90061))", "1"),
           ('getSeconds(absTime("2020-02-29T12:00:07Z"))', "7")),
)
# fmt: on
