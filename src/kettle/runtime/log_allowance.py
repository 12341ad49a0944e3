"""How many lines a log takes of what strangers can cause as often as they like.

Of each kind so many lines in a minute are written; those beyond are counted, and told of in one
line when the minute is over. Callers say what time it is; a moment is told in this machine's zone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

# Limit: lines of one kind in one window, and how long that is. Who sends a million packets in it
# fills nobody's disk, and what an administrator looks for is still found.
MOST_LINES = 20
WINDOW_SECONDS = 60


@dataclass(slots=True)
class _Window:
    began: float
    count: int = 0


class LogAllowance:
    """What was written, and what only counted, by kind; callers choose from few kinds."""

    __slots__ = ("windows",)

    def __init__(self) -> None:
        # Those that have begun and that nobody has ended yet.
        self.windows: dict[str, _Window] = {}

    def take(self, kind: str, now: float) -> bool:
        """Count a line of a kind; True if it is to be written.

        Whoever asks has told what `over` says before.
        """
        window = self.windows.setdefault(kind, _Window(now))
        window.count += 1
        return window.count <= MOST_LINES

    def over(self, now: float, *, everything: bool = False) -> Iterator[str]:
        """End the windows that are over, or all, and yield a sentence for each that had more."""
        for kind, window in list(self.windows.items()):
            # The clock may have been set back.
            if everything or not 0 <= now - window.began < WINDOW_SECONDS:
                self.windows.pop(kind, None)
                if window.count > MOST_LINES:
                    since = time.strftime("%H:%M:%S", time.localtime(window.began))
                    yield f"... and {window.count - MOST_LINES:,} more since {since}: {kind}"
