"""When to ask again before the interval is over: what was seen may be known to be out of date.

A schedd whose ad speaks of idle jobs and that offered none: such an ad is from before its last
match. Ours says RESCHEDULE for every job that comes; the real one does not while its last ad had
idle jobs, because the negotiator will ask by itself: a job that comes just after we asked would
wait for the whole interval.

A negotiator that has just begun: what was said while there was none is lost, and the ads of a pool
that begins with it come within seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

# How soon it is asked again for the first time, and how much longer each further pause is: a schedd
# whose limit of running jobs is reached offers nothing for hours, and a pool may be idle for days.
FIRST_SECONDS = 5.0
GROWTH = 2.0


@dataclass(slots=True)
class Doubts:
    """How often in a row each submitter of a schedd had nothing to offer after all."""

    # The next pause, by the schedd's address and the submitter's name.
    _next: dict[tuple[str, str], float] = field(default_factory=dict)

    def pause(self, interval: float, empty: Iterable[tuple[str, str]]) -> float | None:
        """Return after how many seconds to ask again; None where the interval does.

        `empty` are those, by schedd and submitter, that have just had nothing; all others are
        believed again.
        """
        before, self._next = self._next, {}
        soonest = None
        for key in empty:
            pause = self._next[key] = before.get(key, FIRST_SECONDS)
            if pause < interval:
                self._next[key] = pause * GROWTH
                soonest = pause if soonest is None else min(soonest, pause)
        return soonest


@dataclass(slots=True)
class FirstLooks:
    """How soon a negotiator that begins looks: at once, and soon again where it saw no pool."""

    # The next pause; None when the interval is waited for, as ever after.
    _next: float | None = 0.0

    def pause(self, interval: float) -> float:
        """Return how many seconds after the last cycle, or after the start, the next is due."""
        return interval if self._next is None else min(self._next, interval)

    def passed(self, interval: float) -> None:
        """A pause is over, and nobody had said meanwhile that there is something to do."""
        if self._next is not None:
            longer = self._next * GROWTH or FIRST_SECONDS
            self._next = longer if longer < interval else None

    def saw_a_pool(self) -> None:
        """A cycle found slots and jobs: what changes from now on is told."""
        self._next = None
