"""What is ordered of a job from outside: to leave, to stop for a while, to go on.

What an order to leave means is `leave_machine.py`'s table; orders come by `services/control.py`, or
because the job's lease is over.
"""

from __future__ import annotations

import asyncio

from kettle.attributes.codes import HoldReasonCode, VacateReasonCode
from kettle.runtime import tasks
from kettle.starter import outcome, syscalls
from kettle.starter.exit_pipeline import ExitStep
from kettle.starter.leave_machine import ORDERS, Effect, Order, Stage, choose_stage
from kettle.starter.services.parts import Starter
from kettle.wire.messages import syscalls as calls

# How long a shadow that is away may still come back when the job has to leave at once.
_HURRY_SECONDS = 2.0


class JobOrders:
    """The orders about one job."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self.activation = starter.activation
        # Has the job held that is on its way out.
        self._holding: asyncio.Task[None] | None = None
        self._leave_timer: asyncio.TimerHandle | None = None
        # Whether the job is to be stopped as it begins.
        self._suspend_at_start = False

    def begin(self) -> None:
        """The job has begun."""
        if self._suspend_at_start:
            self.suspend()

    def close(self) -> None:
        """The job is over."""
        if self._leave_timer is not None:
            self._leave_timer.cancel()

    def leave(self, vacate: outcome.Vacate, *, graceful: bool, seconds: float) -> None:
        """End the job: softly with so many seconds until the hard end, or at once.

        Of several orders the earliest end counts, and the reason of the first.
        """
        self._starter.deactivated.set()
        if vacate.hold_reason:
            self._hold(vacate)
        self._obey(Order.SOON if graceful and seconds > 0 else Order.NOW, vacate, seconds)

    def _hold(self, vacate: outcome.Vacate) -> None:
        """Tell the shadow that the job is to be held: it is from now on, and takes its time to end.

        Compat: the reference forgets the run at that moment, and starts a job that is released a
        second time beside its first program. Ours waits for the end of that
        (test_a_job_that_its_machine_wants_held_is_held_at_once_and_starts_again_when_it_has_left).
        """
        starter = self._starter
        if self._holding is None and not starter.programs.ended.is_set():
            code = int(HoldReasonCode.StartdHeldJob)
            told = starter.report_failure(vacate.hold_reason, code, vacate.hold_subcode)
            self._holding = tasks.spawn(told, "hold")

    def _obey(self, order: Order, vacate: outcome.Vacate, seconds: float = 0.0) -> None:
        starter = self._starter
        stage = choose_stage(
            started=starter.job_started,
            ended=starter.programs.ended.is_set(),
            sent=starter.pipeline.has_done(ExitStep.TRANSFER_OUTPUT),
        )
        starter.log(f"told {order.value}, while {stage.value}: {vacate.reason}")
        if order is Order.NOW or stage is Stage.PREPARING:
            # Nothing of the job is left that would be worth waiting for a shadow that is away.
            starter.shadow.hurry(_HURRY_SECONDS)
        for effect in ORDERS[stage, order]:
            self._carry_out(effect, vacate, seconds)

    def _carry_out(self, effect: Effect, vacate: outcome.Vacate, seconds: float) -> None:
        starter = self._starter
        match effect:
            case Effect.BLAME:
                starter.vacate = starter.vacate or vacate
            case Effect.START_NOTHING:
                starter.programs.ended.set()
            # Once: who asks again, for another reason, finds the job on its way.
            case Effect.SIGNAL if self._leave_timer is None:
                starter.programs.signal(starter.launch_plan.soft_kill_signal)
            case Effect.SET_TIMER:
                self._end_within(seconds, vacate)
            case Effect.KILL:
                starter.jobs.kill_all()
            case Effect.BREAK_OFF:
                starter.transfer.break_off(vacate)

    def _end_within(self, seconds: float, vacate: outcome.Vacate) -> None:
        loop = asyncio.get_running_loop()
        if self._leave_timer is not None:
            if self._leave_timer.when() <= loop.time() + seconds:
                return
            self._leave_timer.cancel()
        self._leave_timer = loop.call_later(seconds, self._obey, Order.NOW, vacate)

    def lose_for_good(self) -> None:
        """End the job: it may be about to start somewhere else."""
        reason = "the job lease expired"
        self._starter.log(f"lost the shadow for good: {reason}")
        vacate = outcome.Vacate(reason, VacateReasonCode.ReconnectFailed)
        self.leave(vacate, graceful=False, seconds=0)

    def suspend(self) -> None:
        """Freeze the job and tell the shadow; one that waits is frozen as it begins.

        Compat: the reference freezes input that travels, too, and as its schedd never hears of
        that, it refuses to continue the job: it stays so until it is held or vacated
        (test_a_job_that_is_suspended_while_its_input_travels_begins_suspended).
        """
        if not self._starter.job_started:
            self._suspend_at_start = True
            return
        stopped = self._starter.jobs.suspend()
        self._change_state("Suspended", stopped)

    def resume(self) -> None:
        """Thaw the job and tell the shadow."""
        self._suspend_at_start = False
        if not self._starter.job_started:
            return
        self._change_state("Running", self._starter.jobs.resume())

    def _change_state(self, state: str, pids: int) -> None:
        starter = self._starter
        if starter.reports.state not in {"Running", "Suspended"}:
            return
        starter.reports.state = state
        ad = starter.reports.update()
        ad["NumPids"] = pids
        tasks.spawn(starter.call(lambda: syscalls.must(calls.RegisterJobInfo(ad))), "job state")
