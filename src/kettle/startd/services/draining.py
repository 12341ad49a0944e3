"""Draining the machine: who is asked to leave, when that is done, and what then.

What a drain does to one slot is its table's (`slot_machine.py`). (Wire notes, Draining.)
"""

from __future__ import annotations

import secrets
from dataclasses import replace

from kettle.classad import ClassAd
from kettle.runtime.sockets.stream import Stream
from kettle.startd import slot_events as ev
from kettle.startd.machine import Drain, SlotRecord
from kettle.startd.services.parts import Startd
from kettle.startd.services.preemption import WaitingClaims
from kettle.startd.slot_machine import Phase
from kettle.wire.commands import Command
from kettle.wire.messages import claims as messages
from kettle.wire.messages.claims import DrainCompletion

# ErrorCode of a refused drain.
_ALREADY_DRAINING = 10001
_NO_SUCH_DRAIN = 10002
_CHECK_FAILED = 10003


class Draining:
    """The drain in progress, if there is one."""

    def __init__(self, startd: Startd, waiting: WaitingClaims) -> None:
        self._startd = startd
        self._waiting = waiting
        # The drain whose wish has been done; one that ends the startd stays in progress.
        self._completed: Drain | None = None

    def register(self) -> None:
        """Make the commands known to the network."""
        register = self._startd.runtime.network.register
        register(Command.DRAIN_JOBS, self.on_drain)
        register(Command.CANCEL_DRAIN_JOBS, self.on_cancel)

    # ---- what is asked for --------------------------------------------------------------------

    async def on_drain(self, stream: Stream) -> None:
        """Begin to drain, or say why not."""
        request = messages.DrainJobs.read(await stream.receive()).request
        reply = ClassAd()
        problem = self._problem(request)
        if problem is not None:
            reply["Result"] = False
            reply["ErrorCode"], reply["ErrorString"] = problem
        else:
            drain = Drain(
                request_id=secrets.token_hex(8),
                how_fast=request.integer("HowFast") or 0,
                on_completion=request.integer("ResumeOnCompletion") or 0,
                reason=request.string("DrainReason") or "by command",
                started_at=self._startd.runtime.clock.steady(),
                start_expression=request.text("StartExpr") or "",
            )
            reply["Result"] = True
            reply["RequestID"] = drain.request_id
            self._begin(drain)
        await stream.send(messages.DrainJobsReply(reply))

    def _problem(self, request: ClassAd) -> tuple[int, str] | None:
        """Return why a drain is refused: its ErrorCode and ErrorString."""
        startd = self._startd
        if startd.machine.drain is not None:
            return _ALREADY_DRAINING, "Draining already in progress, cannot initiate draining."
        expression = request.lookup("CheckExpr")
        if expression is not None:
            text = request.text("CheckExpr") or "true"
            for record in startd.machine:
                probe = startd.slot_ad(record, policy=True)
                probe.insert_text("KettleDrainCheck", text)
                if probe.evaluate("KettleDrainCheck") is not True:
                    return _CHECK_FAILED, f"Sanity check failed for slot {record.name}: {text}"
        return None

    async def on_cancel(self, stream: Stream) -> None:
        """Stop draining; the slots go back to service."""
        request = messages.CancelDrainJobs.read(await stream.receive()).request
        drain = self._startd.machine.drain
        wanted = request.string("RequestID")
        reply = ClassAd()
        if drain is None and not wanted:
            reply["Result"] = True
        elif drain is None or (wanted and wanted != drain.request_id):
            reply["Result"] = False
            reply["ErrorCode"] = _NO_SUCH_DRAIN
            reply["ErrorString"] = "No matching draining request id found."
        else:
            reply["Result"] = True
            self._end()
        await stream.send(messages.DrainJobsReply(reply))

    # ---- what happens to the slots ------------------------------------------------------------

    def _begin(self, drain: Drain) -> None:
        startd = self._startd
        startd.machine.drain = drain
        startd.machine.last_drain_started_at = drain.started_at
        startd.refresh_base()
        for record in startd.machine:
            self._waiting.leave(record)
            self.drain(record)
        startd.updates.note_all()
        self.check()

    def drain(self, record: SlotRecord) -> None:
        """Let a slot take part, once it has no dynamic slots that have to go before it."""
        drain = self._startd.machine.drain
        if drain is None:
            return
        if record.pool is not None and record.pool.children:
            return
        self._startd.apply(record, ev.DrainStarted(drain.how_fast))

    def check(self) -> None:
        """Something has happened to a slot: the drain may be over, or at its next stage."""
        machine = self._startd.machine
        drain = machine.drain
        if drain is not None and drain.start_expression and not machine.has_claims_to_retire():
            # Who was let in meanwhile has been so for those that retired: now all leave.
            machine.drain = drain = replace(drain, start_expression="")
            for record in list(machine):
                self.drain(record)
        if drain is None or not machine.is_drained():
            return
        for record in machine:
            if record.slot.phase is Phase.DRAINED_RETIRING:
                self._startd.apply(record, ev.AllSlotsDrained())
        if drain is machine.drain:
            self._complete(drain)

    def _complete(self, drain: Drain) -> None:
        """All slots are drained: do what the request wanted then, once."""
        if drain is self._completed:
            return
        self._completed = drain
        match drain.on_completion:
            case DrainCompletion.RESUME:
                self._end()
            case DrainCompletion.RECONFIG:
                self._end()
                self._startd.runtime.reconfigure()
            case DrainCompletion.EXIT:
                # The master starts again what ends, unless it is asked not to.
                self._startd.runtime.stays_off = True
                self._startd.runtime.log("All slots are drained: this ends until it is turned on.")
                self._startd.runtime.stop("graceful")
            case DrainCompletion.RESTART:
                self._startd.runtime.stop("graceful")

    def _end(self) -> None:
        """The drain is over: the slots go back to service."""
        startd = self._startd
        startd.machine.drain = None
        startd.machine.last_drain_stopped_at = startd.runtime.clock.steady()
        startd.refresh_base()
        for record in startd.machine:
            record.slot = record.slot._replace(draining=False)
            if record.slot.phase.state == "Drained":
                startd.apply(record, ev.DrainEnded())
        startd.policy.look(startd.machine)
        startd.updates.note_all()
