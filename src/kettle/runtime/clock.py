"""The clocks, as a thing that is handed in so that tests can hand in others.

Two count seconds of the epoch. `now` is the machine's wall clock, which somebody may set: what has
a date is dated by it (events, ads, tokens, what users' expressions ask for). `steady` only passes:
leases, pauses and ages are counted by it, so that no setting of the clock ends or prolongs one.
What one of them says is never compared with what the other says; `set_ahead` translates.

Waiting is not here: it is plain `asyncio.sleep`, because in tests the event loop itself is
virtual (`kettle.testing.virtual_loop`).
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Where daemons read the time."""

    def now(self) -> float:
        """Return seconds since the epoch; may jump when the machine's clock is set."""
        ...

    def steady(self) -> float:
        """Return seconds since the epoch as they pass for this process, whatever `now` is set to.

        A machine's sleep counts: what had a lease before may have lost it.
        """
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back, from an arbitrary start."""
        ...


def set_ahead(clock: Clock) -> int:
    """Return by how many whole seconds the wall clock was set ahead since `steady` began."""
    return round(clock.now() - clock.steady())


_EPOCH_OF_BOOT = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


class SystemClock:
    """The machine's own clock."""

    __slots__ = ()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def steady(self) -> float:
        """Return seconds since the epoch that pass evenly."""
        return _EPOCH_OF_BOOT + time.clock_gettime(time.CLOCK_BOOTTIME)

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()
