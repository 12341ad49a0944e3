"""Work that is done step by step: all of it at once, or some steps at a time with other rights."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def take_all(steps: Generator[object, None, T]) -> T:
    """Take all steps, and return what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


def take_within(
    rights: Callable[[], AbstractContextManager[None]], steps: Iterator[object], at_once: int
) -> Iterator[None]:
    """Take so many steps at once with rights that are the process's, and given back in between."""
    taken = at_once
    while taken == at_once:
        with rights():
            taken = sum(1 for _ in islice(steps, at_once))
        yield
