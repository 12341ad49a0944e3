"""How a job of a claim begins: a shadow asks the startd, or its starter does for it.

What a claim may do is `claim_machine.py`'s, whether the slot takes the job its ad's; forking and
speaking to starters is `services/starters.py`'s, the end of a job `services/deactivating.py`'s.
(Wire notes, ACTIVATE_CLAIM; decisions 0008 and 0009.)
"""

from __future__ import annotations

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd
from kettle.config.execute_folders import folder_of
from kettle.errors import KettleError
from kettle.records.job_trace import Step
from kettle.runtime.sockets.stream import Stream
from kettle.startd import ads, claim_machine
from kettle.startd import slot_events as ev
from kettle.startd.cores import are_assigned
from kettle.startd.machine import SlotRecord
from kettle.startd.services.deactivating import Deactivating
from kettle.startd.services.parts import Startd
from kettle.startd.services.starters import StarterProcess
from kettle.startd.slot_machine import Phase
from kettle.wire.codec import is_private_attribute
from kettle.wire.commands import Command
from kettle.wire.messages import claims as messages
from kettle.wire.messages import starter_control as words
from kettle.wire.messages.starter_control import StarterActivation

# What the reply to ACTIVATE_CLAIM begins with.
_REFUSED, _GRANTED, _TRY_AGAIN = 0, 1, 2
# To a starter: this job is for another one, which ACTIVATE_CLAIM will start.
_ANOTHER_STARTER = -1


class Activating:
    """Lets jobs of claims begin."""

    def __init__(self, startd: Startd, deactivating: Deactivating) -> None:
        self._startd = startd
        self._deactivating = deactivating
        # The number of the last activation.
        self._last = 0
        # What starters were last given of the ad that slots share.
        self._base: ClassAd | None = None

    def register(self) -> None:
        """Make the command known to the network."""
        self._startd.runtime.network.register(Command.ACTIVATE_CLAIM, self.on_activate)

    # ---- whether it may -----------------------------------------------------------------------

    async def on_activate(self, stream: Stream) -> None:
        """Start a job: the connection goes to a new starter."""
        request = messages.ActivateClaim.read(await stream.receive())
        await self._deactivating.await_leaving(request.claim_id)
        judged = self._judge_activation(request.claim_id, request.job)
        if isinstance(judged, messages.ActivateClaimReply):
            await stream.send(judged)
        else:
            await self._activate(stream, *judged)

    def on_starter_asks(self, starter: StarterProcess, job: ClassAd) -> None:
        """Start a job for a shadow that said so to the claim's starter (decision 0009)."""
        starters = self._startd.starters
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
            news = self._startd.passing_ad(record)
            starters.begin_again(starter, self._begin(record), news)
            return
        ad = self._judge_job(record, job)
        if isinstance(ad, messages.ActivateClaimReply):
            self._refuse_starter(starter, ad)
            return
        activation = self._begin_activation(record, ad, starter.peer_user)
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
        startd = self._startd
        config = startd.runtime.config
        verdict = ads.constant_verdict(config, record)
        takes_all = verdict is not None and verdict.start is True and startd.machine.drain is None
        takes_all = takes_all and not startd.machine.readings.trouble
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
        startd = self._startd
        startd.machine.counters.activation_requests += 1
        record = startd.machine.find_claim(claim_id)
        claim = record.claim if record is not None else None
        now = startd.runtime.clock.steady()
        code = claim_machine.refusal(claim, now, shutting_down=bool(startd.stopping))
        if record is None or claim is None or code:
            return self._refuse_activation(job, code, _REFUSED)
        if record.slot.phase is not Phase.CLAIMED_IDLE:
            return self._refuse_activation(
                job, VacateReasonCode.ActivationRefusedStillCleaning, _TRY_AGAIN
            )
        record.job = job
        return record

    def _judge_job(self, record: SlotRecord, job: ClassAd) -> ClassAd | messages.ActivateClaimReply:
        """Return the slot's ad if it takes the job, else why not."""
        ad = self._startd.slot_ad(record, policy=True)
        if ad.evaluate("Start", job) is False:
            return self._refuse_activation(job, VacateReasonCode.ActivationRefusedNoMatch, _REFUSED)
        return ad

    def _refuse_activation(self, job: ClassAd, code: int, word: int) -> messages.ActivateClaimReply:
        self._startd.runtime.log(f"Refused to start a job: {_reason(code).name}")
        failure = None
        if job.boolean("_condor_send_activation_failure_ad") is True:
            failure = ClassAd({"VacateReasonCode": code})
            failure["VacateReason"] = _reason(code).doc
        return messages.ActivateClaimReply(word, failure)

    # ---- that it does -------------------------------------------------------------------------

    def _begin(self, record: SlotRecord) -> int:
        """Let the slot's job begin; return the number of the activation."""
        startd, claim = self._startd, record.claim
        assert claim is not None
        self._last += 1
        number, now = self._last, startd.runtime.clock.steady()
        startd.machine.set_claim(record, claim_machine.activate(claim, number, now))
        record.times.begin(now)
        startd.apply(record, ev.ClaimActivated(number))
        startd.machine.counters.job_starts += 1
        startd.trace(record, Step.ACTIVATED)
        self._deactivating.note_worklife(claim, now)
        return number

    def _begin_activation(self, record: SlotRecord, ad: ClassAd, user: str) -> StarterActivation:
        """Let the slot's job begin; return what its starter has to know."""
        number = self._begin(record)
        startd, claim = self._startd, record.claim
        assert claim is not None
        assert record.job is not None
        return StarterActivation(
            number,
            record.name,
            claim.claim_id,
            startd.starters.generation,
            startd.runtime.identity.machine,
            startd.machine.name,
            user,
            b"",
            _public(ad),
            record.job,
            self._cores(record),
            folder_of(startd.runtime.config, record.name),
            b"",
            self._public_base(),
        )

    def _cores(self, record: SlotRecord) -> str:
        """Return the cores that the job may be bound to, if any job may be."""
        if not are_assigned(self._startd.runtime.config):
            return ""
        return " ".join(map(str, self._startd.machine.cores_of(record)))

    def _public_base(self) -> ClassAd:
        """Return what all slots share, as a job may read it."""
        startd = self._startd
        if self._base is None or startd.starters.machine_stamp != startd.base_stamp:
            startd.starters.machine_stamp = startd.base_stamp
            self._base = _public(startd.base)
        return self._base

    async def _activate(self, stream: Stream, record: SlotRecord, ad: ClassAd) -> None:
        startd = self._startd
        activation = self._begin_activation(record, ad, stream.peer.user)
        # From here on somebody has to say that the activation ended: its starter, or this.
        try:
            await stream.send(messages.ActivateClaimReply(_GRANTED, None))
            connection, activation.channel = await stream.detach()
            await startd.starters.begin(activation, connection)
        except (KettleError, OSError) as error:
            startd.runtime.log(f"{record.short_name}: cannot start a starter: {error}")
            if record.claim is not None:
                now = startd.runtime.clock.steady()
                startd.machine.set_claim(record, claim_machine.end_activation(record.claim, now))
                record.times.end(now)
            startd.apply(record, ev.StarterExited(activation.number))


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
