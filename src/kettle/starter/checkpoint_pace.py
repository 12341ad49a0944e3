"""How soon a job that has left a checkpoint goes on: at once, unless it does nothing else.

Pure. A program that exits with its checkpoint's code as soon as it is started would be started
without end, as fast as the machine can. Compat: so it is with the reference, whose own slowness
(some eight checkpoints a second) is the only bound; here a job that goes on like that has one a
second (tests/unit/starter/test_checkpoint_pace.py).
"""

from __future__ import annotations

# Limit: so many checkpoints in a row may come sooner than one is wanted; a short test of a program
# that makes them need not wait.
FREE = 8
# Limit: from one beginning to the next, for a job that goes on making them sooner.
SECONDS = 1.0


class CheckpointPace:
    """The checkpoints of one job, in seconds of a steady clock."""

    def __init__(self) -> None:
        self._began = 0.0
        self._short = 0

    def begin(self, now: float) -> None:
        """The program begins, or goes on."""
        self._began = now

    def pause(self, now: float) -> float:
        """Return how many seconds the program waits that left a checkpoint which is sent by now."""
        took = now - self._began
        if took >= SECONDS:
            self._short = 0
            return 0.0
        self._short += 1
        return SECONDS - took if self._short > FREE else 0.0
