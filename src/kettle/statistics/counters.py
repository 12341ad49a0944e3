"""A daemon's counters as a table: one row for each attribute, in the order in which ads have them.

A daemon declares its rows and counts under their names; counting under another name is a bug and
says so. Ads get the totals, and beside them the recent sums and the peaks of rows that have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from kettle.classad import ClassAd
from kettle.statistics.histograms import Histogram, parse_limits
from kettle.statistics.windows import Recent


class Kind(Enum):
    """What is published of a row."""

    COUNT = "a total, and Recent<Name>"
    TOTAL = "a total alone"
    REAL = "a total with a fraction"
    LEVEL = "the value now, and <Name>Peak"
    HISTOGRAM = "how many by size or span, and Recent<Name>"


@dataclass(frozen=True, slots=True)
class Row:
    """One attribute of a daemon's ad: its name, what it says in a sentence, its kind."""

    name: str
    doc: str
    kind: Kind = Kind.COUNT
    # Of a histogram: the limits of its buckets.
    limits: str = ""


class Counters:
    """The counters of one daemon since its start; moments are epoch seconds."""

    def __init__(
        self,
        rows: Iterable[Row],
        started: int,
        *,
        window_seconds: int = 1200,
        quantum_seconds: int = 240,
    ) -> None:
        self.rows = tuple(rows)
        self.started = started
        self._kinds = {row.name: row.kind for row in self.rows}
        self._values: dict[str, float] = dict.fromkeys(self._kinds, 0)
        self._peaks: dict[str, float] = {}
        self._histograms = {
            row.name: Histogram(parse_limits(row.limits))
            for row in self.rows
            if row.kind is Kind.HISTOGRAM
        }
        self.set_window(window_seconds, quantum_seconds)

    def set_window(self, window_seconds: int, quantum_seconds: int) -> None:
        """Begin to gather recent sums anew, over such a window in such steps."""
        self._window = max(1, window_seconds)
        self._recent = Recent(self._window, quantum_seconds)

    @property
    def window_seconds(self) -> int:
        """How long "recent" is."""
        return self._window

    @property
    def tick_time(self) -> int:
        """When the present step of "recent" began."""
        return self._recent.step_began

    def add(self, name: str, now: int, amount: float = 1) -> None:
        """Count something; KeyError for a name that no row has."""
        self._values[name] += amount
        if self._kinds[name] is Kind.COUNT:
            self._recent.add(name, amount, now)

    def add_all(self, amounts: Mapping[str, float], now: int) -> None:
        """Count several things at once: a job's end is a dozen of them."""
        step = self._recent.step(now)
        for name, amount in amounts.items():
            if amount:
                self._values[name] += amount
                if self._kinds[name] is Kind.COUNT:
                    step[name] = step.get(name, 0) + amount

    def add_value(self, name: str, now: int, value: float) -> None:
        """Count a value in a histogram."""
        histogram = self._histograms[name]
        histogram.add(value)
        self._recent.add(f"{name} {histogram.bucket(value)}", 1, now)

    def set(self, name: str, value: float) -> None:
        """Say what a level is now, and remember its peak."""
        self._values[name] = value
        if value > self._peaks.get(name, 0):
            self._peaks[name] = value

    def value(self, name: str) -> float:
        """Return a counter's total or a level."""
        return self._values[name]

    def publish(self, ad: ClassAd, now: int) -> None:
        """Put everything into an ad, and how long it was counted."""
        self.advance(now)
        self.publish_rows(ad)
        lifetime = max(0, now - self.started)
        ad["StatsLifetime"] = lifetime
        ad["RecentStatsLifetime"] = min(lifetime, self._window)

    def advance(self, now: int) -> None:
        """Let what is no longer recent go."""
        self._recent.advance(now)

    def publish_rows(self, ad: ClassAd) -> None:
        """Put the rows alone into an ad."""
        for row in self.rows:
            self._publish_row(ad, row)

    def _publish_row(self, ad: ClassAd, row: Row) -> None:
        name = row.name
        if row.kind is Kind.HISTOGRAM:
            histogram = self._histograms[name]
            ad[name] = str(histogram)
            buckets = range(len(histogram.counts))
            ad[f"Recent{name}"] = ", ".join(
                str(int(self._recent.total(f"{name} {bucket}"))) for bucket in buckets
            )
            return
        value = self._values[name]
        ad[name] = float(value) if row.kind is Kind.REAL else int(value)
        if row.kind is Kind.COUNT:
            ad[f"Recent{name}"] = int(self._recent.total(name))
        elif row.kind is Kind.LEVEL:
            ad[f"{name}Peak"] = int(self._peaks.get(name, 0))
