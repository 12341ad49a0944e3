"""An EXECUTE that cannot be written is told of once, and once when it can."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.config import execute_folders
from kettle.runtime.process.snapshot import InlineSnapshots
from kettle.runtime.storage.mounts import machine_mounts
from kettle.startd.services import execute_folder
from kettle.startd.services.execute_folder import ExecuteFolder
from kettle.startd.slots import SlotDisk
from kettle.testing.world import World, run_in_world


def test_a_change_is_told_of_once(tmp_path: Path) -> None:
    folder = tmp_path / "sandboxes"

    async def scenario(world: World) -> None:
        runtime, _, _ = world.runtime("STARTD", f"EXECUTE = {folder}\n")
        folder.mkdir()
        execute = ExecuteFolder(runtime)
        execute.look()
        assert not world.log
        # Root may write everywhere: for it the folder has to be gone.
        folder.rmdir()
        execute.look()
        execute.look()
        folder.mkdir()
        execute.look()
        execute.look()
        said = [line for line in world.log if "EXECUTE" in line]
        assert [line.partition("sandboxes, ")[2] for line in said] == [
            "cannot be written: no job can be started here",
            "can be written again",
        ]

    run_in_world(tmp_path, scenario)


def test_folders_of_slots_are_looked_at_with_what_is_reserved_of_their_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {
        "/a": execute_folder.FolderFacts(5000, 9000, "7"),
        "/b": execute_folder.FolderFacts(500, 9000, "8"),
        "/c": execute_folder.FolderFacts(trouble="cannot be written"),
    }
    monkeypatch.setattr(execute_folder, "measure", found.__getitem__)

    async def scenario(world: World) -> None:
        text = "SLOT1_EXECUTE = /a/\nslot2_execute = /b\nSLOT12_EXECUTE = /c\nSLOT4_EXECUTE =\n"
        runtime, _, _ = world.runtime("STARTD", f"{text}RESERVED_DISK = 1\n")
        disks = execute_folder.find_own_disks(runtime.config, runtime.privileges, "7")
        assert disks == {
            1: SlotDisk("", 5000 - 1024),
            2: SlotDisk("8", 0),
            12: SlotDisk("0", 0, "SLOT12_EXECUTE, /c, cannot be written"),
        }
        assert execute_folders.folder_of(runtime.config, "slot1_3@h") == "/a"
        for other in ("slot10@h", "slot3@h", "local", ""):
            assert execute_folders.own_folder(runtime.config, other) == "", other
            assert execute_folders.folder_of(runtime.config, other) == runtime.config.get("EXECUTE")

    run_in_world(tmp_path, scenario)


class SlowSnapshots(InlineSnapshots):
    """Does the work when the folder answers."""

    def __init__(self) -> None:
        super().__init__()
        self.answer_now = asyncio.Event()
        self.asked = 0

    async def run(
        self, make: Callable[[], Callable[[], None]], name: str, seconds: int = 600
    ) -> None:
        self.asked += 1
        await self.answer_now.wait()
        make()()


def test_a_folder_that_hangs_stops_nobody_and_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_mounts(), "is_far", lambda _path: True)
    changes: list[str] = []

    async def scenario(world: World) -> None:
        runtime, _, _ = world.runtime("STARTD", f"EXECUTE = {tmp_path}\n")
        runtime.snapshots = slow = SlowSnapshots()
        execute = ExecuteFolder(runtime, lambda: changes.append(execute.trouble))
        slow.answer_now.set()
        await execute.answers()
        room = execute.facts.total_kib
        assert room > 0
        slow.answer_now.clear()
        for _ in range(9):
            assert execute.look().total_kib == room
            await asyncio.sleep(5)
        assert slow.asked == 2
        assert changes == ["", f"EXECUTE, {tmp_path}, does not answer"]
        slow.answer_now.set()
        await asyncio.sleep(1)
        assert execute.trouble == changes[-1] == ""
        assert [line.partition(f"{tmp_path}")[2] for line in world.log if "EXECUTE" in line] == [
            " does not answer: no job can be started here".replace(" ", ", ", 1),
            ", can be written again",
        ]

    run_in_world(tmp_path, scenario)
