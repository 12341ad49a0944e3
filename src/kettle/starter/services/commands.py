"""Commands to a starter's own address: a shadow that comes back, and people looking at the job.

CA_RECONNECT_JOB brings a new syscall socket (wire notes, Disconnect and reconnect). A job's
owner first gets a session of its own through the schedd (CREATE_JOB_OWNER_SEC_SESSION), and with it
may peek at files and start a shell.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets

from kettle.classad import ClassAd
from kettle.errors import KettleError, RefusedError
from kettle.octets import to_bytes
from kettle.policy.job_owner import user_of
from kettle.runtime.sockets.stream import Stream
from kettle.starter.launch import LaunchPlan
from kettle.starter.peek import Piece, look_reply, plan_look
from kettle.starter.services.parts import Starter
from kettle.starter.services.ssh import ShellServer
from kettle.starter.services.world import Handler
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages import queue_queries as queries
from kettle.wire.messages.claims import ClaimCommand, ClaimCommandReply
from kettle.wire.messages.filetransfer import CHUNK, EMPTY_FILE_MARK
from kettle.wire.messages.short_way import SHORT_WAY
from kettle.wire.security.claim_id import ClaimId, mint_session_id

# Code of a refusal that is worth asking again soon.
_NOT_YET = 1
# How long a program may take to begin once its start is in the job's log.
BEGINNING_SECONDS = 10.0
# What a reconnecting shadow brings anew.
_RENEWED = ("TransferKey", "TransferSocket", "ShadowIpAddr", "ShadowVersion", "UidDomain")


class StarterCommands:
    """Answers the commands about one job."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._shells = ShellServer(starter)

    def handlers(self) -> dict[Command, Handler]:
        """Return what may be asked, and what answers it."""
        return {
            Command.CA_CMD: self.on_claim_command,
            Command.CA_AUTH_CMD: self.on_claim_command,
            Command.CREATE_JOB_OWNER_SEC_SESSION: self.on_create_session,
            Command.STARTER_PEEK: self.on_peek,
            Command.START_SSHD: self.on_start_sshd,
        }

    async def on_claim_command(self, stream: Stream) -> None:
        """Answer a CA_ command."""
        request = ClaimCommand.read(await stream.receive()).request
        name = (request.string("Command") or "").upper()
        if name != "CA_RECONNECT_JOB":
            await self._refuse(stream, "InvalidRequest", f"{name} is not for a starter")
            return
        starter = self._starter
        if not self._comes_with_the_claim(stream):
            # Whoever takes this connection over gets the job's files and decides its end.
            await self._refuse(stream, "NotAuthorized", "this is not the session of the claim")
            return
        if starter.pipeline.finished:
            await self._refuse(stream, "InvalidState", "the job has ended")
            return
        for attribute in _RENEWED:
            text = request.text(attribute)
            if text is not None:
                starter.job.insert_text(attribute, text)
        starter.way.note_shadow(knows=request.boolean(SHORT_WAY) is True)
        reply = starter.reports.info_with_slot()
        reply["MyType"] = "Reply"
        reply["TargetType"] = "Command"
        reply["Result"] = "Success"
        await stream.send(ClaimCommandReply(reply))
        stream.keep()
        starter.world.log("the shadow reconnected")
        starter.shadow.reconnect(stream)

    def _comes_with_the_claim(self, stream: Stream) -> bool:
        """Whether the peer has proved to know the claim; one without a session proves nothing."""
        claim = ClaimId(self._starter.activation.claim_id)
        return not claim.has_session or stream.peer.session_id == claim.session_id

    async def _refuse(self, stream: Stream, result: str, reason: str) -> None:
        reply = ClassAd({"MyType": "Reply", "TargetType": "Command", "Result": result})
        reply["ErrorString"] = reason
        await stream.send(ClaimCommandReply(reply))

    # ---- people looking at the job ------------------------------------------------------------

    async def on_create_session(self, stream: Stream) -> None:
        """Make a session for the job's owner; whoever asks must know the claim."""
        starter = self._starter
        request = queries.CreateJobOwnerSession.read(await stream.receive()).request
        reply = ClassAd()
        claim = request.string("ClaimId") or ""
        if not secrets.compare_digest(to_bytes(claim), to_bytes(starter.activation.claim_id)):
            reply["Result"] = False
            reply["ErrorString"] = "the claim id is not the one of this job"
        else:
            info = request.string("SessionInfo") or ""
            name = secrets.token_hex(24)
            session = mint_session_id(f"{name}#{info}" if info else name, secrets.token_bytes(32))
            owner = user_of(starter.job) or "owner"
            starter.world.accept_owner(session, owner)
            reply["Result"] = True
            reply["ClaimId"] = session.text
            reply["CondorVersion"] = starter.settings.version
            reply["StarterIpAddr"] = starter.world.address
        await stream.send(queries.CreateJobOwnerSessionReply(reply))

    async def _await_look(self, stream: Stream) -> LaunchPlan:
        """Return what runs, if the peer is the job's owner; RefusedError otherwise.

        A program that is about to begin is waited for: the job's log has its start already.
        """
        starter = self._starter
        owner = (starter.job.string("User") or "").lower()
        if not owner or stream.peer.user.lower() != owner:
            raise RefusedError("only the job's owner may look at it or log in beside it")
        if starter.plan is not None and not starter.job_started:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEGINNING_SECONDS):
                    await starter.begun.wait()
        if starter.plan is None or not starter.job_started:
            raise RefusedError("the job has not started yet", code=_NOT_YET)
        return starter.plan

    async def on_peek(self, stream: Stream) -> None:
        """Send the ends of files (condor_tail)."""
        starter = self._starter
        request = queries.StarterPeek.read(await stream.receive()).request
        try:
            plan = await self._await_look(stream)
            iwd = starter.job.string("Iwd") or ""
            pieces = plan_look(request, plan, starter.sandbox.scratch, self._size_of, iwd)
        except RefusedError as error:
            reply = ClassAd({"Result": False, "ErrorString": str(error)})
            reply["Retry"] = error.code == _NOT_YET
            await stream.send(queries.StarterPeekReply(reply))
            return
        await stream.send(queries.StarterPeekReply(look_reply(pieces)))
        for piece in pieces:
            await self._send_piece(stream, piece)
        await stream.send(Words(len(pieces)))

    def _size_of(self, path: str) -> int | None:
        keeper = self._starter.keeper
        look = keeper.files.look(path) if keeper.may_open(path) else None
        return look.size if look is not None and look.is_regular else None

    async def _send_piece(self, stream: Stream, piece: Piece) -> None:
        descriptor = self._starter.keeper.open(piece.path)
        try:
            data = os.pread(descriptor, piece.size, piece.offset)
        finally:
            os.close(descriptor)
        words = [len(data), CHUNK if data else 1] if stream.encrypted else [len(data)]
        await stream.send(Words(*words))
        if not data:
            await stream.send(Words(EMPTY_FILE_MARK))
        for start in range(0, len(data), CHUNK):
            part = data[start : start + CHUNK]
            if stream.encrypted:
                await stream.send(Words(part))
            else:
                await stream.send_raw(part)

    async def on_start_sshd(self, stream: Stream) -> None:
        """Start a shell server on this connection (condor_ssh_to_job)."""
        starter = self._starter
        request = queries.StartSshd.read(await stream.receive()).request
        reply = ClassAd()
        folder = ""
        try:
            await self._await_look(stream)
            folder, keys = await self._shells.prepare(request.string("Shell") or "")
        except (KettleError, OSError) as error:
            reply["Result"] = False
            reply["ErrorString"] = str(error)
            reply["Retry"] = getattr(error, "code", 0) == _NOT_YET
        else:
            reply["Result"] = True
            reply["RemoteUser"] = starter.keeper.account.name
            reply["SSHPublicServerKey"] = keys.server
            reply["SSHPrivateClientKey"] = keys.client
        await stream.send(queries.StartSshdReply(reply))
        if folder:
            connection, _ = await stream.detach()
            self._shells.serve(folder, connection)
