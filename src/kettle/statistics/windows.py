"""What happened lately: sums over the last few quanta of time.

The recent value of a counter covers STATISTICS_WINDOW_SECONDS in steps of
STATISTICS_WINDOW_QUANTUM; a step that grows too old leaves as a whole.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping


class Recent:
    """Sums over the last few quanta, for many names at once."""

    def __init__(self, window_seconds: int, quantum_seconds: int) -> None:
        self._quantum = max(1, quantum_seconds)
        self._steps: deque[dict[str, float]] = deque(maxlen=max(1, window_seconds // self._quantum))
        self._step_began = 0

    def add(self, name: str, amount: float, now: int) -> None:
        """Count in the current quantum."""
        step = self.step(now)
        step[name] = step.get(name, 0) + amount

    def step(self, now: int) -> dict[str, float]:
        """Return the sums of the current quantum, to be added to at once."""
        self.advance(now)
        return self._steps[-1]

    @property
    def step_began(self) -> int:
        """When the present quantum began; 0 if nothing was counted yet."""
        return self._step_began

    def advance(self, now: int) -> None:
        """Begin as many quanta as have passed."""
        if not self._steps:
            self._steps.append({})
            self._step_began = now
        passed = (now - self._step_began) // self._quantum
        if passed <= 0:
            return
        for _ in range(min(passed, self._steps.maxlen or 1)):
            self._steps.append({})
        self._step_began += passed * self._quantum

    def total(self, name: str) -> float:
        """Return the sum over the window."""
        return sum(step.get(name, 0) for step in self._steps)

    def forget(self, name: str) -> None:
        """Count a name as if nothing had been counted yet."""
        for step in self._steps:
            step.pop(name, None)


class RecentTotals:
    """Recent values of counters that are kept elsewhere and only ever grow.

    What has been added since the last look counts as of that look.
    """

    def __init__(self, window_seconds: int = 1200, quantum_seconds: int = 240) -> None:
        self._recent = Recent(window_seconds, quantum_seconds)
        self._seen: dict[str, float] = {}

    def observe(self, totals: Mapping[str, float], now: int) -> dict[str, int]:
        """Take the totals of now; return what each has grown by lately."""
        self._recent.advance(now)
        for name, total in totals.items():
            grown = total - self._seen.get(name, 0)
            if grown:
                self._recent.add(name, grown, now)
                self._seen[name] = total
        return {name: int(self._recent.total(name)) for name in totals}


class Rate:
    """How much a second of something there was lately: averages that forget exponentially.

    `horizons` are the seconds after which a third of an old rate is left, by the word that the
    attribute's name ends with.
    """

    def __init__(self, started: float, horizons: Mapping[str, float]) -> None:
        self._horizons = horizons
        self._rates = dict.fromkeys(horizons, 0.0)
        self._begun = started
        self._seen_at = started
        self._seen = 0.0

    def observe(self, total: float, now: float) -> dict[str, float]:
        """Take the total of now; return the rates of the horizons that have passed once."""
        passed = now - self._seen_at
        if passed > 0:
            rate = (total - self._seen) / passed
            for word, horizon in self._horizons.items():
                weight = 1.0 - math.exp(-passed / horizon)
                self._rates[word] += weight * (rate - self._rates[word])
            self._seen, self._seen_at = total, now
        age = now - self._begun
        return {word: rate for word, rate in self._rates.items() if age >= self._horizons[word]}
