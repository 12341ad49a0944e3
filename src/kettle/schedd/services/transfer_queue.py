"""TRANSFER_QUEUE_REQUEST: who wants to move files asks for a turn and is told when it comes.

The connection is held while the transfer waits and runs; its end frees the turn. What the client
reports of its progress is read and dropped. Whose turn it is `transfer_queue.py` decides; of whom a
request is, the schedd's siblings say themselves. Source: wire notes, Transfer queue manager.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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
    from kettle.schedd.queue.actors import Actor

_GO_AHEAD, _NEVER = 1, 0
# How often the client is asked to report, in seconds; 0 is never.
_REPORT_SECONDS = 0
# Limit: a client that says nothing for so long is given up.
_LONGEST_TRANSFER_SECONDS = 24 * 3600.0
# Limit: turns in one direction that who is no sibling may ask for; no more than a tenth of all.
MOST_OF_OTHERS = 10


def read_limits(config: Config) -> Limits:
    """Return the limits of a configuration."""
    return Limits(
        config[TransferKnobs.MAX_CONCURRENT_UPLOADS],
        config[TransferKnobs.MAX_CONCURRENT_DOWNLOADS],
        config[TransferKnobs.MAX_CONCURRENT_UPLOADS_PER_USER],
    )


class TransferQueueCommands:
    """The handler, and who waits."""

    def __init__(self, runtime: Runtime, actor: Callable[[Stream], Actor]) -> None:
        self._runtime = runtime
        self._actor = actor
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
        """Wait for the client's turn, say go, hold the connection until the client is done.

        Compat: the reference believes whoever says for whom he asks; here the schedd's siblings
        alone are believed, and of others each has few turns
        (test_who_is_no_sibling_asks_for_himself_and_not_often).
        """
        asked = TransferQueueRequest.read(await stream.receive()).request
        actor = self._actor(stream)
        request = Request(
            (asked.string("User") or "") if actor.super_user else actor.user,
            downloading=asked.boolean("Downloading") is True,
            asked_at=self._runtime.clock.now(),
            size_bytes=max(0, asked.integer("SandboxSize") or 0),
        )
        if not actor.super_user and self._has_enough(request):
            why = "Too many transfers are asked for by one user"
            await stream.send(TransferQueueReply(ClassAd({"Result": _NEVER, "ErrorString": why})))
            return
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

    def _has_enough(self, request: Request) -> bool:
        """Whether a user has asked for as many turns of his own as anybody may have."""
        limit = self.queue.limits.of(downloading=request.downloading)
        most = min(MOST_OF_OTHERS, max(1, limit // 10)) if limit > 0 else MOST_OF_OTHERS
        return self.queue.asked_by(request.user, downloading=request.downloading) >= most

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
