"""The execute side as the schedd meets it: negotiation, claim requests, keep-alives, releases.

Decisions are the scheduler's and `negotiation`'s; here are the connections. A claim's session is
known to the network from the moment the claim is matched until it is gone: the way out of the
claims' table forgets it, or the release does when it is sent. One that a startd grants is known
once a job runs on it or, left over, once it is requested.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kettle.attributes.match_words import MATCH_EXPRESSION, OF_A_MATCH
from kettle.classad import ClassAd
from kettle.errors import KettleError, WireError
from kettle.levels import Level
from kettle.matchmaking.unreachable import Unreachable
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.schedd.claims import Claim
from kettle.schedd.negotiation import Desk, serve_round
from kettle.schedd.queue.jobs import Job
from kettle.wire.commands import CLAIM_COMMANDS, Command
from kettle.wire.messages.claims import (
    Alive,
    AliveReply,
    ReleaseClaim,
    RequestClaim,
    RequestClaimReply,
)
from kettle.wire.messages.negotiate import Negotiate
from kettle.wire.security.claim_id import EXECUTE_SIDE, ClaimId

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.schedd.services.parts import Schedd

# What a startd answers ALIVE with for a claim nobody knows here: the claim ends.
_UNKNOWN_CLAIM = -1

# Limit: startds that are spoken to at a time where MAX_PENDING_STARTD_CONTACTS sets no limit.
_MOST_CONTACTS = 10_000


class ClaimCommands:
    """Handlers and requests that concern claims."""

    def __init__(self, schedd: Schedd, desk: Desk) -> None:
        self._schedd = schedd
        self._desk = desk
        self._contacts: asyncio.Semaphore | None = None
        self._most_contacts = 0
        # Claims whose session our network has.
        self._known: set[str] = set()
        self._unreachable = Unreachable()

    def register(self) -> None:
        """Answer the commands."""
        network = self._schedd.runtime.network
        network.register(Command.NEGOTIATE, self.on_negotiate, again=True)
        network.register(Command.ALIVE, self.on_alive)
        network.register(Command.RELEASE_CLAIM, self.on_release)
        network.register(Command.RESCHEDULE, self.on_reschedule, again=True)

    async def on_negotiate(self, stream: Stream) -> None:
        """Serve one round; the connection waits for the next one."""
        schedd = self._schedd
        header = Negotiate.read(await stream.receive()).header
        avoided = self._unreachable.avoided(schedd.runtime.clock.steady())
        sent = await stream.run(serve_round(header, schedd.idle, self._desk, avoided))
        if sent:
            schedd.statistics.add("ResourceRequestsSent", schedd.now(), sent)

    async def on_alive(self, stream: Stream) -> None:
        """Tell a startd whether its claim is still wanted."""
        claim_id = Alive.read(await stream.receive()).claim_id
        schedd = self._schedd
        known = schedd.scheduler.knows_claim(claim_id)
        interval = schedd.settings.alive_seconds if known else _UNKNOWN_CLAIM
        await stream.send(AliveReply(interval))

    async def on_release(self, stream: Stream) -> None:
        """Note that a startd gave a claim up."""
        claim_id = ReleaseClaim.read(await stream.receive()).claim_id
        self._schedd.scheduler.on_released_by_startd(claim_id)

    async def on_reschedule(self, _stream: Stream) -> None:
        """Look at the idle jobs soon: somebody says that something has changed."""
        self._schedd.want_matches()

    # -- out --------------------------------------------------------------------------------

    def request(self, claim: Claim, job: Job) -> None:
        """Ask a startd for a claim, in the background."""
        self._schedd.trace(job, Step.REQUESTED, claim.slot.string("Name") or "", coming=True)
        self.know(claim.id)
        tasks.spawn(self._request(claim, job), f"claim for {job.id}")

    async def _request(self, claim: Claim, job: Job) -> None:
        schedd, asked = self._schedd, claim.id
        try:
            reply = await self._ask(claim, job)
        except (KettleError, OSError, TimeoutError) as error:
            schedd.runtime.log(f"No claim {claim.public_id} for job {job.id}: {error}")
            # Whoever answers nonsense would be asked again at once, and so for ever.
            self._leave_alone(claim.startd_address)
            schedd.scheduler.on_claim_failed(claim)
            # Others may have a slot for the job meanwhile.
            schedd.want_matches()
        else:
            self._unreachable.on_answered(claim.startd_address)
            if reply.accepted:
                schedd.trace(job, Step.CLAIMED, coming=True)
            else:
                schedd.runtime.log(f"{claim.startd_address} refused claim {claim.public_id}")
            schedd.scheduler.on_claim_reply(claim, reply)
        finally:
            # Granted under another id, or given up before it was asked for with this session.
            self._forget_unless_wanted(asked)

    def _leave_alone(self, address: str) -> None:
        """Ask for no slot of a startd for a while; then look for matches again."""
        schedd = self._schedd
        seconds = self._unreachable.on_failed(address, schedd.runtime.clock.steady())
        asyncio.get_running_loop().call_later(seconds, schedd.want_matches)

    def _contact_turns(self) -> asyncio.Semaphore:
        """Return what lets so many startds be spoken to at once as the configuration says now.

        Those who wait already go on under the limit they met.
        """
        said = self._schedd.settings.most_startd_contacts
        most = said if said > 0 else _MOST_CONTACTS
        if self._contacts is None or most != self._most_contacts:
            self._contacts, self._most_contacts = asyncio.Semaphore(most), most
        return self._contacts

    async def _ask(self, claim: Claim, job: Job) -> RequestClaimReply:
        schedd = self._schedd
        async with self._contact_turns():
            stream = await schedd.runtime.network.connect(
                claim.startd_address, Command.REQUEST_CLAIM, session=ClaimId.with_session(claim.id)
            )
            schedd.scheduler.claims.in_contact += 1
            try:
                await stream.send(
                    RequestClaim(
                        claim_id=claim.id,
                        request=claim_request(job.ad, claim, schedd.name),
                        schedd_address=str(schedd.runtime.network.address),
                        alive_seconds=schedd.settings.alive_seconds,
                        preempted=[],
                    )
                )
                reader = await stream.receive(float(schedd.settings.claim_request_seconds))
                return RequestClaimReply.read(reader)
            finally:
                schedd.scheduler.claims.in_contact -= 1
                stream.close()

    def release(self, claim_id: str, address: str) -> None:
        """Tell a startd that a claim is not needed, in the background."""
        tasks.spawn(self._release(claim_id, address), "release of a claim")

    async def _release(self, claim_id: str, address: str) -> None:
        network = self._schedd.runtime.network
        try:
            stream = await network.connect(
                address, Command.RELEASE_CLAIM, session=ClaimId.with_session(claim_id)
            )
            try:
                await stream.send(ReleaseClaim(claim_id))
            finally:
                stream.close()
        except (WireError, OSError) as error:
            self._schedd.runtime.log.full(f"A claim was not released at {address}: {error}")
        finally:
            # Its startd may have offered it again meanwhile.
            self._forget_unless_wanted(claim_id)

    def know(self, claim_id: str) -> None:
        """Let the startd use the claim's session to talk to us."""
        if claim_id in self._known:
            return
        self._known.add(claim_id)
        session = ClaimId.with_session(claim_id)
        if session is not None:
            self._schedd.runtime.network.add_session(
                session, user=EXECUTE_SIDE, levels=(Level.READ,), commands=CLAIM_COMMANDS
            )

    def _forget_unless_wanted(self, claim_id: str) -> None:
        if not self._schedd.scheduler.knows_claim(claim_id):
            self.forget(claim_id)

    def forget(self, claim_id: str) -> None:
        """Know the session of a claim no more, which is gone."""
        self._known.discard(claim_id)
        session = ClaimId.with_session(claim_id)
        if session is not None:
            self._schedd.runtime.network.remove_session(session)


def claim_request(job: ClassAd, claim: Claim, schedd_name: str) -> ClassAd:
    """Return the ad that a claim is requested with: the job's, what we can do, and the match.

    Of the match speaks the negotiator, whose words are in the claim's slot: where it is silent, a
    job's own words of the same names do not count.

    Compat: the reference sends the job's own ConcurrencyLimits, which may have been edited since
    the match, or be an expression that says one thing to the negotiator and another to the startd,
    whose ad is what counts for the whole pool. Ours sends those that the negotiator counted
    (test_a_claim_is_requested_with_the_limits_of_the_match).
    """
    request = ClassAd(
        {
            "ScheddName": schedd_name,
            "_condor_SEND_LEFTOVERS": True,
            "_condor_SECURE_CLAIM_ID": True,
            "_condor_SEND_CLAIMED_AD": True,
            "_condor_NUM_DYNAMIC_SLOTS": 1,
            "_condor_CLAIM_PARTITIONABLE_SLOT": False,
            "StartdSendsAlives": True,
            "_condor_StartdHandlesAlives": True,
        },
        parent=job,
    )
    told: dict[str, str | None] = {"WorkingCM": None}
    for word in OF_A_MATCH:
        told[word.name] = None
        said = claim.slot.text(word.name)
        told[word.asked_as or word.name] = word.silent if said in (None, "undefined") else said
    told |= {
        name: claim.slot.text(name)
        for name in claim.slot.names()
        if name.startswith(MATCH_EXPRESSION)
    }
    for name, text in told.items():
        if text is not None or name in job:
            request.insert_text(name, text or "undefined")
    return request
