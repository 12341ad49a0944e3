"""When to ask schedds again whose ads speak of idle jobs and that offered none.

Such an ad is from before the schedd's last match. Ours says RESCHEDULE for every job that comes;
the real one does not while its last ad had idle jobs, because the negotiator will ask by itself:
a job that comes just after we asked would wait for the whole interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

# How soon they are asked again for the first time, and how much longer each further pause is: one
# whose limit of running jobs is reached offers nothing for hours.
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
