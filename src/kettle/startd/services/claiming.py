"""Who gets a slot: a schedd asks for a claim, is matched to it, and gives it up.

Whether a request is granted is `requests.py`'s, what a claim may then do `claim_machine.py`'s; the
slot's reaction is its table's. Claims for slots that somebody else still holds are
`services/preemption.py`'s, jobs of a claim `services/activating.py`'s. (Wire notes, REQUEST_CLAIM.)
"""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.knobs.startd import StartdKnobs
from kettle.policy.lease import lease_of
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.startd import claim_machine, requests
from kettle.startd import slot_events as ev
from kettle.startd.ads import OFFERS
from kettle.startd.claim_machine import ClaimPhase, Holder
from kettle.startd.machine import SlotRecord
from kettle.startd.services.parts import Startd
from kettle.startd.services.preemption import WaitingClaims
from kettle.startd.services.schedds import Schedds
from kettle.startd.slot_machine import Phase
from kettle.wire.commands import Command
from kettle.wire.messages import claims as messages
from kettle.wire.security.claim_id import ClaimId

# Limit: dynamic slots one request may ask for.
_MOST_DYNAMIC = 1000

# States in which a whole slot is given to who asks.
_TO_BE_HAD = frozenset(("Unclaimed", "Matched", "Backfill"))


class Claiming:
    """Gives slots to schedds, and takes them back."""

    def __init__(self, startd: Startd, schedds: Schedds) -> None:
        self._startd = startd
        self._schedds = schedds
        self.waiting = WaitingClaims(startd, self, schedds)

    def register(self) -> None:
        """Make the commands known to the network."""
        register = self._startd.runtime.network.register
        register(Command.REQUEST_CLAIM, self.on_request)
        register(Command.RELEASE_CLAIM, self.on_release)
        register(Command.MATCH_INFO, self.on_match)

    def _find(self, claim_id: str) -> SlotRecord | None:
        found = self._startd.machine.find_claim(claim_id)
        if found is not None:
            return found
        for record in self._startd.machine.slots.values():
            if record.waiting_claim is not None and record.waiting_claim.claim_id == claim_id:
                return record
        return None

    # ---- REQUEST_CLAIM ------------------------------------------------------------------------

    async def on_request(self, stream: Stream) -> None:
        """Give a slot to a schedd, cut one out for it, or refuse."""
        startd = self._startd
        request = messages.RequestClaim.read(await stream.receive())
        startd.machine.counters.claim_requests += 1
        record = self._find(request.claim_id)
        holder = self._holder(request, stream)
        reply: messages.RequestClaimReply | None
        if record is None or startd.stopping or record.claim is None:
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
        self._startd.runtime.log(f"Refused to be claimed ({public}): {reason}")
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
        ad = self._startd.slot_ad(record, policy=True)
        if record.slot.phase is Phase.MATCHED_IDLE:
            # They are false for others than the one it was matched to, who is asking.
            ad.insert_text("Requirements", OFFERS)
        if requests.accepts(ad, job):
            return ad
        record.job = None
        return None

    def _accept(self, record: SlotRecord, job: ClassAd, holder: Holder, ad: ClassAd) -> None:
        startd = self._startd
        holder = requests.with_limits(holder, ad, job)
        self.grant(record, job, holder, requests.rank_of(ad, job))
        if startd.machine.drain is not None:
            record.accepted_while_draining = True
        startd.apply(record, ev.ClaimAccepted())
        startd.runtime.log(f"{record.short_name}: Request accepted for {holder.user}")

    def grant(self, record: SlotRecord, job: ClassAd, holder: Holder, rank: float) -> None:
        """Let a schedd hold the offered claim of a slot, and offer another to better jobs."""
        startd, config = self._startd, self._startd.runtime.config
        assert record.claim is not None
        lease = claim_machine.lease_for(
            lease_of(job),
            holder.alive_interval_seconds,
            config.value(ScheddKnobs.MAX_CLAIM_ALIVES_MISSED),
        )
        claim = claim_machine.accept(
            record.claim,
            holder,
            startd.runtime.clock.steady(),
            lease=lease,
            worklife=float(config.value(StartdKnobs.CLAIM_WORKLIFE)),
        )
        startd.machine.set_claim(record, claim._replace(rank=rank))
        record.job = job
        self.waiting.offer(record)
        self._schedds.note_claimed()

    def _claim_whole(
        self, record: SlotRecord, request: messages.RequestClaim, holder: Holder
    ) -> messages.RequestClaimReply:
        if record.slot.phase.state not in _TO_BE_HAD:
            return self.refuse(f"the slot is {record.slot.phase.state}", request)
        with tasks.reported(f"The claim of {record.short_name}"):
            ad = self._match(record, request.request)
            if ad is None:
                return self.refuse("slot and job do not match", request)
            self._accept(record, request.request, holder, ad)
            return self.reply(request, [record], None)
        self._undo(record)
        return self.refuse("the claim failed", request)

    def _undo(self, record: SlotRecord) -> None:
        """Let a slot be as it was before a claim that failed."""
        startd = self._startd
        if record.slot.phase.state not in _TO_BE_HAD:
            # Its schedd is told that it has not got it.
            assert record.claim is not None
            holder = record.claim.holder._replace(schedd_address="")
            startd.machine.set_claim(record, record.claim._replace(holder=holder))
            startd.apply(record, ev.ClaimReleased())
            return
        record.job = None
        record.waiting_claim = None
        if record.claim is None or record.claim.phase is not ClaimPhase.OFFERED:
            startd.offer(record)

    def _claim_part(
        self, parent: SlotRecord, request: messages.RequestClaim, holder: Holder
    ) -> messages.RequestClaimReply:
        """Cut dynamic slots out of a partitionable one and claim them."""
        startd, job = self._startd, request.request
        if parent.slot.phase.state not in {"Unclaimed", "Drained"}:
            return self.refuse(f"the slot is {parent.slot.phase.state}", request)
        config = startd.runtime.config
        count = min(max(1, job.integer("_condor_NUM_DYNAMIC_SLOTS") or 1), _MOST_DYNAMIC)
        claimed: list[SlotRecord] = []
        for _ in range(count):
            wanted = requests.size_request(parent, job, startd.slot_ad(parent), config)
            if wanted is None:
                break
            child = startd.machine.carve(parent, wanted, startd.runtime.clock.steady())
            if not self._claim_child(parent, child, job, holder):
                break
            claimed.append(child)
        if not claimed:
            return self.refuse("slot and job do not match, or too little is left", request)
        startd.updates.note(parent, urgent=True)
        leftovers = job.boolean("_condor_SEND_LEFTOVERS") is True
        return self.reply(request, claimed, parent if leftovers else None)

    def _claim_child(
        self, parent: SlotRecord, child: SlotRecord, job: ClassAd, holder: Holder
    ) -> bool:
        """Claim a slot that was cut out; where that fails, its part returns to its parent."""
        machine = self._startd.machine
        with tasks.reported(f"The claim of a part of {parent.short_name}"):
            ad = self._match(child, job)
            if ad is not None:
                self._move_claim(parent, child)
                self._accept(child, job, holder, ad)
                return True
            machine.counters.slots_not_matching += 1
        if child.slot.phase is Phase.UNCLAIMED_IDLE and child.name in machine.slots:
            machine.destroy(child)
        return False

    def _move_claim(self, parent: SlotRecord, child: SlotRecord) -> None:
        """The offered id goes to the dynamic slot; the parent gets a fresh one."""
        offered = parent.claim
        assert offered is not None
        self._startd.machine.set_claim(parent, None)
        self._startd.machine.set_claim(child, offered)
        self._startd.offer(parent)

    def reply(
        self,
        request: messages.RequestClaim,
        claimed: list[SlotRecord],
        leftover: SlotRecord | None,
    ) -> messages.RequestClaimReply:
        """Return the answer that grants slots: their ads, and what is left of a partitioned one."""
        startd = self._startd
        pairs = []
        if request.request.boolean("_condor_SEND_CLAIMED_AD") is True:
            for record in claimed:
                assert record.claim is not None
                ad = startd.slot_ad(record, policy=True).flattened()
                pairs.append((record.claim.claim_id, ad))
        left = None
        if leftover is not None and leftover.claim is not None:
            left = (leftover.claim.claim_id, startd.slot_ad(leftover, policy=True).flattened())
        return messages.RequestClaimReply(True, pairs, left)

    # ---- being matched, and given up ----------------------------------------------------------

    async def on_match(self, stream: Stream) -> None:
        """The negotiator says that a slot was given away."""
        claim_id = messages.MatchInfo.read(await stream.receive()).claim_id
        record = self._startd.machine.find_claim(claim_id)
        if record is not None and record.pool is None:
            self._startd.apply(record, ev.MatchNotified())

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
        self._startd.machine.set_claim(record, record.claim._replace(holder=holder))
        self._startd.apply(record, ev.ClaimReleased())
