"""A shadow's talk with the startd about its claim: start, end, suspend, and finding the starter.

One short connection for each word, over the claim's session; the connection that starts a job
stays and becomes the starter's. What is asked when is `services/shadow.py`'s. Source: wire
notes, ACTIVATE_CLAIM, Ending activity, Disconnect and reconnect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.wire.commands import Command
from kettle.wire.messages.claims import (
    ActivateClaim,
    ActivateClaimReply,
    ClaimCommand,
    ClaimCommandReply,
    ClaimMessage,
    DeactivateClaimReply,
)

if TYPE_CHECKING:
    from kettle.runtime.sockets.network import Network
    from kettle.runtime.sockets.stream import Stream
    from kettle.wire.security.claim_id import ClaimId

STARTD_SECONDS = 20.0
# A starter is being reaped, or started, while this is waited for.
STARTER_SECONDS = 120.0


class ClaimLink:
    """The claim a job runs under, and where its startd is."""

    __slots__ = ("address", "claim", "network")

    def __init__(self, network: Network, claim: ClaimId, address: str) -> None:
        self.network = network
        self.claim = claim
        self.address = address

    async def _connect(self, command: Command, address: str = "") -> Stream:
        return await self.network.connect(
            address or self.address,
            command,
            session=self.claim if self.claim.has_session else None,
            timeout=STARTD_SECONDS,
        )

    async def activate(self, job: ClassAd) -> tuple[Stream, int, ClassAd | None]:
        """Ask for the job to be started: the connection, the code, why not.

        On code 1 the connection is the starter's; it is the caller's to close in any case.
        """
        ad = job.copy()
        ad["_condor_send_activation_failure_ad"] = True
        stream = await self._connect(Command.ACTIVATE_CLAIM)
        try:
            await stream.send(ActivateClaim(self.claim.text, 2, ad))
            reply = ActivateClaimReply.read(await stream.receive(STARTER_SECONDS))
        except BaseException:
            stream.close()
            raise
        return stream, reply.code, reply.failure

    async def command(self, message: ClaimMessage, *, answered: bool = True) -> ClassAd:
        """Send a word about the claim; its answer if it has one, an empty ad if not."""
        assert message.command is not None
        stream = await self._connect(message.command)
        try:
            await stream.send(message)
            if not answered:
                return ClassAd()
            return DeactivateClaimReply.read(await stream.receive(STARTER_SECONDS)).response
        finally:
            stream.close()

    async def ask(
        self, command: str, request: dict[str, object], *, address: str = ""
    ) -> tuple[Stream, ClassAd]:
        """Send a command by its name to the startd, or to the starter at `address`.

        Returns the connection, which the caller closes or keeps, and the reply.
        """
        ad = ClassAd({"MyType": "Command", "TargetType": "Reply", "Command": command, **request})
        stream = await self._connect(Command.CA_CMD, address)
        try:
            await stream.send(ClaimCommand(ad))
            reply = ClaimCommandReply.read(await stream.receive(STARTD_SECONDS)).response
        except BaseException:
            stream.close()
            raise
        return stream, reply
