"""A disk that takes no address file does not end a daemon; the file comes when it has room."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from kettle.errors import StorageError
from kettle.runtime.address_files import AddressFiles
from kettle.runtime.storage.files import Files
from kettle.testing.world import World, run_in_world


class PoorDisk(Files):
    """Files of a disk that refuses to be written."""

    def __init__(self) -> None:
        super().__init__()
        self.trouble = 0

    def write_atomically(
        self, path: str, data: bytes | str, *, mode: int = 0o644, durable: bool = False
    ) -> None:
        if self.trouble:
            raise StorageError(f"cannot write {path}", errno=self.trouble)
        super().write_atomically(path, data, mode=mode, durable=durable)


@pytest.mark.parametrize("trouble", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_the_file_comes_when_the_disk_has_room(tmp_path: Path, trouble: int) -> None:
    async def scenario(world: World) -> None:
        path = tmp_path / "address"
        path.write_text("<127.0.0.1:1>\nsomebody\nearlier\n")
        runtime, _, _ = world.runtime("SCHEDD", f"SCHEDD_ADDRESS_FILE = {path}\n")
        disk = PoorDisk()
        runtime.files, disk.trouble = disk, trouble
        files = AddressFiles(runtime)
        files.write()
        files.write()
        assert not path.exists(), "it would be believed"
        await asyncio.sleep(10)
        disk.trouble = 0
        await asyncio.sleep(3)
        assert path.read_text().startswith(f"{runtime.network.address}\n")
        files.remove()
        assert not path.exists()

    run_in_world(tmp_path, scenario)


def test_a_path_that_is_wrong_is_told_of_at_once(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        path = tmp_path / "nowhere" / "address"
        runtime, _, _ = world.runtime("SCHEDD", f"SCHEDD_ADDRESS_FILE = {path}\n")
        files = AddressFiles(runtime)
        with pytest.raises(StorageError):
            files.write()

    run_in_world(tmp_path, scenario)


def test_a_file_that_says_so_already_is_not_written(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        path = tmp_path / "address"
        runtime, _, _ = world.runtime("SCHEDD", f"SCHEDD_ADDRESS_FILE = {path}\n")
        AddressFiles(runtime).write()
        disk = PoorDisk()
        runtime.files, disk.trouble = disk, errno.ENOSPC
        before = path.stat().st_ino
        AddressFiles(runtime).write()
        assert path.stat().st_ino == before

    run_in_world(tmp_path, scenario)


def test_a_lock_is_held_on_a_full_disk_and_names_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "InstanceLock"
    path.write_text("7\n")
    monkeypatch.setattr("kettle.runtime.storage.files.os.pwrite", fail)
    descriptor = Files().lock(str(path), "8\n")
    assert path.read_text() == ""
    with pytest.raises(StorageError, match="locked by"):
        Files().lock(str(path), "9\n")
    os.close(descriptor)
