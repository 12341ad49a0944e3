"""A starter at work: one job from its activation to the removal of its sandbox.

The order of calls is that of the wire notes, Life of a vanilla job. Its programs are
`services/programs.py`, what is reported `services/reports.py`, what is ordered of it
`services/orders.py`, the end `services/ending.py`; what is the same for all jobs of a claim
`place.py`. Its startd speaks to it through `services/control.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import cached_property, partial
from typing import TypeVar

from kettle.attributes.codes import HoldReasonCode, VacateReasonCode
from kettle.classad import ClassAd
from kettle.config.hooks import explain_uncalled
from kettle.errors import ConnectionLost, KettleError, NotFoundError, RefusedError
from kettle.policy.lease import lease_of
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.job_tracing import RunTrace
from kettle.runtime.process.census import Census, note_of
from kettle.runtime.process.lent_accounts import lent_to
from kettle.runtime.process.privileges import Account
from kettle.runtime.sockets.stream import Stream
from kettle.starter import outcome, syscalls
from kettle.starter.account import choose_account, needs_submit_host, read_claimed, slot_account
from kettle.starter.conversation import PREPARING, Turn, Way
from kettle.starter.deferral import deferral_time, seconds_to_wait
from kettle.starter.exit_pipeline import ExitPipeline
from kettle.starter.job_file import job_as_run
from kettle.starter.launch import CannotLaunch, LaunchPlan, plan_launch, uses_file_transfer
from kettle.starter.limits import Excess
from kettle.starter.place import Place
from kettle.starter.processes import Role
from kettle.starter.services.chirp import ChirpServer
from kettle.starter.services.commands import StarterCommands
from kettle.starter.services.control import StartdControl
from kettle.starter.services.ending import JobEnd
from kettle.starter.services.job import JobProcesses
from kettle.starter.services.orders import JobOrders
from kettle.starter.services.programs import Programs
from kettle.starter.services.reports import JobReports
from kettle.starter.services.sandbox import SandboxKeeper, SmallFile
from kettle.starter.services.shadow import LeaseOver, ShadowLink
from kettle.starter.services.streams import StreamedFiles
from kettle.starter.services.transfer import SandboxTransfer, TransferFailed
from kettle.starter.services.watch import ResourceWatch
from kettle.starter.services.world import StarterWorld
from kettle.wire.dialog import Dialog
from kettle.wire.messages import short_way
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.starter_control import StarterActivation

T = TypeVar("T")

# The shadow asks to wait while its own side of the transfer ends; it says for how long.
_LONGEST_RETRY_SECONDS = 60.0
# A wait for a date is looked at so often: somebody may set the clock.
_DEFERRAL_LOOK_SECONDS = 60.0
_GUIDANCE_RETRIES = 120
# A job that is over sooner is not worth a word to the startd that it runs, nor a look at its use.
_SHORT_SECONDS = 0.1


class Starter:
    """Runs one job for a shadow."""

    def __init__(
        self,
        activation: StarterActivation,
        place: Place,
        world: StarterWorld,
        control: StartdControl,
        shadow: Stream,
        *,
        may_stay: bool = False,
    ) -> None:
        """`may_stay` is whether this process may run another job afterwards."""
        self.activation = activation
        self.place = place
        self.world = world
        self.control = control
        self.settings = world.settings
        self.shadow = ShadowLink(shadow, world.clock)
        self.job = activation.job
        self.slot = activation.slot
        self.sandbox = place.sandbox
        self.vacate: outcome.Vacate | None = None
        self.may_stay = may_stay
        self.transfers = False
        self.way = Way(self.job)
        self.delayed: dict[str, str] = {}
        self.streams = StreamedFiles(self.shadow, self.give_up)
        self.plan: LaunchPlan | None = None
        self.transfer = SandboxTransfer(self)
        self.programs = Programs(self)
        self.reports = JobReports(self)
        self.end = JobEnd(self)
        self.orders = JobOrders(self)
        # What is made once the job's account is known.
        self._keeper: SandboxKeeper | None = None
        self._jobs: JobProcesses | None = None
        self._watch: ResourceWatch | None = None
        # Why the job had to be ended here, once it had: most often what it used too much of.
        self._excess: Excess | None = None
        # What it left in private folders outside its sandbox.
        self.private_kib = 0
        self._chirp: ChirpServer | None = None
        self.begun = asyncio.Event()
        self.deactivated = asyncio.Event()
        self._looking: list[asyncio.Task[object]] = []
        self._census = Census(note_of(self.settings.execute, self.world.pid))
        self._soon: asyncio.TimerHandle | None = None
        self._say_where: asyncio.TimerHandle | None = None
        self._trace: RunTrace | None = None

    # ---- the life of the job ------------------------------------------------------------------

    async def run(self) -> int:
        """Run the job and everything after it; return the exit code of this process."""
        self.control.begin(self.orders)
        try:
            await self._run()
        except LeaseOver as error:
            self.log(f"lost the shadow for good: {error}")
            code, reason = VacateReasonCode.ReconnectFailed, "the job lease expired"
            self.vacate = self.vacate or outcome.Vacate(reason, code)
        except ConnectionLost as error:
            self.log(f"a connection broke: {error}")
        except Exception as error:
            # A fault of ours: the job goes back to the queue with a word of it in its log, as the
            # reference's does when its starter gives up (an EXCEPT), instead of a silence that
            # looks like a broken network. Whoever called us says where it was.
            self.end.stays = False
            await self.report_failure(f"starter fault: {type(error).__name__}: {error}", 0, 0)
            raise
        finally:
            await self._clean_up()
        return 0

    async def _run(self) -> None:
        try:
            await self._prepare()
            began = await self._start_job()
        except (CannotLaunch, TransferFailed) as error:
            if self.vacate is None or self._jobs is None:
                if isinstance(error, TransferFailed):
                    await self.end.report_input_failure(error)
                else:
                    await self.report_failure(error.message, error.code, error.subcode)
            else:
                await self.end.finish(None)
            return
        except KettleError as error:
            await self.report_failure(str(error), 0, 0)
            return
        status = await self._await_end() if began else None
        if self._excess is not None:
            await self.end.give_up(status, self._excess)
        else:
            await self.end.finish(status)

    def log(self, text: str) -> None:
        """Write a line to the starter's log."""
        self.world.log(text)

    def trace(self, step: Step, detail: str = "") -> None:
        """Leave a line of the job's step in the log, where that is wanted."""
        if self._trace is None:
            self._trace = RunTrace(self.world.log, self.job)
        self._trace(step, detail)

    async def call(self, make: Callable[[], Dialog[T]]) -> T:
        """Make a call to the shadow."""
        return await self.shadow.call(make)

    async def report_failure(self, message: str, code: int, subcode: int) -> None:
        """Tell the shadow that the job cannot go on here."""
        await self.end.report_failure(message, code, subcode)

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
        """What is started; there is a plan once everything else is prepared."""
        assert self.plan is not None
        return self.plan

    @property
    def pipeline(self) -> ExitPipeline:
        """The steps of the job's end."""
        return self.end.pipeline

    # ---- before the program begins ------------------------------------------------------------

    async def _prepare(self) -> None:
        for turn in self.way.still_to_take(PREPARING):
            await self._take(turn)

    async def _take(self, turn: Turn) -> None:
        match turn:
            case Turn.LEARN_JOB:
                self.job = await self.call(syscalls.get_job_info)
            case Turn.SETTLE:
                await self._settle()
            case Turn.REGISTER:
                await self._register()
            case Turn.FETCH_INPUT:
                if self.transfers:
                    await self.transfer.fetch_input()
            case Turn.WRITE_JOB_AD:
                self.keeper.write_file(self._job_file())
            case Turn.ASK_ENVIRONMENT:
                await self._ask_guidance("JobEnvironment", {})
            case Turn.AWAIT_DATE:
                await self._await_deferral_time()

    async def _settle(self) -> None:
        """The job is known: choose its account, make its sandbox, be there for who asks for it."""
        self._forget_what_is_ours()
        self.log(f"Communicating with shadow {self.job.string('ShadowIpAddr') or ''}")
        self.trace(Step.PREPARING)
        self.shadow.lease_seconds = lease_of(self.job)
        self.transfers = uses_file_transfer(self.job, self.settings.file_system_domain)
        self.way.decide_begin(self.job, transfers=self.transfers)
        account = await self._choose_account()
        self._make_sandbox(account)
        self._jobs = self.world.job_processes(account, self.world.fence_of(self.place))
        self._watch = self.world.confine(
            self._jobs, self.place, self.slot, self.job, transfers=self.transfers
        )
        self.world.answer_with(StarterCommands(self).handlers())
        # A shadow that dies while input travels, or a deferral time is waited for, has a successor
        # that looks for us; a job that is over in a moment is none to be looked for.
        loop = asyncio.get_running_loop()
        self._say_where = loop.call_later(
            _SHORT_SECONDS, lambda: self.control.tell_place(self.world.address)
        )

    def _forget_what_is_ours(self) -> None:
        """Take out of the job's ad what the shadow says to us in it."""
        names, common = short_way.FOR_THE_STARTER, self.job.parent
        if common is not None and any(name in common for name in names):
            # It was taken for a part of what like jobs have in common.
            self.job = self.job.flattened()
        for name in names:
            self.job.discard(name)

    def _make_sandbox(self, account: Account) -> None:
        world = self.world
        fence = world.fence_of(self.place)
        self._keeper = SandboxKeeper(
            self.sandbox, world.privileges, account, world.kept_sandbox, fence
        )
        self._chirp = ChirpServer(self, world.chirp_door)
        machine_ad = SmallFile(self.sandbox.machine_ad, self.place.text_of(self.slot))
        files = [*self._chirp.start(), machine_ad]
        if self.way.spares(Turn.WRITE_JOB_AD):
            files.append(self._job_file())
        try:
            self._keeper.make(files)
        except OSError as error:
            raise CannotLaunch(
                f"cannot make the sandbox {self.sandbox.root}: {error.strerror}", 0, 0
            ) from error

    def _job_file(self) -> SmallFile:
        home = self.keeper.account.home
        ad = job_as_run(self.job, self.sandbox, self.had, home, transfers=self.transfers)
        return SmallFile(self.sandbox.job_ad, self.place.text_of_job(ad))

    @cached_property
    def had(self) -> ClassAd:
        """What the job was given here, for the startd's record of it; nobody changes it."""
        return self.place.givings.to(self.job)

    async def _register(self) -> None:
        """Say who we are, and get leave to set the job up."""
        info, provisioned = self.reports.info_with_slot(), self.reports.provisioned()
        await self.call(lambda: syscalls.must(calls.RegisterStarterInfo(info)))
        await self.call(lambda: syscalls.must(calls.RegisterJobInfo(provisioned)))
        await self.transfer.get_session()
        await self._ask_guidance("JobSetup", {"ContextAd": ClassAd()})

    async def _begin_execution(self) -> None:
        """Say that the program begins; it may when the shadow has answered."""
        if self.way.one_call_begins:
            beginning = self.reports.beginning(transfers=self.transfers)
            await self.call(lambda: syscalls.must(beginning))
        else:
            await self.call(lambda: syscalls.must(calls.BeginExecution()))

    async def _await_deferral_time(self) -> None:
        """Wait until the job may begin; an order to leave ends the wait."""
        moment = deferral_time(self.job)
        if moment is None:
            return
        seconds = seconds_to_wait(self.job, moment, self.world.clock.now())
        if seconds > 0:
            self.log(f"the job waits {seconds:.0f} seconds for its deferral time")
        while seconds > 0 and not self.deactivated.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, _DEFERRAL_LOOK_SECONDS)):
                    await self.deactivated.wait()
            seconds = seconds_to_wait(self.job, moment, self.world.clock.now())

    async def _choose_account(self) -> Account:
        account = lent_to(self.world.submitter) or await self._account_by_rules()
        if account.lent:
            self.log(f"The job runs as uid {account.uid}: {account.name} has no account here")
        return account

    async def _account_by_rules(self) -> Account:
        rules, slot = self.settings.accounts, self.activation.slot_name.partition("@")[0]
        try:
            claimed = read_claimed(self.activation.job, self.job)
        except RefusedError as error:
            raise CannotLaunch(error.message, HoldReasonCode.FailedToAccessUserAccount) from error
        key = (claimed, slot, self.world.shadow_host)
        known = self.world.accounts.get(key)
        if known is not None:
            return known
        privileges = self.world.privileges
        # Who cannot switch has one account for all.
        asks = privileges.can_switch and needs_submit_host(rules, claimed)
        ours = not asks or await self.world.is_submit_host_ours()
        choice = choose_account(rules, claimed, slot, in_domain=ours)
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

    async def _start_job(self) -> bool:
        """Start the first program; False if the job was told to leave before it began."""
        if self.vacate is not None:
            return False
        home = self.world.home_of(self.keeper.account) if self.settings.sets_home else ""
        around = self.place.surroundings(home, self.job)
        self.plan = plan_launch(self.job, self.slot, self.sandbox, around, transfers=self.transfers)
        if self.transfers and self.job.boolean("TransferExecutable") is not False:
            self.keeper.make_executable(self.plan.program)
        self.jobs.continues = self.transfer.brought_streams
        self.transfer.manifest.begin(self.plan.environment)
        if not self.programs.has_script(Role.PRE):
            await self._open_files(self.plan)
        await self._begin_execution()
        if hooks := self.settings.hooks.meant_for(self.job):
            self.log(explain_uncalled(hooks))
        await self.programs.begin()
        return True

    async def _open_files(self, plan: LaunchPlan) -> None:
        """Open the standard files before the program is said to begin; CannotLaunch."""
        try:
            self.jobs.open_files(plan)
            if plan.streams:
                await self.streams.open_remote(plan)
        except CannotLaunch:
            if self.way.one_call_begins:
                # What the slot has the one call would have said.
                provisioned = self.reports.provisioned()
                await self.call(lambda: syscalls.must(calls.RegisterJobInfo(provisioned)))
            raise

    # ---- while it runs ------------------------------------------------------------------------

    def on_job_started(self, pid: int) -> None:
        """The job itself runs: look after it, unless it is over in a moment."""
        self.begun.set()
        self.reports.begin()
        loop = asyncio.get_running_loop()
        self._soon = loop.call_later(_SHORT_SECONDS, self._look_after, pid)
        self.orders.begin()

    def _look_after(self, pid: int) -> None:
        """Begin what a job that is over in a moment can do without: reports, limits."""
        self.control.tell_state("Running", pid, self.world.address)
        if not self._looking:
            assert self._watch is not None
            watching = self._watch.watch(
                self.jobs.use, self._measure_disk, self.give_up, self.reports.note
            )
            self._looking = [
                tasks.spawn(self.reports.send_periodically(), "updates"),
                tasks.spawn(watching, "limits"),
                tasks.spawn(self.jobs.keep_census(self._census), "census"),
            ]

    def stop_looking(self) -> None:
        """End the periodic reports and looks."""
        for waiting in (*self._looking, self._soon, self._say_where):
            if waiting is not None:
                waiting.cancel()

    def _measure_disk(self) -> tuple[int, int]:
        view = self.jobs.view
        more = [view.folder] if view is not None else []
        named, unnamed = self.keeper.measure(*more), self.keeper.measure_held(self.jobs, *more)
        return named[0] + unnamed[0], named[1] + unnamed[1]

    def _disk_left(self) -> int:
        """Return the KiB that the job has left on disk; cheap where that is nothing."""
        view = self.jobs.view
        if view is not None and not view.note_whether_empty():
            self.private_kib = self.keeper.weigh(view.folder)[0]
        return self.keeper.surveyed().kib + self.private_kib

    def give_up(self, excess: Excess) -> None:
        """End at once a job that cannot go on here, as one that uses more than it may have."""
        self._excess = self._excess or excess
        self.jobs.kill_all()

    def killed_by_kernel(self) -> Excess | None:
        """Return what to say if the kernel has killed for want of memory."""
        return self._watch.killed_by_kernel() if self._watch is not None else None

    async def _await_end(self) -> int | None:
        """Wait until no process of ours is active; return the job's wait status."""
        await self.programs.ended.wait()
        self.stop_looking()
        # What the job left running in the background has to be dead before anything else is
        # decided: the slot may be given to the next job as soon as we say so.
        all_dead = await self.jobs.end_all()
        if not all_dead:
            self.log("some processes of the job cannot be killed")
        self._census.remove()
        self.programs.check()
        await self.streams.finish()
        left = self._disk_left() if all_dead else self._measure_disk()[0]
        if self._watch is not None and self._excess is None and self.vacate is None:
            self._excess = self._watch.judge_end(left)
        return self.programs.processes.status_of(Role.JOB)

    async def _clean_up(self) -> None:
        self.stop_looking()
        self.orders.close()
        if self._jobs is not None:
            self._jobs.close_files()
            await self._jobs.end_all()
        if self._chirp is not None:
            self._chirp.close()
        self.shadow.close()
        if self._keeper is not None:
            self._keeper.remove()
        self.control.tell_done(self.end.final, self.had if self._keeper is not None else None)
