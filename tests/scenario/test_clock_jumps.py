"""Somebody sets a clock by hours: no lease ends or begins anew, nothing waits long or spins."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from kettle.collector.service import CollectorService
from kettle.runtime.clock_watch import LOOK_SECONDS, watch_clock
from kettle.runtime.logs import Log
from kettle.startd.slot_machine import Phase
from kettle.testing.world import World, run_in_world
from kettle.wire.commands import Command
from kettle.wire.messages.shadow_host import ShadowExited
from scenario import shadow_stage, slots_stage, stage, test_collector, test_master
from scenario.execution_point import ExecutionPoint, ScheddEnd
from scenario.slots_stage import job

pytestmark = pytest.mark.parametrize("hours", [5, -5])


def set_clock(world: World, hours: int) -> None:
    """Set the clock that all daemons of the world see."""
    world.clock.set_forward += 3600.0 * hours


def test_an_idle_claim_lives_as_long_as_its_schedd_does(tmp_path: Path, hours: int) -> None:
    async def scenario(point: slots_stage.ExecutionPoint) -> None:
        await point.claim(job())
        await asyncio.sleep(50)
        set_clock(point.world, hours)
        await asyncio.sleep(250)
        assert point.phase() is Phase.CLAIMED_IDLE
        # Neither asked in a rush nor left alone for hours.
        assert point.alives in {9, 10}
        record = point.service.machine.find("slot1_1")
        assert record is not None
        ad, now = point.service.slot_ad(record), int(point.world.clock.now())
        # What was some minutes ago is still some minutes ago.
        assert ad.integer("MyCurrentTime") == now
        assert abs((ad.integer("EnteredCurrentActivity") or 0) - (now - 300)) <= 2
        await point.schedd.network.close()  # type: ignore[attr-defined]
        await asyncio.sleep(100)
        assert point.phase() is None

    slots_stage.play(tmp_path, scenario)


def test_a_lost_execution_point_is_waited_for_through_its_lease(tmp_path: Path, hours: int) -> None:
    async def scenario(world: World, there: ExecutionPoint, here: ScheddEnd) -> float:
        began = world.clock.monotonic()
        await here.run(there, JobLeaseDuration=600)
        await asyncio.sleep(4)
        await there.vanish()
        await asyncio.sleep(100)
        set_clock(world, hours)
        ended: ShadowExited = await here.ended()
        assert shadow_stage.exit_of(ended) == (116, False)
        return world.clock.monotonic() - began

    waited: float = shadow_stage.play(tmp_path, scenario, script=shadow_stage.break_off)
    assert 600 <= waited <= 640


def test_an_ad_lives_its_time_in_the_collector(tmp_path: Path, hours: int) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, "CLASSAD_LIFETIME = 100\n", port=9618)
        client = world.client()
        await test_collector.advertise(client, test_collector.slot("a"))
        await asyncio.sleep(50)
        set_clock(world, hours)
        await asyncio.sleep(45)
        assert await test_collector.names(client) == ["a"]
        await test_collector.advertise(client, test_collector.slot("b"))
        await test_collector.settled()
        (ad,) = [
            found
            for found in await test_collector.query(client, Command.QUERY_STARTD_ADS)
            if found.string("Name") == "b"
        ]
        assert abs((ad.integer("LastHeardFrom") or 0) - world.clock.now()) <= 2
        await asyncio.sleep(30)
        assert await test_collector.names(client) == ["b"]

    stage.play(tmp_path, scenario)


def test_a_daemon_that_died_is_started_again_when_its_pause_is_over(
    tmp_path: Path, hours: int
) -> None:
    async def scenario(world: World) -> None:
        master = await test_master.start(world)
        await asyncio.sleep(5)
        [schedd] = [
            one for one in master.processes.children() if test_master.name_of(one) == "schedd"
        ]
        schedd.end_by(signal.SIGKILL)
        await asyncio.sleep(5)
        set_clock(world, hours)
        await asyncio.sleep(4.5)
        assert test_master.running(master) == ["collector", "startd"]
        await asyncio.sleep(1)
        assert test_master.running(master) == ["collector", "schedd", "startd"]
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_a_session_is_used_again(tmp_path: Path, hours: int) -> None:
    async def scenario(world: World) -> None:
        await world.start("COLLECTOR", CollectorService, port=9618)
        client = world.client()
        await test_collector.names(client)
        standing = client.network.standing  # type: ignore[attr-defined]
        before = [session.id for session in standing.outgoing.sessions()]
        assert before
        set_clock(world, hours)
        client.network.expire_sessions()  # type: ignore[attr-defined]
        await test_collector.names(client)
        assert [session.id for session in standing.outgoing.sessions()] == before

    stage.play(tmp_path, scenario)


def test_a_daemon_says_that_its_clock_was_set(tmp_path: Path, hours: int) -> None:
    async def scenario(world: World) -> None:
        lines: list[str] = []
        watch_clock(world.clock, Log(sink=lines.append))
        await asyncio.sleep(3 * LOOK_SECONDS + 1)
        assert lines == []
        set_clock(world, hours)
        await asyncio.sleep(3 * LOOK_SECONDS)
        (line,) = lines
        way = "forward" if hours > 0 else "back"
        assert f"The clock of this machine was set {way} by 18000 seconds" in line

    run_in_world(tmp_path, scenario)
