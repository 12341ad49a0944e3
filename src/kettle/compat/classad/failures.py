"""What functions of a program's own raise while an expression is evaluated."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

# What functions of the program raised in the evaluation that is under way.
FAILURES: Final[list[Exception]] = []


@contextlib.contextmanager
def failures_raised() -> Iterator[None]:
    """Raise, at the end of an evaluation, what a function of the program raised in it."""
    before = FAILURES[:]
    FAILURES.clear()
    try:
        yield
        if FAILURES:
            raise FAILURES[0]
    finally:
        FAILURES[:] = before
