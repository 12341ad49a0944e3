"""Talking to the schedds that hold claims: whether they live, and that a claim is over.

When a claim's lease ends is `claim_machine.py`'s; the slot's reaction is its table's. (Wire notes,
Schedd and shadow to startd.)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine

from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.startd import claim_machine
from kettle.startd import slot_events as ev
from kettle.startd.claim_machine import Claim, ClaimPhase
from kettle.startd.machine import SlotRecord
from kettle.startd.services.parts import Startd
from kettle.wire.commands import Command
from kettle.wire.messages import claims as messages
from kettle.wire.security.claim_id import ClaimId
from kettle.wire.sinful import Sinful

# How long nobody is asked for signs of life where no claim is held.
_NOBODY_SECONDS = 3600.0
# Claims that come due within this time are asked about in one round.
_TOGETHER_SECONDS = 0.05
# How long the end of the startd waits until the schedds have been told.
_TELLING_SECONDS = 5.0


class Schedds:
    """Hears from the holders of claims, and tells them."""

    def __init__(self, startd: Startd) -> None:
        self._startd = startd
        self._claimed = asyncio.Event()
        self._telling: set[asyncio.Task[object]] = set()

    def register(self) -> None:
        """Make the commands known to the network."""
        self._startd.runtime.network.register(Command.ALIVE, self.on_alive)

    # ---- signs of life ------------------------------------------------------------------------

    def note_claimed(self) -> None:
        """A schedd holds another claim: it may be asked for a sign of life sooner than others."""
        self._claimed.set()

    async def on_alive(self, stream: Stream) -> None:
        """A schedd of the old style says that it lives."""
        claim_id = messages.Alive.read(await stream.receive()).claim_id
        startd = self._startd
        record = startd.machine.find_claim(claim_id)
        if record is None or record.claim is None or record.claim.phase is ClaimPhase.OFFERED:
            await stream.send(messages.AliveReply(-1))
            return
        now = startd.runtime.clock.steady()
        startd.machine.set_claim(record, claim_machine.hear(record.claim, now))
        await stream.send(messages.AliveReply(record.claim.holder.alive_interval_seconds))

    async def keep_alive(self) -> None:
        """Ask the schedds of idle claims that are due, and wait for the next that will be.

        Each is asked at least three times a lease whether it lives.
        """
        left = self._ask_who_is_due()
        self._claimed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(_TOGETHER_SECONDS, left)):
                await self._claimed.wait()

    def _ask_who_is_due(self) -> float:
        """Ask the schedds that it is time to ask; return in how many seconds others are due."""
        startd = self._startd
        now = startd.runtime.clock.steady()
        next_due = now + _NOBODY_SECONDS
        for record in startd.machine:
            claim = record.claim
            due = claim_machine.alive_due_at(claim) if claim is not None else None
            if claim is None or due is None:
                continue
            if due <= now:
                startd.machine.set_claim(record, claim_machine.ask_alive(claim, now))
                self.tell(self._ask_alive(record, claim), "alive")
                due = now + claim_machine.alive_seconds(claim)
            next_due = min(next_due, due)
        return next_due - now

    async def _ask_alive(self, record: SlotRecord, claim: Claim) -> None:
        startd = self._startd
        try:
            stream = await startd.runtime.network.connect(
                claim.holder.schedd_address, Command.ALIVE, session=ClaimId(claim.claim_id)
            )
            try:
                await stream.send(messages.Alive(claim.claim_id))
                answer = messages.AliveReply.read(await stream.receive())
            finally:
                stream.close()
        except KettleError as error:
            startd.runtime.log(f"{record.short_name}: the schedd does not answer: {error}")
            if isinstance(error.__cause__, ConnectionRefusedError):
                self._give_up_idle(claim)
            return
        current = startd.machine.find_claim(claim.claim_id)
        if current is None or current.claim is None:
            return
        if answer.interval_seconds < 0:
            startd.runtime.log(f"{record.short_name}: the schedd does not know the claim")
            startd.apply(current, ev.LeaseExpired())
            return
        now = startd.runtime.clock.steady()
        startd.machine.set_claim(current, claim_machine.hear(current.claim, now))

    def _give_up_idle(self, claim: Claim) -> None:
        """Nobody is at the address of an idle claim's schedd: it lived in that process alone.

        Compat: the reference waits for the end of the lease (test_startd.py).
        """
        shared = Sinful.parse(claim.holder.schedd_address).shared_port_id is not None
        record = self._startd.machine.find_claim(claim.claim_id)
        if record is None or record.claim is None or shared:
            return
        if record.claim.phase is ClaimPhase.IDLE:
            self._startd.apply(record, ev.LeaseExpired())

    def note_address(self, record: SlotRecord, address: str) -> None:
        """A restarted schedd looks for its job: that is where it listens now."""
        claim = record.claim
        if claim is not None:
            holder = claim.holder._replace(schedd_address=address)
            self._startd.machine.set_claim(record, claim._replace(holder=holder))

    # ---- what they are told -------------------------------------------------------------------

    def tell_released(self, claim: Claim) -> None:
        """Tell the schedd that its claim is over, unless it knows (B135)."""
        if claim.holder.schedd_address:
            self.tell(self._release_at_schedd(claim), "release")

    async def _release_at_schedd(self, claim: Claim) -> None:
        try:
            stream = await self._startd.runtime.network.connect(
                claim.holder.schedd_address, Command.RELEASE_CLAIM, session=ClaimId(claim.claim_id)
            )
            with contextlib.closing(stream):
                await stream.send(messages.ReleaseClaim(claim.claim_id))
        except KettleError as error:
            self._startd.runtime.log(f"cannot tell the schedd of a released claim: {error}")

    def tell(self, coroutine: Coroutine[object, object, None], name: str) -> None:
        """Do something in the background that a shutdown waits for."""
        task = tasks.spawn(coroutine, name)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def flush(self) -> None:
        """Wait, bounded, until everybody has been told."""
        if self._telling:
            await asyncio.wait(set(self._telling), timeout=_TELLING_SECONDS)
