"""What is known of a child that writes a log, whoever ends it."""

from __future__ import annotations

import ctypes
import os
import pwd
import signal
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.errors import KettleError
from kettle.runtime import life
from kettle.runtime.process.privileges import Privileges, account_of, find_account
from kettle.runtime.process.processes import SystemProcesses
from kettle.runtime.process.snapshot import ForkedSnapshots
from kettle.runtime.storage.files import Files
from kettle.runtime.storage.owned_files import OwnedFiles
from kettle.schedd.queue.exports import LOG_NAME, NewLog
from kettle.schedd.services.export_folders import ExportFolders, NotBegun

US = Privileges(account_of(os.getuid()), can_switch=False)
OURS: Any = SimpleNamespace(files_of=lambda _: OwnedFiles(US, US.daemon))


class Killed(Files):
    """Whoever makes a file with it does not see the end of that."""

    def sync_folder(self, path: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.timeout(20)
def test_of_a_killed_child_it_is_known_that_it_had_begun(tmp_path: Path) -> None:
    path, data = tmp_path / LOG_NAME, b"107 1 CreationTimestamp 1000\n"
    log = NewLog(str(path), 1000)

    async def scenario() -> None:
        processes, files = SystemProcesses(), Killed()
        processes.start()
        runtime: Any = SimpleNamespace(
            snapshots=ForkedSnapshots(files, processes),
            files=files,
        )
        folders = ExportFolders(runtime, OURS)
        try:
            with pytest.raises(KettleError, match="status -9") as failed:
                await folders.create("ann", log, [data])
            assert not isinstance(failed.value, NotBegun)
            assert await folders.has("ann", log)
            with pytest.raises(NotBegun, match="File exists") as refused:
                await folders.create("ann", log, [data])
            assert refused.value.was_there
        finally:
            processes.stop()
            await files.synchronizer.idle()

    life.run(scenario())
    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == [LOG_NAME]


class Watched(Files):
    """Says what signal ends a child with its parent, and makes no log."""

    def create(self, path: str, pieces: Iterable[bytes], *, aside: str, mode: int = 0o644) -> None:
        number = ctypes.c_int(-1)
        ctypes.CDLL(None).prctl(2, ctypes.byref(number), 0, 0, 0)
        (Path(path).parent / "signal").write_text(f"{number.value} {os.geteuid()}")


@pytest.mark.root
@pytest.mark.timeout(20)
def test_who_writes_a_log_as_its_owner_ends_with_the_schedd(tmp_path: Path) -> None:
    """Else it may come to be when the next schedd has looked for it, and has the jobs again."""
    nobody = pwd.getpwnam("nobody")
    folder = tmp_path / "nobodys"
    folder.mkdir()
    for each in (folder, *folder.parents[:-2]):
        each.chmod(0o755)
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)

    async def scenario() -> None:
        processes, files = SystemProcesses(), Watched()
        processes.start()
        runtime: Any = SimpleNamespace(
            snapshots=ForkedSnapshots(files, processes),
            files=files,
        )
        privileges = Privileges(account_of(0), can_switch=True)
        accounts: Any = SimpleNamespace(
            files_of=lambda user: OwnedFiles(privileges, find_account(user))
        )
        try:
            await ExportFolders(runtime, accounts).create(
                "nobody", NewLog(str(folder / LOG_NAME), 1), []
            )
        finally:
            processes.stop()
            await files.synchronizer.idle()

    life.run(scenario())
    assert (folder / "signal").read_text() == f"{int(signal.SIGKILL)} {nobody.pw_uid}"
