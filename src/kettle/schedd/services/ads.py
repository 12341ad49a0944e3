"""When the pool hears of this schedd: its ads, and the word to the negotiator that jobs wait.

Changes are gathered for a few milliseconds, so that a thousand commits are one update. The ads
themselves are `ads`'.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from kettle.classad import ClassAd
from kettle.config.knobs.schedd import ScheddKnobs as Knobs
from kettle.errors import KettleError
from kettle.runtime import tasks
from kettle.runtime.self_monitor import describe_host, read_window
from kettle.runtime.sockets.collectors import Advertiser, find_collectors, read_address_file
from kettle.schedd import ads
from kettle.schedd.claims import Phase
from kettle.schedd.job_machine import ON_A_MACHINE
from kettle.schedd.services.capabilities import Capabilities
from kettle.schedd.services.flocking import (
    NOTHING,
    Flock,
    Used,
    find_negotiator,
    weigh_running,
    weigh_running_of_users,
)
from kettle.schedd.weights import Weights
from kettle.statistics.publication import (
    SCHEDD,
    TRANSFER,
    VERBOSE,
    read_publication,
    thin_out,
)
from kettle.statistics.windows import RecentTotals
from kettle.wire.commands import Command

if TYPE_CHECKING:
    from kettle.config import Config
    from kettle.schedd.queue.jobs import Job
    from kettle.schedd.services.factories import Factories
    from kettle.schedd.services.parts import Schedd
    from kettle.schedd.services.transfer_queue import TransferQueueCommands

# How long changes are gathered before they are told.
GATHER_SECONDS = 0.005
# The pause between two updates while jobs come to their ends; who wants matches ends it.
PAUSE_SECONDS = 0.5
# The same after a word to the negotiator: whoever waits for matches waits for the next one, too.
WANTING_SECONDS = 0.02
# How long the collectors may take before the negotiator is asked to look at what they were sent.
FLUSH_SECONDS = 5.0
# How long a shutdown waits for collectors that do not take the last word.
LAST_WORD_SECONDS = 2.0


class ScheddAds:
    """Tells collector and negotiator."""

    def __init__(
        self, schedd: Schedd, *, factories: Factories, transfers: TransferQueueCommands
    ) -> None:
        self._schedd = schedd
        self._factories = factories
        self._transfers = transfers
        self._advertiser = Advertiser(schedd.runtime)
        self._wake = asyncio.Event()
        self._matches_wanted = asyncio.Event()
        self._told: dict[str, ads.SubmitterCounts] = {}
        self._stopping = False
        self._capabilities = Capabilities(schedd.runtime)
        self.flock = Flock(schedd.runtime, schedd.name, self._capabilities)
        self._own_ad_soon: asyncio.TimerHandle | None = None
        self._users_soon: asyncio.TimerHandle | None = None
        self._own_ad_told_at = float("-inf")
        self._weights = Weights(schedd.runtime.config, schedd.runtime.log.problem)
        self._recent = RecentTotals(*read_window(schedd.runtime.config, "SCHEDD"))

    def start(self) -> None:
        """Begin to tell."""
        tasks.repeat(self._serve, "ads of the schedd", ended=lambda: self._stopping)
        regular = "regular ads of the schedd"
        tasks.repeat(self._serve_interval, regular, ended=lambda: self._stopping)

    def on_change(self) -> None:
        """Note that counts may have changed."""
        self._wake.set()

    def want_matches(self) -> None:
        """Note that jobs wait and a negotiation would help."""
        self._matches_wanted.set()
        self._wake.set()

    def reconfigure(self, config: Config) -> None:
        """Take over a new configuration."""
        self._weights = Weights(config, self._schedd.runtime.log.problem)
        self._schedd.idle.forget_weights()
        self.flock.configure()
        self.on_change()

    async def stop(self) -> None:
        """Withdraw the ads."""
        self._stopping = True
        path = self._schedd.runtime.config.get("SCHEDD_DAEMON_AD_FILE")
        if path:
            self._schedd.runtime.files.remove(path)
        for soon in (self._own_ad_soon, self._users_soon):
            if soon is not None:
                soon.cancel()
        name = self._schedd.name
        self._advertiser.invalidate(Command.INVALIDATE_SCHEDD_ADS, "Scheduler", name)
        for submitter in self._told:
            self._advertiser.invalidate(
                Command.INVALIDATE_SUBMITTOR_ADS, "Submitter", submitter, ScheddName=name
            )
        await self._advertiser.flush(LAST_WORD_SECONDS)
        await self._advertiser.close()
        await self.flock.close()

    def own_ad(self, asked: str = "") -> ClassAd:
        """Return the schedd's ad with as much of its statistics as is configured.

        `asked` are those that somebody asks for in the words of STATISTICS_TO_PUBLISH, to be shown
        beside them.
        """
        schedd = self._schedd
        address = str(schedd.runtime.network.address)
        now = schedd.now()
        ad = ads.schedd_ad(schedd.queue, schedd.name, address, schedd.settings.most_running)
        schedd.statistics.publish(ad, now, self._running())
        self._transfers.publish(ad, now)
        ads.add_work(ad, self._work())
        autoclusters = len(schedd.idle.autoclusters)
        ad["Autoclusters"] = autoclusters
        ad["RecentAutoclusters"] = self._recent.observe({"Autoclusters": autoclusters}, now)[
            "Autoclusters"
        ]
        self._thin_out(ad, asked, now)
        describe_host(ad, schedd.runtime.config)
        for name, knob in ads.PUBLISHED_EXPRESSIONS.items():
            text = schedd.runtime.config.get(knob)
            if text:
                ad.insert_text(name, text)
        for name, value in schedd.runtime.self_figures().items():
            ad[name] = value
        # The collectors are sent these anyway; who asks the schedd itself wants them too.
        for name, value in schedd.runtime.identity.attributes(address, schedd.now()).items():
            if name not in ad:
                ad[name] = value
        return ad

    def _running(self) -> list[Job]:
        by_status = self._schedd.queue.by_status
        return [job for status in ON_A_MACHINE for job in by_status[status].values()]

    def _thin_out(self, ad: ClassAd, asked: str, now: int) -> None:
        """Leave out the statistics that are not to be shown."""
        config = self._schedd.runtime.config
        configured = config.get("STATISTICS_TO_PUBLISH") or None
        listed = config[Knobs.STATISTICS_TO_PUBLISH_LIST]
        for collection in (SCHEDD, TRANSFER):
            published = read_publication(configured, collection)
            if asked:
                published = published.together(read_publication(asked, collection))
            thin_out(ad, collection, published, listed)
            if collection is SCHEDD and published.level >= VERBOSE:
                self._schedd.statistics.sets.publish_others(ad, now)

    def _leave_for_tools(self, ad: ClassAd) -> None:
        """Write the ad to where tools on this machine look before they ask a collector.

        Another schedd of this spool may have left its own there: tools would go on asking it.
        """
        runtime = self._schedd.runtime
        path = runtime.config.get("SCHEDD_DAEMON_AD_FILE")
        if not path:
            return
        lines = "".join(f"{line}\n" for line in ad.flattened().lines())
        try:
            runtime.files.write_atomically(path, lines)
        except KettleError as error:
            runtime.log.problem(f"The schedd's ad cannot be written: {error}")

    def _work(self) -> ads.Work:
        """Return what waits inside this daemon now."""
        schedd = self._schedd
        claims = schedd.scheduler.claims
        requesting = claims.count(Phase.REQUESTING)
        return ads.Work(
            unmaterialized=self._factories.count_unmade(),
            starts_delayed=schedd.on_disk.waiting,
            claims_in_contact=claims.in_contact,
            claims_in_queue=max(0, requesting - claims.in_contact),
            collectors=schedd.runtime.config.get("COLLECTOR_HOST") or "",
        )

    def submitter_ads(self) -> list[ClassAd]:
        """Return the ads of everybody who has jobs."""
        counts = self._count_submitters(self._weigh_running())
        return [self._submitter_ad(name, each) for name, each in counts.items() if each.all]

    def _weigh_running(self) -> dict[tuple[str, str], Used]:
        return weigh_running(self._schedd.scheduler.claims.by_id.values())

    def _count_submitters(
        self, running: Mapping[tuple[str, str], Used]
    ) -> dict[str, ads.SubmitterCounts]:
        """Count and weigh what everybody has."""
        schedd = self._schedd
        schedd.statistics.look_at(self._running(), schedd.now(), rest_seconds=1)
        counts = ads.count_submitters(schedd.queue)
        waiting = schedd.idle.weigh(self._weights.weigh)
        for name, each in counts.items():
            if each.idle:
                each.weighted_idle = waiting.get(name, 0.0)
            each.weighted_running = running.get((name, ""), NOTHING).weight
        return counts

    def look_at_users(self) -> None:
        """Count what everybody's jobs have waited and run, once a second at most."""
        schedd = self._schedd
        now, use = schedd.now(), schedd.statistics.recent_use
        if not use.is_due(now):
            self._look_soon()
        else:
            waiting = schedd.idle.weigh(self._weights.weigh, attrgetter("user"))
            running = weigh_running_of_users(schedd.scheduler.claims.by_id.values())
            use.observe(now, waiting, running)

    def _look_soon(self) -> None:
        if self._users_soon is None and not self._stopping:
            self._users_soon = asyncio.get_running_loop().call_later(1.0, self._look_now)

    def _look_now(self) -> None:
        self._users_soon = None
        with tasks.reported("Looking at the jobs of all users"):
            self.look_at_users()

    def _submitter_ad(self, name: str, counts: ads.SubmitterCounts) -> ClassAd:
        """Return the ad of a submitter, with what was counted of the owner of its name."""
        schedd = self._schedd
        address = str(schedd.runtime.network.address)
        ad = ads.submitter_ad(name, counts, schedd.name, address)
        ad["JobQueueBirthdate"] = schedd.queue.created
        network = schedd.runtime.config.get("PRIVATE_NETWORK_NAME")
        if network:
            ad["PrivateNetworkName"] = network
        schedd.statistics.sets.publish_owner(ad, name.partition("@")[0], schedd.now())
        return ad

    async def _serve_interval(self) -> None:
        self._schedd.history.append_own(self._tell_all(), self._schedd.now())
        await asyncio.sleep(self._schedd.settings.update_seconds)

    def on_moved(self) -> None:
        """Note that others have to reach us elsewhere."""
        if not self._stopping:
            self._tell_all()

    def _tell_all(self) -> ClassAd:
        """Tell of the schedd, and soon of all submitters, whatever was told; return its ad."""
        ad = self.own_ad()
        self._advertiser.update(Command.UPDATE_SCHEDD_AD, ad)
        self._leave_for_tools(ad)
        self._told.clear()
        self.flock.forget_told()
        self._wake.set()
        return ad

    async def _serve(self) -> None:
        await self._wake.wait()
        await asyncio.sleep(GATHER_SECONDS)
        self._wake.clear()
        # Whatever is odd in one job's numbers, all the others want matches.
        with tasks.reported("Telling of the submitters"):
            self._tell_submitters()
            self.look_at_users()
        wanted = self._matches_wanted.is_set()
        self._matches_wanted.clear()
        if wanted and len(self._schedd.idle):
            await self._advertiser.flush(FLUSH_SECONDS)
            await self._reschedule()
            await self.flock.ask_for_matches(self._schedd.idle.submitters())
        if wanted:
            await asyncio.sleep(WANTING_SECONDS)
        else:
            await self._rest()

    async def _rest(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PAUSE_SECONDS - GATHER_SECONDS):
                await self._matches_wanted.wait()

    def _tell_submitters(self) -> None:
        schedd = self._schedd
        running = self._weigh_running()
        known = self._count_submitters(running)
        self.flock.tell(known, running)
        flocked = Counter[str]()
        for (submitter, pool), used in running.items():
            flocked[submitter] += used.claims if pool else 0
        for submitter, counts in known.items():
            counts.flocked = flocked[submitter]
            counts.running -= counts.flocked
            if self._told.get(submitter) == counts:
                continue
            if counts.all == 0 and submitter not in self._told:
                continue
            self._told[submitter] = counts
            ad = self._submitter_ad(submitter, counts)
            self._capabilities.put_into(ad, "", schedd.settings.update_seconds)
            self._advertiser.update(Command.UPDATE_SUBMITTOR_AD, ad)
            self._tell_own_ad_soon()

    def _tell_own_ad_soon(self) -> None:
        """Have the schedd's own ad tell of new counts: at once, but for its rest.

        It is large. `condor_q -global` asks only the schedds whose ads say that they have jobs.
        """
        if self._own_ad_soon is not None or self._stopping:
            return
        schedd = self._schedd
        since = schedd.runtime.clock.steady() - self._own_ad_told_at
        pause = max(0.0, schedd.settings.own_ad_rest_seconds - since)
        loop = asyncio.get_running_loop()
        self._own_ad_soon = loop.call_later(pause, self._tell_own_ad)

    def _tell_own_ad(self) -> None:
        self._own_ad_soon = None
        self._own_ad_told_at = self._schedd.runtime.clock.steady()
        self._advertiser.update(Command.UPDATE_SCHEDD_AD, self.own_ad())

    async def _reschedule(self) -> None:
        """Send RESCHEDULE to the negotiator."""
        runtime = self._schedd.runtime
        try:
            address = await self._find_negotiator()
            if address is None:
                return
            stream = await runtime.network.connect(address, Command.RESCHEDULE)
            await stream.send(stream.writer())
            stream.close()
        except (KettleError, OSError) as error:
            runtime.log.full(f"Cannot tell the negotiator that jobs wait: {error}")

    async def _find_negotiator(self) -> str | None:
        """Return the negotiator's address: from its file, else from the collector."""
        runtime = self._schedd.runtime
        sinful = read_address_file(runtime.config.get("NEGOTIATOR_ADDRESS_FILE"), runtime.files)
        if sinful is not None:
            return str(sinful)
        for collector in find_collectors(runtime.config, runtime.files):
            address = await find_negotiator(runtime, collector)
            if address is not None:
                return address
        return None
