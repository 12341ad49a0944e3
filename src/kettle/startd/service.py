"""The startd at work: policy, timers, the effects of the slot machine, and its life as a daemon.

What the machine decides is in `slot_machine.py`, `slot_policy.py`, `claim_machine.py` and
`requests.py`. Conversations about claims are `services/claims.py`, other commands
`services/commands.py`, starters `services/starters.py`, the collector `services/updates.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Iterable
from dataclasses import replace

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.runtime.storage.url_fetching import served_methods
from kettle.startd import ads, claim_machine, slot_policy
from kettle.startd import slot_events as ev
from kettle.startd.claim_machine import Claim, ClaimPhase
from kettle.startd.machine import Machine, SlotRecord, machine_resources, plan_layout
from kettle.startd.retirement import Grants, seconds_until_soft_kill, vacate_seconds
from kettle.startd.services.claims import ClaimCommands
from kettle.startd.services.commands import OtherCommands
from kettle.startd.services.facts import read_facts, read_readings
from kettle.startd.services.starters import Reports, StarterProcess, Starters
from kettle.startd.services.updates import Updates
from kettle.startd.slot_machine import Phase, Slot, advance, find_row, is_current
from kettle.wire.levels import Level
from kettle.wire.messages import starter_control as words
from kettle.wire.security.claim_id import (
    CLAIM_SESSION_END_SECONDS,
    SUBMIT_SIDE,
    ClaimId,
    mint_claim_id,
)
from kettle.wire.sinful import render_address_v1

# Limit: events one poll may raise for one slot; the table has no longer chain.
_CHAIN = 8
# A timer that ran out a moment ago is looked at again this soon at the earliest.
_SHORTEST_WAIT = 0.02


# Where time alone may change something; a claim without a job has its lease besides.
_TIMED = frozenset(
    (
        Phase.MATCHED_IDLE,
        Phase.CLAIMED_RETIRING,
        Phase.CLAIMED_SUSPENDED,
        Phase.PREEMPTING_VACATING,
        Phase.PREEMPTING_KILLING,
    )
)


def _has_lease(record: SlotRecord) -> bool:
    return record.claim is not None and record.claim.phase is ClaimPhase.IDLE


class StartdService:
    """One execution point."""

    preload = ("kettle.starter.services.entry", "kettle.starter.services.warm")

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        identity = runtime.identity
        facts = read_facts(runtime.config, identity.machine)
        self.machine = Machine(facts, identity.name)
        self.base = ClassAd()
        self._base_changes = 0
        self.stopping = ""
        self.activations = 0
        self.claims = ClaimCommands(self)
        reports = Reports(
            self._on_starter_report, self._on_starter_done, self.claims.on_starter_asks
        )
        self.starters = Starters(runtime, reports)
        self.updates = Updates(self)
        self.commands = OtherCommands(self)
        self._sequence = 0
        self._poll_soon = asyncio.Event()
        self._polled_at = 0.0
        # Slots that something happened to since their policy was last evaluated.
        self._changed: dict[str, SlotRecord] = {}
        self._emptied = asyncio.Event()
        self._tasks: list[asyncio.Task[object]] = []

    # ---- life ---------------------------------------------------------------------------------

    async def start(self) -> None:
        """Divide the machine, offer the slots, begin to poll."""
        # Before anything is offered: an earlier execution of a job that comes may still live.
        await self.starters.leftovers.end_all()
        config, now = self.runtime.config, self.runtime.clock.now()
        self.machine.readings = read_readings(config, now, 0.0)
        resources = machine_resources(config, self.machine.facts, self.machine.readings)
        self.machine.divide(plan_layout(config, resources), resources, now)
        self._make_base()
        for record in self.machine:
            self.offer(record)
        self.claims.register()
        self.commands.register()
        self.poll()
        self.updates.start()
        self.updates.note_all()
        self._tasks = [
            tasks.spawn(self._poll_forever(), "policy"),
            tasks.spawn(self._refresh_forever(), "readings"),
            tasks.spawn(self.claims.keep_alive_forever(), "alives"),
            tasks.spawn(self._learn_url_methods(), "URL plug-ins"),
        ]

    async def reconfigure(self, _config: Config) -> None:
        """Take over expressions and attributes; the slots stay as they are (A016, A047)."""
        self.starters.generation += 1
        self._tasks.append(tasks.spawn(self._learn_url_methods(), "URL plug-ins"))
        self._make_base()
        self.poll()
        self.updates.note_all()

    async def shut_down(self, how: str) -> None:
        """Get rid of jobs as told, withdraw the ads."""
        self.stopping = how
        event = ev.ShutdownStarted(fast=how == "fast")
        for record in self.machine:
            self.claims.waiting.leave(record)
            # A peaceful end waits for the jobs and only takes no new ones (B121).
            if how != "peaceful" or not record.slot.activation:
                self.apply(record, event)
        self._poll_soon.set()
        await self.starters.all_done()
        for task in self._tasks:
            task.cancel()
        await self.claims.flush()
        await self.updates.withdraw()

    async def _learn_url_methods(self) -> None:
        """Ask the machine's URL plug-ins what they serve, and offer that too."""
        runtime = self.runtime
        methods = await served_methods(
            runtime.processes,
            runtime.config.get("FILETRANSFER_PLUGINS") or "",
            runtime.config.get("EXECUTE") or "/",
        )
        if methods != self.machine.facts.url_methods:
            self.machine.facts = replace(self.machine.facts, url_methods=methods)
            self._make_base()
            self.updates.note_all()

    def _make_base(self) -> None:
        identity, address = self.runtime.identity, self.runtime.network.address
        around = ads.Surroundings(
            str(address),
            render_address_v1(address),
            identity.version,
            identity.platform,
            identity.started_at,
            identity.reconfigured_at,
        )
        self.base = ads.base_ad(self.runtime.config, self.machine.facts, around, self.machine.whole)
        self._fill_base()

    @property
    def base_stamp(self) -> tuple[int, int]:
        """Which state of `base` this is: another one whenever it has changed."""
        return self._base_changes, len(self.machine.slots)

    def _fill_base(self) -> None:
        self._base_changes += 1
        now = self.runtime.clock.now()
        ads.fill_readings(self.base, self.machine, self.machine.drain, now)

    # ---- ads ----------------------------------------------------------------------------------

    def slot_ad(self, record: SlotRecord, *, policy: bool = False) -> ClassAd:
        """Return a slot's ad; with `policy` also the owner's expressions."""
        now = self.runtime.clock.now()
        config = self.runtime.config
        self.base["TotalSlots"] = len(self.machine.slots)
        ad = ads.build_slot_ad(record, self.machine, config, self.base, now)
        if policy:
            ads.add_policy(ad, record, config)
        return ad

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
            claim_id, user=SUBMIT_SIDE, levels=(Level.DAEMON, Level.CLIENT), lifetime=None
        )
        return Claim(claim_id.text)

    def offer(self, record: SlotRecord) -> None:
        """Give a slot a claim id to advertise."""
        self.machine.set_claim(record, self.mint())

    def note_offer(self, record: SlotRecord) -> None:
        """Tell the collector of a new claim id, soon."""
        self.updates.note(record, urgent=False)

    def retire_session(self, claim: Claim) -> None:
        """Let a claim's session end some time after the claim."""
        loop = asyncio.get_running_loop()
        network = self.runtime.network
        loop.call_later(CLAIM_SESSION_END_SECONDS, network.remove_session, ClaimId(claim.claim_id))

    # ---- events and effects -------------------------------------------------------------------

    def apply(self, record: SlotRecord, event: ev.Event) -> bool:
        """Give a slot an event; False if it means nothing there (any more)."""
        if not is_current(record.slot, event) or find_row(record.slot, event) is None:
            return False
        now = self.runtime.clock.now()
        before = record.slot
        record.slot, effects = advance(before, event, now)
        self._account(record, before, now)
        self.runtime.log(
            f"{record.short_name}: Changing state and activity: "
            f"{'/'.join(before.phase.value)} -> {'/'.join(record.slot.phase.value)}"
        )
        if before.phase is not Phase.CLAIMED_BUSY and record.slot.phase is Phase.CLAIMED_RETIRING:
            self._poll_soon.set()
        for effect in effects:
            self._perform(record, effect)
        urgent = before.phase.state != record.slot.phase.state
        if record.parent is not None and record.slot.phase.state in {"Owner", "Drained"}:
            self._destroy(record)
        else:
            self.updates.note(record, urgent=urgent)
        self._check_drain()
        self._changed[record.name] = record
        self._poll_soon.set()
        return True

    def _account(self, record: SlotRecord, before: Slot, now: float) -> None:
        self.machine.note_phase(record, before, now)
        if record.slot.phase is Phase.CLAIMED_SUSPENDED:
            record.suspended_at = now
        elif before.phase is Phase.CLAIMED_SUSPENDED and record.suspended_at:
            record.suspended_seconds += now - record.suspended_at
            record.suspended_at = 0.0
        if record.slot.leaving_code and not before.leaving_code and record.claim is not None:
            self.machine.set_claim(record, claim_machine.break_off(record.claim))
            if before.activation:
                self.machine.counters.job_preemptions += 1
        elif before.leaving_code and not record.slot.leaving_code and record.slot.activation:
            assert record.claim is not None
            self.machine.set_claim(record, claim_machine.keep(record.claim))

    def _perform(self, record: SlotRecord, effect: ev.Effect) -> None:
        starter = self.starters.find(effect.activation)
        if isinstance(effect, ev.AskJobToLeave) and starter is not None:
            seconds = vacate_seconds(self.grants(record), record.ran_seconds(self._now()))
            starter.vacate(effect.code, effect.reason, graceful=True, seconds=seconds)
        elif isinstance(effect, ev.KillJob) and starter is not None:
            starter.vacate(effect.code, effect.reason, graceful=False, seconds=0)
        elif isinstance(effect, ev.KillStarterTree):
            self.runtime.log(f"{record.short_name}: the starter does not end; killing its tree")
            self.starters.kill_tree(effect.activation)
        elif isinstance(effect, ev.SuspendJob) and starter is not None:
            starter.post(words.SuspendJob(ClassAd()))
        elif isinstance(effect, ev.ContinueJob) and starter is not None:
            starter.post(words.ContinueJob(ClassAd()))
        elif isinstance(effect, ev.DropClaim):
            self._drop_claim(record)
        elif isinstance(effect, ev.SwitchClaim):
            self._switch_claim(record)
        elif isinstance(effect, ev.StartBenchmarks):
            # Limit: no benchmark programs yet; the activity is left as soon as it is entered, and
            # Mips and KFlops stay unknown.
            self.machine.last_benchmark_at = self._now()
            self._fill_base()
            asyncio.get_running_loop().call_soon(self.apply, record, ev.BenchmarksFinished())

    def _now(self) -> float:
        return self.runtime.clock.now()

    def _drop_claim(self, record: SlotRecord) -> None:
        claim = record.claim
        record.job = record.usage = None
        record.job_started_at = record.suspended_seconds = 0.0
        record.accepted_while_draining = False
        if claim is not None and claim.phase is not ClaimPhase.OFFERED:
            self.starters.let_go(claim.claim_id)
            self.claims.tell_schedd_released(claim)
            self.retire_session(claim)
        self.claims.waiting.drop(record)
        if record.parent is None:
            self.offer(record)

    def _switch_claim(self, record: SlotRecord) -> None:
        old, new = record.claim, record.waiting_claim
        assert new is not None
        record.usage = None
        record.job_started_at = record.suspended_seconds = 0.0
        record.accepted_while_draining = False
        if old is not None:
            self.starters.let_go(old.claim_id)
            self.claims.tell_schedd_released(old)
            self.retire_session(old)
        self.claims.waiting.promote(record)

    def _destroy(self, record: SlotRecord) -> None:
        """A dynamic slot is over: its resources go back (A012)."""
        parent = record.parent
        assert parent is not None
        self.updates.forget(record)
        self.machine.destroy(record)
        self.updates.note(parent, urgent=True)
        self._changed[parent.name] = parent
        self._emptied.set()
        if self.machine.drain is not None:
            self._drain_slot(parent)

    # ---- policy -------------------------------------------------------------------------------

    def poll(self, records: Iterable[SlotRecord] | None = None) -> None:
        """Evaluate the policy of these slots, of every slot if none are named, and act on it."""
        for record in list(self.machine if records is None else records):
            for _ in range(_CHAIN):
                if self.machine.slots.get(record.name) is not record:
                    break
                event = self._due_event(record)
                if event is None or not self.apply(record, event):
                    break

    def _due_event(self, record: SlotRecord) -> ev.Event | None:
        constant = ads.constant_policy(self.runtime.config, record)
        truth = self._truth(record) if constant is None else constant.get
        verdict = slot_policy.read_verdict(truth)
        if record.pool is not None and record.slot.phase is Phase.UNCLAIMED_IDLE:
            verdict = replace(verdict, run_benchmarks=False)
        record.slot = replace(record.slot, want_vacate=verdict.want_vacate)
        return slot_policy.decide_event(record.slot, verdict, self.timers(record))

    def _truth(self, record: SlotRecord) -> slot_policy.Truth:
        """Return how to evaluate the slot's expressions in its own ad, with its job."""
        ad, job = self.slot_ad(record, policy=True), record.job

        def truth(name: str) -> bool | None:
            attribute = {"IS_OWNER": "IsOwner", "START": "Start"}.get(name, name)
            value = ad.evaluate(attribute, job if name != "IS_OWNER" else None)
            return bool(value) if isinstance(value, (int, float)) else None

        return truth

    def grants(self, record: SlotRecord) -> Grants:
        """Return what machine and job grant for leaving."""
        ad, job = self.slot_ad(record), record.job
        if record.accepted_while_draining or (
            self.machine.drain is not None and (self.machine.drain.how_fast > 0)
        ):
            retirement: object = 0
        else:
            retirement = ad.evaluate("MaxJobRetirementTime", job)
        vacate = ad.evaluate("MachineMaxVacateTime", job)
        if self.stopping == "peaceful":
            retirement = float("inf")
        return Grants(
            float(retirement) if isinstance(retirement, (bool, int, float)) else 0.0,
            job.real("MaxJobRetirementTime") if job is not None else None,
            float(vacate) if isinstance(vacate, (bool, int, float)) else 600.0,
            job.real("JobMaxVacateTime") if job is not None else None,
        )

    def timers(self, record: SlotRecord) -> slot_policy.Timers:
        """Return the seconds left of every limit that counts in the slot's phase."""
        slot, now, config = record.slot, self._now(), self.runtime.config
        since = now - slot.entered_activity_at
        timers = slot_policy.Timers()
        if slot.phase is Phase.MATCHED_IDLE:
            timers = replace(timers, match_left=(config.integer("MATCH_TIMEOUT") or 120) - since)
        elif slot.phase is Phase.CLAIMED_RETIRING or (
            slot.phase is Phase.CLAIMED_SUSPENDED and slot.leaving_code
        ):
            left = seconds_until_soft_kill(self.grants(record), record.ran_seconds(now))
            timers = replace(timers, retirement_left=left)
        elif slot.phase is Phase.PREEMPTING_VACATING:
            limit = vacate_seconds(self.grants(record), record.ran_seconds(now))
            timers = replace(timers, vacate_left=limit - since)
        elif slot.phase is Phase.PREEMPTING_KILLING:
            limit = config.integer("KILLING_TIMEOUT") or 30
            timers = replace(timers, killing_left=limit - since)
        if record.claim is not None:
            lease = claim_machine.lease_left(record.claim, now)
            timers = replace(timers, lease_left=lease)
        return timers

    def _next_wait(self) -> float:
        """Return how long nothing can become due by time alone."""
        config = self.runtime.config
        update = float(config.integer("UPDATE_INTERVAL") or 300)
        claimed = any(r.slot.phase.state in {"Claimed", "Preempting"} for r in self.machine)
        wait = float(config.integer("POLLING_INTERVAL") or 5) if claimed else update
        wait -= asyncio.get_running_loop().time() - self._polled_at
        for record in self.machine:
            if record.slot.phase not in _TIMED and not _has_lease(record):
                continue
            timers = self.timers(record)
            for left in (
                timers.match_left,
                timers.retirement_left,
                timers.vacate_left,
                timers.killing_left,
                timers.lease_left,
            ):
                if left is not None:
                    wait = min(wait, max(left, _SHORTEST_WAIT))
        return wait

    async def _poll_forever(self) -> None:
        loop = asyncio.get_running_loop()
        self._polled_at = loop.time()
        while True:
            self._poll_soon.clear()
            wait = self._next_wait()
            due_at = loop.time() + wait
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(due_at):
                    await self._poll_soon.wait()
            # An event concerns its slot; what else policies look at is seen at the next interval.
            changed, self._changed = self._changed, {}
            everything = wait <= _SHORTEST_WAIT or loop.time() >= due_at
            if everything:
                self._polled_at = loop.time()
            try:
                self.poll(None if everything else changed.values())
            except KettleError as error:
                self.runtime.log(f"the policy cannot be evaluated: {error}")

    async def _refresh_forever(self) -> None:
        while True:
            await asyncio.sleep(self.runtime.config.integer("UPDATE_INTERVAL") or 300)
            self.refresh()
            self.updates.note_all()

    def refresh(self) -> None:
        """Measure the machine again."""
        config = self.runtime.config
        load = float(sum(r.total.amount("Cpus") for r in self.machine if r.slot.activation))
        self.machine.readings = read_readings(config, self._now(), load)
        if config.boolean("STARTD_RECOMPUTE_DISK_FREE"):
            for record in self.machine:
                if record.pool is not None and len(self.machine.slots) == 1:
                    record.pool = record.pool.resize("Disk", self.machine.readings.disk_kib)
        self._fill_base()

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
        self.updates.note(record, urgent=False)

    def _on_starter_done(self, starter: StarterProcess) -> None:
        record = self._record_of(starter)
        if record is None:
            return
        now = self._now()
        if record.claim is not None:
            self.machine.set_claim(record, claim_machine.end_activation(record.claim, now))
        self.commands.write_history(record, starter)
        record.usage = None
        record.job_started_at = record.suspended_seconds = 0.0
        self.apply(record, ev.StarterExited(starter.number))
        if starter.final is not None and starter.final.boolean("Asks") is True:
            start = self.claims.may_start(record)
            starter.post(words.ClaimAnswer(ClassAd({"Start": start})))

    # ---- draining -----------------------------------------------------------------------------

    def _drain_slot(self, record: SlotRecord) -> None:
        drain = self.machine.drain
        if drain is None:
            return
        if record.pool is not None and record.pool.children:
            return
        self.apply(record, ev.DrainStarted(drain.how_fast))

    def begin_drain(self) -> None:
        """Let every slot take part in the drain that was just set."""
        self._fill_base()
        for record in self.machine:
            self.claims.waiting.leave(record)
            self._drain_slot(record)
        self.updates.note_all()
        self._check_drain()

    def _check_drain(self) -> None:
        drain = self.machine.drain
        if drain is None or not self.machine.is_drained():
            return
        for record in self.machine:
            if record.slot.phase is Phase.DRAINED_RETIRING:
                self.apply(record, ev.AllSlotsDrained())
        if drain is self.machine.drain and drain.on_completion:
            self.commands.complete_drain(drain)

    def end_drain(self) -> None:
        """The drain is over: the slots go back to service."""
        self.machine.drain = None
        self.machine.last_drain_stopped_at = self._now()
        for name in ("Draining", "DrainingRequestId", "DrainReason"):
            self.base.discard(name)
        self._base_changes += 1
        for record in self.machine:
            record.slot = replace(record.slot, draining=False)
            if record.slot.phase.state == "Drained":
                self.apply(record, ev.DrainEnded())
        self.poll()
        self.updates.note_all()
