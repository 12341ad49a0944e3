"""Claims that wait for a slot which somebody else still holds.

A held slot advertises a second claim id. A schedd that asks for it with a better job gets its
answer when the slot is free: meanwhile the present job uses up its retirement and leaves. Whether a
job is better is decided in `requests.py`, how the slot is freed by its table; the ordinary requests
are `services/claiming.py`'s. (Manual, Claimed State; wire notes, REQUEST_CLAIM.)
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Protocol

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd
from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.startd import requests
from kettle.startd import slot_events as ev
from kettle.startd.claim_machine import Claim, ClaimPhase, Holder
from kettle.startd.machine import SlotRecord
from kettle.startd.services.parts import Startd
from kettle.startd.services.schedds import Schedds
from kettle.wire.messages import claims as messages


@dataclass
class _Waiting:
    """A claim request that was accepted for a slot still being freed."""

    request: messages.RequestClaim
    holder: Holder
    stream: Stream
    watch: asyncio.Task[None] | None = None


class Answers(Protocol):
    """How claim requests are answered."""

    def refuse(self, reason: str, request: messages.RequestClaim) -> messages.RequestClaimReply:
        """Return the answer that refuses a request."""

    def reply(
        self,
        request: messages.RequestClaim,
        claimed: list[SlotRecord],
        leftover: SlotRecord | None,
    ) -> messages.RequestClaimReply:
        """Return the answer that grants slots."""

    def grant(self, record: SlotRecord, job: ClassAd, holder: Holder, rank: float) -> None:
        """Let a schedd hold the offered claim of a slot."""


class WaitingClaims:
    """The second claims of held slots, by claim id."""

    def __init__(self, startd: Startd, answers: Answers, schedds: Schedds) -> None:
        self._startd = startd
        self._answers = answers
        self._schedds = schedds
        self._waiting: dict[str, _Waiting] = {}

    def offer(self, record: SlotRecord) -> None:
        """Advertise an id by which a better job may take a slot that is held now."""
        if record.waiting_claim is None:
            record.waiting_claim = self._startd.mint()
            self._startd.updates.note(record, urgent=False)

    def on_request(
        self,
        record: SlotRecord,
        request: messages.RequestClaim,
        holder: Holder,
        stream: Stream,
    ) -> messages.RequestClaimReply | None:
        """Accept a better claim for a held slot: None, the answer waits until the slot is free."""
        startd, job, waiting = self._startd, request.request, record.waiting_claim
        assert record.claim is not None
        if waiting is None or waiting.phase is not ClaimPhase.OFFERED:
            return self._answers.refuse("another claim waits for the slot", request)
        ad = startd.slot_ad(record, policy=True)
        rank = requests.rank_of(ad, job)
        if not requests.accepts(ad, job) or not requests.may_preempt(rank, record.claim.rank):
            return self._answers.refuse("the job is not better than the one that runs", request)
        holder = requests.with_limits(holder, ad, job)
        code, why = VacateReasonCode.StartdPreemptingClaimUserPrio, "user priority"
        if rank > record.claim.rank:
            code, why = VacateReasonCode.StartdPreemptingClaimRank, "machine rank"
            startd.machine.counters.rank_preemptions += 1
        else:
            startd.machine.counters.priority_preemptions += 1
        # Words that HTCondor's own tests look for.
        startd.runtime.log(
            f"{record.short_name}: preempting claim based on {why}, for {holder.user}"
        )
        record.waiting_claim = waiting._replace(holder=holder, rank=rank, phase=ClaimPhase.IDLE)
        record.waiting_job = job
        entry = self._waiting[waiting.claim_id] = _Waiting(request, holder, stream)
        startd.apply(record, ev.BetterClaimArrived(code))
        if waiting.claim_id in self._waiting:
            entry.watch = tasks.spawn(self._watch(record, entry), "waiting claim")
        return None

    async def _watch(self, record: SlotRecord, entry: _Waiting) -> None:
        """A schedd that hangs up does not want the slot any more (edge 19)."""
        with contextlib.suppress(KettleError):
            await entry.stream.receive_forever()
        entry.watch = None
        self.leave(record)

    def promote(self, record: SlotRecord) -> None:
        """The slot is free for the claim that waited: answer its schedd."""
        claim, job = record.waiting_claim, record.waiting_job
        assert claim is not None
        assert job is not None
        record.waiting_claim = record.waiting_job = None
        entry = self._forget(claim)
        assert entry is not None
        startd = self._startd
        startd.machine.set_claim(record, claim._replace(phase=ClaimPhase.OFFERED))
        self._answers.grant(record, job, entry.holder, claim.rank)
        self._schedds.tell(self._answer(record, entry), "claim reply")

    async def _answer(self, record: SlotRecord, entry: _Waiting) -> None:
        try:
            await entry.stream.send(self._answers.reply(entry.request, [record], None))
        except KettleError:
            self._startd.apply(record, ev.ClaimReleased())
        finally:
            entry.stream.close()

    def leave(self, record: SlotRecord) -> None:
        """The waiting claim is given up; the present one may go on if nothing else broke it."""
        if record.waiting_claim is None or record.waiting_claim.claim_id not in self._waiting:
            return
        self.drop(record)
        self._startd.apply(record, ev.BetterClaimLeft())
        if record.slot.phase.state == "Claimed":
            self.offer(record)

    def drop(self, record: SlotRecord) -> None:
        """The slot goes elsewhere: withdraw the second claim, refuse who waits for it."""
        claim = record.waiting_claim
        record.waiting_claim = record.waiting_job = None
        if claim is None:
            return
        self._startd.retire_session(claim)
        entry = self._forget(claim)
        if entry is not None:
            with contextlib.suppress(KettleError):
                entry.stream.post(messages.RequestClaimReply(False, [], None))
            entry.stream.close()

    def _forget(self, claim: Claim) -> _Waiting | None:
        entry = self._waiting.pop(claim.claim_id, None)
        if entry is not None and entry.watch is not None:
            entry.watch.cancel()
            entry.watch = None
        return entry
