"""How long a negotiation cycle may work for whom, and who has used up that time.

NEGOTIATOR_MAX_TIME_PER_CYCLE, _PER_SUBMITTER, _PER_SCHEDD and _PER_PIESPIN. Nothing here reads a
clock: moments are arguments, in seconds of a clock that passes evenly. A submitter's time is
counted for each schedd by itself, as each of its ads is a submitter to the reference.
Who stops when the time is over: `cycle.py` between two matches, the negotiator between two
submitters of a schedd and while one of them is silent. Source: the reference's manual, the knobs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

_NO_END = float("inf")


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds that may be spent; by default as many as it takes."""

    cycle: float = _NO_END
    submitter: float = _NO_END
    schedd: float = _NO_END
    # One submitter in one turn of the pie.
    spin: float = _NO_END


@dataclass(slots=True)
class TimeBook:
    """What one cycle, which began at a moment, has spent on whom."""

    limits: TimeLimits = field(default_factory=TimeLimits)
    began_at: float = 0.0
    # Submitters by name and schedds by address that were left out because of their limit.
    submitters_out_of_time: set[str] = field(default_factory=set)
    schedds_out_of_time: set[str] = field(default_factory=set)
    # Whether anybody was left out, be it because the whole cycle's time was over.
    cut_short: bool = False
    _of_submitters: dict[tuple[str, str], float] = field(default_factory=dict)
    _of_schedds: dict[str, float] = field(default_factory=dict)

    def charge(self, submitter: str, schedd: str, seconds: float) -> None:
        """Count time that was spent on a submitter of a schedd."""
        seconds = max(0.0, seconds)
        pair = (submitter, schedd)
        self._of_submitters[pair] = self._of_submitters.get(pair, 0.0) + seconds
        self._of_schedds[schedd] = self._of_schedds.get(schedd, 0.0) + seconds

    def left(self, submitter: str, schedd: str, now: float) -> float:
        """Return for how many seconds a submitter's turn may last from now on, 0 at least."""
        limits = self.limits
        pair = (submitter, schedd)
        return max(
            0.0,
            min(
                limits.spin,
                limits.cycle - (now - self.began_at),
                limits.submitter - self._of_submitters.get(pair, 0.0),
                limits.schedd - self._of_schedds.get(schedd, 0.0),
            ),
        )

    def is_over(self, submitter: str, schedd: str, now: float) -> bool:
        """Tell whether this cycle does no more for a submitter, and note whose limit it was.

        A submitter's own limit counts first, then its schedd's, then the cycle's.
        """
        limits = self.limits
        if self._of_submitters.get((submitter, schedd), 0.0) >= limits.submitter:
            self.submitters_out_of_time.add(submitter)
        elif self._of_schedds.get(schedd, 0.0) >= limits.schedd:
            self.schedds_out_of_time.add(schedd)
        elif now - self.began_at < limits.cycle:
            return False
        self.cut_short = True
        return True


class Time(Enum):
    """What is left for somebody's requests."""

    LEFT = "left"
    # Over for this turn of the pie; the next one goes on.
    NEXT_TURN = "next turn"
    OVER = "over for this cycle"


class Turn:
    """One submitter's turn of the pie: time goes by, and is charged to whom it is spent on."""

    def __init__(self, book: TimeBook, submitter: str, now: Callable[[], float]) -> None:
        """Begin at `now()`, which is asked again whenever it matters."""
        self._book = book
        self._submitter = submitter
        self._now = now
        self._since = now()
        # The schedd that is being worked for, and how long in this turn.
        self._schedd: str | None = None
        self._spent: dict[str, float] = {}

    def settle(self) -> float:
        """Charge the time until now; return the moment."""
        now = self._now()
        schedd, self._schedd = self._schedd, None
        if schedd is not None:
            self._book.charge(self._submitter, schedd, now - self._since)
            self._spent[schedd] = self._spent.get(schedd, 0.0) + max(0.0, now - self._since)
        self._since = now
        return now

    def begin(self, schedd: str) -> Time:
        """Tell whether there is time to serve a request of a schedd; it is charged from now on."""
        now = self.settle()
        if self._book.is_over(self._submitter, schedd, now):
            return Time.OVER
        if self._spent.get(schedd, 0.0) >= self._book.limits.spin:
            return Time.NEXT_TURN
        self._schedd = schedd
        return Time.LEFT
