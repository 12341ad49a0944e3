"""A master and its daemons on the virtual clock: order, restarts, shutdown (R076, R044)."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.errors import StorageError
from kettle.master.service import MasterService
from kettle.master.services.orphans import Orphans
from kettle.master.services.pool_password import may_set_password
from kettle.runtime.storage.files import Files
from kettle.testing.processes import FakeChild
from kettle.testing.world import World, WorldDaemon, run_in_world
from kettle.wire.commands import Command
from kettle.wire.dialog import Words
from kettle.wire.messages.credentials import (
    CredentialAnswer,
    StorePoolPassword,
    StorePoolPasswordReply,
)
from kettle.wire.security.tokens import pool_password

TEXT = """\
DAEMON_LIST = MASTER SCHEDD COLLECTOR STARTD
COLLECTOR_ADDRESS_FILE = $(LOG)/.collector_address
SHUTDOWN_GRACEFUL_TIMEOUT = 600
"""


def name_of(child: FakeChild) -> str:
    return child.name.split()[0].removeprefix("condor_")


async def live(child: FakeChild) -> int:
    """Be a daemon that runs until it is told to stop, and stops in its own time."""
    child.ignores |= {signal.SIGTERM, signal.SIGQUIT}
    while not {signal.SIGTERM, signal.SIGQUIT} & set(child.signals):  # noqa: ASYNC110
        await asyncio.sleep(1)
    return 0


async def start(world: World, text: str = TEXT) -> WorldDaemon[MasterService]:
    """Start a master whose daemons are processes that only exist here."""
    address_file = world.folder / "log" / ".collector_address"

    async def behave(child: FakeChild) -> int:
        if name_of(child) == "collector":
            await asyncio.sleep(2)
            address_file.write_text("<127.0.0.1:9618>\nversion\nplatform\n")
        return await live(child)

    def build(runtime: object) -> MasterService:
        runtime.processes.zygote.entries["kettle.runtime.process.forked:main"] = behave  # type: ignore[attr-defined]
        return MasterService(runtime)  # type: ignore[arg-type]

    return await world.start("MASTER", build, text)


def running(master: WorldDaemon[MasterService]) -> list[str]:
    return sorted(name_of(child) for child in master.processes.children())


async def tell(
    world: World, master: WorldDaemon[MasterService], command: Command, *name: str
) -> None:
    client = world.client("admin@here")
    stream = await client.network.connect(master.network.address, command)
    if name:
        await stream.send(Words(*name))
    stream.close()
    await asyncio.sleep(0.1)


def test_the_others_start_when_the_collector_has_said_where_it_is(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        master = await start(world)
        await asyncio.sleep(1)
        assert running(master) == ["collector"]
        await asyncio.sleep(2)
        assert running(master) == ["collector", "schedd", "startd"]
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_a_daemon_that_dies_is_back_after_ten_seconds(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        master = await start(world)
        await asyncio.sleep(5)
        [schedd] = [one for one in master.processes.children() if name_of(one) == "schedd"]
        schedd.end_by(signal.SIGKILL)
        await asyncio.sleep(9.5)
        assert running(master) == ["collector", "startd"]
        await asyncio.sleep(1)
        assert running(master) == ["collector", "schedd", "startd"]
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_a_daemon_whose_address_stays_is_back_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_files: Files, path: str) -> None:
        raise StorageError(f"cannot remove {path}: Read-only file system")

    async def scenario(world: World) -> None:
        master = await start(world, f"{TEXT}STARTD_ADDRESS_FILE = $(LOG)/.startd_address\n")
        await asyncio.sleep(3)
        (startd,) = [c for c in master.processes.children() if name_of(c) == "startd"]
        monkeypatch.setattr(Files, "remove", refuse)
        startd.signal(signal.SIGKILL)
        await asyncio.sleep(15)
        assert "startd" in running(master)
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_what_jobs_left_is_ended_also_of_a_startd_that_the_list_has_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []

    async def end(_: Orphans) -> None:
        told.append("end")

    monkeypatch.setattr(Orphans, "end", end)
    monkeypatch.setattr(Orphans, "spare", lambda _, pids: told.append(sorted(pids)))

    async def scenario(world: World) -> None:
        master = await start(world)
        await asyncio.sleep(5)
        children = {name_of(child): child for child in master.processes.children()}
        text = TEXT.replace(" STARTD", "")
        await master.service.reconfigure(Config.from_text(text, subsystem="MASTER"))
        children["collector"].end_by(signal.SIGKILL)
        assert told == [sorted((children["schedd"].pid, children["startd"].pid))]
        children["startd"].end_by(signal.SIGKILL)
        await asyncio.sleep(0.1)
        assert told[1:] == ["end"]
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_one_daemon_is_turned_off_and_on_by_command(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        master = await start(world)
        await asyncio.sleep(5)
        await tell(world, master, Command.DAEMON_OFF, "startd")
        await asyncio.sleep(2)
        assert running(master) == ["collector", "schedd"]
        await asyncio.sleep(3600)
        assert running(master) == ["collector", "schedd"]
        await tell(world, master, Command.DAEMON_ON, "startd")
        assert running(master) == ["collector", "schedd", "startd"]
        await tell(world, master, Command.DAEMONS_OFF)
        await asyncio.sleep(5)
        assert running(master) == []
        await tell(world, master, Command.DAEMONS_ON)
        await asyncio.sleep(5)
        assert running(master) == ["collector", "schedd", "startd"]
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_the_collector_outlives_the_others_in_a_shutdown(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        master = await start(world)
        await asyncio.sleep(5)
        stopping = asyncio.ensure_future(master.stop("graceful"))
        await asyncio.sleep(0)
        by_name = {name_of(child): child for child in master.processes.started}
        assert by_name["schedd"].signals == [signal.SIGTERM]
        assert by_name["collector"].signals == []
        await stopping
        assert running(master) == []

    run_in_world(tmp_path, scenario)


def test_a_daemon_that_does_not_stop_is_hurried_and_then_killed(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        master = await start(world)
        await asyncio.sleep(5)
        [schedd] = [one for one in master.processes.children() if name_of(one) == "schedd"]
        assert schedd.task is not None
        schedd.task.cancel()
        begin = world.clock.now()
        await master.stop("graceful")
        assert schedd.signals == [signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL]
        assert 900 <= world.clock.now() - begin < 910

    run_in_world(tmp_path, scenario)


def test_the_ready_word_of_every_daemon_makes_the_pool_ready(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        master = await start(world)
        await asyncio.sleep(5)
        assert master.service.readiness().boolean("IsReady") is False
        assert master.service.readiness().string("SCHEDD") == "Startup"
        for child in master.processes.children():
            master.service.on_ready(child.pid)
        states = master.service.readiness()
        assert states.boolean("IsReady") is True
        assert (states.string("SCHEDD"), states.string("SCHEDD_State")) == ("Alive", "Ready")
        assert states.integer("NumAlive") == states.integer("NumDaemons")
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_the_host_of_the_collector_gets_the_key_that_tokens_are_signed_with(tmp_path: Path) -> None:
    key = tmp_path / "POOL"

    async def scenario(world: World) -> None:
        text = f"{TEXT}SEC_TOKEN_POOL_SIGNING_KEY_FILE = {key}\n"
        master = await start(world, text)
        assert (key.stat().st_mode & 0o777, key.stat().st_size > 0) == (0o600, True)
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_the_pool_password_is_kept_by_the_master_for_administrators(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        path = world.folder / "pool_password"
        path.write_bytes(b"before")
        master = await start(world, f"{TEXT}SEC_PASSWORD_FILE = {path}\n")

        async def store(password: str) -> int:
            client = world.client("admin@here")
            stream = await client.network.connect(master.network.address, Command.STORE_POOL_CRED)
            await stream.send(StorePoolPassword("here", password))
            reply = StorePoolPasswordReply.read(await stream.receive())
            stream.close()
            return reply.answer

        assert await store("s3cret") == CredentialAnswer.OK
        assert pool_password(path.read_bytes()) == b"s3cret"
        assert path.stat().st_mode & 0o777 == 0o600
        assert await store("x" * 256) == CredentialAnswer.FAILURE
        assert await store("") == CredentialAnswer.OK
        assert await store("") == CredentialAnswer.NOT_FOUND
        assert not path.exists()
        await master.stop("fast")

    run_in_world(tmp_path, scenario)


def test_the_host_of_the_credential_daemon_has_its_password_set_from_itself_alone() -> None:
    text = "CREDD_HOST = here.example\nFULL_HOSTNAME = Here.example\nIP_ADDRESS = 10.0.0.1\n"
    config = Config.from_text(text)
    assert may_set_password("10.0.0.1", config)
    assert may_set_password("", config)
    assert not may_set_password("10.0.0.2", config)
    assert may_set_password("10.0.0.2", Config.from_text(text.replace("here", "there", 1)))
    assert may_set_password("10.0.0.2", Config.from_text(text.replace("here.example", "", 1)))
