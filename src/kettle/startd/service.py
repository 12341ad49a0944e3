"""The startd at work: the effects of the slot machine, and its life as a daemon.

What the machine decides is in `slot_machine.py`, `slot_policy.py`, `claim_machine.py` and
`requests.py`. Who gets a slot is asked in `services/claiming.py`, how a job begins and ends in
`services/activating.py` and `services/deactivating.py`; `services/schedds.py` talks with who holds
the claims. The rest of `services/` has one module a subject.
"""

from __future__ import annotations

import asyncio
import secrets

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.config.hooks import explain_uncalled, fetch_hooks
from kettle.config.knobs.collector import CollectorKnobs
from kettle.config.knobs.startd import StartdKnobs
from kettle.levels import Level
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.clock import set_ahead
from kettle.runtime.context import Runtime
from kettle.runtime.job_tracing import trace
from kettle.startd import ads, claim_machine, machine_ad
from kettle.startd import slot_events as ev
from kettle.startd.claim_machine import Claim, ClaimPhase
from kettle.startd.draining_cost import RunningJob, expect
from kettle.startd.hold_wish import HoldWish, read_hold_wish
from kettle.startd.machine import Machine, SlotRecord, machine_resources, plan_layout
from kettle.startd.retirement import vacate_seconds
from kettle.startd.run_times import RunTimes
from kettle.startd.services.activating import Activating
from kettle.startd.services.claiming import Claiming
from kettle.startd.services.commands import OtherCommands
from kettle.startd.services.deactivating import Deactivating
from kettle.startd.services.draining import Draining
from kettle.startd.services.execute_folder import find_own_disks
from kettle.startd.services.facts import read_facts
from kettle.startd.services.history import RunHistory
from kettle.startd.services.inventory import take_inventory
from kettle.startd.services.learning import Learning
from kettle.startd.services.load import LoadMeter
from kettle.startd.services.policy import PolicyWatch
from kettle.startd.services.procd import Procd, end_earlier
from kettle.startd.services.schedds import Schedds
from kettle.startd.services.starters import Reports, StarterProcess, Starters
from kettle.startd.services.updates import Updates
from kettle.startd.slot_machine import Phase, Slot, advance, find_row, is_current, tell_change
from kettle.wire.commands import CLAIM_COMMANDS
from kettle.wire.messages import starter_control as words
from kettle.wire.security.claim_id import (
    CLAIM_SESSION_END_SECONDS,
    SUBMIT_SIDE,
    ClaimId,
    mint_claim_id,
)
from kettle.wire.sinful import render_address_v1


class StartdService:
    """One execution point."""

    preload = (
        "kettle.starter.services.entry",
        "kettle.starter.services.warm",
        "kettle.startd.services.procd",
    )

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        identity = runtime.identity
        facts = read_facts(runtime.config, identity.machine)
        self.machine = Machine(facts, identity.name)
        self.base = ClassAd()
        self._base_changes = 0
        self.stopping = ""
        self.updates = Updates(self)
        self.policy = PolicyWatch(self)
        self._sequence = 0
        self._schedds = Schedds(self)
        self._claiming = Claiming(self, self._schedds)
        self._waiting = self._claiming.waiting
        self._deactivating = Deactivating(self)
        self._activating = Activating(self, self._deactivating)
        reports = Reports(
            self._on_starter_report, self._on_starter_done, self._activating.on_starter_asks
        )
        self.starters = Starters(runtime, reports)
        # By folder: EXECUTE may change, and jobs that were begun before stay where they are.
        self._procds: dict[str, Procd] = {}
        self._draining = Draining(self, self._waiting)
        self._commands = OtherCommands(self, self._schedds)
        self._history = RunHistory(runtime)
        self._meter = LoadMeter(self)
        self._tasks: list[asyncio.Task[object]] = []
        self._learning = Learning(runtime, self.machine, self._tell_all)

    # ---- life ---------------------------------------------------------------------------------

    async def start(self) -> None:
        """Divide the machine, offer the slots, begin to poll."""
        # What earlier jobs left is looked for there, too.
        await self._meter.begin()
        # Before anything is offered: an earlier execution of a job that comes may still live.
        for leftovers in self.starters.leftovers():
            await end_earlier(self.runtime, leftovers.execute)
            await leftovers.end_all()
        config, now = self.runtime.config, self.runtime.clock.steady()
        found = await take_inventory(self.runtime.processes, config, self.runtime.log.problem)
        machine = self.machine
        resources = machine_resources(config, machine.facts, machine.readings, found)
        machine.disks = find_own_disks(config, self.runtime.privileges, machine.readings.volume)
        machine.divide(plan_layout(config, resources, machine.disks), resources, now)
        for name, reason in machine.flaws().items():
            self.runtime.log.problem(f"{name} is not as configured: {reason}")
        if machine.readings.disk_kib <= 0:
            self.runtime.log.problem(
                f"EXECUTE, {config.value(StartdKnobs.EXECUTE)}, has no room beyond RESERVED_DISK: "
                "no job is taken before it has some"
            )
        self._make_base()
        self._meter.read()
        self._say_what_is_not_called()
        for record in self.machine:
            self.offer(record)
        for part in (
            self._claiming,
            self._activating,
            self._deactivating,
            self._schedds,
            self._draining,
            self._commands,
            self._history,
        ):
            part.register()
        self.policy.look(self.machine)
        self.policy.start()
        self.updates.start()
        self.updates.note_all()
        self.runtime.network.on_moved(self._tell_all)
        self._tasks = [
            tasks.repeat(self._refresh_when_due, "readings"),
            tasks.repeat(self._look_for_room, "room"),
            tasks.repeat(self._meter.measure_when_due, "load"),
            tasks.repeat(self._schedds.keep_alive, "alives"),
        ]
        self._learning.begin()
        self._see_that_jobs_end()

    def _see_that_jobs_end(self) -> None:
        """Have somebody who ends what jobs leave in EXECUTE when all daemons are killed."""
        for leftovers in self.starters.leftovers():
            if leftovers.execute not in self._procds:
                self._procds[leftovers.execute] = Procd(self.runtime, leftovers)
            self._procds[leftovers.execute].start()

    async def reconfigure(self, _config: Config) -> None:
        """Take over expressions and attributes; the slots stay as they are (A016)."""
        self.starters.generation += 1
        self._see_that_jobs_end()
        self._learning.ask_programs()
        self._make_base()
        self._say_what_is_not_called()
        self.policy.look(self.machine)
        self.updates.note_all()

    def _say_what_is_not_called(self) -> None:
        if hooks := fetch_hooks(self.runtime.config):
            self.runtime.log.problem(explain_uncalled(hooks))

    async def shut_down(self, how: str) -> None:
        """Get rid of jobs as told, withdraw the ads."""
        self.stopping = how
        event = ev.ShutdownStarted(fast=how == "fast")
        for record in self.machine:
            self._waiting.leave(record)
            # A peaceful end waits for the jobs and only takes no new ones (B121).
            if how != "peaceful" or not record.slot.activation:
                self.apply(record, event)
            self.policy.note(record)
        await self.starters.all_done()
        for procd in self._procds.values():
            await procd.stop()
        self._history.flush()
        self.policy.stop()
        self._learning.close()
        for task in self._tasks:
            task.cancel()
        await self._schedds.flush()
        await self.updates.withdraw()

    def _tell_all(self) -> None:
        """Tell the collector everything, with where we are now."""
        self._make_base()
        self.updates.note_all()

    def _make_base(self) -> None:
        identity, address = self.runtime.identity, self.runtime.network.address
        around = machine_ad.Surroundings(
            str(address),
            render_address_v1(address),
            identity.version,
            identity.platform,
            identity.started_at,
            identity.reconfigured_at,
        )
        self.base = machine_ad.base_ad(
            self.runtime.config, self.machine.facts, around, self.machine.whole
        )
        self.refresh_base()

    @property
    def base_stamp(self) -> tuple[int, int]:
        """Which state of `base` this is: another one whenever it has changed."""
        return self._base_changes, len(self.machine.slots)

    def refresh_base(self) -> None:
        """Put what has changed into the ad that slots share."""
        self._base_changes += 1
        now = self.runtime.clock.steady()
        self.machine.set_ahead = set_ahead(self.runtime.clock)
        machine = self.machine
        running = (
            RunningJob(one.total.amount("Cpus"), one.ran_seconds(now), self.policy.grants(one))
            for one in machine
            if one.slot.activation
        )
        machine.expected = expect(running, machine.expected, now)
        machine_ad.fill_readings(self.base, machine, machine.drain, now)

    # ---- ads ----------------------------------------------------------------------------------

    def slot_ad(self, record: SlotRecord, *, policy: bool = False) -> ClassAd:
        """Return a slot's ad; with `policy` also the owner's expressions."""
        now = self.runtime.clock.steady()
        self.machine.set_ahead = set_ahead(self.runtime.clock)
        config = self.runtime.config
        self.base["TotalSlots"] = len(self.machine.slots)
        ad = ads.build_slot_ad(record, self.machine, config, self.base, now)
        if policy:
            ads.add_policy(ad, record, self.machine, config)
        return ad

    def passing_ad(self, record: SlotRecord) -> ClassAd:
        """Return what of a claimed slot's ad is another for each job, but for what is the job's."""
        self.machine.set_ahead = set_ahead(self.runtime.clock)
        return ads.passing_ad(record, self.machine, self._now())

    # ---- claims -------------------------------------------------------------------------------

    def mint(self) -> Claim:
        """Make a new claim id that nobody holds, and its session."""
        self._sequence += 1
        claim_id = mint_claim_id(
            str(self.runtime.network.address),
            int(self.runtime.identity.started_at),
            self._sequence,
            secrets.token_bytes(32),
        )
        self.runtime.network.add_session(
            claim_id,
            user=SUBMIT_SIDE,
            levels=(Level.DAEMON, Level.CLIENT),
            commands=CLAIM_COMMANDS,
        )
        return Claim(claim_id.text)

    def offer(self, record: SlotRecord) -> None:
        """Give a slot a claim id to advertise."""
        self.machine.set_claim(record, self.mint())

    def retire_session(self, claim: Claim) -> None:
        """Let a claim's session end some time after the claim."""
        self._deactivating.forget(claim)
        loop = asyncio.get_running_loop()
        network = self.runtime.network
        loop.call_later(CLAIM_SESSION_END_SECONDS, network.remove_session, ClaimId(claim.claim_id))

    # ---- events and effects -------------------------------------------------------------------

    def apply(self, record: SlotRecord, event: ev.Event) -> bool:
        """Give a slot an event; False if it means nothing there (any more)."""
        if not is_current(record.slot, event) or find_row(record.slot, event) is None:
            return False
        now = self.runtime.clock.steady()
        before = record.slot
        record.slot, effects = advance(before, event, now)
        self._account(record, before, now)
        if record.slot.phase is not before.phase:
            self.runtime.log(f"{record.short_name}: {tell_change(before.phase, record.slot.phase)}")
        for effect in effects:
            self._perform(record, effect)
        urgent = before.phase.state != record.slot.phase.state
        if record.parent is not None and record.slot.phase.state in {"Owner", "Drained"}:
            self._destroy(record)
        else:
            self.updates.note(record, urgent=urgent)
        self._draining.check()
        if urgent or not self.policy.is_settled(record):
            self.policy.note(record)
        return True

    def _account(self, record: SlotRecord, before: Slot, now: float) -> None:
        self.machine.note_phase(record, before, now)
        if record.slot.phase is Phase.CLAIMED_SUSPENDED:
            record.times.suspend(now)
        elif before.phase is Phase.CLAIMED_SUSPENDED:
            record.times.resume(now)
        if record.slot.leaving_code and not before.leaving_code and record.claim is not None:
            self.machine.set_claim(record, claim_machine.break_off(record.claim))
            if before.activation and record.slot.phase.state == "Claimed":
                # Its job may come to its end all the same.
                self._deactivating.tell_starter(record, goes_on=False)
        elif before.leaving_code and not record.slot.leaving_code and record.slot.activation:
            assert record.claim is not None
            self.machine.set_claim(record, claim_machine.keep(record.claim))
            self._deactivating.tell_starter(record, goes_on=True)

    def _perform(self, record: SlotRecord, effect: ev.Effect) -> None:
        match effect:
            case ev.AskJobToLeave() | ev.KillJob() | ev.SuspendJob() | ev.ContinueJob():
                starter = self.starters.find(effect.activation)
                if starter is not None:
                    self._tell_starter(record, starter, effect)
            case ev.KillStarterTree():
                self.runtime.log(f"{record.short_name}: the starter does not end; killing its tree")
                self.starters.kill_tree(effect.activation)
            case ev.DropClaim():
                self._drop_claim(record)
            case ev.SwitchClaim():
                self._switch_claim(record)
            case ev.StartBenchmarks():
                # Limit: no benchmark programs yet; the activity is left as soon as it is entered,
                # and Mips and KFlops stay unknown.
                self.machine.last_benchmark_at = self._now()
                self.refresh_base()
                asyncio.get_running_loop().call_soon(self.apply, record, ev.BenchmarksFinished())
            case ev.StopBenchmarks() | ev.StartBackfill() | ev.StopBackfill():
                # Limit: no such programs yet; START_BACKFILL is not asked for (`read_verdict`).
                pass
            case _:
                raise AssertionError(f"nobody performs {effect}")

    def _tell_starter(
        self,
        record: SlotRecord,
        starter: StarterProcess,
        effect: ev.AskJobToLeave | ev.KillJob | ev.SuspendJob | ev.ContinueJob,
    ) -> None:
        match effect:
            case ev.AskJobToLeave():
                ran = record.ran_seconds(self._now())
                seconds = vacate_seconds(self.policy.grants(record), ran)
                hold = self._hold_wish(record, effect.code)
                starter.vacate(
                    effect.code, effect.reason, graceful=True, seconds=seconds, hold=hold
                )
            case ev.KillJob():
                hold = self._hold_wish(record, effect.code)
                starter.vacate(effect.code, effect.reason, graceful=False, seconds=0, hold=hold)
            case ev.SuspendJob():
                starter.post(words.SuspendJob(ClassAd()))
            case ev.ContinueJob():
                starter.post(words.ContinueJob(ClassAd()))

    def _hold_wish(self, record: SlotRecord, code: int) -> HoldWish | None:
        return read_hold_wish(code, self.slot_ad(record, policy=True), record.job)

    def _now(self) -> float:
        return self.runtime.clock.steady()

    def _drop_claim(self, record: SlotRecord) -> None:
        claim = record.claim
        record.job = record.usage = None
        record.times = RunTimes()
        record.accepted_while_draining = False
        if claim is not None and claim.phase is not ClaimPhase.OFFERED:
            self.starters.let_go(claim.claim_id)
            self._schedds.tell_released(claim)
            self.retire_session(claim)
        self._waiting.drop(record)
        if record.parent is None:
            self.offer(record)

    def _switch_claim(self, record: SlotRecord) -> None:
        old, new = record.claim, record.waiting_claim
        assert new is not None
        record.usage = None
        record.times = RunTimes()
        record.accepted_while_draining = False
        if old is not None:
            self.starters.let_go(old.claim_id)
            self._schedds.tell_released(old)
            self.retire_session(old)
        self._waiting.promote(record)
        # Another lease counts from here on.
        self.policy.note(record)

    def _destroy(self, record: SlotRecord) -> None:
        """A dynamic slot is over: its resources go back (A012)."""
        parent = record.parent
        assert parent is not None
        self.updates.forget(record)
        self.machine.destroy(record)
        parent.divided_at = self.runtime.clock.steady()
        self.updates.note(parent, urgent=True)
        self.policy.note(parent)
        self._draining.drain(parent)

    # ---- measurements -------------------------------------------------------------------------

    async def _refresh_when_due(self) -> None:
        await asyncio.sleep(self.runtime.config.value(CollectorKnobs.UPDATE_INTERVAL))
        # Old readings are better than no word at all: the collector forgets who says nothing.
        with tasks.reported("Measuring the machine"):
            self.refresh()
        self.updates.note_all()

    async def _look_for_room(self) -> None:
        """Where no disk is offered, look at each poll whether there is some, and say so at once."""
        await asyncio.sleep(self.runtime.config.value(StartdKnobs.POLLING_INTERVAL))
        if not self.machine.lacks_room:
            return
        with tasks.reported("Looking for room in EXECUTE"):
            self.refresh()
        if not self.machine.lacks_room:
            self.updates.note_all()

    def refresh(self) -> None:
        """Measure the machine again."""
        config = self.runtime.config
        self._meter.read()
        if self.machine.follow_disk(always=config.value(StartdKnobs.STARTD_RECOMPUTE_DISK_FREE)):
            self.runtime.log("EXECUTE has room for jobs now, though it had none at the start")
        self.refresh_base()

    # ---- starters -----------------------------------------------------------------------------

    def _record_of(self, starter: StarterProcess) -> SlotRecord | None:
        for record in self.machine.slots.values():
            if record.slot.activation == starter.number:
                return record
        return None

    def _on_starter_report(self, starter: StarterProcess) -> None:
        record = self._record_of(starter)
        if record is None:
            return
        usage = ClassAd(parent=starter.usage) if starter.usage is not None else ClassAd()
        usage["StarterPid"] = starter.pid
        usage["StarterIpAddr"] = starter.address
        record.usage = usage
        if usage.boolean("Final") is True:
            self.apply(record, ev.JobEnded(starter.number))
        self.updates.note(record, urgent=False)

    def _on_starter_done(self, starter: StarterProcess) -> None:
        record = self._record_of(starter)
        if record is None:
            return
        now = self._now()
        if record.claim is not None:
            self.machine.set_claim(record, claim_machine.end_activation(record.claim, now))
        if record.job is not None:
            self._history.note(record.job, starter.final)
            self.trace(record, Step.FREED)
        record.usage = None
        record.times.end(now)
        if starter.final is not None:
            # What a short job's starter tells last came with the word that it is done.
            self.apply(record, ev.JobEnded(starter.number))
        self.apply(record, ev.StarterExited(starter.number))
        if starter.final is not None and "BytesSent" in starter.final:
            to_job, from_job = starter.final.real("BytesRecvd"), starter.final.real("BytesSent")
            self.machine.counters.on_moved(to_job or 0.0, from_job or 0.0)

    def trace(self, record: SlotRecord, step: Step) -> None:
        """Leave a line of a step of the slot's job in the log, where that is wanted."""
        if record.job is not None:
            trace(self.runtime.log, record.job, step, record.short_name)
