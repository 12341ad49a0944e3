"""Durable appends, group commit and atomic replacement."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from kettle.errors import NotFoundError, StorageError
from kettle.runtime.process.privileges import Account, Privileges, account_of
from kettle.runtime.storage import files
from kettle.runtime.storage.durable import InlineSynchronizer, Synchronizer, WorkerSynchronizer
from kettle.runtime.storage.files import Files, SystemSources


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
def test_a_command_of_the_configuration_is_not_root_when_a_daemon_reads_it_again() -> None:
    privileges = Privileges(account_of(0), can_switch=True)
    with privileges.as_account(Account("daemon", 54321, 54321, ())):
        # bash takes the real uid where it is not the effective one.
        assert SystemSources().run_command(["/bin/bash", "-c", "id -ur; id -gr"]) == (
            0,
            "54321\n54321\n",
        )


@pytest.fixture(params=["inline", "worker"])
def synchronizer(request: pytest.FixtureRequest) -> Synchronizer:
    return InlineSynchronizer() if request.param == "inline" else WorkerSynchronizer()


def test_what_was_appended_before_a_commit_is_in_the_file_after_it(
    tmp_path: Path, synchronizer: Synchronizer
) -> None:
    path = str(tmp_path / "log")

    async def scenario() -> None:
        files = Files(synchronizer)
        file = files.open_durable(path)
        file.append(b"one\n")
        await file.commit()
        file.append(b"two\n")
        await file.commit()
        file.close()
        await synchronizer.idle()

    asyncio.run(scenario())
    assert Path(path).read_bytes() == b"one\ntwo\n"


def test_commits_that_overlap_share_one_sync(tmp_path: Path) -> None:
    async def scenario() -> int:
        worker = WorkerSynchronizer()
        files = Files(worker)
        file = files.open_durable(str(tmp_path / "log"))
        file.append(b"first\n")
        # The first starts a batch; the ninety-nine that come while it is on its way share one.
        await asyncio.gather(*(file.commit() for _ in range(100)))
        await worker.idle()
        file.close()
        return worker.calls

    assert asyncio.run(scenario()) == 2


def test_a_quiet_block_has_no_second_thread_and_commits_wait_for_its_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        before = threading.active_count()
        files = Files()
        file = files.open_durable(str(tmp_path / "log"))
        file.append(b"x")
        await file.commit()
        assert threading.active_count() == before + 1
        async with files.quiet():
            assert threading.active_count() == before
            waiting = asyncio.ensure_future(file.commit())
            await asyncio.sleep(0)
            assert not waiting.done()
        await waiting
        await files.synchronizer.idle()
        file.close()

    asyncio.run(scenario())


def test_a_failed_sync_breaks_the_file_for_good(tmp_path: Path) -> None:
    class Failing(InlineSynchronizer):
        async def sync(self, fd: int) -> None:
            raise OSError(5, "Input/output error")

    async def scenario() -> None:
        file = Files(Failing()).open_durable(str(tmp_path / "log"))
        file.append(b"x")
        with pytest.raises(StorageError, match="cannot sync"):
            await file.commit()
        with pytest.raises(StorageError, match="failed before"):
            file.append(b"y")
        with pytest.raises(StorageError, match="failed before"):
            await file.commit()
        file.close()

    asyncio.run(scenario())


def test_a_short_write_is_cut_off_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = Files(InlineSynchronizer()).open_durable(str(tmp_path / "log"))
    file.append(b"whole\n")
    write, calls = os.write, []

    def disk_full(fd: int, data: bytes) -> int:
        calls.append(1)
        if len(calls) == 1:
            return write(fd, bytes(data)[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kettle.runtime.storage.durable.os.write", disk_full)
    with pytest.raises(StorageError, match="No space"):
        file.append(b"torn\n")
    monkeypatch.undo()
    assert (tmp_path / "log").read_bytes() == b"whole\n"
    assert not file.broken
    file.close()


def test_an_atomic_write_leaves_the_old_content_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files(InlineSynchronizer())
    path = str(tmp_path / "address")
    files.write_atomically(path, "old", durable=True)

    def refuse(source: str, target: str) -> None:
        raise OSError(13, "Permission denied")

    monkeypatch.setattr("kettle.runtime.storage.files.os.rename", refuse)
    with pytest.raises(StorageError, match="Permission denied"):
        files.write_atomically(path, "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["address"]
    assert files.read_text(path) == "old"


def test_reading_is_bounded_and_says_what_is_missing(tmp_path: Path) -> None:
    files = Files(InlineSynchronizer())
    (tmp_path / "big").write_bytes(b"x" * 11)
    with pytest.raises(StorageError, match="larger than 10 bytes"):
        files.read(str(tmp_path / "big"), limit=10)
    with pytest.raises(NotFoundError, match="does not exist"):
        files.read(str(tmp_path / "none"))


def test_what_cannot_be_read_says_the_kernels_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could tell a disk that fails for a moment from a file that is no good."""
    path = str(tmp_path / "file")
    Path(path).write_bytes(b"words")

    def fail(*_: object) -> int:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(os, "open", fail)
    files = Files()
    for read in (
        lambda: files.read(path),
        lambda: list(files.read_pieces(path)),
        lambda: files.read_at(path, 0, 5),
    ):
        with pytest.raises(StorageError) as failed:
            read()
        assert failed.value.errno == errno.EMFILE


def test_a_script_that_does_not_say_what_runs_it_is_run_by_the_shell(tmp_path: Path) -> None:
    script = tmp_path / "says"
    script.write_text("echo foo = $1\n")
    script.chmod(0o755)
    assert SystemSources().run_command([str(script), "4"]) == (0, "foo = 4\n")
    script.chmod(0o644)
    with pytest.raises(PermissionError):
        SystemSources().run_command([str(script)])


def test_a_command_that_prints_without_end_is_stopped() -> None:
    sources = SystemSources()
    sources.command_bytes = 1000
    assert sources.run_command(["/bin/sh", "-c", "printf %1000s"]) == (0, " " * 1000)
    with pytest.raises(OSError, match="/bin/sh printed more than 0 MiB"):
        sources.run_command(["/bin/sh", "-c", "while echo x; do :; done"])


def test_a_command_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "COMMAND_SECONDS", 0.05)
    for command in ("read x </dev/zero", "exec >&-; read x </dev/zero"):
        with pytest.raises(OSError, match=r"took longer than 0\.05 seconds"):
            SystemSources().run_command(["/bin/bash", "-c", command])
