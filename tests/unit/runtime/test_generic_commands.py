"""What every daemon answers."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from kettle.classad.functions import regex
from kettle.config import Config
from kettle.errors import ConnectionLost
from kettle.runtime import pattern_limit
from kettle.runtime.context import Runtime
from kettle.testing.world import World, WorldDaemon, run_in_world
from kettle.wire.codec import Reader
from kettle.wire.commands import Command
from kettle.wire.dialog import Words


class Quiet:
    """A service that only counts what happens to it."""

    def __init__(self, runtime: Runtime) -> None:
        self.happened: list[str] = []

    async def start(self) -> None: ...

    async def reconfigure(self, config: Config) -> None:
        self.happened.append("reconfigure")

    async def shut_down(self, how: str) -> None:
        self.happened.append(how)


async def ask(
    world: World, daemon: WorldDaemon[Quiet], command: Command, *words: int | str
) -> Reader | None:
    stream = await world.client("admin@here").network.connect(daemon.network.address, command)
    try:
        if words:
            await stream.send(Words(*words))
        return await stream.receive()
    except ConnectionLost:
        return None
    finally:
        stream.close()


def play(
    tmp_path: Path, scene: Callable[[World, WorldDaemon[Quiet]], Awaitable[None]], text: str = ""
) -> None:
    async def scenario(world: World) -> None:
        await scene(world, await world.start("SCHEDD", Quiet, text))

    run_in_world(tmp_path, scenario)


@pytest.fixture
def bounded() -> Iterator[None]:
    """The bound on patterns that every daemon installs."""
    before = signal.getsignal(signal.SIGVTALRM)
    pattern_limit.install()
    yield
    regex.set_bound(regex.unbounded)
    signal.signal(signal.SIGVTALRM, before)


def test_configuration_values_are_told_with_their_origin(tmp_path: Path) -> None:
    async def scene(world: World, daemon: WorldDaemon[Quiet]) -> None:
        value = await ask(world, daemon, Command.CONFIG_VAL, "UID_DOMAIN")
        assert value is not None
        assert value.string() == "here"
        unknown = await ask(world, daemon, Command.CONFIG_VAL, "NO_SUCH_NAME")
        assert unknown is not None
        assert unknown.string() == "Not defined"
        details = await ask(world, daemon, Command.DC_CONFIG_VAL, "ANSWER")
        assert details is not None
        assert details.string() == "42"
        assert details.string() == "ANSWER = $(HALF)2"
        assert "line" in details.string()

    play(tmp_path, scene, "HALF = 4\nANSWER = $(HALF)2\n")


def test_names_are_found_by_a_pattern_that_must_end(tmp_path: Path, bounded: None) -> None:
    async def scene(world: World, daemon: WorldDaemon[Quiet]) -> None:
        async def names(pattern: str) -> str:
            reply = await ask(world, daemon, Command.DC_CONFIG_VAL, f"?names:{pattern}")
            assert reply is not None
            return reply.string()

        assert await names("^an(s|z)wer$") == "ANSWER"
        assert await names("(") == "!error:regex:1: that is no regular expression"
        slow = "!error:regex:1: that regular expression takes too long"
        assert await names("^(([A-Z_]+)+)+!$") == slow

    play(tmp_path, scene, "ANSWER = 42\n")


def test_the_clock_is_compared_only_when_the_caller_asks(tmp_path: Path) -> None:
    async def scene(world: World, daemon: WorldDaemon[Quiet]) -> None:
        reply = await ask(world, daemon, Command.DC_TIME_OFFSET, 1, 0, 0, 2)
        assert reply is not None
        now = int(world.clock.now())
        assert [reply.integer() for _ in range(4)] == [1, now, now, 2]
        assert await ask(world, daemon, Command.DC_TIME_OFFSET, 1, 0, 0, 0) is None

    play(tmp_path, scene)


def test_a_log_is_fetched_by_its_subsystem_and_nothing_else_is(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "SchedLog").write_bytes(b"line one\n" * 40_000)

    async def scene(world: World, daemon: WorldDaemon[Quiet]) -> None:
        client = world.client("admin@here")
        stream = await client.network.connect(daemon.network.address, Command.DC_FETCH_LOG)
        await stream.send(Words(0, "SCHEDD"))
        reply = await stream.receive()
        result, size, _ = reply.integer(), reply.integer(), reply.integer()
        assert (result, size) == (0, 360_000)
        data = b""
        while len(data) < size:
            data += (await stream.receive()).rest()
        assert data == (tmp_path / "log" / "SchedLog").read_bytes()
        stream.close()
        for name in ("../../etc/passwd", "NO_SUCH"):
            refused = await ask(world, daemon, Command.DC_FETCH_LOG, 0, name)
            assert refused is not None
            assert refused.integer() == 1

    play(tmp_path, scene, "SCHEDD_LOG = $(LOG)/SchedLog\n")


def test_a_daemon_is_told_to_reconfigure_and_to_stop(tmp_path: Path) -> None:
    async def scene(world: World, daemon: WorldDaemon[Quiet]) -> None:
        await ask(world, daemon, Command.DC_RECONFIG_FULL)
        await ask(world, daemon, Command.DC_SET_PEACEFUL_SHUTDOWN)
        await ask(world, daemon, Command.DC_OFF_GRACEFUL)
        await asyncio.sleep(1)
        assert daemon.service.happened == ["reconfigure", "peaceful"]

    play(tmp_path, scene)


def test_settings_from_afar_are_refused(tmp_path: Path) -> None:
    async def scene(world: World, daemon: WorldDaemon[Quiet]) -> None:
        reply = await ask(world, daemon, Command.DC_CONFIG_RUNTIME, "start", "START = false")
        assert reply is not None
        assert reply.integer() == -1

    play(tmp_path, scene)


def test_what_may_be_set_from_afar_is_set(tmp_path: Path) -> None:
    async def scene(world: World, daemon: WorldDaemon[Quiet]) -> None:
        for name, setting, code in (
            ("foo_bar", "FOO_BAR = 7", 0),
            ("start", "START = false", -1),
            ("foo_bar", "START = false", -1),
            ("foo_bar", "FOO_BAR = 1\ninclude command : /bin/x |", -1),
            ("foo_bar", "use SECURITY : HOST_BASED", -1),
        ):
            reply = await ask(world, daemon, Command.DC_CONFIG_RUNTIME, name, setting)
            assert reply is not None
            assert reply.integer() == code, setting
        settings = daemon.runtime.remote_settings
        config = Config.from_text("FOO_BAR = 1\nSTART = true\n", subsystem="SCHEDD")
        settings.apply(config)
        assert (config.get("FOO_BAR"), config.get("START")) == ("7", "True")
        assert await ask(world, daemon, Command.DC_CONFIG_RUNTIME, "foo_bar", "") is not None
        config = Config.from_text("FOO_BAR = 1\n", subsystem="SCHEDD")
        settings.apply(config)
        assert config.get("FOO_BAR") == "1"

    play(tmp_path, scene, "ENABLE_RUNTIME_CONFIG = true\nSETTABLE_ATTRS_DAEMON = FOO_*\n")


def test_the_instance_of_a_daemon_is_sixteen_characters(tmp_path: Path) -> None:
    async def scene(world: World, daemon: WorldDaemon[Quiet]) -> None:
        reply = await ask(world, daemon, Command.DC_QUERY_INSTANCE)
        assert reply is not None
        assert len(reply.rest()) == 16

    play(tmp_path, scene)
