"""Connections to starters that wait for another job of their claim.

A job that is over leaves its starter's connection here; the next shadow of the claim takes it. One
that nobody takes is closed: its starter waits no longer than that. Source: decision 0009.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kettle.wire.codec import Reader
from kettle.wire.messages.syscalls import RegisterStarterInfo, read_syscall

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.wire.messages.rpc import Call

# A starter without work ends sooner.
KEPT_SECONDS = 5.0


class IdleLines:
    """The idle connections of one host, by claim."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Stream, asyncio.TimerHandle]] = {}
        # What each starter said of itself when it began a job here, as it came and as it was read.
        self._beginnings: WeakKeyDictionary[Stream, tuple[bytes, Call]] = WeakKeyDictionary()

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

    def read_first_call(self, stream: Stream, reader: Reader) -> Call:
        """Return the first call of a job on a connection; RemoteProtocolError.

        A starter says the same of itself for each job of a claim (`RepeatedCall`): that is read
        once, and nobody may change it.
        """
        body = reader.rest()
        before, call = self._beginnings.get(stream, (b"", None))
        if call is None or body != before:
            call = read_syscall(Reader(body, reader.encrypted))
            if isinstance(call, RegisterStarterInfo):
                self._beginnings[stream] = body, call
        return call

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
