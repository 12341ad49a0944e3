"""Addresses that did not answer lately, and for how long each is left alone.

A machine that loses its line says nothing, and its ad stays with the collector for a quarter of an
hour; who goes on asking it waits for a connection each time, and others wait with him. The schedd
asks for no slot of such a startd, the negotiator leaves out such a schedd, until the pause is over
or the collector has heard from it again. Pure; a moment is an argument (epoch seconds).
"""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_PAUSE_SECONDS = 10.0
LONGEST_PAUSE_SECONDS = 300.0
# Limit: addresses remembered; the one that failed longest ago goes first.
MOST_ADDRESSES = 200


@dataclass(slots=True)
class _Failure:
    pause: float
    since: float
    until: float


@dataclass(slots=True)
class Unreachable:
    """What did not answer; the pause doubles from one failure to the next."""

    _failures: dict[str, _Failure] = field(default_factory=dict)

    def on_failed(self, address: str, now: float) -> float:
        """Note that nobody answered; return for how many seconds nobody should ask again."""
        before = self._failures.pop(address, None)
        pause = FIRST_PAUSE_SECONDS
        if before is not None:
            # Who was being asked already when the pause began does not make it longer.
            late = now < before.until
            pause = before.pause if late else min(before.pause * 2, LONGEST_PAUSE_SECONDS)
        self._failures[address] = _Failure(pause, now, now + pause)
        while len(self._failures) > MOST_ADDRESSES:
            del self._failures[next(iter(self._failures))]
        return pause

    def on_answered(self, address: str) -> None:
        """Note that an address answered."""
        self._failures.pop(address, None)

    def is_avoided(self, address: str, now: float, heard_at: float = 0.0) -> bool:
        """Tell whether the address is to be left alone, last heard from at `heard_at`."""
        failure = self._failures.get(address)
        return failure is not None and now < failure.until and heard_at <= failure.since

    def avoided(self, now: float) -> dict[str, float]:
        """Return the addresses to be left alone, with the moments when they did not answer."""
        return {
            address: failure.since
            for address, failure in self._failures.items()
            if now < failure.until
        }
