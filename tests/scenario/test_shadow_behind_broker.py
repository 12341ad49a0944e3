"""A job on a machine that only its broker reaches: what ends a search for its starter.

The broker and what is known of startds are the collector's itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from kettle.classad import ClassAd
from kettle.collector.service import CollectorService
from kettle.errors import ConnectionLost
from kettle.runtime.sockets.transport import Transport
from kettle.testing.world import World, WorldDaemon, run_in_world
from kettle.wire.commands import Command
from kettle.wire.sinful import Sinful
from scenario.execution_point import ExecutionPoint, ScheddEnd
from scenario.shadow_stage import break_off, come_back, exit_of, slot_of

BEHIND = "CCB_ADDRESS = $(COLLECTOR_HOST)\n"
Collector = WorldDaemon[CollectorService]
Scenario = Callable[[World, Collector, ExecutionPoint, ScheddEnd], Awaitable[None]]


def play(folder: Path, scenario: Scenario, *, reconnects: bool = False) -> float:
    """Run a scenario; returns how long it took."""

    async def main(world: World) -> float:
        collector = await world.start("COLLECTOR", CollectorService, port=9618)
        there = ExecutionPoint(
            world, script=break_off, text=BEHIND, reconnected=come_back if reconnects else None
        )
        await there.start()
        assert str(there.address).count("#") == 1
        here = ScheddEnd(world, folder)
        await here.start()
        began = world.clock.now()
        try:
            await scenario(world, collector, there, here)
            return world.clock.now() - began
        finally:
            await here.close()

    return run_in_world(folder, main)


async def die(there: ExecutionPoint, collector: Collector) -> None:
    """Kill a startd: nothing leads to it any more, nor from it."""

    async def fail(sinful: Sinful, seconds: float) -> Transport:
        raise ConnectionLost(f"it is dead, and {sinful} not called in {seconds} seconds")

    await there.network.close()
    there.network.open_transport = fail  # type: ignore[method-assign]
    collector.network.hang_up()


async def advertise(world: World, ad: ClassAd) -> None:
    client = world.client()
    stream = await client.network.connect("<127.0.0.1:9618>", Command.UPDATE_STARTD_AD)
    await stream.send(stream.writer().ad(ad, private=True))
    await asyncio.sleep(0.1)
    stream.close()


async def succeed(world: World, host: str, birthday: int) -> ExecutionPoint:
    """Start another startd behind the broker, and have it tell of itself."""
    other = ExecutionPoint(world, host=host, port=9700, text=BEHIND, birthday=birthday)
    await other.start()
    await advertise(world, slot_of(other, "slot1@ep", birthday))
    return other


def test_a_job_begins_anew_when_its_startd_s_successor_has_another_number(tmp_path: Path) -> None:
    async def scenario(
        world: World, collector: Collector, there: ExecutionPoint, here: ScheddEnd
    ) -> None:
        await advertise(world, slot_of(there, "slot1@ep", 1))
        await here.run(there)
        await asyncio.sleep(4)
        await die(there, collector)
        await succeed(world, "10.0.0.2", 2)
        assert exit_of(await here.ended()) == (116, False)
        assert here.numbers() == ["001", "022", "024", "004"]
        assert "Job not found at execution machine" in here.log.read_text()

    assert play(tmp_path, scenario) < 20


def test_a_stranger_that_has_its_number_ends_no_job(tmp_path: Path) -> None:
    """The broker lost its file, and the startd's successor has told of itself but is silent."""

    async def scenario(
        world: World, collector: Collector, there: ExecutionPoint, here: ScheddEnd
    ) -> None:
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await die(there, collector)
        for kept in (world.folder / "spool").iterdir():
            kept.unlink()
        await collector.crash()
        collector = await world.start("COLLECTOR", CollectorService, port=9618)
        other = await succeed(world, "10.0.0.9", 2)
        contact = other.network.address.ccb_contacts
        assert contact == Sinful.parse(str(there.address)).ccb_contacts
        silent = ExecutionPoint(world, host="10.0.0.2", port=9800)
        await silent.start()
        await silent.vanish()
        await advertise(world, slot_of(silent, "slot1@ep", 3))
        assert exit_of(await here.ended()) == (116, False)
        assert "Job not found at execution machine" not in here.log.read_text()

    assert 600 <= play(tmp_path, scenario) <= 640


def test_a_starter_is_found_at_once_when_its_broker_knows_its_number_again(
    tmp_path: Path,
) -> None:
    async def scenario(
        world: World, collector: Collector, there: ExecutionPoint, here: ScheddEnd
    ) -> None:
        await here.run(there)
        await asyncio.sleep(4)
        await collector.crash()
        await world.start("COLLECTOR", CollectorService, port=9618)
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["001", "022", "023", "005"]

    assert play(tmp_path, scenario, reconnects=True) < 60


def test_a_startd_that_has_another_number_by_now_is_found_by_its_ad(tmp_path: Path) -> None:
    """The broker lost its file, and its numbers are given anew."""

    async def scenario(
        world: World, collector: Collector, there: ExecutionPoint, here: ScheddEnd
    ) -> None:
        await here.run(there)
        await asyncio.sleep(4)
        await collector.crash()
        for kept in (world.folder / "spool").iterdir():
            kept.write_text("10.0.0.8 70 1\n")
        await world.start("COLLECTOR", CollectorService, port=9618)
        await asyncio.sleep(10)
        assert "#171" in str(there.address)
        await advertise(world, slot_of(there, "slot1@ep", 1))
        assert exit_of(await here.ended()) == (100, True)
        assert here.numbers() == ["001", "022", "023", "005"]
        # The schedd is told, which has the claim.
        assert here.updates["StartdIpAddr"] == f'"{there.address}"'

    assert play(tmp_path, scenario, reconnects=True) < 60
