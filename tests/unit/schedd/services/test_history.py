"""Finished jobs come into the history, whatever is odd about some of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.config import Config
from kettle.errors import StorageError
from kettle.runtime.storage.files import Files
from kettle.schedd.services.history import HistoryFiles
from unit.schedd.queue_fixture import Schedd


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def make(tmp_path: Path, said: list[str]) -> Callable[[str], HistoryFiles]:
    def made(per_job: str) -> HistoryFiles:
        runtime: Any = SimpleNamespace(
            files=Files(),
            config=Config.from_text(""),
            log=SimpleNamespace(problem=said.append),
        )
        settings: Any = SimpleNamespace(
            history=str(tmp_path / "history"),
            epoch_history="",
            own_history="",
            history_has_environment=False,
            per_job_history=per_job,
        )
        return HistoryFiles(runtime, settings)

    return made


def test_a_job_whose_record_cannot_be_written_keeps_no_other_out(
    make: Callable[[str], HistoryFiles], tmp_path: Path, said: list[str]
) -> None:
    schedd = Schedd()
    jobs = schedd.submit(4)
    # Half of a character is in no file.
    jobs[1].ad["Odd"] = "\ud83d"
    assert make("").append(jobs, 1000) == [jobs[0], jobs[2], jobs[3]]
    assert "Job 1.1 stays" in said[0]
    assert (tmp_path / "history").read_text().count("*** Offset") == 3


def test_one_without_a_file_of_its_own_stays(
    make: Callable[[str], HistoryFiles], tmp_path: Path, said: list[str]
) -> None:
    schedd = Schedd()
    jobs = schedd.submit(3)
    jobs[0].ad["Odd"] = "\ud83d"
    jobs[1].ad["Bytes"] = "\udcff"
    assert make(str(tmp_path)).append(jobs, 1000) == jobs[1:]
    assert b'Bytes = "\xff"' in (tmp_path / "history.1.1").read_bytes()


def test_what_a_sync_under_way_could_not_do_is_done_after_a_reconfiguration(
    make: Callable[[str], HistoryFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of before gives its paths back when nobody looks at it any more."""
    history = make("")
    jobs = Schedd().submit(1)
    synced: list[str] = []
    full = [True]

    async def main() -> None:
        going_on = asyncio.Event()

        async def sync(_: Files, path: str) -> None:
            await going_on.wait()
            if full[0]:
                raise StorageError("the disk is full")
            synced.append(path)

        monkeypatch.setattr(Files, "sync", sync)
        history.append(jobs, 1000)
        under_way = asyncio.ensure_future(history.sync())
        await asyncio.sleep(0)
        history.reconfigure(history.settings)
        going_on.set()
        with pytest.raises(StorageError):
            await under_way
        full[0] = False
        await history.sync()

    asyncio.run(main())
    assert str(tmp_path / "history") in synced
