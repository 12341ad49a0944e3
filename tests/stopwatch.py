"""How long work takes of the processor, judged so that nothing else of a long run counts.

The first run of a piece of work may meet a collection that walks what twenty thousand other tests
left, or caches that another process has emptied. So the collector is off meanwhile, and the fastest
of some runs counts: what is slow by itself is slow in all of them. It is judged against ten times
what the work takes on a quiet machine or more, or by how it grows.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Limit: so many runs of what is not below its limit; each may take as long as the fault takes.
RUNS = 5
# What is slower than its limit by this factor is no accident, so that no other run is needed.
HOPELESS = 2.0
# How much longer the text is at which growth is looked at: a line takes four times as long there,
# and a square sixteen times.
LONGER = 4
# Between the two, as one sees them on a ruler of factors.
LESS_THAN_A_SQUARE = 8.0


@contextmanager
def no_collections() -> Iterator[None]:
    """Collect what is garbage now, and nothing while the block runs."""
    collects = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def once(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one run."""
    with no_collections():
        began = time.process_time()
        work()
        return time.process_time() - began


def cpu_seconds(work: Callable[[], object], *, below: float) -> float:
    """Return the CPU seconds of the fastest of some runs, the first one `below` being the last.

    Every run has to do all of the work: whoever keeps answers is made to forget them within it.
    """
    least = float("inf")
    for _ in range(RUNS):
        least = min(least, once(work))
        if least < below or least > HOPELESS * below:
            break
    return least


def growth(work: Callable[[int], object], length: int) -> float:
    """Return how many times longer the work takes at four times the length.

    Of some runs at each the fastest count, until they say that it is less than a square's.
    """
    short = long = float("inf")
    for _ in range(RUNS):
        # A slow one here would make little of a fault; it is also the one that costs little.
        short = min(short, *(once(lambda: work(length)) for _ in range(2)))
        long = min(long, once(lambda: work(LONGER * length)))
        if long < LESS_THAN_A_SQUARE * short:
            break
    return long / short
