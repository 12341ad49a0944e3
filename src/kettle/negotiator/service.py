"""The negotiator: when a cycle begins, and its steps.

A cycle starts with the daemon, when a schedd says RESCHEDULE and at the latest every
NEGOTIATOR_INTERVAL: fetch ads, ask the schedds for requests, plan (`matchmaking/cycle.py`), tell
the schedds, advertise. What is decided is decided elsewhere: the snapshot in `snapshot.py`, words
in `dialogue.py`. Connections to schedds are in `services/schedds.py`, the books in
`services/books.py`, ads in `services/advertising.py`, commands in `services/commands.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import ConfigError, KettleError
from kettle.matchmaking.cycle import Cycle
from kettle.matchmaking.groups import ROOT
from kettle.matchmaking.held_limits import limits_in_use
from kettle.matchmaking.kept_slots import KeptSlots
from kettle.matchmaking.plan import Plan
from kettle.matchmaking.slots import SlotTable
from kettle.matchmaking.time_limits import TimeBook
from kettle.negotiator.accounting_ads import NO_GROUPS, CycleFacts, GroupFacts
from kettle.negotiator.doubts import Doubts, FirstLooks
from kettle.negotiator.leases import expire_leases
from kettle.negotiator.recent_matches import RecentMatches
from kettle.negotiator.services.advertising import Advertising
from kettle.negotiator.services.books import Books
from kettle.negotiator.services.collectors import ask_collectors
from kettle.negotiator.services.commands import AccountingCommands
from kettle.negotiator.services.schedds import Harvest, Schedds, Terms
from kettle.negotiator.settings import NegotiatorSettings, read_settings
from kettle.negotiator.snapshot import (
    Pool,
    insert_match_expressions,
    make_groups,
    make_submitters,
    significant_attributes,
    sort_ads,
    weigh_pool,
)
from kettle.negotiator.statistics import CycleHistory, CycleStatistics
from kettle.records.job_trace import Step
from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.runtime.job_tracing import trace
from kettle.wire.commands import Command
from kettle.wire.known_ads import KnownAds

# RESCHEDULE of several schedds, or of one for many submits, starts one cycle.
DEBOUNCE_SECONDS = 0.010
# While slots are held the books follow the slot ads this often, or seldomer in a pool so large that
# looking takes more than this part of the time.
BOOKKEEPING_SECONDS = 2.0
BOOKKEEPING_SHARE = 0.02
# Limit: characters of a stranger's name in our log.
_SHOWN_NAME = 80


@dataclass(slots=True)
class _Round:
    """One cycle under way."""

    statistics: CycleStatistics
    pool: Pool
    table: SlotTable
    time: TimeBook
    harvests: list[Harvest] = field(default_factory=list)


class NegotiatorService:
    """The daemon; see the module's docstring."""

    # How often the books follow the slots between cycles; a simulation has it less often.
    bookkeeping_seconds = BOOKKEEPING_SECONDS

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.settings: NegotiatorSettings = read_settings(runtime.config)
        self.books = Books(runtime, self.settings)
        self.history = CycleHistory()
        self.recent = RecentMatches()
        self.ads = Advertising(runtime, self.settings, self.books, self.history)
        self._schedds = Schedds(runtime)
        # From cycle to cycle: the collector's last answer, and its slots.
        self._known_ads = KnownAds()
        self._slots = KeptSlots()
        self._wake = asyncio.Event()
        self._look_again: asyncio.TimerHandle | None = None
        self._doubts = Doubts()
        self._first_looks = FirstLooks()
        self._tasks: list[asyncio.Task[None]] = []
        # The last cycle left requests without a slot.
        self._wanting = False
        # How long the books rest after a round of them that took long.
        self._books_pause = 0.0

    async def start(self) -> None:
        """Open the books, register the commands, start cycling."""
        await self.books.open()
        self._warn_of_expressions()
        AccountingCommands(self.runtime, self.books, self.ads.own_ad).register()
        self.runtime.network.register(Command.RESCHEDULE, self._on_reschedule, again=True)
        self._tasks = [
            tasks.repeat(self._cycle_when_due, "negotiation cycles"),
            tasks.repeat(self._keep_books, "bookkeeping"),
        ]
        self.ads.send()

    def check(self, config: Config) -> None:
        """Raise ConfigError for settings that cannot be taken over."""
        read_settings(config)

    async def reconfigure(self, config: Config) -> None:
        """Take over new settings; the books stay."""
        before = self.settings.match_expressions
        try:
            self.settings = read_settings(config)
        except ConfigError as error:
            self.runtime.log.problem(f"The configuration of the negotiator is wrong: {error}")
            return
        self._warn_of_expressions()
        if self.settings.match_expressions != before:
            # They are in the ads that are kept.
            self._known_ads, self._slots = KnownAds(), KeptSlots()
        self.books.reconfigure(self.settings)
        await self.ads.reconfigure(self.settings)
        self.wake()

    def _warn_of_expressions(self) -> None:
        for name, text in self.settings.match_expressions.items():
            if text is None:
                self.runtime.log.problem(
                    f"NEGOTIATOR_MATCH_EXPRS: what would be {name} is no knob of this configuration"
                    " that has an expression"
                )

    async def shut_down(self, how: str) -> None:
        """Stop cycling, write the books, withdraw the ad."""
        if self._look_again is not None:
            self._look_again.cancel()
        self.ads.forget()
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._schedds.close()
        await self.books.save()
        await self.ads.stop(how)
        self.books.close()

    def wake(self) -> None:
        """Let a cycle begin soon."""
        self._wake.set()

    async def _on_reschedule(self, stream: object) -> None:
        del stream
        self.wake()

    # --- cycles -------------------------------------------------------------------------------

    async def _cycle_when_due(self) -> None:
        interval = self.settings.interval_seconds
        try:
            async with asyncio.timeout(self._first_looks.pause(interval)):
                await self._wake.wait()
        except TimeoutError:
            self._first_looks.passed(interval)
        await asyncio.sleep(DEBOUNCE_SECONDS)
        self._wake.clear()
        began = self.runtime.clock.steady()
        try:
            await self._cycle()
        except (KettleError, OSError) as error:
            self.runtime.log.problem(f"The negotiation cycle failed: {error}")
        settings = self.settings
        spent = self.runtime.clock.steady() - began
        pause = max(settings.cycle_delay_seconds, settings.min_interval_seconds - spent)
        if pause > 0:
            await asyncio.sleep(pause)

    async def _cycle(self) -> None:
        """Run one cycle from fetching ads to advertising what came of it."""
        clock = self.runtime.clock
        statistics = self.history.begin(clock.now())
        time_book = TimeBook(self.settings.time, clock.steady())
        # Programs wait for this line and for that of the end.
        self.runtime.log("---------- Started Negotiation Cycle ----------")
        for said in expire_leases(self.books.accountant, self.books.now()):
            self.runtime.log(said)
        cpu = time.thread_time()
        ads = await self._fetch_ads()
        fetched_at = clock.now()
        statistics.phases[0] = fetched_at - statistics.started_at
        statistics.phase_cpu[0] = time.thread_time() - cpu
        pool = sort_ads(ads, self.settings)
        if pool.unnameable:
            self.runtime.log(
                f"WARNING: ignoring {len(pool.unnameable)} submitter ads with invalid names, "
                f"such as {pool.unnameable[0][:_SHOWN_NAME]!r}: a name has no blanks"
            )
        _tell(pool.faults, "The look at an ad")
        insert_match_expressions(pool.slots, self.settings.match_expressions)
        self.books.observe(pool.slots)
        statistics.idle_jobs = sum(each.idle_jobs for each in pool.submitters)
        statistics.total_slots = len(pool.slots)
        harvests: list[Harvest] = []
        hidden = False
        if pool.submitters:
            if pool.slots:
                self._first_looks.saw_a_pool()
            table = self._slots.table(pool.slots, use_weights=self.settings.cycle.use_slot_weights)
            _tell(self._slots.faults, "The look at a slot's ad")
            table.total_weight = weigh_pool(table, self.settings)
            hidden = self._hide_given(table)
            statistics.phases[1] = clock.now() - fetched_at
            statistics.phase_cpu[1] = time.thread_time() - cpu - statistics.phase_cpu[0]
            harvests = await self._negotiate(_Round(statistics, pool, table, time_book))
        given = hidden or statistics.matches > 0
        self._look_again_in_time(harvests, kept_back=given and statistics.rejections > 0)
        await self.books.save()
        statistics.cpu = time.thread_time() - cpu
        self.history.end(statistics, clock.now())
        self._log_cycle(statistics)
        self.ads.send_soon()

    async def _fetch_ads(self) -> list[ClassAd]:
        """Ask for slots with their secrets, and for submitters."""
        query = ClassAd(
            {"MyType": "Query", "TargetType": "Submitter,Machine", "SendPrivateAttributes": True}
        )
        query.insert_text("Requirements", "true")
        return await ask_collectors(
            self.runtime, Command.QUERY_MULTIPLE_PVT_ADS, query, self._known_ads
        )

    def _hide_given(self, table: SlotTable) -> bool:
        """Do not offer again what was given a moment ago and is not seen as claimed yet.

        Returns whether anything is kept back so.
        """
        now = self.runtime.clock.steady()
        offered = (one for slot in table for one in slot.claim_ids)
        self.recent.settle(offered, now, (slot.ad for slot in table))
        for slot in table:
            slot.claim_ids = [one for one in slot.claim_ids if one not in self.recent]
        return len(self.recent) > 0

    def _look_again_in_time(self, harvests: Iterable[Harvest], *, kept_back: bool) -> None:
        """Let a cycle begin by itself where nobody may wake us for what it would find.

        A schedd that lets a match go, because its job was held or the machine does not answer it,
        says nothing of the slot that is kept back for it; and one without a request has an ad that
        is not true any more.
        """
        pauses = []
        if kept_back:
            pauses.append(self.recent.seconds_to_go(self.runtime.clock.steady()))
        empty = [
            (one.submitter.schedd_address, one.submitter.name)
            for one in harvests
            if one.all_of_them and not one.requests and not one.failed
        ]
        doubt = self._doubts.pause(self.settings.interval_seconds, empty)
        if doubt is not None:
            pauses.append(doubt)
        if pauses:
            if self._look_again is not None:
                self._look_again.cancel()
            self._look_again = asyncio.get_running_loop().call_later(min(pauses), self.wake)

    async def _negotiate(self, cycle_round: _Round) -> list[Harvest]:
        """Ask the schedds, plan, and tell them; return what they had."""
        clock = self.runtime.clock
        statistics, pool = cycle_round.statistics, cycle_round.pool
        terms = Terms(
            attributes=significant_attributes(pool.slots),
            negotiator=self.runtime.identity.name,
            maximum=self.settings.requests_at_a_time,
            timeout_seconds=self.settings.schedd_timeout_seconds,
            most_connections=self.settings.most_connections,
            time=cycle_round.time,
            job_constraint=self.settings.job_constraint,
        )
        before, cpu = clock.now(), time.thread_time()
        harvests = await self._schedds.fetch(pool.submitters, terms)
        statistics.prefetch = clock.now() - before
        statistics.prefetch_cpu = time.thread_time() - cpu
        cycle_round.harvests = harvests
        plan = self._plan(cycle_round)
        statistics.phases[2] = clock.now() - before - statistics.prefetch
        planned = time.thread_time()
        statistics.phase_cpu[2] = planned - cpu - statistics.prefetch_cpu
        self._enter(plan)
        lost = await self._schedds.tell(harvests, plan.matches, plan.rejections, terms)
        statistics.phases[3] = clock.now() - before
        statistics.phase_cpu[3] = time.thread_time() - cpu
        for match in lost:
            self.recent.forget(match.claim_id)
        self.ads.wake_machines(match.slot_name for match in plan.matches if match.offline)
        more = cycle_round.time.cut_short or any(not each.all_of_them for each in harvests)
        if more and plan.matches:
            # More requests wait than one list holds, or than there was time for.
            self.wake()
        return harvests

    def _plan(self, cycle_round: _Round) -> Plan:
        settings, pool, table = self.settings, cycle_round.pool, cycle_round.table
        wanting = [each for each in cycle_round.harvests if each.requests]
        holders = {slot.remote_user for slot in table if slot.remote_user}
        submitters = make_submitters(
            (*(each.submitter.name for each in wanting), *sorted(holders)),
            self.books.accountant,
            settings,
            self.recent.weights(),
        )
        for harvest in wanting:
            submitters[harvest.submitter.name].requests.extend(harvest.requests)
        groups = make_groups(pool.submitters, self.books.accountant, settings, table.total_weight)
        held = (slot.ad.string("ConcurrencyLimits") or "" for slot in table)
        cycle = Cycle(
            table,
            submitters.values(),
            settings.cycle,
            groups=groups[0] if groups else None,
            group_order=groups[1] if groups else (ROOT,),
            limits_in_use=limits_in_use((*held, *self.recent.limits())),
            kept=self._slots,
            time=cycle_round.time,
            clock=self.runtime.clock.steady,
        )
        plan = cycle.run()
        for fault in plan.faults:
            _tell([fault.error], fault.what)
        self._wanting = bool(plan.rejections or plan.limited or cycle_round.time.cut_short)
        self.books.groups = GroupFacts(groups[0], configured=True) if groups else NO_GROUPS
        self._take_facts(cycle, table)
        self._count(cycle_round, plan)
        return plan

    def _take_facts(self, cycle: Cycle, table: SlotTable) -> None:
        inverse = {name: 1.0 / each.priority for name, each in cycle.submitters.items()}
        whole = sum(inverse.values())
        self.books.facts = {
            name: CycleFacts(part / whole, part / whole * table.total_weight)
            for name, part in inverse.items()
        }

    def _count(self, cycle_round: _Round, plan: Plan) -> None:
        statistics = cycle_round.statistics
        statistics.candidate_slots = plan.candidate_slots
        statistics.trimmed_slots = len(cycle_round.table) - plan.candidate_slots
        statistics.schedulers = len(
            {each.submitter.schedd_address for each in cycle_round.harvests}
        )
        statistics.active_submitters = len(
            {each.submitter.name for each in cycle_round.harvests if each.requests}
        )
        statistics.considered = plan.considered
        statistics.matches = len(plan.matches)
        statistics.rejections = len(plan.rejections)
        statistics.pie_spins = plan.pie_spins
        statistics.submitters_limited = set(plan.limited)
        statistics.submitters_failed = {
            each.submitter.name for each in cycle_round.harvests if each.failed
        }
        time_book = cycle_round.time
        statistics.submitters_out_of_time = set(time_book.submitters_out_of_time)
        statistics.schedds_out_of_time = {
            each.submitter.schedd_name or each.submitter.schedd_address
            for each in cycle_round.harvests
            if each.submitter.schedd_address in time_book.schedds_out_of_time
        }

    def _enter(self, plan: Plan) -> None:
        """Enter what is given, before anybody is told: a short job may end before all are.

        The slot ads will confirm it, or not.
        """
        now = self.runtime.clock.steady()
        log = self.runtime.log
        for match in plan.matches:
            request = match.request
            if match.offline:
                continue
            self.recent.add(
                match.claim_id,
                request.submitter,
                match.cost,
                now,
                limits=match.limits,
                slot=match.slot_name,
                is_part=match.slot_ad.boolean("PartitionableSlot") is True,
            )
            self.books.accountant.note_match(request.submitter, int(now))
            log.debug(
                "D_MATCH",
                f"      Matched {request.cluster}.{request.proc} {request.submitter} "
                f"{request.schedd} preempting {match.preempted_user or 'none'} "
                f"{match.slot_address} {match.slot_name}",
                always=True,
            )
            trace(log, request.ad, Step.MATCHED, match.slot_name, coming=True)
        for rejection in plan.rejections:
            request = rejection.request
            log.debug(
                "D_MATCH",
                f"      Rejected {request.cluster}.{request.proc} {request.submitter} "
                f"{request.schedd}: {rejection.reason}",
            )

    def _log_cycle(self, statistics: CycleStatistics) -> None:
        late = (*statistics.submitters_out_of_time, *statistics.schedds_out_of_time)
        for name in sorted(late):
            self.runtime.log(f"  Negotiation with {name} skipped because of time limits")
        if statistics.idle_jobs or statistics.matches:
            self.runtime.log(
                f"{statistics.matches} matches, {statistics.rejections} rejections, "
                f"{statistics.total_slots} slots, {statistics.idle_jobs} idle jobs, "
                f"{statistics.ended_at - statistics.started_at:.3f} s"
            )
        self.runtime.log("---------- Finished Negotiation Cycle ----------")

    # --- bookkeeping --------------------------------------------------------------------------

    async def _keep_books(self) -> None:
        """Follow the slot ads between cycles for as long as anybody holds a slot."""
        await asyncio.sleep(max(self.bookkeeping_seconds, self._books_pause))
        holdings = self.books.accountant.holdings
        if not holdings and not len(self.recent):
            return
        began = self.runtime.clock.steady()
        held = set(holdings)
        await self.books.refresh(older_than=self.bookkeeping_seconds / 2)
        if self._wanting and held - set(holdings):
            # Whoever gave a slot back tells its own schedd; others wait for it, too.
            self.wake()
        self.recent.settle(None, began)
        await self.books.save()
        self._books_pause = (self.runtime.clock.steady() - began) / BOOKKEEPING_SHARE


def _tell(faults: Iterable[Exception], what: str) -> None:
    """Report what cost one ad, or one request, its part in a cycle, and nobody else his."""
    for fault in faults:
        with tasks.reported(what):
            raise fault
