"""GET_JOB_CONNECT_INFO: how a user reaches the starter of a running job.

The starter is asked for (CA_LOCATE_STARTER at the startd) and then asked to make a session for the
job's owner; the session's secret is what the client gets. Source: wire notes,
GET_JOB_CONNECT_INFO (S001-S003).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.attributes.job import STARTER_ADDRESS
from kettle.classad import ClassAd
from kettle.errors import KettleError, RefusedError
from kettle.schedd.job_machine import ON_A_MACHINE
from kettle.schedd.queue.jobs import Job
from kettle.wire.commands import Command
from kettle.wire.messages.claims import ClaimCommand, ClaimCommandReply
from kettle.wire.messages.queue_queries import (
    CreateJobOwnerSession,
    CreateJobOwnerSessionReply,
    GetJobConnectInfo,
    GetJobConnectInfoReply,
)
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.security.secret_words import hide_secrets

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.schedd.queue.actors import Actor
    from kettle.schedd.services.parts import Schedd


# What a startd says that has a starter, whether it knows where or not.
_RUNS_SOMEWHERE = frozenset({"Success", "CommunicationError"})
# The code of a refusal that asking again does not change.
_FOR_GOOD = 1
# Universes whose jobs have no starter.
_WITHOUT_STARTER = frozenset({JobUniverse.SCHEDULER, JobUniverse.GRID})


class ConnectCommands:
    """The handler."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd

    def register(self) -> None:
        """Answer the command."""
        network = self._schedd.runtime.network
        network.register(Command.GET_JOB_CONNECT_INFO, self.on_connect_info)

    async def on_connect_info(self, stream: Stream) -> None:
        """Answer with the starter's address and a session, or why there is none (yet)."""
        request = GetJobConnectInfo.read(await stream.receive()).request
        actor = self._schedd.actor(stream)
        cluster, proc = request.integer("ClusterId"), request.integer("ProcId")
        job = self._schedd.queue.job(cluster or 0, -1 if proc is None else proc)
        try:
            if job is None:
                raise RefusedError(f"No such job: {cluster or 0}.{proc or 0}")
            found = await self._find(job, actor, request)
        except (KettleError, OSError) as error:
            found = _refusal(job, str(error))
            if isinstance(error, RefusedError) and error.code == _FOR_GOOD:
                found["Retry"] = False
        await stream.send(GetJobConnectInfoReply(found))

    async def _find(self, job: Job, actor: Actor, request: ClassAd) -> ClassAd:
        if not actor.may_change(job.user):
            raise RefusedError(
                f"{actor.owner} is not authorized for access to the starter for job {job.id}",
                code=_FOR_GOOD,
            )
        if job.universe in _WITHOUT_STARTER:
            raise RefusedError(f"Job {job.id} does not support remote access.", code=_FOR_GOOD)
        claim_id = job.ad.string("ClaimId")
        if job.status not in ON_A_MACHINE or not claim_id:
            raise RefusedError(f"Job {job.id} is not running.")
        address = await self._locate(job, claim_id)
        reply = await self._make_session(address, claim_id, request)
        return ClassAd(
            {
                "Result": True,
                "ClaimId": reply.string("ClaimId") or "",
                "StarterIpAddr": reply.string("StarterIpAddr") or address,
                "RemoteHost": job.ad.string("RemoteHost") or "",
                "CondorVersion": reply.string("CondorVersion") or "",
            }
        )

    async def _locate(self, job: Job, claim_id: str) -> str:
        """Return the starter's address, as its startd knows it, else as its shadow does.

        A startd of HTCondor does not know the address of a starter that is called through a broker
        until the starter's next report, ours none of one that is slow to say it.
        """
        network = self._schedd.runtime.network
        startd = job.ad.string("StartdIpAddr") or ""
        stream = await network.connect(
            startd, Command.CA_CMD, session=ClaimId.with_session(claim_id)
        )
        try:
            question = ClassAd(
                {
                    "MyType": "Command",
                    "TargetType": "Reply",
                    "Command": "CA_LOCATE_STARTER",
                    "ClaimId": claim_id,
                    "GlobalJobId": job.ad.string("GlobalJobId") or "",
                    "ScheddIpAddr": str(network.address),
                }
            )
            await stream.send(ClaimCommand(question))
            reply = ClaimCommandReply.read(await stream.receive()).response
        finally:
            stream.close()
        address = reply.string("StarterIpAddr")
        if not address and reply.string("Result") in _RUNS_SOMEWHERE:
            address = job.ad.string(STARTER_ADDRESS)
        if not address:
            raise RefusedError(_said(reply) or "the startd knows no starter")
        return address

    async def _make_session(self, address: str, claim_id: str, request: ClassAd) -> ClassAd:
        network = self._schedd.runtime.network
        stream = await network.connect(
            address, Command.CREATE_JOB_OWNER_SEC_SESSION, session=ClaimId.with_session(claim_id)
        )
        try:
            question = ClassAd(
                {"ClaimId": claim_id, "SessionInfo": request.string("SessionInfo") or ""}
            )
            await stream.send(CreateJobOwnerSession(question))
            reply = CreateJobOwnerSessionReply.read(await stream.receive()).response
        finally:
            stream.close()
        if not reply.boolean("Result"):
            raise RefusedError(_said(reply) or "the starter made no session")
        return reply


def _said(reply: ClassAd) -> str:
    """Return a machine's reason for whoever asked, who need not know the claim that it names."""
    return hide_secrets(reply.string("ErrorString") or "")


def _refusal(job: Job | None, why: str) -> ClassAd:
    ad = ClassAd({"Result": False, "ErrorString": why, "Retry": False})
    if job is not None:
        ad["JobStatus"] = job.status
        # A job that may still come to run is worth asking for again.
        ad["Retry"] = job.status in {JobStatus.IDLE, JobStatus.RUNNING}
        reason = job.ad.string("HoldReason")
        if reason and job.status == JobStatus.HELD:
            ad["HoldReason"] = reason
    return ad
