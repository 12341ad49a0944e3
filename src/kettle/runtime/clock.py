"""The wall clock, as a thing that is handed in so that tests can hand in another.

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

    def monotonic(self) -> float:
        """Return seconds that never go back, from an arbitrary start."""
        ...


class SystemClock:
    """The machine's own clock."""

    __slots__ = ()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()
