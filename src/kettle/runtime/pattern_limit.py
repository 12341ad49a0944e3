"""A bound on the time of one pattern, so that a constraint cannot hold a daemon up.

Python's patterns backtrack: a few bytes can keep `search` busy for years. The interpreter looks
for signals while it matches, so a timer of the process's own CPU time ends it. What the expression
then is, is decided in `kettle.classad.functions.regex`: ERROR.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from kettle.classad.functions.regex import set_bound

_T = TypeVar("_T")

# Limit: CPU seconds of one search, or of one list of names that is searched.
PATTERN_SECONDS = 0.25


class _TooSlowError(Exception):
    """The timer went off."""


def install() -> None:
    """Bound every search of this process from now on; to be called in its main thread."""
    signal.signal(signal.SIGVTALRM, _interrupt)
    set_bound(in_time)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise _TooSlowError


def in_time(search: Callable[[], _T]) -> _T:
    """Return what `search` returns; TimeoutError if it takes too long."""
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, PATTERN_SECONDS)
        try:
            return search()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _TooSlowError:
        raise TimeoutError(f"a pattern took more than {PATTERN_SECONDS} s") from None
