"""Running jobs beside the schedd: scheduler universe here, local universe through a starter.

A scheduler-universe job is the schedd's own child (S008); a local one has a starter between
(S007, `services.local`). What a start and an end mean for the job is `beside`'s.
"""

from __future__ import annotations

import asyncio
import os
import signal
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobUniverse, ShadowExit
from kettle.classad import ClassAd, Expr
from kettle.classad.text import quote_old
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.stopping import graceful_seconds
from kettle.errors import KettleError, NotForked, StorageError
from kettle.policy.attribute_protection import RESTS_UNTIL
from kettle.policy.job_policy import Verdict, decide_periodic
from kettle.records.event_base import Event
from kettle.records.event_kinds import ExecuteEvent
from kettle.records.unwritten_events import SCHEDD_EVENTS, encode
from kettle.runtime import tasks
from kettle.runtime.process.census import birth_of
from kettle.runtime.process.hunt import has_mark, hunt, marked, outlives_its_daemon
from kettle.runtime.process.lent_accounts import lent_to
from kettle.runtime.process.processes import kill_tree, real_uid_of
from kettle.runtime.storage.free_space import read_free_kib
from kettle.schedd import beside
from kettle.schedd.beside import NotStarted, Run, StarterDied
from kettle.schedd.beside_events import failure_events, last_events, lost_events
from kettle.schedd.job_processes import NO_PROCESS, JobProcess, job_mark, program_mark
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job
from kettle.schedd.services.earlier_runs import EarlierRuns
from kettle.schedd.services.job_ad_file import remove_job_ad, text_of, write_job_ad
from kettle.schedd.services.job_sessions import JobSessions
from kettle.schedd.services.local import LocalRun, execute_folder
from kettle.schedd.services.program import start_program
from kettle.schedd.services.program_census import ProgramCensus
from kettle.schedd.services.start_turns import StartTurn
from kettle.schedd.start_pause import AGAIN_SECONDS, forget_refused, note_refused

if TYPE_CHECKING:
    from kettle.runtime.process.processes import Child
    from kettle.schedd.services.parts import Schedd
    from kettle.schedd.services.unwritten_events import UnwrittenEvents

# How often is seen whether policies are to be looked at, while they are not.
_AGAIN_SECONDS = 60.0

_START_EXPRESSIONS = {
    JobUniverse.LOCAL: "START_LOCAL_UNIVERSE",
    JobUniverse.SCHEDULER: "START_SCHEDULER_UNIVERSE",
}

# Requests that leave no time, and what else they are.
_AT_ONCE = {"VacateFast": "Vacate", "Forget": "Remove"}


class BesideJobs:
    """Every job that runs beside the schedd."""

    def __init__(self, schedd: Schedd, unwritten: UnwrittenEvents) -> None:
        self._schedd = schedd
        self._unwritten = unwritten
        self.runs: dict[JobId, Run] = {}
        self._children: dict[JobId, Child] = {}
        self._census = ProgramCensus(schedd, self._running_programs)
        self._local: dict[JobId, LocalRun] = {}
        # Runs of which nothing is started before their start is on disk, each with what is set when
        # it is to leave: until then there is nobody to be told.
        self._unstarted: dict[JobId, asyncio.Event] = {}
        self._sessions = JobSessions(schedd.runtime)
        self._empty = asyncio.Event()
        self._stopping = False
        # Whose programs may still live is not begun a second time.
        self._cleared = False
        self.earlier = EarlierRuns(schedd)
        # Whether jobs are being looked at, and whether that is to begin anew.
        self._looking = self._looks_again = False
        # Programs that are being started, and whose processes are not known yet.
        self._starting = 0
        self._patience = beside.LEAVE_SECONDS
        self._last_told = asyncio.Event()
        self._last_told.set()
        self._allowed: dict[int, Expr | None] = {}
        self.reconfigure()

    def start(self) -> None:
        """Look for jobs that may start, once nothing of earlier ones lives, and after policies."""
        tasks.spawn(self._clear(), "the end of what earlier jobs left")
        tasks.repeat(self._look, "policy of jobs beside the schedd")

    async def _clear(self) -> None:
        with tasks.reported("The end of what earlier jobs beside the schedd left"):
            await self.earlier.end_all()
        self._cleared = True
        self._start_all()

    def reconfigure(self) -> None:
        """Take over which jobs may start.

        As in the reference an expression that is none keeps nobody from starting.
        """
        runtime = self._schedd.runtime
        self._allowed = {
            int(universe): runtime.config.sound_expression(name, runtime.log.problem)
            for universe, name in _START_EXPRESSIONS.items()
        }

    def on_changes(self, changes: Changes) -> None:
        """Follow a commit: a new or released job may start."""
        if (changes.new or changes.status_before) and beside.has_idle(self._schedd.queue):
            self.look_again()

    def look_again(self) -> None:
        """Start what may start by now."""
        asyncio.get_running_loop().call_soon(self._start_all)

    def _start_all(self) -> None:
        if self._stopping or not self._cleared or not beside.has_idle(self._schedd.queue):
            return
        if self._looking:
            # Whoever came since the look began has not been looked at.
            self._looks_again = True
            return
        self._looking = True
        self._go_on_starting(self._start_each())

    def _go_on_starting(self, steps: Iterator[None]) -> None:
        """Look at jobs until the turn is over, then let others have theirs."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + tasks.TURN_SECONDS
        goes_on = False
        try:
            for _ in steps:
                if loop.time() >= ends and not self._stopping:
                    goes_on = True
                    loop.call_soon(self._go_on_starting, steps)
                    return
        finally:
            self._looking = goes_on
        if self._looks_again:
            self._looks_again = False
            loop.call_soon(self._start_all)

    def _start_each(self) -> Iterator[None]:
        schedd = self._schedd
        config = schedd.runtime.config
        machine = beside.schedd_as_machine(config, self._read_free_kib())
        machine.update(beside.counts(schedd.queue))
        refused: StorageError | None = None
        for job in beside.startable(schedd.queue, machine, self._allowed, schedd.now()):
            # One that was held and released waits for the end of its process.
            if job is None or job.id in self.runs or self._stopping:
                pass
            elif schedd.accounts.is_silent(job.user):
                # `SilentOwners` says when he is found.
                pass
            elif refused is not None:
                note_refused(job, refused, schedd.now())
            else:
                try:
                    self._begin(job)
                except StorageError as error:
                    refused = error
                    self._try_later(job, error)
                machine.update(beside.counts(schedd.queue))
            yield

    def _try_later(self, job: Job, error: StorageError) -> None:
        """Start no job for a while: the queue has no room to say that one runs."""
        if error.ends_daemon:
            raise error
        note_refused(job, error, self._schedd.now())
        self._schedd.runtime.log.problem(f"job {job.id} is not started: {error.message}")
        asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._start_all)

    def _read_free_kib(self) -> int | None:
        free = read_free_kib(execute_folder(self._schedd))
        # Who never ran a local job has no such folder yet.
        return read_free_kib(self._schedd.settings.spool) if free is None else free

    def _begin(self, job: Job) -> None:
        schedd = self._schedd
        now = schedd.now()
        host = schedd.runtime.identity.machine
        ad_text = text_of(job.ad) if job.universe == JobUniverse.SCHEDULER else ""
        schedd.queue.update(job.id, beside.start_attributes(job.ad, host, now), refusable=True)
        forget_refused(job)
        schedd.statistics.on_started(job, now)
        run = self.runs[job.id] = Run(job, now, ad_text=ad_text)
        # Compat: the reference tells of one start after the other
        # (test_scheduler_jobs_are_told_of_in_order).
        turn = StartTurn(self._last_told)
        self._last_told = turn.told
        tasks.spawn(self._live(run, turn), f"job {job.id}")

    async def _live(self, run: Run, turn: StartTurn) -> None:
        """Run one job from its start to its end, whatever goes wrong in between."""
        status = 0
        failure: NotStarted | StarterDied | NotForked | None = None
        try:
            status = await self._serve(run, turn)
        except (NotStarted, StarterDied, NotForked) as error:
            failure = error
        except (KettleError, OSError) as error:
            failure = NotStarted(str(error))
        except Exception as error:  # noqa: BLE001 - told with its trace; the job must not hang
            tasks.report("".join(traceback.format_exception(error)).rstrip())
            failure = NotStarted(f"{type(error).__name__}: {error}")
            with tasks.reported("The end of what a job beside the schedd has left"):
                await self._end_processes(run)
        finally:
            turn.told.set()
            self._forget(run)
        if failure is None or run.wish:
            # One that failed was to leave anyway.
            self._end(run, status)
        elif isinstance(failure, NotStarted):
            self._fail(run, failure)
        else:
            self._lose(run, failure)

    async def _serve(self, run: Run, turn: StartTurn) -> int:
        """Return the wait status of a job's program, which is not run if it is to leave by then."""
        await self._wait_for_disk(run)
        if run.wish:
            return 0
        if run.job.universe == JobUniverse.LOCAL:
            turn.told.set()
            local = LocalRun(self._schedd, run, self.earlier.leftovers, self._on_executing)
            self._local[run.job.id] = local
            return await local.serve()
        return await self._run_program(run, turn)

    def secret_of(self, job: Job) -> str:
        """Return by what a running job of the scheduler universe knows its user; or nothing."""
        return self._sessions.secret(job)

    def _forget(self, run: Run) -> None:
        job = run.job
        self._children.pop(job.id, None)
        self._local.pop(job.id, None)
        self._sessions.end(job)
        if run.ad_text:
            with tasks.reported("Removing the file with a job's ad"):
                remove_job_ad(self._schedd, job.id)
        self.runs.pop(job.id, None)
        if not self.runs:
            self._empty.set()

    async def _end_processes(self, run: Run) -> None:
        """End what a fault of ours left of a run: the job may be started again."""
        local, child = self._local.get(run.job.id), self._children.get(run.job.id)
        if local is not None:
            await local.end_processes()
        elif child is not None:
            _kill_if_running(child)
            await child.wait()

    async def _wait_for_disk(self, run: Run) -> None:
        """Return when a start is on disk, or the job is to leave before it began; StorageError.

        Without room in the spool the one may take for ever, and nobody waits for it then.
        """
        unwanted = self._unstarted[run.job.id] = asyncio.Event()
        flushing = tasks.spawn(self._schedd.journal.flush(), f"the start of job {run.job.id}")
        waiting = tasks.spawn(unwanted.wait(), f"what ends job {run.job.id} before its start")
        try:
            await asyncio.wait((flushing, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not run.wish:
                await flushing
        finally:
            waiting.cancel()
            del self._unstarted[run.job.id]

    # -- scheduler universe -----------------------------------------------------------------

    async def _run_program(self, run: Run, turn: StartTurn) -> int:
        runtime, job = self._schedd.runtime, run.job
        job_ad = write_job_ad(self._schedd, job.id, run.ad_text)
        told = beside.own_environment(runtime.config, self._sessions.begin(job).text)
        program = beside.plan_program(job.ad, _inherited(job), job_ad, told)
        privileges = runtime.privileges
        owner = self._schedd.accounts.to_start(job.user)
        account = lent_to(owner) or privileges.job_account(job.owner)
        self._starting += 1
        try:
            starting = await start_program(runtime, program, owner, account, f"job {job.id}")
        finally:
            self._starting -= 1
        child = self._children[job.id] = starting.child
        self._remember(job, child.pid)
        self._census.on_start()
        if run.wish:
            # Nobody could be told while there was no process.
            child.signal(signal.SIGKILL)
        executed = await starting.executed()
        if executed:
            await turn.come()
            self._on_executing(run)
        turn.told.set()
        status = await child.wait()
        if child.usage is not None:
            run.attributes["RemoteUserCpu"] = child.usage.ru_utime
            run.attributes["RemoteSysCpu"] = child.usage.ru_stime
        staying = await hunt(lambda: self._left_behind(job, account.uid), privileges)
        if staying:
            runtime.log(f"processes {staying} of job {job.id} cannot be killed")
        if not executed and not run.wish:
            raise NotForked("its process was killed before the program began")
        return status

    def _left_behind(self, job: Job, uid: int) -> list[int] | None:
        """Return what lives on of a job of this account whose process has ended.

        That is who carries its mark, and who fell to us without any and can be of no other job.
        None while that cannot be told, as another one is just being started.
        """
        runtime = self._schedd.runtime
        # Looked for first: who throws the mark away after that is an orphan without any.
        carriers = marked(runtime.privileges, job_mark(job.id, os.getpid()))
        orphans = runtime.processes.orphans()
        if orphans is None or self._starting:
            return None
        with runtime.privileges.as_root():
            others = [
                beside.Process(real_uid_of(child.pid), birth_of(child.pid))
                for other, child in self._children.items()
                if other != job.id and child.running
            ]
            strays = [
                pid
                for pid in orphans
                if not has_mark(pid, program_mark(os.getpid()))
                and not outlives_its_daemon(pid)
                and not beside.may_be_of(others, uid, real_uid_of(pid), birth_of(pid))
            ]
        return [*strays, *carriers]

    def _running_programs(self) -> list[int]:
        return [child.pid for child in self._children.values()]

    def _remember(self, job: Job, pid: int) -> None:
        """Note the process, so that a later schedd can end what this one leaves behind."""
        self._schedd.queue.update(job.id, JobProcess(pid, birth_of(pid), os.getpid()).note())

    def _on_executing(self, run: Run) -> None:
        run.executed = True
        self._schedd.events.write(run.job, ExecuteEvent(host=self._address()))

    def _address(self) -> str:
        return str(self._schedd.runtime.network.address)

    # -- ends -------------------------------------------------------------------------------

    def _end(self, run: Run, status: int) -> None:
        schedd = self._schedd
        now = schedd.now()
        if not run.wish:
            run.attributes |= beside.exit_attributes(status)
            run.attributes |= beside.exit_status(run.job.universe, status)
        # A job whose end cannot be judged is run again, as by a shadow that fails.
        reason, more = int(ShadowExit.EXCEPTION), dict[str, object]()
        with tasks.reported(f"The end of job {run.job.id}"):
            reason, more = beside.decide_end(run, schedd.scheduler.policy.system, float(now))
        cools = self._cool_down(run, status)
        said = {**run.attributes, **more, **beside.leave_attributes(run), **cools}
        report = dict(ClassAd(said).own_texts())
        if run.wish:
            report |= beside.unstarted_attributes(run)
        self._close(run, reason, report, last_events(run, status, reason, more))
        self._start_all()

    def _cool_down(self, run: Run, status: int | None) -> dict[str, object]:
        """Return what has a job wait that failed, or without a status could not be started."""
        schedd = self._schedd
        seconds = schedd.runtime.config.value(ScheddKnobs.SCHEDULER_UNIVERSE_COOL_DOWN_DURATION)
        cools = beside.cool_down(run, status, seconds, schedd.now())
        if cools:
            schedd.runtime.log(f"Job {run.job.id} failed and cools down for {seconds} s")
            asyncio.get_running_loop().call_later(seconds + 1, self._start_all)
        return cools

    def _close(self, run: Run, reason: int, report: dict[str, str], events: list[Event]) -> None:
        """Take a run's end into the queue, and with it its last events: told once, whoever dies."""
        schedd, job = self._schedd, run.job
        report |= NO_PROCESS
        ends = None
        with tasks.reported(f"The last events of job {job.id}"):
            ends = schedd.events.prepare(job, events)
        if ends:
            report[SCHEDD_EVENTS] = quote_old(encode(ends))
        if job.id in schedd.queue.jobs:
            schedd.scheduler.on_shadow_exited(job.id, reason, report, reusable=False)
            self._unwritten.recall(job, fresh=True)

    def _lose(self, run: Run, failure: StarterDied | NotForked) -> None:
        """Let a job wait again that has no part in it: its starter died, or no process was made.

        Everything that it had begun is dead. Who has no luck again and again rests in between.

        Compat: the reference starts it again every time, three seconds later, and tells its log
        nothing; ours rests whose starters die one after the other
        (test_a_local_job_whose_starter_dies_waits_and_is_started_again).
        """
        schedd, job = self._schedd, run.job
        schedd.runtime.log.problem(f"Job {job.id} waits again: {failure}")
        report = dict(ClassAd(beside.lost_attributes(failure)).own_texts())
        report |= beside.unstarted_attributes(run, begun=isinstance(failure, StarterDied))
        self._close(run, int(ShadowExit.SHOULD_REQUEUE), report, lost_events(run, failure))
        rests = (job.ad.integer(RESTS_UNTIL) or 0) - schedd.now()
        asyncio.get_running_loop().call_later(max(0, rests) + 1, self._start_all)

    def _fail(self, run: Run, failure: NotStarted) -> None:
        """Put a job that could not be started on hold."""
        schedd = self._schedd
        schedd.runtime.log.problem(f"Job {run.job.id} was not started: {failure}")
        held = {
            "HoldReason": str(failure),
            "HoldReasonCode": failure.code,
            "HoldReasonSubCode": failure.subcode,
        }
        said = {**held, **self._cool_down(run, None)}
        report = dict(ClassAd(said).own_texts()) | beside.unstarted_attributes(run)
        events = failure_events(run, failure, self._address())
        self._close(run, int(ShadowExit.SHOULD_HOLD), report, events)

    # -- requests ---------------------------------------------------------------------------

    def signal(self, job: Job, word: str, reason: str, code: int, subcode: int) -> bool:
        """Pass a request on; False if the job does not run here."""
        run = self.runs.get(job.id)
        if run is None:
            return False
        if word in {"Suspend", "Continue"}:
            # Who asks is told that it is done, as by the reference; such a job runs on.
            return True
        run.released = word == "Release"
        if run.released:
            return True
        wish, fast = _AT_ONCE.get(word, word), word in _AT_ONCE
        news = run.ask(wish, reason, code, subcode)
        local, child = self._local.get(job.id), self._children.get(job.id)
        seconds = beside.leave_seconds(job.ad, self._patience)
        unstarted = self._unstarted.get(job.id)
        if unstarted is not None:
            unstarted.set()
        elif local is not None:
            local.leave(run.reason, run.code, seconds=0.0 if fast else seconds)
        elif child is not None and (news or fast):
            child.signal(signal.SIGKILL if fast else beside.leave_signal(job.ad, wish))
            asyncio.get_running_loop().call_later(seconds, _kill_if_running, child)
        return True

    async def stop(self, how: str) -> None:
        """End every job; they go back into the queue.

        One that names no time of its own has as long as the schedd itself has for its stop.
        """
        self._stopping = True
        config = self._schedd.runtime.config
        self._patience = max(self._patience, graceful_seconds(config, "SCHEDD"))
        for run in list(self.runs.values()):
            word = "VacateFast" if how == "fast" else "Vacate"
            self.signal(run.job, word, "the schedd shuts down", 0, 0)
        if self.runs:
            self._empty.clear()
            await self._empty.wait()
        self._census.close()

    async def _look(self) -> None:
        seconds = self._schedd.settings.policy_seconds
        await asyncio.sleep(seconds or _AGAIN_SECONDS)
        for run in list(self.runs.values()) if seconds else ():
            with tasks.reported("The policy of a job beside the schedd"):
                self._apply_policy(run)
        # What a start expression or a job's requirements look at may have changed by itself.
        self._start_all()

    def _apply_policy(self, run: Run) -> None:
        scheduler = self._schedd.scheduler
        now = float(self._schedd.now())
        decision = decide_periodic(run.job.ad, now, scheduler.policy.system)
        if decision.verdict is Verdict.HOLD:
            scheduler.orders.hold(run.job, decision.reason, decision.code, decision.subcode)
        elif decision.verdict is Verdict.REMOVE:
            scheduler.orders.remove(run.job, decision.reason)
        elif decision.verdict is Verdict.VACATE:
            self.signal(run.job, "Vacate", decision.reason, decision.code, 0)


def _kill_if_running(child: Child) -> None:
    if child.running:
        kill_tree(child.pid)
        child.signal(signal.SIGKILL)


def _inherited(job: Job) -> dict[str, str]:
    """Return what a job beside the schedd has in its environment whatever its ad says."""
    names = ("PATH", "HOME", "LANG", "TZ", "CONDOR_CONFIG")
    inherited = {name: os.environ[name] for name in names if name in os.environ}
    name, _, value = job_mark(job.id, os.getpid()).partition("=")
    return inherited | {name: value}
