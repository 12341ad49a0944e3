"""The programs of one job, one after the other: pre script, job, post script, a tool beside.

Which follows which is `processes.ProcessList`'s; how one is started `services/job.py`'s. A job
that exits with a checkpoint begins again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from kettle.attributes.codes import HoldReasonCode, VacateReasonCode
from kettle.bounded_texts import bounded
from kettle.classad import ClassAd
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.process.processes import Child
from kettle.starter import outcome, syscalls
from kettle.starter.argument_syntax import parse_arguments
from kettle.starter.checkpoint_pace import CheckpointPace
from kettle.starter.launch import CannotLaunch, LaunchPlan, StandardFile
from kettle.starter.limits import Excess
from kettle.starter.processes import ProcessList, Role
from kettle.starter.services.parts import Starter
from kettle.starter.services.transfer import TransferFailed
from kettle.transfer.checkpoints import checkpoint_number
from kettle.transfer.plan import core_name
from kettle.wire.messages import syscalls as calls

CLAIM_CLOSES = Excess(
    "Rescheduling self-checkpoint job after checkpoint upload because reactivating the claim would "
    "have failed.",
    VacateReasonCode.SuccessfulCheckpoint,
    0,
)
"""Why a job does not go on after its checkpoint where CHECK_REACTIVATE_AFTER_CHECKPOINT is on."""

CHECKPOINT_FAILED = "Starter failed to upload checkpoint"
"""How the reason begins of a job that is held because to send its checkpoint again is no use."""

INIT_KILLED = Excess(
    "The first process of the job's PID namespace was killed on this machine, and the job with it",
    VacateReasonCode.StarterError,
    0,
)
"""Why a job goes back to the queue that was killed with what only the machine can kill."""

# What a job's scripts are called in its attributes, and what it is held with if one fails.
_SCRIPTS = (
    (Role.PRE, "Pre", HoldReasonCode.PreScriptFailed),
    (Role.POST, "Post", HoldReasonCode.PostScriptFailed),
)


class Programs:
    """Starts a job's programs until none is left to follow, or one cannot; `ended` is set then.

    Who has waited for that asks `check` whether it was a failure.
    """

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self.processes = ProcessList()
        self.ended = asyncio.Event()
        self.checkpoints = 0
        self._pace = CheckpointPace()
        # Whether the job's own program is not started again, nor anything after it.
        self._stops = False
        # What failed after a program's end, and so ended them all.
        self._failure: Exception | None = None

    async def begin(self) -> None:
        """Start the first one; CannotLaunch if that cannot be."""
        await self._spawn(Role.PRE if self.has_script(Role.PRE) else Role.JOB)

    def has_script(self, role: Role) -> bool:
        """Whether the job has this script, and may have it run here."""
        return bool(self._starter.job.string(role.value)) and self._allows_scripts

    @cached_property
    def _allows_scripts(self) -> bool:
        starter = self._starter
        if starter.place.allows_scripts(starter.slot, starter.job):
            return True
        starter.log(
            "STARTER_ALLOW_JOB_PRE_AND_POST_CMD evaluated to false, PreCmd and PostCmd will be "
            "ignored"
        )
        return False

    async def _spawn(self, role: Role) -> None:
        starter = self._starter
        if role is Role.JOB:
            plan = starter.launch_plan
            streams = await starter.streams.open(plan) if plan.streams else {}
        else:
            plan, streams = plan_script(starter, role), {}
        try:
            child = starter.jobs.launch(plan, streams)
        finally:
            starter.streams.close_child_ends()
        self.processes = self.processes.add(role, child.pid)
        starter.log(f"Create_Process succeeded, pid={child.pid} ({bounded(' '.join(plan.argv))})")
        if role is Role.JOB:
            starter.trace(Step.EXECUTING, f"pid {child.pid}")
            self._pace.begin(starter.world.clock.steady())
            starter.on_job_started(child.pid)
            if starter.job.string("ToolDaemonCmd"):
                self._spawn_tool()
        child.on_exit(self._on_exit)

    def _spawn_tool(self) -> None:
        """Start the tool that is to run beside the job (S009); with the job it ends."""
        starter = self._starter
        plan = plan_script(starter, Role.TOOL)
        try:
            child = starter.jobs.launch(plan, beside=True)
        except CannotLaunch as error:
            starter.log(f"the tool daemon does not start: {error.message}")
            return
        self.processes = self.processes.add(Role.TOOL, child.pid)
        starter.log(f"The tool daemon has pid {child.pid} ({bounded(' '.join(plan.argv))})")
        child.on_exit(self._on_exit)

    def signal(self, number: int) -> None:
        """Ask what runs to leave: the job, its tool, or the script after it."""
        for process in self.processes.active:
            self._starter.jobs.signal_program(process.pid, number)

    def check(self) -> None:
        """Raise what failed between the programs, if something did."""
        if self._failure is not None:
            raise self._failure

    @contextlib.contextmanager
    def _until_failure(self) -> Iterator[None]:
        """Have whatever fails inside end the programs: nobody else knows that nothing follows."""
        try:
            yield
        except Exception as error:
            if self.ended.is_set():
                # Nobody waits any more who would hear of it.
                raise
            self._failure = error
            self._stops = True
            self.ended.set()

    def _on_exit(self, child: Child) -> None:
        with self._until_failure():
            self._follow(child)

    def _do_next(self, work: Coroutine[Any, Any, None], name: str) -> None:
        async def do() -> None:
            with self._until_failure():
                await work

        tasks.spawn(do(), name)

    def _follow(self, child: Child) -> None:
        """Do what comes after the end of a program."""
        starter = self._starter
        assert child.status is not None
        starter.log(f"Process exited, pid={child.pid}, status={child.status}")
        starter.trace(Step.EXITED, f"pid {child.pid}, status {child.status}")
        self.processes = self.processes.reap(child.pid, child.status)
        if child is starter.jobs.child and os.WIFSIGNALED(child.status):
            cwd = starter.launch_plan.cwd
            starter.keeper.take_core(cwd, starter.jobs.pid_inside, core_name(starter.job))
        if self._is_machines_doing(child.status):
            self._stops = True
            starter.give_up(INIT_KILLED)
            if not self.processes.active:
                self.ended.set()
            return
        failed = self._judge_script(child)
        if failed is not None and starter.vacate is None:
            self._do_next(self._give_up(failed), "a failed script")
        elif starter.vacate is None and self._is_checkpoint(child):
            self._do_next(self._checkpoint(), "checkpoint")
        elif self._following() is not None:
            self._do_next(self._go_on(), "the next program")
        elif not self.processes.active:
            self.ended.set()

    def _is_machines_doing(self, status: int) -> bool:
        """Whether the kernel killed a program with the init of its PID namespace, which is ours."""
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        return killed and self._starter.vacate is None and self._starter.jobs.lost_init

    def _judge_script(self, child: Child) -> CannotLaunch | None:
        """Return why the job is held if this was a script that did not end as the job wants it."""
        assert child.status is not None
        for role, prefix, code in _SCRIPTS:
            mine = self.processes.pid_of(role) == child.pid
            if mine and not outcome.is_script_success(self._starter.job, prefix, child.status):
                return CannotLaunch(f"{prefix} script failed.", int(code))
        return None

    async def _give_up(self, error: CannotLaunch) -> None:
        await self._starter.report_failure(error.message, error.code, 0)
        if not self.processes.active:
            self.ended.set()

    def _following(self) -> Role | None:
        starter = self._starter
        if starter.vacate is not None or self._stops:
            return None
        return self.processes.next_role(has_post=self.has_script(Role.POST))

    def _is_checkpoint(self, child: Child) -> bool:
        starter = self._starter
        return (
            child is starter.jobs.child
            and child.status is not None
            and outcome.is_checkpoint(starter.job, child.status)
        )

    async def _checkpoint(self) -> None:
        await self._take_checkpoint()
        await self._go_on()

    async def _go_on(self) -> None:
        """Start the program that follows; without one, this is the end of them."""
        following = self._following()
        if following is not None:
            try:
                await self._spawn(following)
                return
            except CannotLaunch as error:
                await self._give_up(error)
        if not self.processes.active:
            self.ended.set()

    async def _take_checkpoint(self) -> None:
        """The job left a checkpoint: bring it to the shadow and let the job go on."""
        starter = self._starter
        await starter.jobs.end_all()
        ended = ClassAd({"EventType": "ActivationExecutionExit"})
        await starter.shadow.call(lambda: syscalls.invoke(calls.EventNotification(ended)))
        self.checkpoints += 1
        number = checkpoint_number(starter.job, self.checkpoints)
        event = ClassAd({"EventType": "SuccessfulCheckpoint", "CheckpointNumber": number})
        try:
            if starter.transfers:
                await starter.transfer.send_checkpoint(number)
        except TransferFailed as error:
            starter.log(f"the checkpoint could not be sent: {error}")
            event["EventType"] = "FailedCheckpoint"
            if not error.try_again:
                await starter.shadow.call(lambda: syscalls.invoke(calls.EventNotification(event)))
                # What is wrong with it would be wrong with the next one; the last good one stays.
                self._stops = True
                # Compat: the reference tells only that it failed; why, its logs know alone
                # (test_a_checkpoint_without_a_file_says_so_and_the_next_run_has_the_last_good_one).
                why = f"{CHECKPOINT_FAILED}: {bounded(error.message)}"
                starter.give_up(Excess(why, HoldReasonCode.FailedToCheckpoint, -1))
                return
        await starter.shadow.call(lambda: syscalls.invoke(calls.EventNotification(event)))
        if starter.settings.checks_reactivation and not starter.control.claim_goes_on:
            # To go on is like another activation of the claim, and that would be refused.
            self._stops = True
            starter.give_up(CLAIM_CLOSES)
            return
        await asyncio.sleep(self._pace.pause(starter.world.clock.steady()))
        if starter.vacate is not None:
            return
        await starter.shadow.call(lambda: syscalls.must(calls.BeginExecution()))
        self.processes = self.processes.forget(Role.JOB)
        starter.jobs.continues = True


def plan_script(starter: Starter, role: Role) -> LaunchPlan:
    """Return what to start for a pre or post script: the job's plan with another program."""
    job, plan = starter.job, starter.launch_plan
    prefix = {Role.PRE: "Pre", Role.POST: "Post", Role.TOOL: "ToolDaemon"}[role]
    command = job.string(f"{prefix}Cmd") or ""
    program = os.path.join(starter.sandbox.scratch, os.path.basename(command))
    if not starter.transfers or not os.path.exists(program):
        program = os.path.join(plan.cwd, command)
    else:
        starter.keeper.make_executable(program)
    arguments = parse_arguments(job.string(f"{prefix}Arguments"), job.string(f"{prefix}Args"))
    nothing = StandardFile("/dev/null")
    return replace(
        plan,
        argv=(program, *arguments),
        program=program,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
    )
