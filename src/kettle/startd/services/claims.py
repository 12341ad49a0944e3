"""Conversations about claims: request, activate, deactivate, release, keep alive.

The answers are decided by `requests.py` and `claim_machine.py`; the slot's reaction by its table.
Claims for slots that somebody else still holds are `services/preemption.py`'s. (Wire notes,
Schedd and shadow to startd.)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import TYPE_CHECKING

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.startd import StartdKnobs
from kettle.errors import KettleError
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.startd import ads, claim_machine, requests
from kettle.startd import slot_events as ev
from kettle.startd.claim_machine import Claim, ClaimPhase, Holder
from kettle.startd.machine import SlotRecord
from kettle.startd.retirement import vacate_seconds
from kettle.startd.services.preemption import WaitingClaims
from kettle.startd.slot_machine import Phase
from kettle.wire.codec import is_private_attribute
from kettle.wire.commands import Command
from kettle.wire.messages import claims as messages
from kettle.wire.messages import starter_control as words
from kettle.wire.messages.starter_control import StarterActivation
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.startd.service import StartdService
    from kettle.startd.services.starters import StarterProcess

# Limit: dynamic slots one request may ask for.
_MOST_DYNAMIC = 1000
# How long DEACTIVATE waits for the job to be gone before it answers that it still is not.
_DEACTIVATE_SECONDS = 20.0
_TRY_AGAIN = 2
# To a starter: this job is for another one, which ACTIVATE_CLAIM will start.
_ANOTHER_STARTER = -1


class ClaimCommands:
    """Answers schedds and shadows about claims."""

    def __init__(self, service: StartdService) -> None:
        self._service = service
        self.waiting = WaitingClaims(service, self)
        self._alive_soon = asyncio.Event()
        # What starters were last given of the ad that slots share.
        self._base: ClassAd | None = None
        self._telling: set[asyncio.Task[object]] = set()
        # By claim, what waits for the end of its worklife.
        self._worklives: dict[str, asyncio.TimerHandle] = {}

    def register(self) -> None:
        """Make the commands known to the network."""
        register = self._service.runtime.network.register
        register(Command.REQUEST_CLAIM, self.on_request)
        register(Command.ACTIVATE_CLAIM, self.on_activate)
        for command in (
            Command.DEACTIVATE_CLAIM,
            Command.DEACTIVATE_CLAIM_FORCIBLY,
            Command.DEACTIVATE_CLAIM_JOB_DONE,
            Command.DEACTIVATE_CLAIM_FINAL_XFER,
            Command.REACTIVATE_CLAIM_CHECK,
        ):
            register(command, self.on_deactivate)
        register(Command.RELEASE_CLAIM, self.on_release)
        register(Command.SUSPEND_CLAIM, self.on_suspend)
        register(Command.CONTINUE_CLAIM, self.on_suspend)
        register(Command.ALIVE, self.on_alive)
        register(Command.MATCH_INFO, self.on_match)

    def _find(self, claim_id: str) -> SlotRecord | None:
        found = self._service.machine.find_claim(claim_id)
        if found is not None:
            return found
        for record in self._service.machine.slots.values():
            if record.waiting_claim is not None and record.waiting_claim.claim_id == claim_id:
                return record
        return None

    # ---- REQUEST_CLAIM ------------------------------------------------------------------------

    async def on_request(self, stream: Stream) -> None:
        """Give a slot to a schedd, cut one out for it, or refuse."""
        service = self._service
        request = messages.RequestClaim.read(await stream.receive())
        service.machine.counters.claim_requests += 1
        record = self._find(request.claim_id)
        holder = self._holder(request, stream)
        reply: messages.RequestClaimReply | None
        if record is None or service.stopping or record.claim is None:
            reply = self.refuse("the claim id is not one of ours", request)
        elif record.claim.claim_id != request.claim_id:
            reply = self.waiting.on_request(record, request, holder, stream)
        elif record.claim.phase is not ClaimPhase.OFFERED:
            reply = self.refuse("the claim is taken", request)
        elif record.pool is not None:
            reply = self._claim_part(record, request, holder)
        else:
            reply = self._claim_whole(record, request, holder)
        if reply is None:
            stream.keep()
            return
        await stream.send(reply)

    def refuse(self, reason: str, request: messages.RequestClaim) -> messages.RequestClaimReply:
        """Return the answer that refuses a claim request, and log why."""
        public = ClaimId(request.claim_id).public
        self._service.runtime.log(f"Refused to be claimed ({public}): {reason}")
        return messages.RequestClaimReply(False, [], None)

    def _holder(self, request: messages.RequestClaim, stream: Stream) -> Holder:
        return requests.read_holder(
            request.request,
            schedd_address=request.schedd_address,
            client_machine=stream.remote_name.rpartition(":")[0],
            alive_seconds=request.alive_seconds,
        )

    def _match(self, record: SlotRecord, job: ClassAd) -> ClassAd | None:
        """Return the slot's ad if slot and job accept each other."""
        record.job = job
        ad = self._service.slot_ad(record, policy=True)
        if requests.accepts(ad, job):
            return ad
        record.job = None
        return None

    def _accept(self, record: SlotRecord, job: ClassAd, holder: Holder, ad: ClassAd) -> None:
        service = self._service
        self.grant(record, job, holder, requests.rank_of(ad, job))
        if service.machine.drain is not None:
            record.accepted_while_draining = True
        service.apply(record, ev.ClaimAccepted())
        service.runtime.log(f"{record.short_name}: Request accepted for {holder.user}")

    def grant(self, record: SlotRecord, job: ClassAd, holder: Holder, rank: float) -> None:
        """Let a schedd hold the offered claim of a slot, and offer another to better jobs."""
        service, config = self._service, self._service.runtime.config
        assert record.claim is not None
        lease = claim_machine.lease_for(
            job.integer("JobLeaseDuration"),
            holder.alive_interval_seconds,
            config.value(ScheddKnobs.MAX_CLAIM_ALIVES_MISSED),
        )
        claim = claim_machine.accept(
            record.claim,
            holder,
            service.runtime.clock.steady(),
            lease=lease,
            worklife=float(config.value(StartdKnobs.CLAIM_WORKLIFE)),
        )
        service.machine.set_claim(record, claim._replace(rank=rank))
        record.job = job
        self.waiting.offer(record)
        self._alive_soon.set()

    def _claim_whole(
        self, record: SlotRecord, request: messages.RequestClaim, holder: Holder
    ) -> messages.RequestClaimReply:
        if record.slot.phase.state not in {"Unclaimed", "Matched", "Backfill"}:
            return self.refuse(f"the slot is {record.slot.phase.state}", request)
        if record.slot.phase is Phase.MATCHED_IDLE:
            # Its Requirements are false only for others than the one it was matched to.
            record.slot = record.slot._replace(phase=Phase.UNCLAIMED_IDLE)
        ad = self._match(record, request.request)
        if ad is None:
            return self.refuse("slot and job do not match", request)
        self._accept(record, request.request, holder, ad)
        return self.reply(request, [record], None)

    def _claim_part(
        self, parent: SlotRecord, request: messages.RequestClaim, holder: Holder
    ) -> messages.RequestClaimReply:
        """Cut dynamic slots out of a partitionable one and claim them."""
        service, job = self._service, request.request
        if parent.slot.phase.state not in {"Unclaimed", "Drained"}:
            return self.refuse(f"the slot is {parent.slot.phase.state}", request)
        config = service.runtime.config
        count = min(max(1, job.integer("_condor_NUM_DYNAMIC_SLOTS") or 1), _MOST_DYNAMIC)
        claimed: list[SlotRecord] = []
        for _ in range(count):
            wanted = requests.size_request(parent, job, service.slot_ad(parent), config)
            if wanted is None:
                break
            child = service.machine.carve(parent, wanted, service.runtime.clock.steady())
            ad = self._match(child, job)
            if ad is None:
                service.machine.counters.slots_not_matching += 1
                service.machine.destroy(child)
                break
            self._move_claim(parent, child)
            self._accept(child, job, holder, ad)
            claimed.append(child)
        if not claimed:
            return self.refuse("slot and job do not match, or too little is left", request)
        service.updates.note(parent, urgent=True)
        leftovers = job.boolean("_condor_SEND_LEFTOVERS") is True
        return self.reply(request, claimed, parent if leftovers else None)

    def _move_claim(self, parent: SlotRecord, child: SlotRecord) -> None:
        """The offered id goes to the dynamic slot; the parent gets a fresh one."""
        offered = parent.claim
        assert offered is not None
        self._service.machine.set_claim(parent, None)
        self._service.machine.set_claim(child, offered)
        self._service.offer(parent)

    def reply(
        self,
        request: messages.RequestClaim,
        claimed: list[SlotRecord],
        leftover: SlotRecord | None,
    ) -> messages.RequestClaimReply:
        """Return the answer that grants slots: their ads, and what is left of a partitioned one."""
        service = self._service
        pairs = []
        if request.request.boolean("_condor_SEND_CLAIMED_AD") is True:
            for record in claimed:
                assert record.claim is not None
                ad = service.slot_ad(record, policy=True).flattened()
                pairs.append((record.claim.claim_id, ad))
        left = None
        if leftover is not None and leftover.claim is not None:
            left = (leftover.claim.claim_id, service.slot_ad(leftover, policy=True).flattened())
        return messages.RequestClaimReply(True, pairs, left)

    # ---- ACTIVATE_CLAIM -----------------------------------------------------------------------

    async def on_activate(self, stream: Stream) -> None:
        """Start a job: the connection goes to a new starter."""
        request = messages.ActivateClaim.read(await stream.receive())
        await self._await_leaving(request.claim_id)
        judged = self._judge_activation(request.claim_id, request.job)
        if isinstance(judged, messages.ActivateClaimReply):
            await stream.send(judged)
        else:
            await self._activate(stream, *judged)

    def on_starter_asks(self, starter: StarterProcess, job: ClassAd) -> None:
        """Start a job for a shadow that said so to the claim's starter (decision 0009)."""
        starters = self._service.starters
        if not starters.may_ask(starter, job):
            starter.post(words.ActivationRefused(ClassAd({"Code": _ANOTHER_STARTER})))
            starters.let_go(starter.claim_id)
            return
        record = self._judge_claim(starter.claim_id, job)
        if isinstance(record, messages.ActivateClaimReply):
            self._refuse_starter(starter, record)
            return
        self._public_base()
        if starters.knows(starter) and self._is_as_before(record):
            news = self._service.passing_ad(record)
            starters.begin_again(starter, self._begin(record), news)
            return
        ad = self._judge_job(record, job)
        if isinstance(ad, messages.ActivateClaimReply):
            self._refuse_starter(starter, ad)
            return
        activation = self._begin_activation(record, ad, starter.peer_user, b"")
        # The starter has the job's ad: it asked with it.
        activation.job = ClassAd()
        starters.begin_as_asked(starter, activation)

    def _refuse_starter(
        self, starter: StarterProcess, refusal: messages.ActivateClaimReply
    ) -> None:
        ad = ClassAd({"Code": refusal.code})
        ad.update(refusal.failure or {})
        starter.post(words.ActivationRefused(ad))

    def _is_as_before(self, record: SlotRecord) -> bool:
        """Whether the slot takes any job of its claim, and its ad is but for the times the same."""
        service = self._service
        config = service.runtime.config
        verdict = ads.constant_verdict(config, record)
        takes_all = verdict is not None and verdict.start is True and service.machine.drain is None
        return takes_all and ads.is_lasting(record, config)

    def _judge_activation(
        self, claim_id: str, job: ClassAd
    ) -> tuple[SlotRecord, ClassAd] | messages.ActivateClaimReply:
        """Return the slot and its ad if the job may be started there, else why not."""
        record = self._judge_claim(claim_id, job)
        if isinstance(record, messages.ActivateClaimReply):
            return record
        ad = self._judge_job(record, job)
        return ad if isinstance(ad, messages.ActivateClaimReply) else (record, ad)

    def _judge_claim(self, claim_id: str, job: ClassAd) -> SlotRecord | messages.ActivateClaimReply:
        """Return the slot, with this job from now on, if its claim may run one; else why not."""
        service = self._service
        service.machine.counters.activation_requests += 1
        record = service.machine.find_claim(claim_id)
        claim = record.claim if record is not None else None
        now = service.runtime.clock.steady()
        code = claim_machine.refusal(claim, now, shutting_down=bool(service.stopping))
        if record is None or claim is None or code:
            return self._refuse_activation(job, code, 0)
        if record.slot.phase is not Phase.CLAIMED_IDLE:
            return self._refuse_activation(
                job, VacateReasonCode.ActivationStillCleaning, _TRY_AGAIN
            )
        record.job = job
        return record

    def _judge_job(self, record: SlotRecord, job: ClassAd) -> ClassAd | messages.ActivateClaimReply:
        """Return the slot's ad if it takes the job, else why not."""
        ad = self._service.slot_ad(record, policy=True)
        if ad.evaluate("Start", job) is False:
            return self._refuse_activation(job, VacateReasonCode.ActivationNoMatch, 0)
        return ad

    async def _await_leaving(self, claim_id: str) -> None:
        """Wait for a job of the claim that was told to leave.

        Its shadow heard at once that the claim lives on; the next job may be here before it is
        gone.
        """
        starter = self._starter_of(self._service.machine.find_claim(claim_id), claim_id)
        if starter is not None and starter.told_to_leave:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DEACTIVATE_SECONDS):
                    await starter.done.wait()

    def _refuse_activation(self, job: ClassAd, code: int, word: int) -> messages.ActivateClaimReply:
        self._service.runtime.log(f"Refused to start a job: {_reason(code).name}")
        failure = None
        if job.boolean("_condor_send_activation_failure_ad") is True:
            failure = ClassAd({"VacateReasonCode": code})
            failure["VacateReason"] = _reason(code).doc
        return messages.ActivateClaimReply(word, failure)

    def _begin(self, record: SlotRecord) -> int:
        """Let the slot's job begin; return the number of the activation."""
        service, claim = self._service, record.claim
        assert claim is not None
        service.activations += 1
        number, now = service.activations, service.runtime.clock.steady()
        service.machine.set_claim(record, claim_machine.activate(claim, number, now))
        record.job_started_at = now
        record.suspended_seconds = record.suspended_at = 0.0
        service.apply(record, ev.ClaimActivated(number))
        service.machine.counters.job_starts += 1
        service.trace(record, Step.ACTIVATED)
        self._note_worklife(claim, now)
        return number

    def _begin_activation(
        self, record: SlotRecord, ad: ClassAd, user: str, channel: bytes
    ) -> StarterActivation:
        """Let the slot's job begin; return what its starter has to know."""
        number = self._begin(record)
        service, claim = self._service, record.claim
        assert claim is not None
        assert record.job is not None
        return StarterActivation(
            number,
            record.name,
            claim.claim_id,
            service.starters.generation,
            service.runtime.identity.machine,
            service.machine.name,
            user,
            channel,
            _public(ad),
            record.job,
            self._public_base(),
        )

    def _public_base(self) -> ClassAd:
        """Return what all slots share, as a job may read it."""
        service = self._service
        if self._base is None or service.starters.machine_stamp != service.base_stamp:
            service.starters.machine_stamp = service.base_stamp
            self._base = _public(service.base)
        return self._base

    async def _activate(self, stream: Stream, record: SlotRecord, ad: ClassAd) -> None:
        service, user = self._service, stream.peer.user
        activation = self._begin_activation(record, ad, user, b"")
        await stream.send(messages.ActivateClaimReply(1, None))
        connection, activation.channel = await stream.detach()
        try:
            await service.starters.begin(activation, connection)
        except KettleError as error:
            service.runtime.log(f"{record.short_name}: cannot start a starter: {error}")
            if record.claim is not None:
                now = service.runtime.clock.steady()
                service.machine.set_claim(record, claim_machine.end_activation(record.claim, now))
            service.apply(record, ev.StarterExited(activation.number))

    # ---- the end of an activation -------------------------------------------------------------

    async def on_deactivate(self, stream: Stream) -> None:
        """End the job, or hear that it has ended; say whether the claim may run another."""
        service = self._service
        command = stream.command
        claim_id = messages.DeactivateClaim.read(await stream.receive()).claim_id
        record = service.machine.find_claim(claim_id)
        starter = self._starter_of(record, claim_id)
        reply = ClassAd()
        if starter is not None and command != Command.REACTIVATE_CLAIM_CHECK:
            self._deactivate(starter, record, command)
        if starter is not None and command == Command.DEACTIVATE_CLAIM_JOB_DONE:
            # Only here can one wait: in the other cases the shadow hears nothing else until it
            # has our answer, and the starter has still to tell it how the job ended.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DEACTIVATE_SECONDS):
                    await starter.done.wait()
            if not starter.done.is_set():
                reply["StillCleaning"] = True
                reply["StarterPID"] = starter.pid
        reply["Start"] = self.may_start(record)
        await stream.send(messages.DeactivateClaimReply(reply))

    def _starter_of(self, record: SlotRecord | None, claim_id: str) -> StarterProcess | None:
        if record is not None and record.slot.activation:
            return self._service.starters.find(record.slot.activation)
        return self._service.starters.finished(claim_id)

    def _deactivate(self, starter: StarterProcess, record: SlotRecord | None, command: int) -> None:
        code, now = VacateReasonCode.ClaimDeactivated, self._service.runtime.clock.steady()
        final = command == Command.DEACTIVATE_CLAIM_FINAL_XFER
        if (final or command == Command.DEACTIVATE_CLAIM) and record is not None:
            seconds = vacate_seconds(self._service.policy.grants(record), record.ran_seconds(now))
            starter.vacate(
                code, "Claim deactivated", graceful=True, seconds=seconds, brings_output=final
            )
        else:
            starter.vacate(code, "Claim deactivated forcibly", graceful=False, seconds=0)

    def _note_worklife(self, claim: Claim, now: float) -> None:
        """Let the starter know when its claim, which runs its first job, may run no other."""
        if claim.worklife_seconds < 0 or claim.activations:
            return
        left = max(0.0, claim.claimed_at + claim.worklife_seconds - now)
        loop, claim_id = asyncio.get_running_loop(), claim.claim_id
        self._worklives[claim_id] = loop.call_later(left, self._on_worklife_over, claim_id)

    def _on_worklife_over(self, claim_id: str) -> None:
        self._worklives.pop(claim_id, None)
        record = self._service.machine.find_claim(claim_id)
        if record is not None:
            self.tell_starter(record, goes_on=False)

    def tell_starter(self, record: SlotRecord, *, goes_on: bool) -> None:
        """Tell a running job's starter whether its claim may run another one."""
        starter = self._service.starters.find(record.slot.activation)
        if starter is not None:
            starter.post(words.ClaimAnswer(ClassAd({"Start": goes_on and self.may_start(record)})))

    def forget(self, claim: Claim) -> None:
        """A claim is over."""
        timer = self._worklives.pop(claim.claim_id, None)
        if timer is not None:
            timer.cancel()

    def may_start(self, record: SlotRecord | None) -> bool:
        """Whether the slot's claim may run another job."""
        if record is None or record.claim is None or self._service.stopping:
            return False
        if record.slot.leaving_code:
            return False
        return claim_machine.may_run_another(record.claim, self._service.runtime.clock.steady())

    async def on_release(self, stream: Stream) -> None:
        """The schedd gives the claim up."""
        claim_id = messages.ReleaseClaim.read(await stream.receive()).claim_id
        record = self._find(claim_id)
        if record is None or record.claim is None:
            return
        if record.claim.claim_id != claim_id:
            self.waiting.leave(record)
            return
        # Its schedd knows: it is not told again.
        holder = record.claim.holder._replace(schedd_address="")
        self._service.machine.set_claim(record, record.claim._replace(holder=holder))
        self._service.apply(record, ev.ClaimReleased())

    async def on_suspend(self, stream: Stream) -> None:
        """Freeze or thaw the job of a claim."""
        claim_id = messages.SuspendClaim.read(await stream.receive()).claim_id
        record = self._service.machine.find_claim(claim_id)
        if record is not None:
            suspend = stream.command == Command.SUSPEND_CLAIM
            self._service.apply(record, ev.SuspendAsked() if suspend else ev.ContinueAsked())

    async def on_match(self, stream: Stream) -> None:
        """The negotiator says that a slot was given away."""
        claim_id = messages.MatchInfo.read(await stream.receive()).claim_id
        record = self._service.machine.find_claim(claim_id)
        if record is not None and record.pool is None:
            self._service.apply(record, ev.MatchNotified())

    # ---- signs of life ------------------------------------------------------------------------

    async def on_alive(self, stream: Stream) -> None:
        """A schedd of the old style says that it lives."""
        claim_id = messages.Alive.read(await stream.receive()).claim_id
        service = self._service
        record = service.machine.find_claim(claim_id)
        if record is None or record.claim is None or record.claim.phase is ClaimPhase.OFFERED:
            await stream.send(messages.AliveReply(-1))
            return
        now = service.runtime.clock.steady()
        service.machine.set_claim(record, claim_machine.hear(record.claim, now))
        await stream.send(messages.AliveReply(record.claim.holder.alive_interval_seconds))

    async def keep_alive_forever(self) -> None:
        """Ask the schedds of idle claims, at least three times a lease, whether they live."""
        service = self._service
        while True:
            now = service.runtime.clock.steady()
            next_due = now + 3600.0
            for record in service.machine:
                claim = record.claim
                due = claim_machine.alive_due_at(claim) if claim is not None else None
                if claim is None or due is None:
                    continue
                if due <= now:
                    service.machine.set_claim(record, claim_machine.ask_alive(claim, now))
                    self.tell(self._ask_alive(record, claim), "alive")
                    due = now + claim_machine.alive_seconds(claim)
                next_due = min(next_due, due)
            self._alive_soon.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.05, next_due - now)):
                    await self._alive_soon.wait()

    async def _ask_alive(self, record: SlotRecord, claim: Claim) -> None:
        service = self._service
        try:
            stream = await service.runtime.network.connect(
                claim.holder.schedd_address, Command.ALIVE, session=ClaimId(claim.claim_id)
            )
            try:
                await stream.send(messages.Alive(claim.claim_id))
                answer = messages.AliveReply.read(await stream.receive())
            finally:
                stream.close()
        except KettleError as error:
            service.runtime.log(f"{record.short_name}: the schedd does not answer: {error}")
            if isinstance(error.__cause__, ConnectionRefusedError):
                self._give_up_idle(claim)
            return
        current = service.machine.find_claim(claim.claim_id)
        if current is None or current.claim is None:
            return
        if answer.interval_seconds < 0:
            service.runtime.log(f"{record.short_name}: the schedd does not know the claim")
            service.apply(current, ev.LeaseExpired())
            return
        now = service.runtime.clock.steady()
        service.machine.set_claim(current, claim_machine.hear(current.claim, now))

    def _give_up_idle(self, claim: Claim) -> None:
        """Nobody is at the address of an idle claim's schedd: it lived in that process alone.

        Compat: the reference waits for the end of the lease (test_startd.py).
        """
        shared = Sinful.parse(claim.holder.schedd_address).shared_port_id is not None
        record = self._service.machine.find_claim(claim.claim_id)
        if record is None or record.claim is None or shared:
            return
        if record.claim.phase is claim_machine.ClaimPhase.IDLE:
            self._service.apply(record, ev.LeaseExpired())

    def note_schedd(self, record: SlotRecord, address: str) -> None:
        """A restarted schedd looks for its job: that is where it listens now."""
        claim = record.claim
        if claim is not None:
            holder = claim.holder._replace(schedd_address=address)
            self._service.machine.set_claim(record, claim._replace(holder=holder))

    def tell_schedd_released(self, claim: Claim) -> None:
        """Tell the schedd that its claim is over, unless it knows (B135)."""
        if claim.holder.schedd_address:
            self.tell(self._release_at_schedd(claim), "release")

    async def _release_at_schedd(self, claim: Claim) -> None:
        try:
            stream = await self._service.runtime.network.connect(
                claim.holder.schedd_address, Command.RELEASE_CLAIM, session=ClaimId(claim.claim_id)
            )
            await stream.send(messages.ReleaseClaim(claim.claim_id))
            stream.close()
        except KettleError as error:
            self._service.runtime.log(f"cannot tell the schedd of a released claim: {error}")

    def tell(self, coroutine: Coroutine[object, object, None], name: str) -> None:
        """Do something in the background that a shutdown waits for."""
        task = tasks.spawn(coroutine, name)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def flush(self) -> None:
        """Wait, bounded, until everybody has been told."""
        if self._telling:
            await asyncio.wait(set(self._telling), timeout=5.0)


def _reason(code: int) -> VacateReasonCode:
    return next(one for one in VacateReasonCode if int(one) == code)


def _public(ad: ClassAd) -> ClassAd:
    """Return a copy without what a job must not read, and without what the ad is chained to."""
    ad = ad.copy()
    ad.parent = None
    for name in ad.own_names():
        if is_private_attribute(name):
            ad.discard(name)
    return ad
