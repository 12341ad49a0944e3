"""TRANSFER_QUEUE_REQUEST: who wants to move files asks for a turn, and has it at once.

Limit: nobody waits; the disk's load is not measured yet. What the client reports of its progress
while it holds the connection is read and dropped. Source: wire reference, Transfer queue manager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.wire.commands import Command
from kettle.wire.dialog import Words

if TYPE_CHECKING:
    from kettle.runtime.stream import Stream
    from kettle.schedd.service import ScheddService

_GO_AHEAD = 1
# How often the client is asked to report, in seconds; 0 is never.
_REPORT_SECONDS = 0
# Limit: a client that says nothing for so long is given up.
_LONGEST_TRANSFER_SECONDS = 24 * 3600.0


class TransferQueueCommands:
    """The handler."""

    def __init__(self, service: ScheddService) -> None:
        self._service = service

    def register(self) -> None:
        """Answer the command."""
        network = self._service.runtime.network
        network.register(Command.TRANSFER_QUEUE_REQUEST, self.on_request)

    async def on_request(self, stream: Stream) -> None:
        """Say go, then hold the connection until the client is done with it."""
        (await stream.receive()).ad()
        answer = ClassAd({"Result": _GO_AHEAD, "ReportInterval": _REPORT_SECONDS})
        await stream.send(Words(answer))
        while (await stream.receive(_LONGEST_TRANSFER_SECONDS)).string():
            pass
