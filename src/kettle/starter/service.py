"""A starter at work: one job from its activation to the removal of its sandbox.

The order of calls is the wire reference's "Life of a vanilla job"; the end is the pipeline of
`exit_pipeline.py`. Decisions are in `launch.py`, `outcome.py` and `settings.py`; the pieces that
touch the machine are the other modules in `services/`. Its startd speaks to it through
`services/control.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kettle.attributes.codes import HoldReasonCode, VacateReasonCode
from kettle.classad import ClassAd
from kettle.errors import ConnectionLost, KettleError, NotFoundError
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.job_tracing import trace
from kettle.runtime.process.privileges import Account
from kettle.runtime.process.processes import Child
from kettle.runtime.sockets.stream import Stream
from kettle.starter import outcome, syscalls
from kettle.starter.account import Claimed, choose_account, slot_account
from kettle.starter.deferral import seconds_to_wait
from kettle.starter.exit_pipeline import Controller, ExitPipeline, ExitStep, ProcessList, Role
from kettle.starter.launch import (
    CannotLaunch,
    LaunchPlan,
    Surroundings,
    plan_launch,
    uses_file_transfer,
)
from kettle.starter.limits import Excess
from kettle.starter.sandbox import Sandbox
from kettle.starter.services.chirp import ChirpServer
from kettle.starter.services.commands import StarterCommands
from kettle.starter.services.control import StartdControl
from kettle.starter.services.job import JobProcesses
from kettle.starter.services.sandbox import SandboxKeeper, ad_file
from kettle.starter.services.shadow import LeaseOver, ShadowLink
from kettle.starter.services.streams import StreamedFiles
from kettle.starter.services.transfer import SandboxTransfer, TransferFailed
from kettle.starter.services.watch import ResourceWatch
from kettle.starter.services.world import StarterWorld
from kettle.starter.usage import Usage, cpus_usage, update_ad
from kettle.wire.dialog import Dialog
from kettle.wire.messages import short_way
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.starter_control import StarterActivation

T = TypeVar("T")

# How long a finished starter waits to be told that its claim was deactivated.
_DEACTIVATION_SECONDS = 20.0
# The shadow asks to wait while its own side of the transfer ends; it says for how long.
_LONGEST_RETRY_SECONDS = 60.0
# A wait for a date is looked at so often: somebody may set the clock.
_DEFERRAL_LOOK_SECONDS = 60.0
_GUIDANCE_RETRIES = 120
# What register_starter_info repeats from the slot's ad.
_FROM_SLOT = (
    "Cpus",
    "Memory",
    "Disk",
    "GPUs",
    "Name",
    "Machine",
    "MachineResources",
    "PrivateNetworkName",
)
_NO_UPDATE = -1
# A job that is over sooner is not worth a word to the startd that it runs, nor a look at its use.
_SHORT_SECONDS = 0.05

# How long a shadow that is away may still come back when the job has to leave at once.
HURRY_SECONDS = 2.0


class Starter:
    """Runs one job for a shadow."""

    def __init__(
        self, activation: StarterActivation, world: StarterWorld, control: StartdControl
    ) -> None:
        self.activation = activation
        self.world = world
        self.control = control
        self.settings = world.settings
        self.shadow = ShadowLink(world.shadow_stream, world.clock)
        self.job = activation.job
        self.slot = activation.slot
        # The startd has left out what a job must not read.
        self._slot_lines = list(activation.slot.lines())
        self.sandbox = Sandbox.of_starter(self.settings.execute, world.pid)
        self.vacate: outcome.Vacate | None = None
        self.processes = ProcessList()
        self.pipeline = ExitPipeline(Controller.SHADOW)
        self.usage = Usage()
        self.state = ""
        self.transfers = False
        # Whether the shadow spares us what ours do not need (wire.messages.short_way).
        self.short_way = self.job.boolean(short_way.SHORT_WAY) is True
        self._nothing_to_fetch = self.job.boolean(short_way.NOTHING_TO_FETCH) is True
        self._short_begin = False
        self.delayed: dict[str, str] = {}
        self.streams = StreamedFiles(self.shadow)
        self.plan: LaunchPlan | None = None
        self.transfer = SandboxTransfer(self)
        # What is made once the job's account is known.
        self._keeper: SandboxKeeper | None = None
        self._jobs: JobProcesses | None = None
        self._watch: ResourceWatch | None = None
        # What the job used too much of, once it did.
        self._excess: Excess | None = None
        self._chirp: ChirpServer | None = None
        self._deactivated = asyncio.Event()
        self._ended = asyncio.Event()
        self._wake = asyncio.Event()
        self._update_task: asyncio.Task[object] | None = None
        self._watch_task: asyncio.Task[object] | None = None
        self._kill_timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.TimerHandle | None = None
        self.checkpoints = 0
        self._suspend_at_start = False
        # Whether this process may run another job afterwards, and whether it said that it will.
        self.may_stay = False
        self.stays = False
        self._final: ClassAd | None = None
        # Whether the job's last call has to say what others would have said before, and whether
        # its shadow hears the end from us.
        self._short_end = False
        self._tells_end = False
        # The connection on which the next job of the claim may be asked for.
        self.line: Stream | None = None

    # ---- the life of the job ------------------------------------------------------------------

    async def run(self) -> int:
        """Run the job and everything after it; return the exit code of this process."""
        self.control.begin(self)
        try:
            await self._run()
        except LeaseOver as error:
            self.log(f"lost the shadow for good: {error}")
            code, reason = VacateReasonCode.ReconnectFailed, "the job lease expired"
            self.vacate = self.vacate or outcome.Vacate(reason, code)
        except ConnectionLost as error:
            self.log(f"a connection broke: {error}")
        finally:
            await self._clean_up()
        return 0

    async def _run(self) -> None:
        try:
            await self._prepare()
            child = await self._start_job()
        except (CannotLaunch, TransferFailed) as error:
            if self.vacate is None or self._jobs is None:
                await self._report_failure(error.message, error.code, error.subcode)
            else:
                await self._finish(None)
            return
        except KettleError as error:
            await self._report_failure(str(error), 0, 0)
            return
        status = None if child is None else await self._await_end()
        if self._excess is not None:
            await self._give_up(status, self._excess)
        else:
            await self._finish(status)

    def log(self, text: str) -> None:
        """Write a line to the starter's log."""
        self.world.log(text)

    async def call(self, make: Callable[[], Dialog[T]]) -> T:
        """Make a call to the shadow."""
        return await self.shadow.call(make)

    async def _prepare(self) -> None:
        if self.short_way:
            for name in short_way.FOR_THE_STARTER:
                self.job.discard(name)
        else:
            self.job = await self.call(syscalls.get_job_info)
        self.log(f"Communicating with shadow {self.job.string('ShadowIpAddr') or ''}")
        self.trace(Step.PREPARING)
        lease = self.job.integer("JobLeaseDuration")
        self.shadow.lease_seconds = float(lease) if lease and lease > 0 else None
        self.transfers = uses_file_transfer(self.job, self.settings.file_system_domain)
        account = self._choose_account()
        self._short_begin = self._may_begin_shortly()
        self._keeper = SandboxKeeper(
            self.sandbox, self.world.privileges, account, self.world.kept_sandbox
        )
        self._chirp = ChirpServer(self)
        files = [*self._chirp.start(), ad_file(self.sandbox.machine_ad, self._slot_lines)]
        if self._short_begin:
            files.append(ad_file(self.sandbox.job_ad, self.job.lines()))
        try:
            self._keeper.make(files)
        except OSError as error:
            raise CannotLaunch(
                f"cannot make the sandbox {self.sandbox.root}: {error.strerror}", 0, 0
            ) from error
        self._jobs = self.world.job_processes(account)
        self._watch = self.world.confine(
            self._jobs, self.sandbox, self.slot, self.job, transfers=self.transfers
        )
        self.commands = StarterCommands(self)
        self.commands.register()
        if self._short_begin:
            return
        await self._register()
        if self.transfers:
            await self.transfer.fetch_input()
        self.keeper.write_file(ad_file(self.sandbox.job_ad, self.job.lines()))
        await self._ask_guidance("JobEnvironment", {})
        await self._await_deferral_time()

    def _may_begin_shortly(self) -> bool:
        """Whether one call is enough until the program runs: nothing is fetched or waited for."""
        fetches = self.transfers and not self._nothing_to_fetch
        deferred = self.job.lookup("DeferralTime") is not None
        return self.short_way and not fetches and not deferred

    def trace(self, step: Step, detail: str = "") -> None:
        """Leave a line of the job's step in the log, where that is wanted."""
        trace(self.world.log, self.job, step, detail)

    async def _register(self) -> None:
        """Say who we are, and get leave to set the job up."""
        await self.call(lambda: syscalls.must(calls.RegisterStarterInfo(self.info_ad())))
        await self.call(lambda: syscalls.must(calls.RegisterJobInfo(self._provisioned_ad())))
        await self.transfer.get_session()
        await self._ask_guidance("JobSetup", {"ContextAd": ClassAd()})

    async def _begin_execution(self) -> None:
        """Say that the program begins; it may when the shadow has answered."""
        if not self._short_begin:
            await self.call(lambda: syscalls.must(calls.BeginExecution()))
            return
        info = self.info_ad(with_slot=False)
        info.update(self._provisioned_ad())
        info[short_way.BEGINS] = True
        if self.transfers:
            info[short_way.NO_INPUT] = True
        await self.call(lambda: syscalls.must(calls.RegisterStarterInfo(info)))

    async def _await_deferral_time(self) -> None:
        """Wait until the job may begin; being told to leave ends the wait (N008-N010)."""
        seconds = seconds_to_wait(self.job, self.world.clock.now())
        if seconds > 0:
            self.log(f"the job waits {seconds:.0f} seconds for its deferral time")
        while seconds > 0 and not self._deactivated.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, _DEFERRAL_LOOK_SECONDS)):
                    await self._deactivated.wait()
            seconds = seconds_to_wait(self.job, self.world.clock.now())

    def _choose_account(self) -> Account:
        job = self.job
        owner = (job.string("OsUser") or job.string("Owner") or "").partition("@")[0]
        expected = (self.activation.job.string("Owner") or owner).partition("@")[0]
        if job.string("Owner") not in {None, expected}:
            raise CannotLaunch(
                f"the claim was activated for a job of {expected}, not of {job.string('Owner')}",
                HoldReasonCode.FailedToAccessUserAccount,
            )
        rules, slot = self.settings.accounts, self.activation.slot_name.partition("@")[0]
        claimed = Claimed(
            owner, job.string("UidDomain") or "", job.boolean("RunAsOwner") is not False
        )
        key = (claimed, slot, self.world.shadow_stream.remote_host)
        known = self.world.accounts.get(key)
        if known is not None:
            return known
        choice = choose_account(rules, claimed, slot, self.world.is_submit_host_ours)
        privileges = self.world.privileges
        try:
            account = privileges.job_account(
                choice.name, fallback=slot_account(rules, slot), named_here=choice.named_here
            )
        except NotFoundError as error:
            raise CannotLaunch(
                f"there is no account to run the job: {error}",
                HoldReasonCode.FailedToAccessUserAccount,
            ) from error
        if privileges.can_switch:
            why = choice.reason if account.name == choice.name else f"not as {choice.name}"
            self.log(f"The job runs as {account.name}: {why}")
        self.world.accounts[key] = account
        return account

    async def _ask_guidance(self, request: str, extra: dict[str, object]) -> None:
        """Ask the shadow whether to go on; wait where it says so."""
        for _ in range(_GUIDANCE_RETRIES):
            answer = await self.call(partial(syscalls.guidance_ad, request, extra))
            command = (answer.string("Command") or "").lower()
            if command == "abort":
                raise CannotLaunch(f"the shadow said Abort at {request}", 0)
            # The reference spells it both ways.
            if command not in {"retryreqest", "retryrequest"}:
                return
            delay = answer.real("RetryDelay") or 1.0
            await asyncio.sleep(min(max(delay, 0.0), _LONGEST_RETRY_SECONDS))

    @property
    def keeper(self) -> SandboxKeeper:
        """The sandbox on disk; there is one once the job's account is known."""
        assert self._keeper is not None
        return self._keeper

    @property
    def jobs(self) -> JobProcesses:
        """The job's processes; known together with the sandbox."""
        assert self._jobs is not None
        return self._jobs

    @property
    def job_started(self) -> bool:
        """Whether the job's first process was started."""
        return self._jobs is not None and self._jobs.child is not None

    @property
    def launch_plan(self) -> LaunchPlan:
        """What was started; there is one once the job runs."""
        assert self.plan is not None
        return self.plan

    # ---- starting -----------------------------------------------------------------------------

    async def _start_job(self) -> Role | None:
        """Start the first process; None if the job was told to leave before it began."""
        if self.vacate is not None:
            return None
        settings = self.settings
        home = self.world.home_of(self.keeper.account) if settings.sets_home else ""
        around = Surroundings(
            slot_name=self.activation.slot_name.partition("@")[0],
            starter_pid=self.world.pid,
            ancestors=self.world.ancestors(),
            home=home,
            bin_directory=settings.bin_directory,
            wrapper=settings.wrapper,
            renice=self._renice(),
            delayed_prefix=settings.chirp_prefix,
            starter_environment=self.world.job_environment(),
        )
        self.plan = plan_launch(self.job, self.slot, self.sandbox, around, transfers=self.transfers)
        if self.transfers and self.job.boolean("TransferExecutable") is not False:
            self.keeper.make_executable(self.plan.program)
        await self._begin_execution()
        first = Role.PRE if self.job.string("PreCmd") else Role.JOB
        await self._spawn(first)
        return first

    def _renice(self) -> int:
        probe = ClassAd(parent=self.job)
        probe.insert_text("KettleRenice", self.settings.renice_expression)
        return max(0, min(19, probe.integer("KettleRenice") or 0))

    async def _spawn(self, role: Role) -> None:
        assert self.plan is not None
        plan = self.plan if role is Role.JOB else self.world.plan_script(self, self.plan, role)
        streams = await self.streams.open(plan) if role is Role.JOB else {}
        try:
            child = self.jobs.launch(plan, streams)
        finally:
            self.streams.close_child_ends()
        self.processes = self.processes.add(role, child.pid)
        self.log(f"Create_Process succeeded, pid={child.pid} ({' '.join(plan.argv)})")
        if role is Role.JOB:
            self.trace(Step.EXECUTING, f"pid {child.pid}")
            if not self.usage.started_at:
                self.usage = Usage(started_at=self.world.clock.now())
            self.usage = self.usage.observe(self.jobs.first_sample())
            self.state = "Running"
            loop = asyncio.get_running_loop()
            self._soon = loop.call_later(_SHORT_SECONDS, self._look_after, child.pid)
            if self._suspend_at_start:
                self.suspend()
            if self.job.string("ToolDaemonCmd"):
                self._spawn_tool()
        tasks.spawn(self._reap(child), "reaper")

    def _look_after(self, pid: int) -> None:
        """Begin what a job that is over in a moment can do without: reports, limits."""
        self.control.tell_state("Running", pid, self.world.address)
        if self._update_task is None:
            self._update_task = tasks.spawn(self._update_periodically(), "updates")
            assert self._watch is not None
            watching = self._watch.watch(self.jobs, self._measure_disk, self._on_excess)
            self._watch_task = tasks.spawn(watching, "limits")

    def _spawn_tool(self) -> None:
        """Start the tool that is to run beside the job (S009); with the job it ends."""
        assert self.plan is not None
        plan = self.world.plan_script(self, self.plan, Role.TOOL)
        try:
            child = self.jobs.launch(plan, beside=True)
        except CannotLaunch as error:
            self.log(f"the tool daemon does not start: {error.message}")
            return
        self.processes = self.processes.add(Role.TOOL, child.pid)
        self.log(f"The tool daemon has pid {child.pid} ({' '.join(plan.argv)})")
        tasks.spawn(self._reap(child), "reaper")

    async def _reap(self, child: Child) -> None:
        status = await child.wait()
        self.log(f"Process exited, pid={child.pid}, status={status}")
        self.trace(Step.EXITED, f"pid {child.pid}, status {status}")
        self.processes = self.processes.reap(child.pid, status)
        if self.vacate is None and self._is_checkpoint(child, status):
            await self._take_checkpoint()
        following = self.processes.next_role(has_post=self.job.string("PostCmd") is not None)
        if following is not None and self.vacate is None:
            try:
                await self._spawn(following)
                return
            except (CannotLaunch, ConnectionLost) as error:
                await self._report_failure(error.message, getattr(error, "code", 0), 0)
        if not self.processes.active:
            self._ended.set()

    def _is_checkpoint(self, child: Child, status: int) -> bool:
        return child is self.jobs.child and outcome.is_checkpoint(self.job, status)

    async def _take_checkpoint(self) -> None:
        """The job left a checkpoint: bring it to the shadow and let the job go on."""
        await self.jobs.end_all()
        self.checkpoints += 1
        number = (self.job.integer("CheckpointNumber") or 0) + self.checkpoints
        event = ClassAd({"EventType": "SuccessfulCheckpoint", "CheckpointNumber": number})
        try:
            if self.transfers:
                await self.transfer.send_checkpoint(number)
        except TransferFailed as error:
            self.log(f"the checkpoint could not be sent: {error}")
            event["EventType"] = "FailedCheckpoint"
        await self.call(lambda: syscalls.invoke(calls.EventNotification(event)))
        self.processes = self.processes.forget(Role.JOB)
        self.jobs.continues = True

    async def _await_end(self) -> int | None:
        """Wait until no process of ours is active; return the job's wait status."""
        await self._ended.wait()
        for waiting in (self._watch_task, self._soon):
            if waiting is not None:
                waiting.cancel()
        # What the job left running in the background has to be dead before anything else is
        # decided: the slot may be given to the next job as soon as we say so.
        if not await self.jobs.end_all():
            self.log("some processes of the job cannot be killed")
        await self.streams.finish()
        if self._watch is not None and self._excess is None and self.vacate is None:
            self._excess = self._watch.killed_by_kernel()
        return self.processes.status_of(Role.JOB)

    def _measure_disk(self) -> tuple[int, int]:
        view = self.jobs.view
        return self.keeper.measure(*([view.folder] if view is not None else []))

    def _on_excess(self, excess: Excess) -> None:
        """The job uses more than its slot has: it ends at once."""
        self._excess = excess
        self.jobs.kill_all()

    async def _give_up(self, status: int | None, excess: Excess) -> None:
        """Tell what the job used, then why it cannot go on; nothing of its output is fetched."""
        self._status = status
        final = self.final_ad()
        await self.call(lambda: syscalls.must(calls.RegisterJobInfo(final)))
        await self._report_failure(excess.message, excess.code, excess.subcode)

    # ---- updates ------------------------------------------------------------------------------

    def info_ad(self, *, with_slot: bool = True) -> ClassAd:
        """Return register_starter_info's ad, with the whole slot ad in it if that is wanted."""
        ad = ClassAd()
        for name in _FROM_SLOT:
            text = self.slot.text(name)
            if text is not None:
                ad.insert_text(name, text)
        ad["UidDomain"] = self.settings.uid_domain
        ad["FileSystemDomain"] = self.settings.file_system_domain
        ad["StarterIpAddr"] = self.world.address
        ad["MyAddress"] = self.world.address
        ad["CondorScratchDir"] = self.sandbox.scratch
        ad["HasReconnect"] = True
        ad["CondorVersion"] = self.settings.version
        ad["CondorPlatform"] = self.settings.platform
        # As text: nobody here needs the nested ad taken apart.
        if with_slot:
            ad.insert_text("SlotAd", "[ " + "; ".join(self._slot_lines) + " ]")
        return ad

    def _provisioned_ad(self) -> ClassAd:
        ad = ClassAd()
        names = []
        for name in (self.slot.string("MachineResources") or "Cpus Memory Disk").split():
            names.append(name)
            text = self.slot.text(name)
            if text is not None:
                ad.insert_text(f"{name}Provisioned", text)
        ad["ProvisionedResources"] = " ".join(names)
        ad["_condor_JOBINFO_MAXINTERVAL"] = _NO_UPDATE
        return ad

    def job_update(self) -> ClassAd:
        """Return the present update ad."""
        child = self.jobs.child
        ad = update_ad(self.usage, child.pid if child else 0, self.state, self.world.clock.now())
        for name, text in self.delayed.items():
            ad.insert_text(name, text)
        return ad

    async def _update_periodically(self) -> None:
        delay = float(self.settings.initial_update_interval)
        while True:
            await self.shadow.wait_for_news(delay)
            if self.shadow.lease_is_over:
                self._lose_for_good()
                return
            lease = self.shadow.lease_seconds
            delay = min(self.settings.update_interval, lease / 3 if lease else 1e9)
            self.usage = self.usage.observe(self.jobs.sample())
            await self.send_update()

    def _lose_for_good(self) -> None:
        """End the job: it may be about to start somewhere else."""
        reason = "the job lease expired"
        self.log(f"lost the shadow for good: {reason}")
        vacate = outcome.Vacate(reason, VacateReasonCode.ReconnectFailed)
        self.leave(vacate, graceful=False, seconds=0)

    async def send_update(self) -> None:
        """Tell shadow and startd what the job uses now."""
        ad = self.job_update()
        self.control.tell_usage(ad, self.world.address)
        full = ClassAd(parent=ad)
        full["_condor_JOBINFO_MAXINTERVAL"] = 10 * self.settings.update_interval
        with contextlib.suppress(ConnectionLost):
            await self.shadow.call_once(lambda: syscalls.must(calls.RegisterJobInfo(full)))

    # ---- being told to leave ------------------------------------------------------------------

    def leave(self, vacate: outcome.Vacate, *, graceful: bool, seconds: float) -> None:
        """End the job: softly with so many seconds until the hard end, or at once."""
        self._deactivated.set()
        if not graceful:
            # Who throws us out at once does not wait for a shadow that is away.
            self.shadow.hurry(HURRY_SECONDS)
        if self.pipeline.done or self._ended.is_set():
            return
        self.vacate = self.vacate or vacate
        if not self.job_started:
            self._ended.set()
            return
        if graceful and seconds > 0:
            assert self.plan is not None
            self.jobs.signal_job(self.plan.soft_kill_signal)
            if self._kill_timer is None:
                loop = asyncio.get_running_loop()
                self._kill_timer = loop.call_later(seconds, self.jobs.kill_all)
            return
        self.jobs.kill_all()

    def suspend(self) -> None:
        """Freeze the job and tell the shadow; one that waits is frozen as it begins (N009)."""
        if not self.job_started:
            self._suspend_at_start = True
            return
        stopped = self.jobs.suspend()
        self._change_state("Suspended", stopped)

    def resume(self) -> None:
        """Thaw the job and tell the shadow."""
        self._suspend_at_start = False
        if not self.job_started:
            return
        self._change_state("Running", self.jobs.resume())

    def _change_state(self, state: str, pids: int) -> None:
        if self.state not in {"Running", "Suspended"}:
            return
        self.state = state
        ad = self.job_update()
        ad["NumPids"] = pids
        tasks.spawn(self.shadow.call(lambda: syscalls.must(calls.RegisterJobInfo(ad))), "job state")

    # ---- the end ------------------------------------------------------------------------------

    async def _finish(self, status: int | None) -> None:
        """Go through the exit pipeline until it is done (seed 004)."""
        self._status = status
        self._wake.set()
        while True:
            await self._wake.wait()
            self._wake.clear()
            if await self.pipeline.run(self._perform):
                return

    async def _perform(self, step: ExitStep) -> bool:
        if step is ExitStep.CANCEL_UPDATES:
            if self._update_task is not None:
                self._update_task.cancel()
            return True
        if step is ExitStep.EXIT_HOOK:
            return await self.world.exit_hook(self)
        if step is ExitStep.TRANSFER_OUTPUT:
            return await self._transfer_output()
        if step is ExitStep.UPDATE_STARTD:
            # On the short way the startd hears it with the end, in a moment.
            if self._final is not None and not self._short_end:
                self.control.tell_usage(self._final, self.world.address)
            return True
        if step is ExitStep.JOB_EXIT:
            return await self._job_exit()
        if step is ExitStep.AWAIT_DEACTIVATION:
            return await self._await_deactivation()
        return True

    def final_ad(self) -> ClassAd:
        """Return the final update: usage and how the job ended."""
        now = self.world.clock.now()
        if self.jobs.child is not None:
            self.usage = self.usage.observe(self.jobs.final_sample())
        disk, files = self.keeper.measure()
        self.usage = Usage(self.usage.started_at, self.usage.peak, self.usage.last, disk)
        self.state = "Exited"
        ad = self.job_update()
        ad["NumPids"] = 0
        ad["CpusUsage"] = cpus_usage(self.usage, now)
        if self.usage.started_at:
            ad["JobDuration"] = round(max(0.0, now - self.usage.started_at), 6)
        ad["ScratchDirFileCount"] = files
        ad["ExecuteDirWasEncrypted"] = False
        ad["StarterIpAddr"] = self.world.address
        if self._status is not None:
            for name, value in outcome.exit_attributes(self._status).items():
                ad[name] = value
        for name, value in outcome.vacate_attributes(self.vacate).items():
            ad[name] = value
        return ad

    async def _transfer_output(self) -> bool:
        started = self._status is not None
        if started and self.vacate is None and not self.short_way:
            event = ClassAd({"EventType": "ActivationExecutionExit"})
            await self.call(lambda: syscalls.invoke(calls.EventNotification(event)))
        if self._final is None:
            self._final = self.final_ad()
        if started and self.short_way and self.vacate is None and not self._has_output():
            return True
        final = ClassAd(parent=self._final)
        final["_condor_JOBINFO_MAXINTERVAL"] = _NO_UPDATE
        if started:
            await self.call(lambda: syscalls.must(calls.RegisterJobInfo(final)))
        sending = outcome.choose_sending(self.job, self._status, self.vacate)
        if not self.transfers or sending is None:
            return True
        returns = self.shadow.returns
        try:
            await self.transfer.send_output(final=sending.final, attribute=sending.attribute)
        except TransferFailed as error:
            if error.try_again:
                # Whether it broke because the shadow went away shows when it is next called.
                await self.call(lambda: syscalls.must(calls.RegisterJobInfo(final)))
                if self.shadow.returns != returns:
                    self.log(f"once more, to the shadow that came back: {error}")
                    return await self._transfer_output()
            if self.vacate is None:
                await self._report_failure(error.message, error.code, error.subcode)
        return True

    def _has_output(self) -> bool:
        """Whether anything has to be sent; if not, the last call says so."""
        if self.transfers and self.transfer.has_output():
            return True
        self._short_end = True
        return False

    async def _job_exit(self) -> bool:
        final = ClassAd(parent=self._final)
        if self._short_end:
            final[short_way.LAST_REPORT] = True
            if self.transfers:
                final[short_way.NO_OUTPUT] = True
            self._tells_end = self._may_run_another()
            final[short_way.TELLS_END] = self._tells_end
        if self._final is not None:
            # The startd counts them too.
            self._final["BytesSent"] = self.transfer.bytes_sent
            self._final["BytesRecvd"] = self.transfer.bytes_received
        if self.transfer.spooled:
            final["SpooledOutputFiles"] = ",".join(self.transfer.spooled)
        delayed = ClassAd()
        for name, text in self.delayed.items():
            delayed.insert_text(name, text)
        final["ChirpDelayedAttrs"] = delayed
        reason = outcome.exit_reason(self._status, self.vacate)
        status = self._status or 0
        await self.call(lambda: syscalls.must(calls.JobExit(status, int(reason), final)))
        self.trace(Step.REPORTED)
        return True

    async def _await_deactivation(self) -> bool:
        self.stays = self._may_run_another()
        if not (self.stays and self.keeper.leave_to_next()):
            self._remove_sandbox()
        self.control.tell_done(self._final, stays=self.stays, asks=self._tells_end)
        if self._tells_end:
            start = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DEACTIVATION_SECONDS):
                    start = await self.control.claim_answer()
            self.line = self.shadow.end(start=start)
            return True
        closed = tasks.spawn(self.shadow.closed(), "shadow closes")
        told = tasks.spawn(self._deactivated.wait(), "deactivation")
        await asyncio.wait(
            (closed, told),
            timeout=_DEACTIVATION_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
        closed.cancel()
        told.cancel()
        return True

    def _may_run_another(self) -> bool:
        """Whether another job may follow here: only after one that went by the book."""
        return (
            self.may_stay
            and self._status is not None
            and self.vacate is None
            and self.shadow.connected
            and (self.plan is None or not self.plan.nice)
            and not self.jobs.living()
        )

    async def _report_failure(self, message: str, code: int, subcode: int) -> None:
        """Tell the shadow that the job cannot go on here; it holds or requeues the job."""
        self.log(message)
        event = outcome.remote_error(
            self.activation.slot_name, message, code, subcode, critical=True
        )
        with contextlib.suppress(ConnectionLost):
            await self.shadow.call_once(lambda: syscalls.invoke(calls.UserLog(event)))
            closed = tasks.spawn(self.shadow.closed(), "shadow closes")
            told = tasks.spawn(self._deactivated.wait(), "deactivation")
            await asyncio.wait(
                (closed, told),
                timeout=_DEACTIVATION_SECONDS,
                return_when=asyncio.FIRST_COMPLETED,
            )
            closed.cancel()
            told.cancel()

    async def _clean_up(self) -> None:
        for waiting in (self._update_task, self._watch_task, self._soon):
            if waiting is not None:
                waiting.cancel()
        if self._jobs is not None:
            await self._jobs.end_all()
        if self._chirp is not None:
            self._chirp.close()
        self.shadow.close()
        self._remove_sandbox()
        self.control.tell_done(self._final)

    def _remove_sandbox(self) -> None:
        if self._keeper is not None:
            self._keeper.remove()
