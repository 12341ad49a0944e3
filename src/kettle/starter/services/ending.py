"""The end of a job: its output, what the shadow and the startd are told, and the sandbox.

The steps and their order are `exit_pipeline.py`'s, what is said of the end `outcome.py`'s. A job
that leaves nothing to be sent ends with one call (`wire.messages.short_way`).
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import assert_never

from kettle.classad import ClassAd
from kettle.errors import ConnectionLost
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.sockets.stream import Stream
from kettle.starter import outcome, syscalls
from kettle.starter.conversation import Turn
from kettle.starter.exit_pipeline import ExitPipeline, ExitStep
from kettle.starter.limits import Excess
from kettle.starter.services.parts import Starter
from kettle.starter.services.reports import NO_UPDATE
from kettle.starter.services.transfer import NotRestored, TransferFailed
from kettle.transfer.plan import sends_only_changes
from kettle.wire.messages import short_way
from kettle.wire.messages import syscalls as calls

# How long a finished starter waits to be told that its claim was deactivated.
_DEACTIVATION_SECONDS = 20.0


class JobEnd:
    """The end of one job, once. `stays` says afterwards whether another may follow in here."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self.pipeline = ExitPipeline()
        self.stays = False
        # The connection on which the next job of the claim may be asked for.
        self.line: Stream | None = None
        self.final: ClassAd | None = None
        self._status: int | None = None
        # Whether the claim may run another job, if the job's last call ended the activation for
        # the shadow.
        self._goes_on: bool | None = None

    async def finish(self, status: int | None) -> None:
        """Go through the exit pipeline until it is done (starter exit notes)."""
        self._status = status
        await self.pipeline.run(self._perform)

    async def give_up(self, status: int | None, excess: Excess) -> None:
        """Tell what the job used, then why it cannot go on; nothing of its output is fetched."""
        starter = self._starter
        final = starter.reports.final(status)
        await starter.shadow.call(lambda: syscalls.must(calls.RegisterJobInfo(final)))
        await self.report_failure(excess.message, excess.code, excess.subcode)

    async def report_failure(self, message: str, code: int, subcode: int) -> None:
        """Tell the shadow that the job cannot go on here; it holds or requeues the job."""
        starter = self._starter
        starter.log(message)
        event = outcome.remote_error(
            starter.activation.slot_name, message, code, subcode, critical=True
        )
        with contextlib.suppress(ConnectionLost):
            await starter.shadow.call_once(lambda: syscalls.invoke(calls.UserLog(event)))
            await self._wait_for_deactivation()

    async def report_input_failure(self, error: TransferFailed) -> None:
        """Tell that the input did not come, after what the job wants sent of a failure."""
        starter = self._starter
        if error.code:
            with contextlib.suppress(TransferFailed):
                await starter.transfer.send_output(final=True, attribute="FailureFiles")
        text = error.message
        if not isinstance(error, NotRestored):
            text = f"Failed to transfer files: {text}"
        await self.report_failure(text, error.code, error.subcode)

    async def _perform(self, step: ExitStep) -> None:
        starter = self._starter
        match step:
            case ExitStep.CANCEL_UPDATES:
                starter.stop_looking()
            case ExitStep.TRANSFER_OUTPUT:
                await self._bring_output()
            case ExitStep.UPDATE_STARTD:
                if self.final is not None:
                    # That it ended the startd always hears: its claim may be given back before
                    # the sandbox is gone, and a job that is over is not made to leave.
                    measured = not starter.way.spares(Turn.TELL_STARTD)
                    told = self.final if measured else ClassAd()
                    starter.control.tell_usage(told, starter.world.address, final=True)
            case ExitStep.JOB_EXIT:
                await self._say_exit()
            case ExitStep.AWAIT_DEACTIVATION:
                await self._leave()
            case _:
                assert_never(step)

    # ---- output -------------------------------------------------------------------------------

    async def _bring_output(self) -> None:
        starter, way, started = self._starter, self._starter.way, self._status is not None
        if started and starter.vacate is None and not way.spares(Turn.SAY_EXITED):
            event = ClassAd({"EventType": "ActivationExecutionExit"})
            await starter.shadow.call(lambda: syscalls.invoke(calls.EventNotification(event)))
        if self.final is None:
            self.final = starter.reports.final(self._status)
        if started and starter.vacate is None:
            way.decide_end(self._has_output)
        if started and not way.spares(Turn.SAY_FINAL):
            await self._say_final()
        if way.spares(Turn.SEND_OUTPUT):
            return
        sending = outcome.choose_sending(starter.job, self._status, starter.vacate)
        if starter.transfers and sending is not None:
            await self._send_output(sending)

    def _has_output(self) -> bool:
        """Whether anything has to be sent; a look at a sandbox that is as we made it is enough."""
        starter = self._starter
        if not starter.transfers:
            return False
        if starter.keeper.surveyed().is_as_made and sends_only_changes(starter.job):
            return False
        return starter.transfer.has_output()

    async def _say_final(self) -> None:
        final = ClassAd(parent=self.final)
        final["_condor_JOBINFO_MAXINTERVAL"] = NO_UPDATE
        await self._starter.shadow.call(lambda: syscalls.must(calls.RegisterJobInfo(final)))

    async def _send_output(self, sending: outcome.Sending) -> None:
        """Send the files, again to a shadow that came back."""
        starter, returns = self._starter, self._starter.shadow.returns
        try:
            await starter.transfer.send_output(final=sending.final, attribute=sending.attribute)
        except TransferFailed as error:
            if starter.vacate is not None and self.final is not None:
                # It may have been told to leave since.
                self.final.update(outcome.vacate_attributes(starter.vacate))
            if error.try_again:
                # Whether it broke because the shadow went away shows when it is next called.
                await self._say_final()
                if starter.shadow.returns != returns:
                    starter.log(f"once more, to the shadow that came back: {error}")
                    await self._bring_output()
                    return
            if starter.vacate is None:
                await self.report_failure(error.message, error.code, error.subcode)

    # ---- the last words -----------------------------------------------------------------------

    async def _say_exit(self) -> None:
        starter = self._starter
        final = ClassAd(parent=self.final)
        if starter.way.one_call_ends:
            final[short_way.LAST_REPORT] = True
            if starter.transfers:
                final[short_way.NO_OUTPUT] = True
            if self._may_run_another():
                self._goes_on = starter.control.claim_goes_on
                final[short_way.GOES_ON] = self._goes_on
        if self.final is not None:
            # The startd counts them too.
            self.final["BytesSent"] = starter.transfer.bytes_sent
            self.final["BytesRecvd"] = starter.transfer.bytes_received
        spooled = starter.transfer.spooled
        if spooled is None and starter.way.one_call_ends and starter.transfers:
            spooled = []
        if spooled is not None:
            final["SpooledOutputFiles"] = ",".join(spooled)
        if starter.delayed or not starter.way.one_call_ends:
            delayed = ClassAd()
            for name, text in starter.delayed.items():
                delayed.insert_text(name, text)
            final["ChirpDelayedAttrs"] = delayed
        core_dumped = bool(starter.keeper.core)
        reason = int(outcome.exit_reason(self._status, starter.vacate, core_dumped=core_dumped))
        status = self._status or 0
        await starter.shadow.call(lambda: syscalls.must(calls.JobExit(status, reason, final)))
        starter.trace(Step.REPORTED)

    async def _leave(self) -> None:
        """Take the job's last traces away, say that it is over, and see who closes the claim."""
        starter = self._starter
        self.stays = self._may_run_another()
        if not (self.stays and starter.keeper.leave_to_next()):
            starter.keeper.remove()
        if self._goes_on and self.stays:
            self.line = starter.shadow.give_away()
        starter.control.tell_done(self.final, starter.had, stays=self.stays)
        if self._goes_on is None:
            await self._wait_for_deactivation()

    def _may_run_another(self) -> bool:
        """Whether another job may follow here: only after one that ended by itself."""
        starter = self._starter
        return (
            starter.may_stay
            and self._status is not None
            and starter.vacate is None
            and starter.shadow.connected
            and (starter.plan is None or not starter.plan.nice)
            and not starter.jobs.living()
        )

    async def _wait_for_deactivation(self) -> None:
        """Wait until the shadow closes its side or the startd ends the job, but not for ever."""
        starter = self._starter
        closed = tasks.spawn(starter.shadow.closed(), "shadow closes")
        told = tasks.spawn(starter.deactivated.wait(), "deactivation")
        await asyncio.wait(
            (closed, told),
            timeout=_DEACTIVATION_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
        closed.cancel()
        told.cancel()
