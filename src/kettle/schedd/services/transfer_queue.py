"""TRANSFER_QUEUE_REQUEST: who wants to move files asks for a turn and is told when it comes.

The connection is held while the transfer waits and runs; its end frees the turn. What the client
reports of its progress is read and dropped. Whose turn it is `transfer_queue.py` decides. Source:
wire notes, Transfer queue manager.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.config.knobs.transfer import TransferKnobs
from kettle.errors import ConnectionLost
from kettle.runtime import tasks
from kettle.schedd.transfer_queue import Limits, Request, TransferQueue
from kettle.wire.commands import Command
from kettle.wire.messages.filetransfer import (
    TransferQueueReply,
    TransferQueueReport,
    TransferQueueRequest,
)

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.runtime.context import Runtime
    from kettle.runtime.sockets.stream import Stream

_GO_AHEAD = 1
# How often the client is asked to report, in seconds; 0 is never.
_REPORT_SECONDS = 0
# Limit: a client that says nothing for so long is given up.
_LONGEST_TRANSFER_SECONDS = 24 * 3600.0


def read_limits(config: Config) -> Limits:
    """Return the limits of a configuration."""
    return Limits(
        config[TransferKnobs.MAX_CONCURRENT_UPLOADS],
        config[TransferKnobs.MAX_CONCURRENT_DOWNLOADS],
        config[TransferKnobs.MAX_CONCURRENT_UPLOADS_PER_USER],
    )


class TransferQueueCommands:
    """The handler, and who waits."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.queue = TransferQueue()
        self._turns: dict[Request, asyncio.Event] = {}

    def register(self) -> None:
        """Answer the command."""
        runtime = self._runtime
        self.reconfigure(read_limits(runtime.config))
        runtime.network.register(Command.TRANSFER_QUEUE_REQUEST, self.on_request)

    def reconfigure(self, limits: Limits) -> None:
        """Take over the limits; who may go by the new ones goes."""
        self.queue.limits = limits
        self._advance()

    async def on_request(self, stream: Stream) -> None:
        """Wait for the client's turn, say go, hold the connection until the client is done."""
        asked = TransferQueueRequest.read(await stream.receive()).request
        request = Request(
            asked.string("User") or "",
            downloading=asked.boolean("Downloading") is True,
            asked_at=self._runtime.clock.now(),
            size_bytes=max(0, asked.integer("SandboxSize") or 0),
        )
        way = "download" if request.downloading else "upload"
        self._runtime.log.debug(
            "D_TEST",
            f"TransferQueueManager: enqueueing {way} of job {asked.string('JobId')} "
            f"for {request.user}, {request.size_bytes} bytes",
        )
        turn = self._turns[request] = asyncio.Event()
        self.queue.add(request)
        self._advance()
        # A client that hangs up while it waits is no longer waiting.
        reports = tasks.spawn(self._read_reports(stream), "transfer queue")
        coming = tasks.spawn(turn.wait(), "turn")
        try:
            await asyncio.wait({reports, coming}, return_when=asyncio.FIRST_COMPLETED)
            if turn.is_set() and not reports.done():
                answer = ClassAd({"Result": _GO_AHEAD, "ReportInterval": _REPORT_SECONDS})
                await stream.send(TransferQueueReply(answer))
                await reports
        finally:
            coming.cancel()
            reports.cancel()
            del self._turns[request]
            self.queue.remove(request)
            self._advance()

    def publish(self, ad: ClassAd, now: float) -> None:
        """Put the queue's figures into the schedd's ad."""
        self.queue.publish(ad, now)

    def _advance(self) -> None:
        self.queue.measure(self._runtime.clock.now())
        for request in self.queue.next_turns():
            self._turns[request].set()

    @staticmethod
    async def _read_reports(stream: Stream) -> None:
        """Read until the client says that it is done, or is gone."""
        try:
            while TransferQueueReport.read(await stream.receive(_LONGEST_TRANSFER_SECONDS)).text:
                pass
        except ConnectionLost:
            return
