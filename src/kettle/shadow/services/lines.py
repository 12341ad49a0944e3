"""Connections to starters that wait for another job of their claim.

A job that is over leaves its starter's connection here; the next shadow of the claim takes it. One
that nobody takes is closed: its starter waits no longer than that. Source: decision 0009.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream

# A starter without work ends sooner.
KEPT_SECONDS = 5.0


class IdleLines:
    """The idle connections of one host, by claim."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Stream, asyncio.TimerHandle]] = {}

    def keep(self, claim_id: str, stream: Stream) -> None:
        """Keep a connection for the claim's next job."""
        self.drop(claim_id)
        timer = asyncio.get_running_loop().call_later(KEPT_SECONDS, self.drop, claim_id)
        self._lines[claim_id] = (stream, timer)

    def take(self, claim_id: str) -> Stream | None:
        """Return the claim's connection, if there is one whose starter still waits."""
        stream, timer = self._lines.pop(claim_id, (None, None))
        if stream is None or timer is None:
            return None
        timer.cancel()
        if stream.at_end():
            stream.close()
            return None
        return stream

    def drop(self, claim_id: str) -> None:
        """Close the claim's connection, if there is one."""
        stream, timer = self._lines.pop(claim_id, (None, None))
        if stream is not None and timer is not None:
            timer.cancel()
            stream.close()

    def close(self) -> None:
        """Close every connection."""
        for claim_id in list(self._lines):
            self.drop(claim_id)
