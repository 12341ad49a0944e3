"""What a daemon is found by is there again when somebody has deleted it."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.errors import StorageError
from kettle.runtime.address_files import AddressFiles
from kettle.runtime.logs import Log
from kettle.runtime.presence import Presence
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.sockets.shared_port import Endpoint
from kettle.testing.world import World, run_in_world


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A log folder that this process works in, as a daemon does."""
    before = os.getcwd()
    path = tmp_path / "log"
    path.mkdir()
    os.chdir(path)
    yield path
    os.chdir(before)


def replace_with_a_file(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("in the way")


def test_a_deleted_log_folder_is_made_anew_with_what_was_in_it(
    tmp_path: Path, folder: Path
) -> None:
    async def scenario(world: World) -> None:
        address = folder / ".schedd_address"
        settings = f"LOG = {folder}\nSCHEDD_ADDRESS_FILE = {address}\n"
        runtime, _, _ = world.runtime("SCHEDD", settings)
        runtime.log = Log(str(folder / "SchedLog"))
        files = AddressFiles(runtime)
        files.write()
        asked: list[str] = []
        here = Presence(runtime, files, lambda: asked.append("restore"))
        here.look()
        assert asked == ["restore"]
        assert (folder / "SchedLog").read_text() == ""
        before = address.stat().st_ino
        shutil.rmtree(folder)
        here.look()
        assert address.read_text().startswith(f"{runtime.network.address}\n")
        assert os.getcwd() == str(folder)
        assert f"somebody has deleted or moved {folder}" in (folder / "SchedLog").read_text()
        address.unlink()
        here.look()
        assert address.stat().st_ino != before
        runtime.log.close()

    run_in_world(tmp_path, scenario)


def test_a_place_that_cannot_be_made_is_told_once(tmp_path: Path, folder: Path) -> None:
    async def scenario(world: World) -> None:
        runtime, _, _ = world.runtime("SCHEDD", f"LOG = {folder}\n")

        def fail() -> None:
            raise StorageError("nobody locks here")

        here = Presence(runtime, AddressFiles(runtime), fail)
        replace_with_a_file(folder)
        here.look()
        here.look()
        found = [line for line in world.log if "this daemon may not be found" in line]
        assert len(found) == 2
        assert "nobody locks here" in found[1]

    run_in_world(tmp_path, scenario)


def test_the_age_of_a_log_says_until_when_its_daemon_was_there(
    tmp_path: Path, folder: Path
) -> None:
    async def scenario(world: World) -> None:
        runtime, _, _ = world.runtime("SCHEDD", f"LOG = {folder}\n")
        path = folder / "SchedLog"
        runtime.log = Log(str(path))
        here = Presence(runtime, AddressFiles(runtime))
        os.utime(path, (1, 1))
        for _ in range(5):
            await here.keep()
        assert path.stat().st_mtime == 1
        await here.keep()
        assert path.stat().st_mtime > 1
        runtime.log.close()

    run_in_world(tmp_path, scenario)


def test_a_socket_behind_the_shared_port_is_there_again(tmp_path: Path) -> None:
    async def listen() -> None:
        endpoint = Endpoint(str(tmp_path / "daemon_sock"), "schedd", socket.socket.close)
        endpoint.open()
        endpoint.restore()
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(endpoint.path)
        shutil.rmtree(tmp_path / "daemon_sock")
        endpoint.restore()
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(endpoint.path)
        endpoint.close()
        endpoint.restore()

    asyncio.run(listen())
    assert not list((tmp_path / "daemon_sock").iterdir())


def test_programs_are_started_from_a_folder_that_was_deleted(tmp_path: Path, folder: Path) -> None:
    async def start() -> None:
        processes = SystemProcesses()
        processes.start()
        replace_with_a_file(folder)
        await processes.spawn(["/usr/bin/touch", "x"], environment={}, cwd=str(tmp_path)).wait()
        processes.stop()

    asyncio.run(start())
    assert (tmp_path / "x").exists()
