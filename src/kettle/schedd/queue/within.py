"""Work whose cost is a stranger's to say: how much of it one request may ask for.

A step is one look at one job: whoever takes the steps lets others have their turn by the clock
(`runtime.tasks.in_turns`), and here their own time is counted together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kettle.errors import RefusedError


def within(
    steps: Iterator[None], seconds: float, monotonic: Callable[[], float], refusal: RefusedError
) -> Iterator[None]:
    """Yield as the steps do; raise `refusal` once they alone have taken longer than `seconds`."""
    while True:
        began = monotonic()
        try:
            next(steps)
        except StopIteration:
            return
        seconds -= monotonic() - began
        if seconds < 0:
            raise refusal
        yield
