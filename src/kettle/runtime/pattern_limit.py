"""A bound on the time of one evaluation's patterns, so that no constraint holds a daemon up.

Python's patterns backtrack: a few bytes can keep `search` busy for years. The interpreter looks
for signals while it matches, so a timer of the process's own CPU time ends it. What the expression
then is, is decided in `kettle.classad.functions.regex`: ERROR.
"""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from kettle.classad.functions.regex import Purse, set_bound
from kettle.classad.state import PATTERN_SECONDS

_T = TypeVar("_T")

# How often the timer goes off again where it could not end the search the first time.
_AGAIN_SECONDS = 0.01


class _TooSlowError(Exception):
    """The timer went off."""


class _Timer:
    """Whether a search is under way that the signal may end."""

    armed = False


def install() -> None:
    """Bound every search of this process from now on; to be called in its main thread."""
    signal.signal(signal.SIGVTALRM, _interrupt)
    set_bound(in_time)


def install_in_library() -> None:
    """Bound the searches of a program that is not ours: those of its main thread.

    A program that uses the timer's signal itself keeps it, and has no bound.
    """
    set_bound(_in_time_if_possible)


def _in_time_if_possible(search: Callable[[], _T], purse: Purse) -> _T:
    if threading.current_thread() is not threading.main_thread():
        # A signal would end what the main thread does.
        return search()
    handler = signal.getsignal(signal.SIGVTALRM)
    if handler == signal.SIG_DFL:
        signal.signal(signal.SIGVTALRM, _interrupt)
    elif handler is not _interrupt:
        return search()
    return in_time(search, purse)


def _interrupt(_number: int, frame: FrameType | None) -> None:
    """End the search under way, unless the interpreter is in somebody else's function.

    A callback of the garbage collector or a finalizer may run in the middle of a search. What is
    raised in one is printed and lost: the timer's next signal finds the search itself.
    """
    if _Timer.armed and frame is not None and _is_of_a_search(frame):
        _Timer.armed = False
        raise _TooSlowError


def _is_of_a_search(frame: FrameType) -> bool:
    module: str = frame.f_globals.get("__name__", "")
    return module.partition(".")[0] in ("kettle", "re")


def in_time(search: Callable[[], _T], purse: Purse) -> _T:
    """Return what `search` returns; TimeoutError if it takes longer than the purse has time.

    Nobody's garbage is collected meanwhile: to look through a large queue takes longer than that.
    """
    left = purse.pattern_seconds
    if left <= 0:
        raise TimeoutError(f"patterns took more than {PATTERN_SECONDS} s together")
    # The timer counts in ticks of the kernel's, far longer than most searches take.
    began = time.process_time()
    collects = gc.isenabled()
    try:
        gc.disable()
        _Timer.armed = True
        signal.setitimer(signal.ITIMER_VIRTUAL, left, _AGAIN_SECONDS)
        try:
            return search()
        finally:
            _Timer.armed = False
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            purse.pattern_seconds = left - (time.process_time() - began)
    except _TooSlowError:
        # It may have come just before the timer was put out.
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        purse.pattern_seconds = 0.0
        raise TimeoutError(f"a pattern took more than {left} s") from None
    finally:
        if collects:
            gc.enable()
