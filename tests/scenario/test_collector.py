"""The collector over the wire: updates on one connection, secrets, expiry, restarts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.classad import ClassAd
from kettle.collector.ad_kinds import SLOT
from kettle.collector.service import CollectorService
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.collectors import Advertiser
from kettle.runtime.sockets.stream import Stream
from kettle.testing.world import World
from kettle.wire.commands import Command
from kettle.wire.messages.collector import PrivateQueryReply, Query
from kettle.wire.messages.daemoncore import TokenReply, TokenRequest
from scenario.stage import connect, play

ADDRESS = "<127.0.0.1:9618>"


def slot(name: str = "slot1@h", **more: object) -> ClassAd:
    return ClassAd(
        {"MyType": "Machine", "Name": name, "Machine": "h", "HasStartDaemonAd": True, **more}
    )


async def query(client: Runtime, command: Command, **attributes: object) -> list[ClassAd]:
    stream = await connect(client, ADDRESS, command)
    await stream.send(Query(ClassAd(attributes)))
    reply = PrivateQueryReply.read(await stream.receive())
    stream.close()
    return reply.ads


async def names(client: Runtime, command: Command = Command.QUERY_STARTD_ADS) -> list[str]:
    return [ad.string("Name") or "" for ad in await query(client, command)]


async def advertise(client: Runtime, *ads: ClassAd) -> Stream:
    """Send the first ad with the handshake's command, the others bare on the same connection."""
    stream = await connect(client, ADDRESS, Command.UPDATE_STARTD_AD)
    await stream.send(stream.writer().ad(ads[0], private=True))
    for ad in ads[1:]:
        await stream.send(stream.writer().integer(Command.UPDATE_STARTD_AD).ad(ad, private=True))
    return stream


async def settled() -> None:
    await asyncio.sleep(0.1)


def test_updates_follow_each_other_on_one_connection(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        await advertise(client, slot("a"), slot("b"), slot("c"))
        await settled()
        assert await names(client) == ["a", "b", "c"]

    play(tmp_path, scenario)


def test_an_update_that_wants_an_answer_gets_one(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        stream = await connect(client, ADDRESS, Command.UPDATE_STARTD_AD_WITH_ACK)
        await stream.send(stream.writer().ad(slot("a")))
        assert (await stream.receive()).integer() == 1
        (ad,) = await query(client, Command.QUERY_STARTD_ADS)
        assert ad.string("AuthenticatedIdentity") == "alice@here"
        assert ad.boolean("Offline") is None

    play(tmp_path, scenario)


def test_an_acknowledged_update_of_a_waking_machine_is_an_ordinary_one(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        for level, offline in ((0, None), (3, True), (0, None)):
            stream = await connect(client, ADDRESS, Command.UPDATE_STARTD_AD_WITH_ACK)
            await stream.send(stream.writer().ad(slot("a", HibernationLevel=level)))
            assert (await stream.receive()).integer() == 1
            (ad,) = await query(client, Command.QUERY_STARTD_ADS)
            assert ad.boolean("Offline") is offline

    play(tmp_path, scenario)


def test_an_ad_without_a_name_costs_its_connection_and_nothing_else(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        good = await advertise(client, slot("a"))
        bad = await advertise(client, ClassAd({"MyType": "Machine"}))
        await settled()
        assert bad.at_end()
        assert not good.at_end()
        assert await names(client) == ["a"]

    play(tmp_path, scenario)


def test_an_ad_with_a_line_end_costs_its_connection_and_nothing_else(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        good = await advertise(client, slot("a", Reason="two\nlines"))
        wrong = slot("b")
        wrong.insert_text("AssignedX", '1\n103 1.1 Owner "root"')
        bad = await advertise(client, wrong)
        await settled()
        assert bad.at_end()
        assert not good.at_end()
        (ad,) = await query(client, Command.QUERY_STARTD_ADS)
        assert (ad.string("Name"), ad.string("Reason")) == ("a", "two\nlines")

    play(tmp_path, scenario)


@pytest.mark.shows("R080")
def test_claim_ids_are_told_to_the_negotiator_only(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        text = "ALLOW_NEGOTIATOR = condor@family\nALLOW_ADMINISTRATOR = condor@family\n"
        await world.start("COLLECTOR", CollectorService, text, port=9618)
        client = world.client()
        await advertise(client, slot("a", ClaimId="<1>#2#3#secret"))
        await settled()
        (ad,) = await query(
            client, Command.QUERY_MULTIPLE_ADS, TargetType="Machine", SendPrivateAttributes=True
        )
        assert "ClaimId" not in ad
        negotiator, network, _ = world.runtime("NEGOTIATOR")
        network.add_family(world._family)
        (ad,) = await query(
            negotiator,
            Command.QUERY_MULTIPLE_PVT_ADS,
            TargetType="Machine",
            SendPrivateAttributes=True,
        )
        assert ad.string("ClaimId") == "<1>#2#3#secret"

    play(tmp_path, scenario)


@pytest.mark.shows("R077")
def test_an_ad_disappears_when_nobody_renews_it(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, "CLASSAD_LIFETIME = 100\n", port=9618)
        client = world.client()
        await advertise(client, slot("a"))
        await asyncio.sleep(95)
        assert await names(client) == ["a"]
        await asyncio.sleep(30)
        assert await names(client) == []

    play(tmp_path, scenario)


@pytest.mark.shows("R077")
def test_a_withdrawn_ad_disappears_at_once(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        await advertise(client, slot("a"), slot("b"))
        stream = await connect(client, ADDRESS, Command.INVALIDATE_STARTD_ADS)
        withdrawal = ClassAd({"MyType": "Query", "TargetType": "Machine", "Name": "a"})
        await stream.send(stream.writer().ad(withdrawal))
        await settled()
        assert await names(client) == ["b"]

    play(tmp_path, scenario)


@pytest.mark.shows("J013", "J014")
def test_an_offline_ad_survives_the_collector(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        text = f"COLLECTOR_PERSISTENT_AD_LOG = {tmp_path}/ads\n"
        first = await world.start("COLLECTOR", CollectorService, text, port=9618)
        client = world.client()
        stream = await connect(client, ADDRESS, Command.UPDATE_STARTD_AD_WITH_ACK)
        await stream.send(stream.writer().ad(slot("asleep", Offline=True, State="Owner")))
        await stream.receive()
        await advertise(client, slot("awake"))
        await settled()
        await first.crash()
        await world.start("COLLECTOR", CollectorService, text, port=9618)
        (ad,) = await query(world.client(), Command.QUERY_STARTD_ADS)
        assert ad.string("Name") == "asleep"
        assert ad.string("State") == "Unclaimed"

    play(tmp_path, scenario)


def test_an_offline_ad_that_is_withdrawn_is_gone_for_good(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        log = tmp_path / "ads"
        text = f"COLLECTOR_PERSISTENT_AD_LOG = {log}\n"
        first = await world.start("COLLECTOR", CollectorService, text, port=9618)
        client = world.client()
        await advertise(client, slot("one", Offline=True), slot("two", Offline=True))
        stream = await connect(client, ADDRESS, Command.INVALIDATE_STARTD_ADS)
        withdrawal = ClassAd({"MyType": "Query", "TargetType": "Machine", "Name": "one"})
        await stream.send(stream.writer().ad(withdrawal))
        await settled()
        assert log.read_text().endswith("102 <one>\n")
        await first.crash()
        await world.start("COLLECTOR", CollectorService, text, port=9618)
        assert await names(world.client()) == ["two"]

    play(tmp_path, scenario)


def test_the_collector_knows_itself(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        await advertise(client, slot("a"), slot("b", State="Claimed"))
        await settled()
        (ad,) = await query(client, Command.QUERY_COLLECTOR_ADS)
        assert ad.integer("HostsTotal") == 2
        assert ad.integer("HostsClaimed") == 1
        assert ad.integer("UpdatesTotal_Slot") == 2
        assert (ad.string("MyAddress") or "").startswith("<127.0.0.1:9618")

    play(tmp_path, scenario)


def test_a_collector_that_starts_anew_is_told_everything_again(tmp_path: Path) -> None:
    """Whether its end is noticed while nothing has to be sent, or by the next update."""

    async def scenario(world: World) -> None:
        first = await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        daemon = Advertiser(client)
        for name in ("a", "b", "c"):
            daemon.update(Command.UPDATE_STARTD_AD, slot(name))
        assert await daemon.flush(5)
        await first.crash()
        second = await world.start("COLLECTOR", CollectorService, port=9618)
        daemon.update(Command.UPDATE_STARTD_AD, slot("b"))
        await asyncio.sleep(1)
        assert sorted(await names(client)) == ["a", "b", "c"]
        await second.crash()
        await world.start("COLLECTOR", CollectorService, port=9618)
        await asyncio.sleep(60)
        assert sorted(await names(client)) == ["a", "b", "c"]
        await daemon.close()

    play(tmp_path, scenario)


def test_a_token_of_a_schedd_that_gives_none_is_refused(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        stream = await connect(world.client(), ADDRESS, Command.IMPERSONATION_TOKEN_REQUEST)
        await stream.send(TokenRequest(ClassAd({"Name": "ap.example"})))
        answer = TokenReply.read(await stream.receive()).response
        assert answer.integer("ErrorCode") == 5
        assert answer.string("ErrorString") == "Schedd ap.example is not known to the collector."

    play(tmp_path, scenario)


def test_an_ad_that_cannot_be_sent_is_told_of_once(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        collector = await world.start("COLLECTOR", CollectorService, port=9618)
        said: list[str] = []
        collector.runtime.log.problem = said.append  # type: ignore[method-assign, assignment]
        client = world.client()
        await advertise(client, slot("a"), slot("b"))
        await settled()
        collector.service.store.table(SLOT)[("a",)].ad.insert_text("Odd", '"\0"')
        for _ in range(3):
            assert await names(client) == ["b"]
        assert [line.partition(":")[0] for line in said] == [
            "The Machine ad of a cannot be sent to anybody"
        ]

    play(tmp_path, scenario)
