"""A checkpoint that came back is compared with its list, which may be any file of the job's."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.starter.services import transfer
from kettle.starter.services.transfer import NotRestored, SandboxTransfer, TransferFailed
from kettle.transfer.checkpoints import MAX_MANIFEST, Entry, manifest_name, render_manifest
from kettle.transfer.items import SendFile, Unlisted
from kettle.transfer.plan import Plan


class Starter:
    """A starter whose job has a sandbox, and what it tells its shadow and its job's history."""

    def __init__(self, folder: Path, destination: str = "file:///ck") -> None:
        self.job = ClassAd({"CheckpointDestination": destination, "GlobalJobId": "ap#1.0#7"})
        self.told: list[int | None] = []
        self.noted: list[object] = []
        self.shadow = SimpleNamespace(call=self._call)
        self.world = SimpleNamespace(
            privileges=SimpleNamespace(as_account=self._as_account),
            clock=SimpleNamespace(now=lambda: 0.0),
        )
        self.keeper = SimpleNamespace(account=None, fence=None, files=LocalFiles())
        self.sandbox = SimpleNamespace(scratch=str(folder))
        self.has_rights = False

    @contextmanager
    def _as_account(self, _account: object) -> Iterator[None]:
        self.has_rights = True
        try:
            yield
        finally:
            self.has_rights = False

    async def _call(self, make: Any) -> None:
        self.told.append(1)


def restore(folder: Path, monkeypatch: pytest.MonkeyPatch, starter: Starter) -> int:
    """Compare what is there; return the turns that others had meanwhile, without our rights."""
    turns = 0

    async def do() -> None:
        nonlocal turns
        over: Any = SandboxTransfer(starter)  # type: ignore[arg-type]
        comparing = asyncio.ensure_future(over.check_restored())
        while not comparing.done():
            turns += 1
            await asyncio.sleep(0)
            assert not starter.has_rights
        await comparing

    note = SimpleNamespace(note=starter.noted.append)
    monkeypatch.setattr(transfer, "JobPlugins", lambda _: note)
    asyncio.run(do())
    return turns


def checkpoint(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    entries = [Entry(hashlib.sha256(data).hexdigest(), name) for name, data in files.items()]
    manifest = folder / manifest_name(1)
    manifest.write_bytes(render_manifest(1, entries).encode())
    return manifest


def test_what_came_back_whole_is_read_a_piece_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starter = Starter(tmp_path)
    files = {
        "large": bytes(20 << 20),
        "a\u2028b": b"1",
        **{f"{number}": b"" for number in range(50)},
    }
    manifest = checkpoint(tmp_path, files)
    assert restore(tmp_path, monkeypatch, starter) >= 70
    assert not manifest.exists()
    assert (starter.told, len(starter.noted)) == ([], 1)


def of_short_lines(manifest: Path) -> None:
    manifest.write_bytes(b"a\n" * (MAX_MANIFEST // 2))


def far_too_long(manifest: Path) -> None:
    os.truncate(manifest, 1 << 40)


def a_pipe(manifest: Path) -> None:
    manifest.unlink()
    os.mkfifo(manifest)


def an_endless_link(manifest: Path) -> None:
    manifest.unlink()
    manifest.symlink_to("/dev/zero")


@pytest.mark.parametrize("change", [of_short_lines, far_too_long, a_pipe, an_endless_link])
def test_a_file_that_is_only_called_like_a_list_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    starter = Starter(tmp_path)
    change(checkpoint(tmp_path, {"state": b"1"}))
    with pytest.raises(NotRestored, match="aborting"):
        restore(tmp_path, monkeypatch, starter)
    assert starter.told == [1]


def test_a_listed_device_has_no_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").symlink_to("/dev")
    text = render_manifest(1, [Entry("a" * 64, "folder/zero")])
    (tmp_path / manifest_name(1)).write_text(text)
    with pytest.raises(NotRestored, match="Failed to open checkpoint file"):
        restore(tmp_path, monkeypatch, Starter(tmp_path))


def test_a_job_without_a_destination_may_have_files_of_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_short_lines(tmp_path / manifest_name(1))
    starter = Starter(tmp_path, destination="")
    restore(tmp_path, monkeypatch, starter)
    assert starter.told == []
    assert (tmp_path / manifest_name(1)).exists()


def test_a_checkpoint_that_no_list_can_name_fails_at_once(tmp_path: Path) -> None:
    starter: Any = Starter(tmp_path)
    starter.sandbox.htcondor = str(tmp_path)
    (tmp_path / "two\nlines").touch()
    over: Any = SandboxTransfer(starter)
    over._plan = lambda _: Plan((SendFile(str(tmp_path / "two\nlines"), "two\nlines"),), 0)
    with pytest.raises(TransferFailed, match="cannot be listed: the file name 'two") as failed:
        asyncio.run(over.send_checkpoint(0))
    assert not failed.value.try_again


def test_a_checkpoint_with_a_folder_that_cannot_be_listed_fails_at_once(tmp_path: Path) -> None:
    over: Any = SandboxTransfer(Starter(tmp_path))  # type: ignore[arg-type]
    over._plan = lambda _: Plan((SendFile("/f", "f"), Unlisted("/d", errno.EACCES)), 0)
    with pytest.raises(TransferFailed, match=r"cannot be read: .*Permission") as failed:
        asyncio.run(over.send_checkpoint(0))
    assert not failed.value.try_again


def test_a_sandbox_that_cannot_be_listed_has_no_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    over: Any = SandboxTransfer(Starter(tmp_path / "none"))  # type: ignore[arg-type]
    with pytest.raises(NotRestored, match="No such file or directory"):
        asyncio.run(over.check_restored())
