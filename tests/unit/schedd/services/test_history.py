"""Finished jobs come into the history, whatever is odd about some of them."""

from __future__ import annotations

import asyncio
import errno
import os
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.config import Config
from kettle.errors import StorageError
from kettle.runtime.storage.files import Files
from kettle.schedd.services.history import HistoryFiles
from kettle.testing.simulation.disk import SimulatedDisk, SimulatedFiles
from kettle.testing.virtual_loop import run_virtually
from unit.schedd.queue_fixture import Schedd


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def make(tmp_path: Path, said: list[str]) -> Callable[..., HistoryFiles]:
    def made(per_job: str, files: Files | None = None, *, has_history: bool = True) -> HistoryFiles:
        runtime: Any = SimpleNamespace(
            files=files or Files(),
            config=Config.from_text(""),
            log=SimpleNamespace(problem=said.append),
        )
        settings: Any = SimpleNamespace(
            history=str(tmp_path / "history") if has_history else "",
            epoch_history="",
            own_history="",
            history_has_environment=False,
            per_job_history=per_job,
        )
        return HistoryFiles(runtime, settings)

    return made


def test_a_job_whose_record_cannot_be_written_keeps_no_other_out(
    make: Callable[..., HistoryFiles], tmp_path: Path, said: list[str]
) -> None:
    schedd = Schedd()
    jobs = schedd.submit(4)
    # Half of a character is in no file.
    jobs[1].ad["Odd"] = "\ud83d"
    assert make("").append(jobs, 1000) == [jobs[0], jobs[2], jobs[3]]
    assert "Job 1.1 stays" in said[0]
    assert (tmp_path / "history").read_text().count("*** Offset") == 3


def test_a_job_that_a_crash_left_is_known_by_more_than_its_number(
    make: Callable[..., HistoryFiles], tmp_path: Path
) -> None:
    """Numbers begin at 1 again when somebody moves a damaged queue away; the history stays."""
    (old,) = Schedd().submit(1)
    assert make("").append([old], 1000) == [old]
    (new,) = Schedd().submit(1)
    # As long as nothing else tells them apart it is the job that was recorded.
    assert make("").has(new)
    for name, text in (("GlobalJobId", '"vm#1.0#5000"'), ("QDate", "5000")):
        (new,) = Schedd().submit(1)
        new.ad.insert_text(name, text)
        assert new.id == old.id
        history = make("")
        assert not history.has(new)
        assert history.has(old)


def test_one_without_a_file_of_its_own_stays(
    make: Callable[..., HistoryFiles], tmp_path: Path, said: list[str]
) -> None:
    schedd = Schedd()
    jobs = schedd.submit(3)
    jobs[0].ad["Odd"] = "\ud83d"
    jobs[1].ad["Bytes"] = "\udcff"
    assert make(str(tmp_path)).append(jobs, 1000) == jobs[1:]
    assert b'Bytes = "\xff"' in (tmp_path / "history.1.1").read_bytes()


def test_each_job_has_a_file_of_its_own_also_where_no_history_is_kept(
    make: Callable[..., HistoryFiles], tmp_path: Path, said: list[str]
) -> None:
    jobs = Schedd().submit(3)
    jobs[1].ad["Odd"] = "\ud83d"
    history = make(str(tmp_path), has_history=False)
    assert history.append(jobs, 1000) == [jobs[0], jobs[2]]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["history.1.0", "history.1.2"]
    assert "Job 1.1 stays" in said[0]
    # Without either every job goes.
    assert make("", has_history=False).append(jobs, 1000) == jobs


def test_a_file_of_a_job_alone_that_did_not_reach_the_disk_is_written_anew_before_others(
    make: Callable[..., HistoryFiles], tmp_path: Path
) -> None:
    disk = SimulatedDisk(random.Random(1))
    history = make(str(tmp_path), SimulatedFiles(disk), has_history=False)
    jobs = Schedd().submit(2)

    async def main() -> None:
        assert history.append(jobs[:1], 1000) == jobs[:1]
        under_way = asyncio.ensure_future(history.sync())
        await asyncio.sleep(0)
        under_way.cancel()
        with pytest.raises(asyncio.CancelledError):
            await under_way
        assert history.append(jobs[1:], 1000) == []
        assert os.listdir(tmp_path) == ["history.1.0"]
        await history.sync()
        assert history.append(jobs[1:], 1000) == jobs[1:]

    run_virtually(main())


def test_what_a_sync_under_way_could_not_do_is_done_after_a_reconfiguration(
    make: Callable[..., HistoryFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_after_a_sync_that_failed_all_is_written_anew_before_one_is_believed(
    make: Callable[..., HistoryFiles], tmp_path: Path
) -> None:
    """The kernel tells once of what it lost: the next sync says nothing of it."""
    disk = SimulatedDisk(random.Random(1))
    own = tmp_path / "own"
    own.mkdir()
    history = make(str(own), SimulatedFiles(disk))
    jobs = Schedd().submit(3)

    async def main() -> None:
        assert history.append(jobs[:1], 1000) == jobs[:1]
        await history.sync()
        assert history.append(jobs[1:2], 1000) == jobs[1:2]
        disk.sync_error = errno.EIO
        for _ in range(2):
            with pytest.raises(StorageError, match="Input/output"):
                await history.sync()
            # Nothing is taken that would come behind what is not there.
            assert history.append(jobs[2:], 1000) == []
        disk.sync_error = 0
        await history.sync()
        before = (tmp_path / "history").read_bytes()
        disk.lose_power()
        assert (tmp_path / "history").read_bytes() == before
        assert before.count(b"*** Offset") == 2
        assert history.append(jobs[2:], 1000) == jobs[2:]
        await history.sync()

    run_virtually(main())
    assert sorted(os.listdir(tmp_path)) == ["history", "own"]
    assert sorted(os.listdir(own)) == [f"history.{job.id}" for job in jobs]


def test_a_sync_that_nobody_waited_for_is_not_believed_either(
    make: Callable[..., HistoryFiles], tmp_path: Path
) -> None:
    disk = SimulatedDisk(random.Random(1))
    history = make("", SimulatedFiles(disk))

    async def main() -> None:
        history.append(Schedd().submit(1), 1000)
        under_way = asyncio.ensure_future(history.sync())
        await asyncio.sleep(0)
        under_way.cancel()
        with pytest.raises(asyncio.CancelledError):
            await under_way
        # What the disk said to nobody.
        disk.lose(str(tmp_path / "history"))
        await history.sync()
        before = (tmp_path / "history").read_bytes()
        disk.lose_power()
        assert (tmp_path / "history").read_bytes() == before

    run_virtually(main())


def test_what_the_life_before_was_told_to_be_lost_is_written_anew_at_the_start(
    make: Callable[..., HistoryFiles], tmp_path: Path
) -> None:
    disk = SimulatedDisk(random.Random(1))
    first = make("", SimulatedFiles(disk))

    async def main() -> None:
        first.append(Schedd().submit(2), 1000)
        disk.sync_error = errno.EIO
        with pytest.raises(StorageError):
            await first.sync()
        disk.sync_error = 0
        # It was killed here; nobody tells the next one.
        await make("", SimulatedFiles(disk)).mend()
        before = (tmp_path / "history").read_bytes()
        disk.lose_power()
        assert (tmp_path / "history").read_bytes() == before
        assert before.count(b"*** Offset") == 2

    run_virtually(main())


def test_a_history_that_may_only_grow_is_taken_as_it_is(
    make: Callable[..., HistoryFiles], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SimulatedDisk(random.Random(1))
    first = make("", SimulatedFiles(disk))

    def refuse(path: str, offset: int, data: bytes) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted", path)

    async def main() -> None:
        first.append(Schedd().submit(1), 1000)
        await first.sync()
        monkeypatch.setattr(disk, "overwrite", refuse)
        second = make("", SimulatedFiles(disk))
        await second.mend()
        second.append(Schedd().submit(1), 1001)
        await second.sync()
        assert (tmp_path / "history").read_bytes().count(b"*** Offset") == 2

    run_virtually(main())


def test_a_full_history_that_was_lost_on_its_way_is_written_anew_under_its_new_name(
    make: Callable[..., HistoryFiles], tmp_path: Path
) -> None:
    disk = SimulatedDisk(random.Random(1))
    files = SimulatedFiles(disk)
    history = make("", files)
    jobs = Schedd().submit(2)
    history.append(jobs[:1], 1000)
    size = os.path.getsize(tmp_path / "history")

    async def main() -> None:
        history._runtime.config = Config.from_text(f"MAX_HISTORY_LOG = {size + 1}\n")
        history.reconfigure(history.settings)
        assert history.append(jobs[1:], 2000) == jobs[1:]
        disk.sync_error = errno.EIO
        with pytest.raises(StorageError):
            await history.sync()
        disk.sync_error = 0
        await history.sync()
        names = sorted(os.listdir(tmp_path))
        assert len(names) == 2
        before = [(tmp_path / name).read_bytes() for name in names]
        disk.lose_power()
        assert [(tmp_path / name).read_bytes() for name in names] == before

    run_virtually(main())
