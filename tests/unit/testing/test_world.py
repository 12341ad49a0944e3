"""Services on a virtual clock, and what a fake process may do."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.errors import ConnectionLost
from kettle.runtime.context import Runtime
from kettle.runtime.sockets.stream import Stream
from kettle.testing.processes import FakeChild, FakeProcesses
from kettle.testing.world import World, run_in_world
from kettle.wire.commands import Command
from kettle.wire.dialog import Words


class Greeter:
    """A service that knows its peers by name and sleeps for a day at the end."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    async def start(self) -> None:
        self.runtime.network.register(Command.QUERY_SCHEDD_ADS, self.greet)

    async def greet(self, stream: Stream) -> None:
        name = (await stream.receive()).string()
        await stream.send(Words(f"{name}, you are {stream.peer.user}"))

    async def reconfigure(self, config: Config) -> None: ...

    async def shut_down(self, how: str) -> None:
        await asyncio.sleep(86400)


async def greet(client: Runtime, world_daemon_address: str) -> str:
    stream = await client.network.connect(world_daemon_address, Command.QUERY_SCHEDD_ADS)
    await stream.send(Words("hello"))
    try:
        return (await stream.receive()).string()
    finally:
        stream.close()


def test_a_service_answers_a_client_under_the_name_it_proved(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        daemon = await world.start("SCHEDD", Greeter)
        address = str(daemon.network.address)
        assert await greet(world.client("bob@here"), address) == "hello, you are bob@here"
        await daemon.stop()
        with pytest.raises(ConnectionLost):
            await greet(world.client(), address)

    run_in_world(tmp_path, scenario)


def test_a_latency_passes_in_virtual_time(tmp_path: Path) -> None:
    async def scenario(world: World) -> float:
        world.hub.latency = (5.0, 5.0)
        daemon = await world.start("SCHEDD", Greeter)
        begin = world.clock.now()
        await greet(world.client(), str(daemon.network.address))
        await daemon.crash()
        return world.clock.now() - begin

    assert run_in_world(tmp_path, scenario) == pytest.approx(5.0)


def test_a_failed_background_task_fails_the_scenario(tmp_path: Path) -> None:
    from kettle.runtime import tasks

    async def broken() -> None:
        raise ValueError("a bug")

    async def scenario(world: World) -> None:
        tasks.spawn(broken(), "broken")
        await asyncio.sleep(1)

    with pytest.raises(AssertionError, match="a bug"):
        run_in_world(tmp_path, scenario)


def test_a_fake_program_lives_and_is_killed(tmp_path: Path) -> None:
    async def sleep(child: FakeChild) -> int:
        await asyncio.sleep(60)
        return 3

    async def scenario(world: World) -> None:
        processes = FakeProcesses()
        processes.programs["/bin/sleep"] = sleep
        first = processes.spawn(["/bin/sleep", "60"], environment={})
        second = processes.spawn(["/bin/sleep", "60"], environment={})
        await asyncio.sleep(30)
        assert second.signal(signal.SIGTERM)
        assert await second.wait() == signal.SIGTERM
        assert await first.wait() == 3 << 8
        with pytest.raises(FileNotFoundError):
            processes.spawn(["/bin/none"], environment={})

    run_in_world(tmp_path, scenario)
