"""Telling other pools of submitters whose jobs find no machine at home (FLOCK_TO).

Each of those pools gets the submitter's ad as the own one does, tagged with the pool's name, so
that its negotiator says at each round which pool it is; a match from there is requested like any
other.
Who is offered where is decided in `flocking.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kettle.attributes.match_words import REMOTE_POOL
from kettle.classad import ClassAd
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.errors import KettleError
from kettle.named_tuples import NamedTuple
from kettle.runtime.sockets.addresses import DEFAULT_PORT
from kettle.runtime.sockets.collectors import Advertiser
from kettle.schedd import ads
from kettle.schedd.claims import Claim, Phase
from kettle.schedd.flocking import FlockLevels
from kettle.schedd.services.capabilities import Capabilities
from kettle.schedd.weights import MOST_WEIGHT
from kettle.wire.commands import Command
from kettle.wire.messages.collector import Query
from kettle.wire.sinful import Sinful

if TYPE_CHECKING:
    from kettle.runtime.context import Runtime


class Used(NamedTuple):
    """How many claims run a submitter's jobs in a pool, and what their slots count for."""

    claims: int = 0
    weight: float = 0.0


NOTHING = Used()


class Flock:
    """The other pools of one schedd."""

    def __init__(self, runtime: Runtime, schedd_name: str, capabilities: Capabilities) -> None:
        self._runtime = runtime
        self._name = schedd_name
        self._capabilities = capabilities
        self._advertisers: dict[str, Advertiser] = {}
        # Where the pools' collectors are; one that is no longer named is not told anything more.
        self._addresses: dict[str, Sinful] = {}
        # Whom each pool was told of, and what.
        self._told: dict[tuple[str, str], ads.SubmitterCounts] = {}
        self.levels = FlockLevels(())
        self.configure()

    def configure(self) -> None:
        """Take over which pools there are."""
        config = self._runtime.config
        self._addresses = {}
        for word in config.value(ScheddKnobs.FLOCK_COLLECTOR_HOSTS):
            try:
                bare = ":" not in word
                self._addresses[word] = Sinful.parse(f"{word}:{DEFAULT_PORT}" if bare else word)
            except KettleError as error:
                self._runtime.log.problem(f"FLOCK_COLLECTOR_HOSTS: {word} is no address: {error}")
        self.levels = FlockLevels(
            tuple(self._addresses),
            config.value(ScheddKnobs.FLOCK_INCREMENT),
            config.value(ScheddKnobs.MIN_FLOCK_LEVEL),
        )

    def tell(
        self, counts: Mapping[str, ads.SubmitterCounts], running: Mapping[tuple[str, str], Used]
    ) -> None:
        """Tell the other pools what has changed; `running` is by submitter and pool."""
        self.levels.on_satisfied(name for name, each in counts.items() if not each.idle)
        address = str(self._runtime.network.address)
        interval = self._runtime.config.value(ScheddKnobs.SCHEDD_INTERVAL)
        for name, each in counts.items():
            for pool in self._addresses:
                used = running.get((name, pool), NOTHING)
                offered = pool in self.levels.pools_of(name)
                if not offered and not used.claims and (pool, name) not in self._told:
                    continue
                shown = ads.SubmitterCounts(
                    idle=each.idle if offered else 0,
                    running=used.claims,
                    weighted_idle=each.weighted_idle if offered else 0.0,
                    weighted_running=used.weight,
                    flocked=each.running - used.claims,
                    all=each.all,
                )
                if self._told.get((pool, name)) == shown:
                    continue
                self._told[pool, name] = shown
                ad = ads.submitter_ad(name, shown, self._name, address)
                ad["SubmitterTag"] = pool
                self._capabilities.put_into(ad, pool, interval)
                self._advertiser(pool).update(Command.UPDATE_SUBMITTOR_AD, ad)

    def forget_told(self) -> None:
        """Tell everything again at the next chance: ads do not live for ever."""
        self._told = {key: ads.SubmitterCounts(all=-1) for key in self._told}

    def _advertiser(self, pool: str) -> Advertiser:
        found = self._advertisers.get(pool)
        if found is None:
            found = Advertiser(self._runtime, foreign=self._addresses[pool])
            self._advertisers[pool] = found
        return found

    async def ask_for_matches(self, submitters: Iterable[str]) -> None:
        """Ask the negotiators of the pools that these are offered to for a cycle."""
        wanted = dict.fromkeys(pool for name in submitters for pool in self.levels.pools_of(name))
        for pool in wanted:
            try:
                await self._advertiser(pool).flush(5.0)
                address = await find_negotiator(self._runtime, self._addresses[pool])
                if address is not None:
                    stream = await self._runtime.network.connect(address, Command.RESCHEDULE)
                    await stream.send(stream.writer())
                    stream.close()
            except (KettleError, OSError) as error:
                self._runtime.log(f"The negotiator of {pool} does not hear of our jobs: {error}")

    async def close(self) -> None:
        """Withdraw what the other pools were told."""
        for pool, name in self._told:
            self._advertisers[pool].invalidate(
                Command.INVALIDATE_SUBMITTOR_ADS, "Submitter", name, ScheddName=self._name
            )
        for advertiser in self._advertisers.values():
            await advertiser.flush(1.0)
            await advertiser.close()


def weigh_running(claims: Iterable[Claim]) -> dict[tuple[str, str], Used]:
    """Return the claims that run jobs by submitter and pool, which is empty for our own."""
    found: dict[tuple[str, str], Used] = {}
    for claim in claims:
        if claim.phase is Phase.RUNNING:
            key = claim.submitter, claim.slot.string(REMOTE_POOL) or ""
            used = found.get(key, NOTHING)
            found[key] = Used(used.claims + 1, used.weight + _weight_of(claim))
    return found


def weigh_running_of_users(claims: Iterable[Claim]) -> dict[str, float]:
    """Return what the claims that run jobs weigh, by user."""
    found: dict[str, float] = {}
    for claim in claims:
        if claim.phase is Phase.RUNNING:
            found[claim.user] = found.get(claim.user, 0.0) + _weight_of(claim)
    return found


def _weight_of(claim: Claim) -> float:
    return _read_weight((claim.attributes or {}).get("MachineAttrSlotWeight0"))


def _read_weight(text: str | None) -> float:
    """Return the weight that a startd says of its slot; 1 where that is no amount."""
    try:
        weight = float(text or 1)
    except ValueError:
        return 1.0
    return min(weight, MOST_WEIGHT) if weight >= 0 else 1.0


async def find_negotiator(runtime: Runtime, collector: Sinful) -> str | None:
    """Return the address of a pool's negotiator as its collector knows it."""
    stream = await runtime.network.connect(collector, Command.QUERY_NEGOTIATOR_ADS)
    try:
        query = ClassAd({"MyType": "Query", "TargetType": "Negotiator"})
        query.insert_text("Requirements", "true")
        await stream.send(Query(query))
        reader = await stream.receive()
        return reader.ad().string("MyAddress") if reader.integer() else None
    finally:
        stream.close()
