"""A folder that takes another's place is whole and on disk, whenever the machine dies."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.errors import StorageError
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.sockets.shared_port import short_name
from kettle.runtime.storage import folder_swap
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.runtime.storage.files import Files

PRIVILEGES = Privileges(account_of(os.getuid()), can_switch=False)


class Noting(InlineSynchronizer):
    """Notes what is synced, by the names that it has then, and whether the new folder is there."""

    def __init__(self, folder: Path, fails_at: str = "") -> None:
        super().__init__(really=False)
        self.folder = folder
        self.fails_at = fails_at
        self.before: list[str] = []
        self.after: list[str] = []

    async def sync(self, fd: int) -> None:
        """Note it."""
        name = self._name(fd)
        if self.fails_at and name.endswith(self.fails_at):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        arrived = not self.folder.with_name(f"{self.folder.name}.tmp").exists()
        (self.after if arrived else self.before).append(name)

    def _name(self, fd: int) -> str:
        return os.path.relpath(os.readlink(f"/proc/self/fd/{fd}"), self.folder.parent)


def make(path: Path, names: list[str]) -> None:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(path.name)


def put(synchronizer: Noting) -> None:
    files = Files(synchronizer)
    asyncio.run(folder_swap.put_in_place(files, PRIVILEGES, str(synchronizer.folder)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder `job` that was there, with what has arrived beside it."""
    folder = tmp_path / "1" / "0" / "job"
    make(folder, ["gone", "same"])
    make(folder.with_name("job.tmp"), ["same", "deep/er/file", *(f"n{n}" for n in range(200))])
    (folder.with_name("job.tmp") / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder.with_name("job.tmp") / "pipe")
    return folder


def test_every_file_is_synced_before_it_has_its_name_and_the_names_after(folder: Path) -> None:
    disk = Noting(folder)
    put(disk)
    wanted = ["job.tmp", "job.tmp/deep", "job.tmp/deep/er", "job.tmp/deep/er/file", "job.tmp/same"]
    assert sorted(disk.before) == sorted([*wanted, *(f"job.tmp/n{n}" for n in range(200))])
    assert disk.after == [".", "..", "../.."]
    assert (folder / "same").read_text() == "job.tmp"
    assert sorted(os.listdir(folder.parent)) == ["job"]


def test_what_cannot_be_synced_does_not_take_the_place(folder: Path) -> None:
    with pytest.raises(StorageError, match="Input/output error"):
        put(Noting(folder, "er/file"))
    assert sorted(os.listdir(folder)) == ["gone", "same"]


def test_the_older_is_there_until_the_names_are_on_disk(folder: Path) -> None:
    with pytest.raises(StorageError, match="Input/output error"):
        put(Noting(folder, ".."))
    assert (folder / "same").read_text() == "job.tmp"
    assert (folder.with_name("job.swap") / "same").read_text() == "job"


def test_who_died_between_the_two_names_loses_nothing(folder: Path) -> None:
    folder.rename(folder.with_name("job.swap"))
    folder_swap.settle(PRIVILEGES, str(folder))
    assert sorted(os.listdir(folder)) == ["gone", "same"]
    put(Noting(folder))
    folder_swap.settle(PRIVILEGES, str(folder))
    assert (folder / "same").read_text() == "job.tmp"


def test_the_folder_is_there_at_each_moment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process settles whenever it likes, as the schedd does for whoever fetches output."""
    rename = os.rename

    def settling(source: str, target: str) -> None:
        rename(source, target)
        assert folder.exists()
        folder_swap.settle(PRIVILEGES, str(folder))

    monkeypatch.setattr(os, "rename", settling)
    put(Noting(folder))
    assert (folder / "same").read_text() == "job.tmp"
    assert sorted(os.listdir(folder.parent)) == ["job"]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_file_system_that_exchanges_no_names_has_one_changed_after_the_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    def refuse(*_: str) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    if not is_there:
        shutil.rmtree(folder)
    monkeypatch.setattr(folder_swap, "exchange_names", refuse)
    put(Noting(folder))
    assert (folder / "same").read_text() == "job.tmp"
    assert sorted(os.listdir(folder.parent)) == ["job"]


def test_no_file_stays_open(folder: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with pytest.raises(StorageError):
        put(Noting(folder, "er/file"))
    put(Noting(folder))
    assert os.listdir("/proc/self/fd") == before


def _link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def _socket(path: Path) -> None:
    # Where tests of tests have their files names are long.
    with socket.socket(socket.AF_UNIX) as sock, short_name(str(path)) as name:
        sock.bind(name)


def _nothing(_: Path) -> None:
    pass


@pytest.mark.parametrize("become", [_link, _socket, os.mkfifo, _nothing])
def test_what_is_no_file_any_more_when_it_is_opened_is_passed_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch, become: Callable[[Path], None]
) -> None:
    """Whose spooled folder it is may change it at each moment."""
    path = folder.with_name("job.tmp") / "n150"
    real = os.open

    def open_changed(name: str, *arguments: int, **more: int) -> int:
        if name == "n150" and path.is_file() and not path.is_symlink():
            path.unlink()
            become(path)
        return real(name, *arguments, **more)

    monkeypatch.setattr(os, "open", open_changed)
    before, disk = os.listdir("/proc/self/fd"), Noting(folder)
    put(disk)
    assert "job.tmp/n149" in disk.before
    assert "job.tmp/n150" not in disk.before
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize("name", ["n7", "n77", "job.tmp", "1"])
def test_what_cannot_be_opened_is_told_and_leaves_no_file_open(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real = os.open

    def fail(path: str, *arguments: int, **more: int) -> int:
        if os.path.basename(path) == name:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(path, *arguments, **more)

    before = os.listdir("/proc/self/fd")
    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(StorageError, match="Too many open files"):
        put(Noting(folder))
    assert os.listdir("/proc/self/fd") == before
