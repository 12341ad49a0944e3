"""An event loop whose time is virtual: when everybody waits, it jumps to the next deadline.

Code under test sleeps for days with plain `asyncio.sleep`, and the test takes milliseconds. Real
sockets work as long as both ends are in this process: what can be read is read before time moves.
Threads do not: nothing outside the loop can wake it. Tasks that wait for something that can never
come are an error at once (`Stuck`), not a hang.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# Limit: virtual seconds a run may take; a test that needs more says so.
LIMIT_SECONDS = 30 * 86400.0


class Stuck(AssertionError):  # noqa: N818 - it says what happened
    """Every task waits, and no deadline is set: nothing will ever happen again."""


class _JumpingSelector(selectors.DefaultSelector):
    """Looks at the real sockets without waiting, and moves the clock instead of sleeping."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.limit = LIMIT_SECONDS

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if found or timeout == 0:
            return found
        if timeout is None:
            raise Stuck("every task waits and no deadline is set")
        self.now += timeout
        if self.now > self.limit:
            raise Stuck(f"still running after {self.limit:g} virtual seconds")
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own, which begins at 0."""

    def __init__(self, *, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._jumping = _JumpingSelector()
        self._jumping.limit = limit_seconds
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return virtual seconds since the loop was made."""
        return self._jumping.now


def run_virtually(main: Coroutine[Any, Any, T], *, limit_seconds: float = LIMIT_SECONDS) -> T:
    """Run a coroutine to its end in virtual time; Stuck if it waits for ever."""
    loop = VirtualLoop(limit_seconds=limit_seconds)
    try:
        asyncio.set_event_loop(loop)
        try:
            return loop.run_until_complete(main)
        finally:
            _cancel_rest(loop)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _cancel_rest(loop: VirtualLoop) -> None:
    rest = asyncio.all_tasks(loop)
    for task in rest:
        task.cancel()
    if rest:
        loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())


class VirtualClock:
    """The wall clock that goes with a virtual loop; `start` is the moment the loop began."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self.start = start
        self.set_forward = 0.0

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self.start + self.set_forward + self.monotonic()

    def steady(self) -> float:
        """Return the epoch's seconds as they pass, without the wall clock's jumps."""
        return self.start + self.monotonic()

    def monotonic(self) -> float:
        """Return the loop's own time; 0 outside a loop."""
        try:
            return asyncio.get_running_loop().time()
        except RuntimeError:
            return 0.0
