"""One running shadow: the machine's effects done, the starter's connection served.

One coroutine per job. It asks the startd to start the job, answers the starter's calls, looks for
the starter when the connection is lost, and tells claim and schedd how it ended. What happens when
is `shadow_machine.py`'s, the judgement `endings.py`'s, calls are answered in `services/calls.py`,
files travel in `services/transfers.py`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from kettle.attributes.codes import JobStatus, VacateReasonCode
from kettle.classad import ClassAd
from kettle.errors import WireError
from kettle.policy.job_policy import NOTHING, Verdict, decide_periodic, duration_deadline
from kettle.records.event_kinds import JobSuspendedEvent, JobUnsuspendedEvent
from kettle.runtime import tasks
from kettle.shadow import job_events
from kettle.shadow.endings import PROMISED, Request, Wish, has_ended, outranks
from kettle.shadow.job_updates import texts
from kettle.shadow.leaving import REMOVALS, wants_grace
from kettle.shadow.services.calls import answer, answer_data
from kettle.shadow.services.claim import STARTER_SECONDS
from kettle.shadow.services.ending import fail_run, finish, recall_end, recall_events, recall_hold
from kettle.shadow.services.leaving import LEAVING_FAST_SECONDS, Leaving
from kettle.shadow.services.preparing import prepare
from kettle.shadow.services.reconnect import (
    look_for_starter,
    note_disconnection,
    note_failure,
    note_reconnection,
    recall_start,
)
from kettle.shadow.services.run import Run
from kettle.shadow.services.transfers import has_input
from kettle.shadow.shadow_machine import Effect, Event, Phase, step
from kettle.wire.codec import Writer
from kettle.wire.messages import short_way
from kettle.wire.messages.claims import (
    ClaimMessage,
    ContinueClaim,
    DeactivateClaimForcibly,
    DeactivateClaimJobDone,
    SuspendClaim,
)
from kettle.wire.messages.rpc import Call, Shape
from kettle.wire.messages.short_way import ActivationRefused, NextJob
from kettle.wire.messages.syscalls import PutFile, read_syscall

if TYPE_CHECKING:
    from kettle.runtime.sockets.stream import Stream
    from kettle.shadow.services.kept_ads import CommonAd
    from kettle.shadow.services.parts import Host
    from kettle.wire.messages.shadow_host import StartShadow

# How often a startd that is still cleaning up is asked again, and how many times.
ACTIVATION_RETRIES = 20
ACTIVATION_RETRY_SECONDS = 0.5
_SERVING = frozenset({Phase.STARTING, Phase.RUNNING, Phase.SUSPENDED, Phase.LEAVING})


class RunningShadow(Run):
    """The shadow of one job; `run` is its life."""

    __slots__ = ("_begins_suspended", "_first_call", "_leaving", "_policy_timer")

    def __init__(self, host: Host, start: StartShadow, common: CommonAd | None = None) -> None:
        super().__init__(host, start, common)
        self._leaving = Leaving()
        self._policy_timer: asyncio.TimerHandle | None = None
        # What a starter said first on a line that it had from the job before.
        self._first_call: Call | None = None
        # Whether the job is to be stopped as soon as the startd has it.
        self._begins_suspended = False

    # Its life.

    async def run(self) -> None:
        """Live until the job's end is known and told; never raises but when cancelled."""
        try:
            recall_events(self)
            if self.state.reconnecting:
                if recall_end(self):
                    await finish(self)
                    return
                recall_start(self)
                recall_hold(self)
                await self._perform((Effect.LOG_DISCONNECTED,))
            elif not await prepare(self):
                self._stop_timers()
                await finish(self)
                return
            while self.state.phase is not Phase.DONE:
                await self._live()
            self._stop_timers()
            if self.keeping:
                # The next run begins with it.
                await asyncio.wait(self.keeping)
            await finish(self)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - one job's trouble must stay its own
            await fail_run(self, error)
        finally:
            self._stop_timers()
            self.break_off_transfers()
            if self.stream is not None:
                self.stream.close()
            if self.files is not None:
                self.host.aside.run(self.files.close)

    async def _live(self) -> None:
        """Do what the phase is about until it changes (`shadow_machine.Phase`)."""
        match self.state.phase:
            case Phase.ACTIVATING:
                await self._activate()
            case Phase.STARTING | Phase.RUNNING | Phase.SUSPENDED | Phase.LEAVING:
                await self._serve()
            case Phase.LOST:
                await look_for_starter(self)
            case Phase.CLOSING:
                known = await self._tell_claim() or not self.may_live_on
                await self.happen(Event.CLAIM_TOLD if known else Event.CLAIM_SILENT)
            case Phase.DONE:
                raise AssertionError("a shadow that is done lives no longer")
            case phase:
                assert_never(phase)

    async def happen(self, event: Event) -> None:
        """Apply an event to the machine and do what it says."""
        before = self.state.phase
        self.state, effects = step(self.state, event)
        if self.state.phase is not before:
            self.log_detail(f"{before.value} -> {self.state.phase.value}: {event.value}")
        await self._perform(effects)
        self.wake.set()

    async def _perform(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            match effect:
                case Effect.LOG_EXECUTE:
                    self._begin_execution()
                case Effect.LOG_SUSPENDED:
                    self._note_suspension()
                case Effect.LOG_CONTINUED:
                    self._note_continuation()
                case Effect.ASK_TO_LEAVE:
                    self._leaving.ask(self)
                case Effect.LOG_DISCONNECTED:
                    note_disconnection(self)
                case Effect.LOG_RECONNECTED:
                    self._leaving.forget()
                    note_reconnection(self)
                case Effect.LOG_RECONNECT_FAILED:
                    note_failure(self)
                case _:
                    assert_never(effect)

    # The startd.

    async def _activate(self) -> None:
        if await self._activate_on_line():
            return
        for _ in range(ACTIVATION_RETRIES):
            try:
                stream, code, failure = await self.link.activate(await self._activation_ad())
            except (WireError, OSError) as error:
                self._refused(f"The startd could not be asked to start the job: {error}")
                await self.happen(Event.CONNECTION_LOST)
                return
            if code == 1:
                await self._accepted(stream)
                return
            stream.close()
            if code != 2 or self.request is not None:
                self._refused("The startd refused to start the job", failure)
                await self.happen(Event.REFUSED)
                return
            await asyncio.sleep(ACTIVATION_RETRY_SECONDS)
        self._refused("The startd did not finish cleaning up after its last job")
        await self.happen(Event.REFUSED)

    async def _accepted(self, stream: Stream) -> None:
        self.stream = stream
        self.activation.accepted = int(self.host.now())
        self.hear()
        self.log(f"Request to run on {self.slot_name} {self.startd_address} was ACCEPTED")
        await self.happen(Event.ACCEPTED)
        if self.host.policy_seconds:
            # What is wanted of a running job is wanted before its program begins.
            await self.check_policy()
        else:
            self.watch_policy()
        if self._begins_suspended:
            await self.suspend(go_on=False)

    async def _activate_on_line(self) -> bool:
        """Let the starter of the claim's last job ask for this one; False if there is none.

        A line that breaks says nothing about the claim: then the startd itself is asked.
        """
        line = self.host.lines.take(self.claim.text)
        if line is None:
            return False
        try:
            await line.send(NextJob(await self._encoded_activation_ad()))
            said = await line.receive(STARTER_SECONDS)
            call = self.host.lines.read_first_call(line, said)
        except (WireError, OSError) as error:
            line.close()
            self.log(f"The starter of the last job is gone: {error}")
            return False
        if isinstance(call, ActivationRefused):
            line.close()
            self._refused("The startd refused to start the job", call.failure)
            await self.happen(Event.REFUSED)
            return True
        self._first_call = call
        await self._accepted(line)
        return True

    async def _activation_ad(self) -> ClassAd:
        """Return the ad of ACTIVATE_CLAIM, with what a starter of ours may spare itself."""
        # Which takes a while for very many files: the ad is what is so afterwards.
        nothing = not await has_input(self)
        ad = self.ad_for_the_starter()
        ad[short_way.SHORT_WAY] = True
        ad[short_way.NOTHING_TO_FETCH] = nothing
        return ad

    async def _encoded_activation_ad(self) -> bytes:
        """Return that ad as a message in the clear has it."""
        ad = await self._activation_ad()
        if self.common is None:
            return Writer().ad(ad, private=True).getvalue()
        ad.parent = None
        return Writer().ad_upon(self.common.lines, ad).getvalue()

    def _refused(self, reason: str, failure: ClassAd | None = None) -> None:
        """Note why no program began; a startd that refused may say it better, and as a code."""
        if failure is not None:
            reason = failure.string("VacateReason") or reason
            self.refusal = failure.integer("VacateReasonCode") or 0
        self.reason = reason
        self.log(f"Request to run on {self.slot_name} {self.startd_address} was REFUSED: {reason}")

    async def _tell_claim(self) -> bool:
        """Tell the startd that the activation is over, unless it was asked to end it itself.

        False if it could not be told.
        """
        wished = self.request is not None and self.request.wish is not Wish.ERROR
        if self.state.exit_known and wished and self._leaving.is_told:
            # It was deactivated; the reply says whether the claim lives on.
            return True
        if self.goes_on is not None:
            self._keep_line(goes_on=self.goes_on)
            return True
        message: ClaimMessage = DeactivateClaimForcibly(self.claim.text)
        if self.state.exit_known:
            message = DeactivateClaimJobDone(self.claim.text)
        try:
            reply = await self.link.command(message)
        except (WireError, OSError) as error:
            self.reusable = False
            self.log(f"The startd could not be told that the job is done: {error}")
            return False
        self.reusable = reply.boolean("Start") is True
        return True

    def _keep_line(self, *, goes_on: bool) -> None:
        """The activation ended with the job; a starter that stays waits on its connection."""
        self.reusable = goes_on
        if goes_on and self.stream is not None and not self.stream.closed:
            self.host.lines.keep(self.claim.text, self.stream)
            self.stream = None

    # The starter's connection.

    async def _serve(self) -> None:
        stream = self.stream
        assert stream is not None
        try:
            while self.state.phase in _SERVING:
                call, self._first_call = self._first_call, None
                if call is None:
                    call = read_syscall(await stream.receive_forever())
                self.hear()
                reply = await answer(self, call)
                if reply.shape is not Shape.NOTHING:
                    await stream.send(reply)
                if isinstance(call, PutFile) and call.size > 0 and reply.value >= 0:
                    # The job may take its time: its own starter waits for it no less.
                    data = await stream.receive_forever()
                    self.hear()
                    await stream.send(await answer_data(self, call, reply.value, data.rest()))
                if self.report is not None and self.state.phase in _SERVING:
                    await self.happen(Event.EXITED)
        except WireError as error:
            # An exit that was reported counts, though its answer did not get through.
            told = self.report is not None
            if told or self.state.phase is Phase.LEAVING:
                self.log_detail(f"The starter has left: {error}")
            elif self.state.phase in _SERVING:
                self.log(f"The starter's connection is lost: {error}")
            stream.close()
            await self.happen(Event.EXITED if told else Event.CONNECTION_LOST)

    async def note_job_state(self, ad: ClassAd) -> None:
        """See whether the starter says that the job was stopped or goes on."""
        state = ad.string("JobState")
        if state == "Suspended" and self.state.phase is Phase.RUNNING:
            self.set_attributes(NumPids=ad.integer("NumPids") or 0)
            await self.happen(Event.SUSPENDED)
        elif state == "Running" and self.state.phase is Phase.SUSPENDED:
            await self.happen(Event.CONTINUED)

    async def note_program_end(self) -> None:
        """The starter says that the program has ended; its files may be on their way."""
        self.update(texts(self.activation.end_program(int(self.host.now()))))
        if not self.program_ended:
            self.program_ended = True
            await self.happen(Event.PROGRAM_ENDED)

    def _begin_execution(self) -> None:
        now = int(self.host.now())
        starts = (self.job.integer("NumJobStarts") or 0) + 1
        began = {"JobCurrentStartExecutingDate": now, "NumJobStarts": starts}
        self.update(texts(began | self.activation.begin(now)))
        self.write_event(job_events.execute_event(self.startd_address, self.info, self.job))
        if "AllowedExecuteDuration" in self.job:
            self.watch_policy()

    def _note_suspension(self) -> None:
        now = int(self.host.now())
        total = (self.job.integer("TotalSuspensions") or 0) + 1
        self.write_event(JobSuspendedEvent(processes=self.job.integer("NumPids") or 0))
        self.update(
            texts(
                {
                    "JobStatus": int(JobStatus.SUSPENDED),
                    "LastSuspensionTime": now,
                    "TotalSuspensions": total,
                }
            )
        )
        self.flush()

    def _note_continuation(self) -> None:
        since = self.job.integer("LastSuspensionTime") or 0
        span = max(0, int(self.host.now()) - since) if since else 0
        total = (self.job.integer("CumulativeSuspensionTime") or 0) + span
        self.write_event(JobUnsuspendedEvent())
        self.update(
            texts(
                {
                    "JobStatus": int(JobStatus.RUNNING),
                    "LastSuspensionTime": 0,
                    "CumulativeSuspensionTime": total,
                }
            )
        )
        self.flush()

    # Requests from the schedd and from policy.

    async def ask(self, request: Request) -> None:
        """Want the job to leave; the first wish stays, unless the new one `outranks` it.

        A job whose files have arrived and whose end is known has no machine to be taken off.
        """
        if self.wish(request):
            await self.leave(request)

    def wish(self, request: Request) -> bool:
        """Note what is wanted; whether there is still somebody who has to `leave` for it.

        What is wanted next may take it back, and is to find it noted.
        """
        over = self.report is not None and has_ended(self.report)
        if over and request.wish not in PROMISED:
            return False
        if self.request is None:
            self.request = request
        elif outranks(request.wish, self.request.wish):
            self.request = replace(request, fast=request.fast or self.request.fast)
        elif request.fast and not self.request.fast:
            self.request = replace(self.request, fast=True)
        return True

    async def leave(self, request: Request) -> None:
        """Have the job leave, for what was wished before."""
        if self.wants_no_files:
            self.break_off_transfers()
        await self.happen(Event.ASKED)
        if self.state.phase is Phase.LOST and request.wish in REMOVALS:
            # Nobody can say when it is gone, but nothing will run in its place.
            self.last_contact = min(
                self.last_contact, self.host.steady() - self.lease_seconds + LEAVING_FAST_SECONDS
            )

    def release(self) -> None:
        """A hold is taken back before the job has left: it leaves, and no event 012 follows.

        The log has its release by now, and who reads it would take the job for a held one.
        """
        self.hold_told = False
        if self.request is not None and self.request.wish is Wish.HOLD:
            self.request = replace(self.request, wish=Wish.VACATE)

    async def fail(self, request: Request) -> None:
        """End the run because of an error that the starter, or a transfer, reported."""
        if self.request is None:
            self.request = request
        await self.happen(Event.FAILED)

    async def suspend(self, *, go_on: bool) -> None:
        """Ask the startd to stop or continue the job's processes, once it has the job."""
        if self.state.phase is Phase.ACTIVATING:
            self._begins_suspended = not go_on
            return
        message = (ContinueClaim if go_on else SuspendClaim)(self.claim.text)
        try:
            await self.link.command(message, answered=False)
        except (WireError, OSError) as error:
            self.log(f"The startd could not be asked to suspend or continue the job: {error}")

    def watch_policy(self) -> None:
        """Set the timer for the next look at the job's policy."""
        if self._policy_timer is not None:
            self._policy_timer.cancel()
            self._policy_timer = None
        delays: list[float] = [self.host.policy_seconds] if self.host.policy_seconds else []
        deadline = duration_deadline(self.job)
        if deadline is not None:
            delays.append(max(0.0, deadline[0] - self.host.now()))
        if delays:
            loop = asyncio.get_running_loop()
            self._policy_timer = loop.call_later(min(delays), self._on_policy)

    def look_at_policy(self) -> None:
        """Look at a running job's policy now: something is known that it may be about."""
        if self._policy_timer is not None and self.host.policy_seconds:
            self._policy_timer.cancel()
            self._on_policy()

    def _on_policy(self) -> None:
        self._policy_timer = None
        tasks.spawn(self.check_policy(), f"policy {self.name}")

    async def check_policy(self) -> None:
        """Carry out what the job's periodic expressions ask for."""
        if self.state.phase in (Phase.CLOSING, Phase.DONE, Phase.LEAVING):
            return
        decision = NOTHING
        with tasks.reported(f"The policy of {self.name}"):
            decision = decide_periodic(self.job, self.host.now(), self.host.system_policy)
        if decision.verdict is Verdict.HOLD:
            await self.ask(
                Request(Wish.POLICY_HOLD, decision.reason, decision.code, decision.subcode)
            )
        elif decision.verdict is Verdict.REMOVE:
            await self.ask(Request(Wish.POLICY_REMOVE, decision.reason))
        elif decision.verdict is Verdict.VACATE:
            code = int(VacateReasonCode.JobPolicyVacate)
            fast = not wants_grace(self.job, self.host.removes_gently)
            await self.ask(Request(Wish.VACATE, decision.reason, code, fast=fast))
        else:
            self.watch_policy()

    def _stop_timers(self) -> None:
        self._leaving.stop()
        if self._policy_timer is not None:
            self._policy_timer.cancel()
            self._policy_timer = None
