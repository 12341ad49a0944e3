"""When a CronTab job runs next: the five cron fields and the present moment give its DeferralTime.

Pure but for the host's zone, in whose local time the fields are meant.

Two things differ from cron(8): a step selects the values that it divides (`1-10/3` is 3, 6 and 9),
and whether a field of days is restricted is judged by the values it has, not by its text. A number
out of range stands for all values. Sources: manual, CronTab scheduling; the recordings in
tests/data/vectors/cron.

Compat: where the next weekday lies in a later month, the reference takes the last day of the month
before that one, or a moment two minutes ahead; and it never comes back from a date that there is
not (30 February). Here the first is the next matching minute, and the second an invalid schedule
(test_crontab).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from kettle.errors import KettleError
from kettle.patterns import late_pattern

# The attributes with their smallest and largest values. 0 and 7 are Sunday.
MINUTE, HOUR = "CronMinute", "CronHour"
DAY_OF_MONTH, MONTH, DAY_OF_WEEK = "CronDayOfMonth", "CronMonth", "CronDayOfWeek"
RANGES = {
    MINUTE: (0, 59),
    HOUR: (0, 23),
    DAY_OF_MONTH: (1, 31),
    MONTH: (1, 12),
    DAY_OF_WEEK: (0, 7),
}
_SUNDAYS = (0, 7)
_DAYS_OF_A_MONTH, _DAYS_OF_A_WEEK = 31, 7

# 29 February may be eight years away; what does not come in that time never comes.
_LONGEST_WAIT_DAYS = 366 * 9
_STRANGE = late_pattern(r"[^0-9,\-/* ]")
_NUMBER = late_pattern(r"-?[0-9]+")
# Limit: digits of a number that are looked at; a longer one is out of every range.
_MOST_DIGITS = 9


class CronTabError(KettleError):
    """The fields are no schedule; the text says which, in the reference's words.

    `wrong` are the attributes to blame, in the order of RANGES, none where only the dates are; of
    those in `without_step`, whose step is 0, the reference's words say nothing.
    """

    def __init__(
        self, message: str, *, wrong: Sequence[str] = (), without_step: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.wrong = tuple(wrong)
        self.without_step = tuple(without_step)


@dataclass(frozen=True, slots=True)
class CronTab:
    """A schedule: the values of each field, and the days of the week with Sunday as 0."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days_of_month: frozenset[int]
    months: frozenset[int]
    # Empty where `*` was given.
    days_of_week: frozenset[int]

    def next_time(self, now: float) -> int:
        """Return the first matching moment after the present minute, in epoch seconds.

        CronTabError where there is none.
        """
        start = int(now) - int(now) % 60 + 60
        for moment in self._moments(start):
            if moment >= start:
                return moment
        raise CronTabError("The date never comes")

    def _moments(self, start: int) -> Iterator[int]:
        """Yield the matching minutes from the local time of `start` on."""
        local = time.localtime(start)
        first = date(local.tm_year, local.tm_mon, local.tm_mday)
        for ahead in range(_LONGEST_WAIT_DAYS):
            day = first + timedelta(days=ahead)
            if not self._has_day(day):
                continue
            earliest = (0, 0) if ahead else (local.tm_hour, local.tm_min)
            for hour in self.hours:
                for minute in self.minutes:
                    if (hour, minute) >= earliest:
                        fields = (day.year, day.month, day.day, hour, minute, 0, 0, 0, -1)
                        yield int(time.mktime(fields))

    def _has_day(self, day: date) -> bool:
        """Tell whether the schedule has a day: where both kinds are restricted, either does."""
        if day.month not in self.months:
            return False
        all_weekdays = len(self.days_of_week) in {0, _DAYS_OF_A_WEEK}
        if len(self.days_of_month) == _DAYS_OF_A_MONTH and not all_weekdays:
            return day.isoweekday() % 7 in self.days_of_week
        return day.day in self.days_of_month or day.isoweekday() % 7 in self.days_of_week


def read_crontab(texts: Mapping[str, str]) -> CronTab:
    """Return the schedule of a job's cron attributes; one that is not given is `*`.

    CronTabError names every wrong field.
    """
    strange = [name for name in RANGES if _STRANGE.search(texts.get(name, ""))]
    if strange:
        said = "".join(f"Invalid parameter value '{texts[name]}' for {name}" for name in strange)
        raise CronTabError(said, wrong=strange)
    values: dict[str, list[int]] = {}
    without_step: list[str] = []
    problems: dict[str, str] = {}
    for name in RANGES:
        text = texts.get(name, "*").replace(" ", "")
        found = _expand(name, text)
        if found is None:
            # Compat: the reference says nothing of a step of 0
            # (test_what_holds_a_job_is_refused_in_the_recorded_words).
            without_step.append(name)
            problems[name] = ""
        elif not found and name != DAY_OF_WEEK:
            problems[name] = f"Invalid cron attribute: {text}"
        else:
            values[name] = sorted(found)
    if problems:
        raise CronTabError("".join(problems.values()), wrong=[*problems], without_step=without_step)
    return CronTab(
        tuple(values[MINUTE]),
        tuple(values[HOUR]),
        frozenset(values[DAY_OF_MONTH]),
        frozenset(values[MONTH]),
        frozenset(values[DAY_OF_WEEK]),
    )


def _expand(name: str, text: str) -> set[int] | None:
    """Return the values that a field's text stands for; None if it has a step of 0."""
    found: set[int] = set()
    least, most = RANGES[name]
    for item in filter(None, text.split(",")):
        base, slash, after = item.partition("/")
        step = _number(after) if slash else 1
        if step == 0:
            return None
        low, high = least, most
        left, dash, right = base.partition("-")
        if dash:
            low, high = max(_number(left), least), min(_number(right), most)
        elif "*" in base:
            if name == DAY_OF_WEEK:
                # All days, unless those of the month are restricted.
                continue
        elif least <= _number(base) <= most:
            low = high = _number(base)
        numbers = range(low, high + 1)
        if name == DAY_OF_WEEK:
            found |= {
                day for day in (0 if n in _SUNDAYS else n for n in numbers) if day % step == 0
            }
        else:
            found |= {number for number in numbers if number % step == 0}
    return found


def _number(text: str) -> int:
    """Return the number at the beginning of a text, 0 where there is none."""
    found = _NUMBER.match(text)
    return int(found[0][: _MOST_DIGITS + 1]) if found else 0
