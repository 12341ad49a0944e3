"""Commands to a starter's own address: a shadow that comes back, and people looking at the job.

CA_RECONNECT_JOB brings a new syscall socket (wire reference, Disconnect and reconnect).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.runtime.stream import Stream
from kettle.wire.commands import Command
from kettle.wire.messages.claims import ClaimCommand, ClaimCommandReply

if TYPE_CHECKING:
    from kettle.starter.service import Starter

# What a reconnecting shadow brings anew.
_RENEWED = ("TransferKey", "TransferSocket", "ShadowIpAddr", "ShadowVersion", "UidDomain")


class StarterCommands:
    """Registers and answers the commands."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter

    def register(self) -> None:
        """Make the commands known to the network."""
        self._starter.world.register(Command.CA_CMD, self.on_claim_command)
        self._starter.world.register(Command.CA_AUTH_CMD, self.on_claim_command)
        self._starter.world.begin_accepting()

    async def on_claim_command(self, stream: Stream) -> None:
        """Answer a CA_ command."""
        request = ClaimCommand.read(await stream.receive()).request
        name = (request.string("Command") or "").upper()
        if name != "CA_RECONNECT_JOB":
            await self._refuse(stream, "InvalidRequest", f"{name} is not for a starter")
            return
        starter = self._starter
        if starter.pipeline.finished:
            await self._refuse(stream, "InvalidState", "the job has ended")
            return
        for attribute in _RENEWED:
            text = request.text(attribute)
            if text is not None:
                starter.job.insert_text(attribute, text)
        reply = starter.info_ad()
        reply["MyType"] = "Reply"
        reply["TargetType"] = "Command"
        reply["Result"] = "Success"
        await stream.send(ClaimCommandReply(reply))
        stream.keep()
        stream.timeout = None
        starter.world.log("the shadow reconnected")
        starter.shadow.reconnect(stream)

    async def _refuse(self, stream: Stream, result: str, reason: str) -> None:
        reply = ClassAd({"MyType": "Reply", "TargetType": "Command", "Result": result})
        reply["ErrorString"] = reason
        await stream.send(ClaimCommandReply(reply))
