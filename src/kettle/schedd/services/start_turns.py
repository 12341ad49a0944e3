"""In which order starts of jobs beside the schedd are told of, which take differently long."""

from __future__ import annotations

import asyncio
import contextlib

# Limit: a start that takes longer (a folder that does not answer) does not keep back the news of
# the next.
_TURN_SECONDS = 1.0


class StartTurn:
    """When a start's news may be told: after that of the start before it."""

    def __init__(self, before: asyncio.Event) -> None:
        self._before: asyncio.Event | None = before
        self.told = asyncio.Event()

    async def come(self) -> None:
        """Wait for the start before, for a while."""
        before, self._before = self._before, None
        if before is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TURN_SECONDS):
                    await before.wait()
