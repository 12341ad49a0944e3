"""What is left in the spool of jobs that are gone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.runtime import tasks
from kettle.runtime.context import Runtime
from kettle.runtime.storage.files import Files
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.spool import SpoolFolder


def make_spool(path: Path) -> SpoolFolder:
    privileges = SimpleNamespace(as_root=contextlib.nullcontext)
    runtime = cast(Runtime, SimpleNamespace(files=Files(), privileges=privileges))
    return SpoolFolder(runtime, str(path))


def test_what_makes_a_cluster_s_jobs_is_read_by_nobody_else(tmp_path: Path) -> None:
    spool = make_spool(tmp_path)
    items = spool.begin_items(7)
    items.write(b"a secret\n")
    for path in (items.finish(), spool.write_digest(7, "x = a secret\n")):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_items_that_a_crash_cut_off_are_nobodys(tmp_path: Path) -> None:
    spool = make_spool(tmp_path)
    # Half of them had come when the schedd died.
    spool.begin_items(7).write(b"first row\nhalf")
    assert [path.name for path in tmp_path.rglob("*.items")] == ["condor_submit.7.items"]
    removed = asyncio.run(spool.remove_orphans(lambda _cluster, _proc: False))
    assert (removed, list(tmp_path.iterdir())) == (["7/condor_submit.7.items"], [])


def test_what_belongs_to_jobs_that_are_gone_is_removed_and_nothing_else(tmp_path: Path) -> None:
    spool = make_spool(tmp_path)
    for cluster in (7, 8, 10_007):
        folder = Path(spool.job_folder(JobId(cluster, 0)))
        for one in (folder, folder.with_name(f"{folder.name}.left")):
            one.mkdir(parents=True)
            (one / "input").write_text("x")
        Path(spool.cluster_file(cluster, "items")).write_text("x")
    (tmp_path / "history").write_text("x")
    (tmp_path / "7" / "somebody else's").write_text("x")
    known = {(7, None), (7, 0)}

    async def remove() -> list[str]:
        removed = await spool.remove_orphans(lambda cluster, proc: (cluster, proc) in known)
        await spool.settle()
        return removed

    removed = asyncio.run(remove())
    assert removed == [
        "7/condor_submit.10007.items",
        "7/0/cluster10007.proc0.subproc0",
        "7/0/cluster10007.proc0.subproc0.left",
        "8/condor_submit.8.items",
        "8/0/cluster8.proc0.subproc0",
        "8/0/cluster8.proc0.subproc0.left",
    ]
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == [
        "7/0/cluster7.proc0.subproc0.left/input",
        "7/0/cluster7.proc0.subproc0/input",
        "7/condor_submit.7.items",
        "7/somebody else's",
        "history",
    ]
    assert not (tmp_path / "8").exists()


def test_a_job_s_folder_that_a_crash_left_between_two_names_is_given_its_own_back(
    tmp_path: Path,
) -> None:
    spool = make_spool(tmp_path)
    folder = Path(spool.job_folder(JobId(7, 0)))
    older = folder.with_name(f"{folder.name}.swap")
    older.mkdir(parents=True)
    (older / "input").write_text("x")
    assert asyncio.run(spool.remove_orphans(lambda *_: True)) == []
    assert (folder / "input").read_text() == "x"
    assert not older.exists()


def job_7(**ad: object) -> Any:
    return SimpleNamespace(id=JobId(7, 0), ad=ClassAd({"StageInStart": 1, **ad}), status=1)


async def look(spool: SpoolFolder, job: Any, *, runs: bool) -> list[str]:
    """Return what each folder with a job's output has in it, as long as it is looked at."""
    files: Any = SimpleNamespace(as_owner=contextlib.nullcontext, give=lambda _path: None)
    async with spool.output_folders(job, files, runs=runs) as folders:
        if runs:
            checkpoint_again(Path(spool.left_folder(job)))
        return read_names(folders)


def checkpoint_again(left: Path) -> None:
    """Do what a shadow does, if there is a checkpoint."""
    if left.is_dir():
        left.rename(f"{left}.swap")
        make_files(left, dict.fromkeys(NAMES, "2"))


def read_names(folders: list[str]) -> list[str]:
    return [" ".join(Path(each, name).read_text() for name in NAMES) for each in folders]


NAMES = ("one", "two")


def make_files(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize("runs", [False, True])
def test_a_name_is_not_given_back_under_the_hands_of_a_shadow_that_changes_it(
    tmp_path: Path, runs: bool
) -> None:
    spool, job = make_spool(tmp_path), job_7()
    own, left = spool.job_folder(job.id), spool.left_folder(job)
    make_files(Path(own), dict.fromkeys(NAMES, "0"))
    make_files(Path(f"{left}.swap"), dict.fromkeys(NAMES, "1"))
    assert asyncio.run(look(spool, job, runs=runs)) == (["0 0"] if runs else ["0 0", "1 1"])
    assert os.path.exists(left) == (not runs)


def test_who_looks_at_a_job_that_runs_sees_one_whole_checkpoint(tmp_path: Path) -> None:
    spool, job = make_spool(tmp_path), job_7()
    make_files(Path(spool.job_folder(job.id)), dict.fromkeys(NAMES, "0"))
    make_files(Path(spool.left_folder(job)), dict.fromkeys(NAMES, "1"))

    async def look_and_settle() -> list[str]:
        seen = await look(spool, job, runs=True)
        await spool.settle()
        return seen

    assert asyncio.run(look_and_settle()) == ["0 0", "1 1"]
    # Of what was there to look at nothing is left.
    assert len(list((tmp_path / "7/0").iterdir())) == 3


def test_a_checkpoint_that_another_follows_while_one_begins_to_look_is_not_mixed_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool, job = make_spool(tmp_path), job_7()
    make_files(Path(spool.job_folder(job.id)), dict.fromkeys(NAMES, "0"))
    left = Path(spool.left_folder(job))
    make_files(left, dict.fromkeys(NAMES, "1"))
    link, swaps = os.link, 0

    def swap_and_link(path: str, new: str, **more: Any) -> None:
        nonlocal swaps
        link(path, new, **more)
        if swaps < most:
            swaps += 1
            left.rename(left.with_name(f"gone{swaps}"))
            make_files(left, dict.fromkeys(NAMES, "5"))

    monkeypatch.setattr(os, "link", swap_and_link)
    most = 1
    assert asyncio.run(look(spool, job, runs=True)) == ["0 0", "5 5"]
    most = 1000
    with pytest.raises(OSError, match="one checkpoint follows the other"):
        asyncio.run(look(spool, job, runs=True))


@pytest.mark.parametrize("status", [JobStatus.COMPLETED, JobStatus.HELD])
def test_output_that_a_shadow_could_not_bring_in_is_fetched_from_where_it_is(
    tmp_path: Path, status: JobStatus
) -> None:
    spool, job = make_spool(tmp_path), job_7()
    job.status = status
    own = Path(spool.job_folder(job.id))
    for number, folder in enumerate((str(own), f"{own}.left", f"{own}.ended")):
        make_files(Path(folder), dict.fromkeys(NAMES, str(number)))
    left = [] if status == JobStatus.COMPLETED else ["1 1"]
    assert asyncio.run(look(spool, job, runs=False)) == ["0 0", *left, "2 2"]


def test_with_a_job_goes_what_was_just_arriving_for_it(tmp_path: Path) -> None:
    spool = make_spool(tmp_path)
    folder = Path(spool.job_folder(JobId(7, 0)))
    for suffix in ("", ".tmp", ".swap", ".left", ".output", ".output.tmp", ".ended"):
        folder.with_name(folder.name + suffix).mkdir(parents=True)

    async def remove() -> None:
        spool.remove_job(JobId(7, 0))
        await spool.settle()

    asyncio.run(remove())
    assert list(tmp_path.iterdir()) == []


# Files of a job that nobody has to wait for; so many at most go before others have their turn.
MANY, AT_ONCE = 20_000, 200


def make_tree(folder: Path, files: int) -> None:
    for number in range(files // 200):
        inner = folder / f"d{number}"
        inner.mkdir(parents=True)
        for name in range(200):
            os.close(os.open(inner / f"f{name}", os.O_CREAT | os.O_WRONLY))


class Unlinking:
    """Counts what is removed between two turns of somebody else."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.most = self.all = 0
        real = os.unlink

        def unlink(*args: Any, **keywords: Any) -> None:
            self.now += 1
            self.all += 1
            self.most = max(self.most, self.now)
            real(*args, **keywords)

        monkeypatch.setattr(os, "unlink", unlink)

    async def watch(self) -> None:
        while True:
            self.now = 0
            await asyncio.sleep(0)


async def remove_watched(unlinking: Unlinking, spool: SpoolFolder, job: JobId) -> None:
    watching = asyncio.ensure_future(unlinking.watch())
    spool.remove_job(job)
    await spool.settle()
    watching.cancel()


def test_a_big_folder_of_a_job_goes_in_turns_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = make_spool(tmp_path)
    make_tree(Path(spool.job_folder(JobId(7, 0))), MANY)
    unlinking = Unlinking(monkeypatch)
    asyncio.run(remove_watched(unlinking, spool, JobId(7, 0)))
    # What is no file is tried as one.
    assert unlinking.all >= MANY
    assert unlinking.most <= AT_ONCE
    assert list(tmp_path.iterdir()) == []


def test_the_next_start_removes_what_was_left_of_a_removal(tmp_path: Path) -> None:
    job = JobId(7, 0)
    spool = make_spool(tmp_path)
    make_tree(Path(spool.job_folder(job)), 400)

    async def begin() -> None:
        spool.remove_job(job)
        await asyncio.sleep(0)
        await tasks.cancel_all()

    asyncio.run(begin())
    assert not Path(spool.job_folder(job)).exists()
    assert list(tmp_path.iterdir()) != []

    async def start() -> list[str]:
        again = make_spool(tmp_path)
        # The job may have come back: its folder has no other name than its own.
        removed = await again.remove_orphans(lambda *_: True)
        await again.settle()
        return removed

    assert asyncio.run(start()) == []
    assert list(tmp_path.iterdir()) == []


def test_the_next_start_removes_what_nobody_sends_or_looks_at_any_more(tmp_path: Path) -> None:
    """What a shadow that lives gathers stays."""
    folder = Path(make_spool(tmp_path).job_folder(JobId(7, 0)))
    stays = ["", ".left", ".left.tmp", ".output.tmp", ".ended"]
    for suffix in (*stays, ".tmp", ".seen3", ".left.gone6"):
        make_files(folder.with_name(folder.name + suffix), {"one": "1"})

    async def start() -> list[str]:
        spool = make_spool(tmp_path)
        removed = await spool.remove_orphans(lambda *_: True)
        await spool.settle()
        return removed

    assert asyncio.run(start()) == []
    there = sorted(path.name.removeprefix(folder.name) for path in folder.parent.iterdir())
    assert there == sorted(stays)


def test_orphans_go_in_turns_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = make_spool(tmp_path)
    make_tree(Path(spool.job_folder(JobId(7, 0))), 2_000)
    unlinking = Unlinking(monkeypatch)

    async def remove() -> None:
        watching = asyncio.ensure_future(unlinking.watch())
        await spool.remove_orphans(lambda *_: False)
        await spool.settle()
        watching.cancel()

    asyncio.run(remove())
    assert unlinking.most <= AT_ONCE
    assert list(tmp_path.iterdir()) == []


def test_an_orphan_with_manifests_of_checkpoints_at_a_url_is_kept_and_told(tmp_path: Path) -> None:
    """Nothing else says what lies at the URL."""
    told: list[str] = []
    spool = make_spool(tmp_path)
    spool._runtime.log = SimpleNamespace(problem=told.append)  # type: ignore[assignment]
    folder = Path(spool.job_folder(JobId(7, 0)))
    folder.mkdir(parents=True)
    (folder / "_condor_checkpoint_FAILURE.0000").touch()
    assert asyncio.run(spool.remove_orphans(lambda *_: False)) == []
    (kept,) = folder.parent.iterdir()
    assert os.listdir(kept) == ["_condor_checkpoint_FAILURE.0000"]
    (line,) = told
    assert line.endswith(f"kept as {kept}")
    assert kept != folder
    assert asyncio.run(make_spool(tmp_path).remove_orphans(lambda *_: False)) == []
    assert kept.exists()
