"""Says when somebody sets the machine's clock while a daemon runs.

Nothing else is done about it: leases and pauses are counted by a clock that only passes
(`clock.py`), and what has a date follows the wall clock.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kettle.runtime import tasks
from kettle.runtime.clock import set_ahead

if TYPE_CHECKING:
    from kettle.runtime.clock import Clock
    from kettle.runtime.logs import Log

LOOK_SECONDS = 60.0
# Less is the work of a daemon that keeps the machine's time right.
_WORTH_A_LINE_SECONDS = 60


def watch_clock(clock: Clock, log: Log) -> None:
    """Look at the clock from time to time, forever."""
    known = set_ahead(clock)

    async def look() -> None:
        nonlocal known
        await asyncio.sleep(LOOK_SECONDS)
        now = set_ahead(clock)
        if abs(now - known) >= _WORTH_A_LINE_SECONDS:
            way = "forward" if now > known else "back"
            log.problem(
                f"The clock of this machine was set {way} by {abs(now - known)} seconds; leases "
                "and pauses go on as if it had not been"
            )
            known = now

    tasks.repeat(look, "clock")


__all__ = ["LOOK_SECONDS", "watch_clock"]
