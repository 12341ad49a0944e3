"""The startd's child that ends what jobs leave is there for as long as it is needed."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.config import Config
from kettle.runtime.logs import Log
from kettle.runtime.process.census import birth_of
from kettle.runtime.process.namespaces import MountNamespace, PidNamespace
from kettle.runtime.process.privileges import Privileges
from kettle.startd.services import procd
from kettle.startd.services.procd import ENTRY, TITLE, Procd, find_earlier
from kettle.testing.processes import FakeChild, FakeProcesses
from kettle.testing.virtual_loop import run_virtually


def make(processes: FakeProcesses) -> Procd:
    log = Log(sink=lambda _: None)
    runtime = SimpleNamespace(
        log=log,
        processes=processes,
        config=Config.from_text("", subsystem="STARTD"),
        privileges=None,
    )
    return Procd(cast(Any, runtime), cast(Any, SimpleNamespace(execute="/none", base_group="")))


async def live(child: FakeChild) -> int:
    await asyncio.sleep(10_000)
    return 0


def test_one_that_is_killed_is_started_again_until_the_startd_ends() -> None:
    processes = FakeProcesses()
    processes.zygote.entries[ENTRY] = live

    async def main() -> None:
        procd = make(processes)
        procd.start()
        procd.start()
        await asyncio.sleep(0.1)
        assert [child.name for child in processes.started] == [TITLE]
        processes.started[0].end_by(signal.SIGKILL)
        await asyncio.sleep(1.1)
        assert len(processes.children()) == 1
        await procd.stop()
        assert processes.children() == []
        await asyncio.sleep(1000)
        assert len(processes.started) == 2
        # Its startd's end of the pipe is the only one.
        for child in processes.started:
            assert os.read(child.fds[0], 1) == b""
            os.close(child.fds[0])

    run_virtually(main())


def test_one_that_says_that_it_is_not_needed_is_asked_again_after_a_reconfiguration() -> None:
    processes = FakeProcesses()

    async def leave(child: FakeChild) -> int:
        os.close(child.fds[0])
        return 0

    processes.zygote.entries[ENTRY] = leave

    async def main() -> None:
        procd = make(processes)
        procd.start()
        await asyncio.sleep(1000)
        assert len(processes.started) == 1
        procd.start()
        await asyncio.sleep(1000)
        assert len(processes.started) == 2
        await procd.stop()

    run_virtually(main())


def test_an_earlier_one_is_known_by_its_name_and_by_where_it_stands(tmp_path: Path) -> None:
    execute, other = tmp_path / "execute", tmp_path / "other"
    started = []
    for folder, title in ((execute, TITLE), (execute, "condor_starter"), (other, TITLE)):
        folder.mkdir(exist_ok=True)
        words = [title, "-c", "read -r _; :"]
        started.append(
            subprocess.Popen(words, executable="/bin/sh", cwd=folder, stdin=subprocess.PIPE)
        )
    try:
        assert find_earlier(str(execute), Privileges.find()) == [started[0].pid]
        assert find_earlier(str(tmp_path / "none"), Privileges.find()) == []
    finally:
        for child in started:
            child.communicate(b"")


@pytest.mark.parametrize("refused", [MountNamespace, PidNamespace])
def test_the_kernel_is_asked_for_the_very_namespaces_that_jobs_get(
    refused: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may grant views of files and refuse those of processes."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no")

    made = SimpleNamespace(close=list)
    for kind in (MountNamespace, PidNamespace):
        monkeypatch.setattr(kind, "make", lambda *_: made)
    privileges = Privileges.find()
    assert procd._may_have_pids(privileges)
    monkeypatch.setattr(refused, "make", refuse)
    assert not procd._may_have_pids(privileges)


def test_one_whose_startd_lives_has_nothing_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pipe may have been closed because its fork was answered by nobody."""
    orders = procd.Orders(
        str(tmp_path), "", "", own_pids=False, log="", log_limit=(0, 0), logs_kept=0,
        startd=os.getpid(), birth=birth_of(os.getpid()),
    )  # fmt: skip
    # Whom it would end is not even looked for.
    monkeypatch.setattr(procd, "Abandoned", None)
    assert run_virtually(procd._stay_behind(orders, Privileges.find())) == 0
