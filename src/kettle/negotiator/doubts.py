"""When to ask schedds again whose ads speak of idle jobs and that offered none.

Such an ad is from before the schedd's last match. Ours says RESCHEDULE for every job that comes;
the real one does not while its last ad had idle jobs, because the negotiator will ask by itself:
a job that comes just after we asked would wait for the whole interval.
"""

from __future__ import annotations

from dataclasses import dataclass

# How soon they are asked again for the first time, and how much longer each further pause is: one
# whose limit of running jobs is reached offers nothing for hours.
FIRST_SECONDS = 5.0
GROWTH = 2.0


@dataclass(slots=True)
class Doubts:
    """How often in a row a cycle ended with a schedd that had nothing to offer after all."""

    _next: float = FIRST_SECONDS

    def pause(self, interval: float, *, unexplained: bool) -> float | None:
        """Return after how many seconds to ask again; None where the interval does."""
        if not unexplained:
            self._next = FIRST_SECONDS
            return None
        pause = self._next
        if pause >= interval:
            return None
        self._next = pause * GROWTH
        return pause
