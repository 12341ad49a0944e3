"""A daemon that nobody can connect to is reached through its broker (R089)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kettle.collector.service import CollectorService
from kettle.config import Config
from kettle.errors import ConnectionLost
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
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
