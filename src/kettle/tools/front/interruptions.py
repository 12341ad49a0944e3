"""Ctrl-C and its kin for a command that has something to undo: none is lost, none comes in between.

A terminal's Ctrl-C, SIGTERM, and SIGHUP of a terminal that closes end a command the same way. One
press may come as several signals (`timeout` tells a process and its group), and what is being
made, or undone, is made whole first; who presses again, a moment later, is not kept waiting.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

# Signals that come within so many seconds are one press.
ONE_PRESS_SECONDS = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruptions:
    """What becomes of signals while a command runs: KeyboardInterrupt, at once or when it fits."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._pressed_at: float | None = None
        self._holds = False
        self._waits = False

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Take the signals, but for those that are to be ignored (`nohup`)."""
        before: dict[int, Any] = {
            each: signal.getsignal(each)
            for each in _SIGNALS
            if signal.getsignal(each) is not signal.SIG_IGN
        }
        try:
            for each in before:
                signal.signal(each, self.come)
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    @contextlib.contextmanager
    def held(self, *, tells: bool = True) -> Iterator[None]:
        """Hold a press back until what is inside is done; with `tells` it is raised then.

        Another press, after `ONE_PRESS_SECONDS`, is raised at once.
        """
        self._holds, self._waits = True, False
        try:
            yield
        finally:
            self._holds = False
        if tells and self._waits:
            raise KeyboardInterrupt

    def come(self, _number: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        now = self._now()
        if self._pressed_at is not None and now - self._pressed_at < ONE_PRESS_SECONDS:
            return
        self._pressed_at = now
        if self._holds and not self._waits:
            self._waits = True
            return
        raise KeyboardInterrupt
