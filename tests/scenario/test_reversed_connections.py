"""A daemon that nobody can connect to is reached through its broker (R089)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.collector.service import CollectorService
from kettle.config import Config
from kettle.errors import ConnectionLost
from kettle.master.service import MasterService
from kettle.runtime.context import Runtime
from kettle.runtime.daemon import Service
from kettle.runtime.sockets.stream import Stream
from kettle.schedd.service import ScheddService
from kettle.startd.service import StartdService
from kettle.testing.world import World, WorldDaemon, run_in_world
from kettle.wire.commands import Command
from kettle.wire.dialog import Words

BEHIND = "CCB_ADDRESS = $(COLLECTOR_HOST)\n"


class Worker:
    """A service behind a wall."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    async def start(self) -> None:
        self.runtime.network.register(Command.QUERY_STARTD_ADS, self.answer)

    async def answer(self, stream: Stream) -> None:
        name = (await stream.receive()).string()
        await stream.send(Words(f"{name}, {stream.peer.user}", int(stream.encrypted)))

    async def reconfigure(self, config: Config) -> None: ...

    async def shut_down(self, how: str) -> None: ...


class Caller(Worker):
    """A service that listens, so that it can be called back."""

    async def start(self) -> None: ...


async def build(world: World) -> tuple[WorldDaemon[Worker], WorldDaemon[Caller]]:
    await world.start("COLLECTOR", CollectorService, port=9618)
    worker = await world.start("STARTD", Worker, BEHIND)
    world.hub.refused.add(str(worker.network.address.endpoint))
    caller = await world.start("SCHEDD", Caller)
    await worker.network.register_with_brokers(worker.runtime.files, 5.0)
    return worker, caller


async def ask(caller: WorldDaemon[Caller], worker: WorldDaemon[Worker]) -> str:
    stream = await caller.network.connect(worker.network.address, Command.QUERY_STARTD_ADS)
    try:
        await stream.send(Words("hello"))
        reply = await stream.receive()
        assert reply.string() == "hello, condor@family"
        return f"encrypted {reply.integer()}"
    finally:
        stream.close()


def test_a_daemon_behind_a_wall_calls_back_and_is_the_server(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        worker, caller = await build(world)
        assert len(worker.network.address.ccb_contacts) == 1
        assert await ask(caller, worker) == "encrypted 1"
        assert await ask(caller, worker) == "encrypted 1"

    run_in_world(tmp_path, scenario)


def test_many_clients_reach_the_same_daemon_at_once(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        worker, caller = await build(world)
        await asyncio.gather(*(ask(caller, worker) for _ in range(20)))

    run_in_world(tmp_path, scenario)


def test_a_daemon_that_is_gone_is_a_lost_connection(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        worker, caller = await build(world)
        address = worker.network.address
        await worker.crash()
        for broker in worker.network.brokers.registrations:
            broker.registered.clear()
        with pytest.raises(ConnectionLost, match="call back"):
            await caller.network.connect(
                address.with_parameter(
                    "CCBID", f"{address.ccb_contacts[0][0]}".strip("<>") + "#99"
                ),
                Command.QUERY_STARTD_ADS,
            )

    run_in_world(tmp_path, scenario)


@pytest.mark.parametrize(
    ("subsystem", "service", "my_types"),
    [
        ("STARTD", StartdService, {"Machine", "StartD"}),
        ("SCHEDD", ScheddService, {"Scheduler"}),
        ("MASTER", MasterService, {"DaemonMaster"}),
    ],
)
def test_a_daemon_that_got_another_number_tells_so_at_once(
    subsystem: str, service: Callable[[Runtime], Service], my_types: set[str], tmp_path: Path
) -> None:
    async def scenario(world: World) -> None:
        collector = await world.start("COLLECTOR", CollectorService, port=9618)
        text = BEHIND + "DAEMON_LIST = MASTER\nNUM_CPUS = 1\nMEMORY = 128\nMAX_JOBS_RUNNING = 10\n"
        daemon = await world.start(subsystem, service, text)
        await asyncio.sleep(30)

        def told() -> dict[str, str]:
            ads = [entry.ad for entry in collector.service.store.entries()]
            return {
                ad.string("MyType") or "": ad.string("MyAddress") or ""
                for ad in ads
                if ad.string("MyType") in my_types
            }

        assert set(told()) == my_types
        assert "CCBID" not in str(told())
        await daemon.network.register_with_brokers(daemon.runtime.files, 5.0)
        await asyncio.sleep(2)
        assert set(told().values()) == {str(daemon.network.address)}
        assert "CCBID" in str(told())
        await daemon.stop("fast")
        await collector.stop("fast")

    run_in_world(tmp_path, scenario)


async def begin_collector_again(
    world: World, collector: WorldDaemon[CollectorService]
) -> WorldDaemon[CollectorService]:
    """Kill the collector and start another one in its place."""
    await collector.crash()
    await asyncio.sleep(0.1)
    return await world.start("COLLECTOR", CollectorService, port=9618)


def kept_in(world: World) -> Path:
    return world.folder / "spool" / "127.0.0.1-9618.ccb_reconnect"


def test_an_address_is_good_after_the_broker_died(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        collector = await world.start("COLLECTOR", CollectorService, port=9618)
        first, worker = [await world.start("STARTD", Worker, BEHIND) for _ in range(2)]
        caller = await world.start("SCHEDD", Caller)
        for daemon in (first, worker):
            world.hub.refused.add(str(daemon.network.address.endpoint))
            await daemon.network.register_with_brokers(daemon.runtime.files, 5.0)
        before = worker.network.address
        assert kept_in(world).stat().st_mode & 0o777 == 0o600
        # Only one of them comes back; another newcomer is quicker.
        for registration in first.network.brokers.registrations:
            registration.contact = ""
        collector = await begin_collector_again(world, collector)
        newcomer = await world.start("STARTD", Worker, BEHIND)
        await newcomer.network.register_with_brokers(newcomer.runtime.files, 5.0)
        await asyncio.sleep(5)
        assert worker.network.address == before
        assert await ask(caller, worker) == "encrypted 1"
        numbers = {
            contact[1]
            for daemon in (first, newcomer)
            for contact in daemon.network.address.ccb_contacts
        }
        assert not numbers & {"1", "2"}
        # And once more, with those of both lives.
        places = [first.network.address, worker.network.address, newcomer.network.address]
        await begin_collector_again(world, collector)
        await asyncio.sleep(5)
        assert [first.network.address, worker.network.address, newcomer.network.address] == places

    run_in_world(tmp_path, scenario)


def test_a_broker_that_cannot_write_its_ids_serves_all_the_same(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        kept_in(world).mkdir()
        worker, caller = await build(world)
        assert await ask(caller, worker) == "encrypted 1"
        assert any("ids are not kept" in line for line in world.log)

    run_in_world(tmp_path, scenario)


def test_the_file_of_ids_is_written_anew_when_most_are_forgotten(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        lines = [f"10.0.0.7 {number} 1\n" for number in range(1, 301)]
        kept_in(world).write_text("".join(lines))
        await build(world)
        assert len(kept_in(world).read_text().splitlines()) == 301
        await asyncio.sleep(2500)
        words = [line.split()[1] for line in kept_in(world).read_text().splitlines()]
        assert words == ["401"]

    run_in_world(tmp_path, scenario)
