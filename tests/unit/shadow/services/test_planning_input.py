"""What a job is sent is found with other jobs' turns in between, and once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.shadow.services import transfers
from kettle.transfer.checkpoints import Entry, manifest_name, render_manifest
from kettle.transfer.items import Look

MANY = 3000


def run_of(folder: Path, **job: object) -> Any:
    """Job 1.0, whose files are in a folder, and those of its earlier runs in its spool."""
    privileges = Privileges(account_of(os.getuid()), can_switch=False)
    host = SimpleNamespace(
        mounts=SimpleNamespace(any_far=lambda: False),
        runtime=SimpleNamespace(privileges=privileges),
        spool=str(folder / "spool"),
    )
    ad = ClassAd({"Iwd": str(folder), "TransferExecutable": False, "GlobalJobId": "a#1.0#7", **job})
    return SimpleNamespace(host=host, job=ad, cluster=1, proc=0)


def turns_beside(do: Callable[[], Awaitable[object]]) -> tuple[object, int]:
    """Return what something came to, and how many turns others had meanwhile."""
    turns = 0

    async def both() -> object:
        nonlocal turns
        doing = asyncio.ensure_future(do())
        await asyncio.sleep(0)
        while not doing.done():
            turns += 1
            await asyncio.sleep(0)
        return await doing

    return asyncio.run(both()), turns


def many_files(folder: Path) -> dict[str, object]:
    (folder / "d").mkdir()
    for number in range(MANY):
        (folder / "d" / str(number)).touch()
    return {"TransferInput": "d/"}


def many_names(folder: Path) -> dict[str, object]:
    for number in range(MANY):
        (folder / str(number)).touch()
    return {"TransferInput": ", ".join(map(str, range(MANY)))}


def many_left(folder: Path) -> dict[str, object]:
    left = folder / "spool/1/0/cluster1.proc0.subproc0"
    left.mkdir(parents=True)
    for number in range(MANY):
        (left / str(number)).touch()
    return {}


def many_urls(folder: Path) -> dict[str, object]:
    left = folder / "spool/1/0/cluster1.proc0.subproc0"
    left.mkdir(parents=True)
    entries = [Entry("a" * 64, str(number)) for number in range(MANY - 1)]
    (left / manifest_name(0)).write_text(render_manifest(0, entries))
    return {"CheckpointDestination": "file:///ck"}


@pytest.mark.parametrize("make", [many_files, many_names, many_left, many_urls])
def test_very_many_files_to_send_are_in_no_other_job_s_way(
    tmp_path: Path, make: Callable[[Path], dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path, **make(tmp_path))
    plan, turns = turns_beside(lambda: transfers._plan_aside(run))
    assert len(getattr(plan, "items", ())) == MANY
    assert turns >= MANY // 250
    looks: list[str] = []
    look = LocalFiles.look

    def counted(files: LocalFiles, path: str) -> Look | None:
        looks.append(path)
        return look(files, path)

    monkeypatch.setattr(LocalFiles, "look", counted)
    assert turns_beside(lambda: transfers.has_input(run))[0] is True
    assert len(looks) < 10


def test_a_job_without_input_keeps_nobody_waiting_and_is_no_turn_later(tmp_path: Path) -> None:
    assert turns_beside(lambda: transfers.has_input(run_of(tmp_path))) == (False, 0)
    first = run_of(tmp_path, NumShadowStarts=1, TransferInput="missing")
    assert turns_beside(lambda: transfers.has_input(first)) == (True, 0)


def test_what_cannot_be_planned_is_input(tmp_path: Path) -> None:
    run = run_of(tmp_path, TransferInput="../x", PreserveRelativePaths=True)
    assert turns_beside(lambda: transfers.has_input(run))[0] is True


def test_pipes_alone_are_no_input_however_many(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for number in range(300):
        os.mkfifo(tmp_path / "d" / str(number))
    found, turns = turns_beside(lambda: transfers.has_input(run_of(tmp_path, TransferInput="d/")))
    assert found is False
    assert turns > 5
