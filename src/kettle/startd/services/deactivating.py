"""How a job of a claim ends, and whether the claim may run another one.

What a claim may do is `claim_machine.py`'s, how long a job may stay `retirement.py`'s. A starter
knows the answer before it is asked for (decision 0009), so it is told whenever it changes. (Wire
notes, Schedd and shadow to startd.)
"""

from __future__ import annotations

import asyncio
import contextlib

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd
from kettle.runtime.sockets.stream import Stream
from kettle.startd import claim_machine
from kettle.startd import slot_events as ev
from kettle.startd.claim_machine import Claim
from kettle.startd.machine import SlotRecord
from kettle.startd.retirement import vacate_seconds
from kettle.startd.services.parts import Startd
from kettle.startd.services.starters import StarterProcess
from kettle.wire.commands import Command
from kettle.wire.messages import claims as messages
from kettle.wire.messages import starter_control as words

# How long DEACTIVATE waits for the job to be gone before it answers that it still is not.
_DEACTIVATE_SECONDS = 20.0


class Deactivating:
    """Ends, freezes and thaws the jobs of claims."""

    def __init__(self, startd: Startd) -> None:
        self._startd = startd
        # By claim, what waits for the end of its worklife.
        self._worklives: dict[str, asyncio.TimerHandle] = {}

    def register(self) -> None:
        """Make the commands known to the network."""
        register = self._startd.runtime.network.register
        for command in (
            Command.DEACTIVATE_CLAIM,
            Command.DEACTIVATE_CLAIM_FORCIBLY,
            Command.DEACTIVATE_CLAIM_JOB_DONE,
            Command.DEACTIVATE_CLAIM_FINAL_XFER,
            Command.REACTIVATE_CLAIM_CHECK,
        ):
            register(command, self.on_deactivate)
        register(Command.SUSPEND_CLAIM, self.on_suspend)
        register(Command.CONTINUE_CLAIM, self.on_suspend)

    # ---- the end of a job ---------------------------------------------------------------------

    async def on_deactivate(self, stream: Stream) -> None:
        """End the job, or hear that it has ended; say whether the claim may run another."""
        startd = self._startd
        command = stream.command
        claim_id = messages.DeactivateClaim.read(await stream.receive()).claim_id
        record = startd.machine.find_claim(claim_id)
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
            return self._startd.starters.find(record.slot.activation)
        return self._startd.starters.finished(claim_id)

    def _deactivate(self, starter: StarterProcess, record: SlotRecord | None, command: int) -> None:
        code, now = VacateReasonCode.ClaimDeactivated, self._startd.runtime.clock.steady()
        final = command == Command.DEACTIVATE_CLAIM_FINAL_XFER
        if (final or command == Command.DEACTIVATE_CLAIM) and record is not None:
            seconds = vacate_seconds(self._startd.policy.grants(record), record.ran_seconds(now))
            starter.vacate(
                code, "Claim deactivated", graceful=True, seconds=seconds, brings_output=final
            )
        else:
            starter.vacate(code, "Claim deactivated forcibly", graceful=False, seconds=0)

    async def await_leaving(self, claim_id: str) -> None:
        """Wait for a job of the claim that was told to leave.

        Its shadow heard at once that the claim lives on; the next job may be here before it is
        gone.
        """
        starter = self._starter_of(self._startd.machine.find_claim(claim_id), claim_id)
        if starter is not None and starter.told_to_leave:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DEACTIVATE_SECONDS):
                    await starter.done.wait()

    async def on_suspend(self, stream: Stream) -> None:
        """Freeze or thaw the job of a claim."""
        claim_id = messages.SuspendClaim.read(await stream.receive()).claim_id
        record = self._startd.machine.find_claim(claim_id)
        if record is not None:
            suspend = stream.command == Command.SUSPEND_CLAIM
            self._startd.apply(record, ev.SuspendAsked() if suspend else ev.ContinueAsked())

    # ---- whether another may run --------------------------------------------------------------

    def may_start(self, record: SlotRecord | None) -> bool:
        """Whether the slot's claim may run another job."""
        if record is None or record.claim is None or self._startd.stopping:
            return False
        if record.slot.leaving_code:
            return False
        return claim_machine.may_run_another(record.claim, self._startd.runtime.clock.steady())

    def tell_starter(self, record: SlotRecord, *, goes_on: bool) -> None:
        """Tell a running job's starter whether its claim may run another one."""
        starter = self._startd.starters.find(record.slot.activation)
        if starter is not None:
            starter.post(words.ClaimAnswer(ClassAd({"Start": goes_on and self.may_start(record)})))

    def note_worklife(self, claim: Claim, now: float) -> None:
        """Let the starter know when its claim, which runs its first job, may run no other."""
        if claim.worklife_seconds < 0 or claim.activations:
            return
        left = max(0.0, claim.claimed_at + claim.worklife_seconds - now)
        loop, claim_id = asyncio.get_running_loop(), claim.claim_id
        self._worklives[claim_id] = loop.call_later(left, self._on_worklife_over, claim_id)

    def _on_worklife_over(self, claim_id: str) -> None:
        self._worklives.pop(claim_id, None)
        record = self._startd.machine.find_claim(claim_id)
        if record is not None:
            self.tell_starter(record, goes_on=False)

    def forget(self, claim: Claim) -> None:
        """A claim is over."""
        timer = self._worklives.pop(claim.claim_id, None)
        if timer is not None:
            timer.cancel()
