"""A shadow's turn in the schedd's transfer queue: asked for, waited for, given back.

Only what is large asks (BYTES_REQUIRED_TO_QUEUE_FOR_TRANSFER). A schedd that cannot be asked keeps
no files from travelling. Source: wire notes, Transfer queue manager.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.errors import WireError
from kettle.records.event_cluster import FileTransferEvent
from kettle.shadow.job_updates import texts
from kettle.shadow.services.run import Run
from kettle.wire.commands import Command
from kettle.wire.messages.filetransfer import (
    TransferQueueReply,
    TransferQueueReport,
    TransferQueueRequest,
)
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream

# How long is waited before the other side is told that it has to be patient.
PATIENCE_SECONDS = 60.0
_QUEUED = {"Input": 1, "Output": 4}


class Turn:
    """One transfer's place in the queue."""

    def __init__(self, run: Run, direction: str) -> None:
        self._run = run
        self._direction = direction
        self._stream: Stream | None = None
        self._coming: asyncio.Task[TransferQueueReply] | None = None
        self._asked_at = 0.0
        # How long was waited; None if nobody was asked.
        self.queue_seconds: int | None = None
        self.size = 0

    async def take(self) -> bool:
        """Return True when the files may travel, False when that needs more patience."""
        run = self._run
        if self.size < run.host.bytes_to_queue or self.queue_seconds is not None:
            return True
        try:
            if self._coming is None:
                await self._ask()
            assert self._coming is not None
            done, _ = await asyncio.wait({self._coming}, timeout=PATIENCE_SECONDS)
            if not done:
                return False
            self._coming.result()
        except (WireError, OSError) as error:
            run.log(f"The transfer queue cannot be asked: {error}")
        self.queue_seconds = max(0, int(run.host.steady() - self._asked_at))
        run.update(texts({"TransferQueued": False}))
        # What is on its way does not look as if it waited.
        run.flush()
        return True

    async def _ask(self) -> None:
        run = self._run
        self._asked_at = run.host.steady()
        word = "In" if self._direction == "Input" else "Out"
        run.write_event(FileTransferEvent(kind=_QUEUED[self._direction]))
        queued = {"TransferQueued": True, f"Transfer{word}Queued": int(run.host.now())}
        run.update(texts(queued))
        run.flush()
        request = ClassAd(
            {
                "Downloading": self._direction == "Output",
                "FileName": run.job.string("Iwd") or "",
                "JobId": run.name,
                "User": f"Owner_{run.job.string('Owner') or ''}",
                "SandboxSize": self.size,
            }
        )
        self._stream = stream = await run.host.runtime.network.connect(
            Sinful.parse(run.host.schedd_address), Command.TRANSFER_QUEUE_REQUEST
        )
        await stream.send(TransferQueueRequest(request))
        self._coming = asyncio.get_running_loop().create_task(self._receive(stream))

    @staticmethod
    async def _receive(stream: Stream) -> TransferQueueReply:
        return TransferQueueReply.read(await stream.receive_forever())

    async def give_back(self) -> None:
        """Let the next one go."""
        if self._coming is not None and not self._coming.done():
            self._coming.cancel()
        if self._stream is not None:
            with contextlib.suppress(WireError):
                await self._stream.send(TransferQueueReport(""))
            self._stream.close()
            self._stream = None
