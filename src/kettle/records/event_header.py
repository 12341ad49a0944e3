"""What an event's first line says before the event's own words: number, job and moment.

Pure. What the reference takes for a moment was asked of the wheel 25.14.1
(tests/data/event_logs/answers.json).
"""

from __future__ import annotations

import calendar
import re
import time as clock
from dataclasses import dataclass
from functools import lru_cache

from kettle.patterns import late_pattern

_NUMBER = late_pattern(r"(\d{3}) ")
# No number has more digits: ads of peers may hold any real as a number of a job.
_JOB = late_pattern(
    r"\( {0,99}([-+]?\d{1,400}|)\. {0,99}([-+]?\d{1,400}|)\. {0,99}([-+]?\d{1,400}|)\) "
)
# The time of day goes on to the next blank, whatever is behind its seconds.
# Compat: of one that is none the reference makes one of the digits that it finds, be they those of
# the line's next words; we say that it is none (test_a_time_of_day_is_not_guessed).
_MOMENT = late_pattern(
    r"(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)/(\d\d))[ T]"
    r"(\d\d?):(\d\d?)(?::(\d\d?)(?!\d)(?:\.(\d*))?(Z)?[^ \n]*)?(?:( )|\n|\Z)"
)
_MOMENT_OF_AD = late_pattern(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z)?")


@dataclass(frozen=True, slots=True)
class Header:
    """What a first line says, and where the event's own words begin in it.

    `damage` is what is wrong with all but the number, if anything is; the rest says nothing then.
    """

    number: int
    job: tuple[int, int, int] = (-1, -1, -1)
    time: float = 0.0
    end: int = 0
    damage: str = ""


def read_header(text: str, year: int) -> Header | None:
    """Read the header of an event; None if the text does not begin with an event's number.

    `year` is assumed for the legacy date, which has none.

    Compat: the reference cuts a number to 32 bits, which makes it another job's
    (test_a_number_of_a_job_is_not_cut).
    """
    found = _NUMBER.match(text)
    if found is None:
        return None
    number = int(found[1])
    job = _JOB.match(text, found.end())
    if job is None:
        return Header(number, end=found.end(), damage="no job's id follows its number")
    said = _MOMENT.match(text, job.end())
    moment = _parse_time(said, year) if said is not None else None
    if said is None or moment is None:
        return Header(number, end=job.end(), damage="no moment follows its job's id")
    if not said[11]:
        return Header(number, end=job.end(), damage="nothing follows its moment")
    return Header(
        number, (int(job[1] or 0), int(job[2] or 0), int(job[3] or 0)), moment, said.end()
    )


def _parse_time(match: re.Match[str], year: int) -> float | None:
    """Return a header's moment; None if it is none for the reference, which takes odd ones, too."""
    if match.group(1):
        said, month, day = (int(match.group(i)) for i in (1, 2, 3))
        year = said if said >= _FIRST_YEAR else year
    else:
        month, day = int(match.group(4)), int(match.group(5))
    hour, minute, second = (int(match.group(i) or 0) for i in (6, 7, 8))
    if not 1 <= month <= 12 or day > _LAST_DAY or hour > _LAST_HOUR:
        return None
    fraction = float(f"0.{match.group(9)}") if match.group(9) else 0.0
    whole = _epoch(year, month, day, hour, minute, second, match.group(10) is not None)
    return whole + fraction


# As in the reference (test_a_header_whose_date_is_none_is_damaged): an earlier year is not one,
# the day after a month's last is the next one's.
_FIRST_YEAR = 1900
_LAST_DAY = 32
_LAST_HOUR = 24


@lru_cache(maxsize=64)
def _epoch(year: int, month: int, day: int, hour: int, minute: int, second: int, utc: bool) -> int:
    parts = (year, month, day, hour, minute, second, 0, 0, -1)
    try:
        return calendar.timegm(parts) if utc else int(clock.mktime(parts))
    except (OverflowError, ValueError):
        return 0


# The least and the most that each part of a moment can be; a leap second is one.
_EARLIEST = (_FIRST_YEAR, 1, 1, 0, 0, 0)
_LATEST = (9998, 12, 31, 24, 59, 60)


def parse_moment(text: str) -> float:
    """Return the epoch seconds of EventTime, `YYYY-MM-DDTHH:MM:SS[.mmm][Z]`; 0 if it is none."""
    match = _MOMENT_OF_AD.match(text)
    if match is None:
        return 0.0
    parts = [int(part) for part in match.groups()[:6]]
    bounds = zip(_EARLIEST, parts, _LATEST, strict=True)
    if not all(least <= part <= most for least, part, most in bounds):
        return 0.0
    fraction = float(f"0.{match.group(7)}") if match.group(7) else 0.0
    year, month, day, hour, minute, second = parts
    return _epoch(year, month, day, hour, minute, second, match.group(8) is not None) + fraction
