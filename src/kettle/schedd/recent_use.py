"""What each user's jobs did lately: by units of four hours, and by days.

A unit begins at a multiple of its length since the epoch, a day with the first unit of a UTC day;
a day is counted when it is over. The newest stands first, and what never happened is not shown.
Nothing of it outlives the schedd. Pure: events and the clock in, attributes out. Source: user
records of a real schedd whose clock was moved.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.codes import ShadowExit
from kettle.classad import ClassAd

UNIT_SECONDS = 4 * 3600
_UNITS_A_DAY = 6
# Units and days that are shown; longer ago nothing is known.
_UNITS, _DAYS = 6, 10
_LONG_AGO = _UNITS_A_DAY * (_DAYS + 1)

LAUNCHED = "JobsLaunched"
SLOT_SECONDS = "JobsSlotTime"
IDLE_SECONDS = "JobsWeightedIdle"
_ENDS = {
    int(ShadowExit.NOT_STARTED): "JobsFailedToStart",
    int(ShadowExit.SHOULD_REQUEUE): "JobsRequeued",
    int(ShadowExit.SHOULD_HOLD): "JobsHeld",
}

# For each thing that is counted its units and its days, newest first.
_Columns = dict[str, tuple[list[float], list[float]]]


class RecentUse:
    """The units of all users."""

    def __init__(self, started: int) -> None:
        self._started = self._observed_at = started
        self._unit = started // UNIT_SECONDS
        self._units, self._days = 1, 0
        self._users: dict[str, _Columns] = {}
        # What each user's jobs have weighed since then: those that wait, and those that run.
        self._weights: dict[str, Mapping[str, float]] = {}

    def on_launched(self, user: str, now: int) -> None:
        """Count the start of a run."""
        self._add(user, LAUNCHED, 1, now)

    def on_ended(self, user: str, reason: int, now: int, *, held: bool) -> None:
        """Count the end of a run that nobody asked for; `held` says what its job is now."""
        name = _ENDS.get(reason)
        if name is not None:
            self._add(user, "JobsHeld" if held else name, 1, now)

    def is_due(self, now: int) -> bool:
        """Tell whether time has passed since the last look."""
        return now != self._observed_at

    def observe(self, now: int, waiting: Mapping[str, float], running: Mapping[str, float]) -> None:
        """Count what users' jobs have waited and run since the last look, and what they weigh."""
        passed = max(0, now - self._observed_at)
        self._observed_at = now
        for name, weights in self._weights.items():
            for user, weight in weights.items():
                if weight > 0:
                    self._add(user, name, passed * weight, now)
        self._weights = {IDLE_SECONDS: waiting, SLOT_SECONDS: running}

    def publish(self, user: str, ad: ClassAd, now: int) -> None:
        """Put what is known of a user into the ad of its record."""
        self._advance(now)
        ad["HourlyStatsStartTime"] = self._started
        ad["HourlyStatsUnitPhase"] = self._observed_at % UNIT_SECONDS
        ad["HourlyStatsUnitSize"] = UNIT_SECONDS
        for name, (units, days) in self._users.get(user, {}).items():
            ad[f"Hourly{name}"] = [_shown(name, amount) for amount in units]
            ad[f"Daily{name}"] = [_shown(name, amount) for amount in days]

    def _add(self, user: str, name: str, amount: float, now: int) -> None:
        self._advance(now)
        columns = self._users.setdefault(user, {})
        if name not in columns:
            columns[name] = [0.0] * self._units, [0.0] * self._days
        columns[name][0][0] += amount

    def _advance(self, now: int) -> None:
        """Begin the units that have begun; where the clock was set back the newest goes on."""
        unit = now // UNIT_SECONDS
        for begun in range(max(self._unit + 1, unit - _LONG_AGO), unit + 1):
            self._begin(new_day=begun % _UNITS_A_DAY == 0)
        self._unit = max(self._unit, unit)

    def _begin(self, *, new_day: bool) -> None:
        columns = [pair for user in self._users.values() for pair in user.values()]
        for units, days in columns:
            if new_day:
                days.insert(0, sum(units))
                del days[_DAYS:]
            units.insert(0, 0.0)
            del units[_UNITS:]
        self._units = min(self._units + 1, _UNITS)
        self._days = min(self._days + new_day, _DAYS)


def _shown(name: str, amount: float) -> int | float:
    """Return an amount as it is shown: of those that wait how many there were at a time."""
    return round(amount / UNIT_SECONDS, 6) if name == IDLE_SECONDS else int(amount)
