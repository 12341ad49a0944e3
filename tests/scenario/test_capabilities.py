"""A schedd that cannot tell who a negotiator is: the session comes with its submitter ads."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kettle.classad import ClassAd
from kettle.collector.service import CollectorService
from kettle.config import Config
from kettle.levels import Level
from kettle.negotiator.service import NegotiatorService
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.collectors import Advertiser
from kettle.runtime.sockets.stream import Stream
from kettle.schedd.services.capabilities import SHORTEST_SECONDS, Capabilities
from kettle.testing.world import World, WorldDaemon
from kettle.wire.commands import Command, Daemon
from kettle.wire.messages.collector import PrivateQueryReply, Query
from kettle.wire.security.claim_id import NEGOTIATOR_SIDE, ClaimId
from scenario.stage import connect, play, stopped_at_the_end

INTERVAL = 100.0


class Schedd:
    """Has one submitter, and notes who comes to negotiate; the conversation ends there."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.callers: list[str] = []
        self.forgets = False
        self.capabilities = Capabilities(runtime)
        self._advertiser = Advertiser(runtime)

    async def start(self) -> None:
        self.runtime.network.register(Command.NEGOTIATE, self.on_negotiate)

    async def reconfigure(self, config: Config) -> None: ...

    async def shut_down(self, how: str) -> None:
        await self._advertiser.close()

    async def on_negotiate(self, stream: Stream) -> None:
        self.callers.append(stream.peer.user)

    async def submit(self, negotiator: str) -> None:
        address = str(self.runtime.network.address)
        ad = ClassAd({"MyType": "Submitter", "Name": "u@here", "IdleJobs": 1, "ScheddName": "s"})
        ad["ScheddIpAddr"] = address
        self.capabilities.put_into(ad, "", INTERVAL)
        if self.forgets:
            self.runtime.network.remove_session(ClaimId(ad.string("Capability") or ""))
        self._advertiser.update(Command.UPDATE_SUBMITTOR_AD, ad)
        await self._advertiser.flush(5.0)
        (await self.runtime.network.connect(negotiator, Command.RESCHEDULE)).close()
        await asyncio.sleep(5)


async def build(world: World, text: str = "") -> tuple[Schedd, str]:
    await world.start("COLLECTOR", CollectorService, port=9618)
    negotiator: WorldDaemon[NegotiatorService] = await world.start("NEGOTIATOR", NegotiatorService)
    schedd = await world.start("SCHEDD", Schedd, text, name="schedd")
    stopped_at_the_end(negotiator)
    stopped_at_the_end(schedd)
    await asyncio.sleep(1)
    return schedd.service, str(negotiator.network.address)


def test_the_negotiator_comes_with_the_session_that_the_schedd_put_into_its_ads(
    tmp_path: Path,
) -> None:
    async def scenario(world: World) -> None:
        schedd, negotiator = await build(world)
        await schedd.submit(negotiator)
        assert set(schedd.callers) == {NEGOTIATOR_SIDE}

    play(tmp_path, scenario)


def test_a_schedd_that_began_anew_is_reached_as_anybody_reaches_it(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        schedd, negotiator = await build(world)
        schedd.forgets = True
        await schedd.submit(negotiator)
        assert schedd.callers
        assert NEGOTIATOR_SIDE not in schedd.callers

    play(tmp_path, scenario)


def test_without_claim_sessions_there_is_no_capability(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        text = "SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION = false\n"
        schedd, negotiator = await build(world, text)
        await schedd.submit(negotiator)
        assert schedd.callers
        assert NEGOTIATOR_SIDE not in schedd.callers

    play(tmp_path, scenario)


def test_the_session_of_a_capability_is_good_for_negotiating_alone(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        schedd, _ = await build(world)
        ad = ClassAd()
        schedd.capabilities.put_into(ad, "", INTERVAL)
        session = ClaimId(ad.string("Capability") or "").session("")
        assert session.valid_commands == {Command.NEGOTIATE}
        assert not session.permits(Command.QMGMT_WRITE_CMD)

    play(tmp_path, scenario)


def test_a_capability_is_renewed_before_it_ends_and_each_pool_has_its_own(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        schedd, _ = await build(world)

        def given(pool: str) -> str:
            ad = ClassAd()
            schedd.capabilities.put_into(ad, pool, 1.0)
            return ad.string("Capability") or ""

        first = given("")
        assert first == given("") != given("elsewhere.example")
        await asyncio.sleep(SHORTEST_SECONDS)
        second = given("")
        assert second != first
        client = world.client("negotiator@here")
        address = schedd.runtime.network.address
        for capability in (first, second):
            claim = ClaimId(capability)
            stream = await client.network.connect(address, Command.NEGOTIATE, session=claim)
            stream.close()
        await asyncio.sleep(1)
        assert schedd.callers == [NEGOTIATOR_SIDE] * 2

    play(tmp_path, scenario)


def test_nobody_but_a_negotiator_sees_the_capability(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        schedd, negotiator = await build(world)
        await schedd.submit(negotiator)
        client = world.client("reader@here")
        seen = {}
        query = ClassAd({"MyType": "Query", "TargetType": "Submitter"})
        query.insert_text("Requirements", "true")
        for command in (Command.QUERY_SUBMITTOR_ADS, Command.QUERY_MULTIPLE_PVT_ADS):
            stream = await connect(client, "<127.0.0.1:9618>", command)
            await stream.send(Query(query))
            (ad,) = PrivateQueryReply.read(await stream.receive()).ads
            seen[command] = "Capability" in ad
        assert seen == {Command.QUERY_SUBMITTOR_ADS: False, Command.QUERY_MULTIPLE_PVT_ADS: True}
        assert Command.QUERY_MULTIPLE_PVT_ADS.levels(Daemon.COLLECTOR) == (Level.NEGOTIATOR,)

    play(tmp_path, scenario)
