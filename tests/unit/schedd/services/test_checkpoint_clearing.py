"""How many processes delete the checkpoints of jobs that leave, and for whom."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.runtime import tasks
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage import checkpoint_cleanup
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.checkpoint_clearing import MOST_JOBS
from kettle.schedd.services.records import Records
from kettle.schedd.services.spool import SpoolFolder
from kettle.testing.virtual_loop import run_virtually
from kettle.transfer.checkpoints import manifest_name, number_of

MAIL: Any = SimpleNamespace(notify=lambda _job: None)


class Clearing:
    """A schedd whose processes take a second, and what they were started for."""

    def __init__(self, spool: Path, most: int = 100) -> None:
        self.spool = SpoolFolder(self, str(spool))  # type: ignore[arg-type]
        self.runtime = self
        self.privileges = Privileges(account_of(os.getuid()), can_switch=False)
        self.config = Config.from_text(f"MAX_CHECKPOINT_CLEANUP_PROCS = {most}\n")
        self.told: list[str] = []
        self.accounts = SimpleNamespace(of=lambda _: self.privileges.daemon)
        self.log = Log(self.told)
        self.batches: list[list[str]] = []
        self.running = self.most = 0
        self.hangs_at = ""
        self.records = Records(self, MAIL)  # type: ignore[arg-type]

    def leave(
        self,
        number: int,
        owner: str = "alice",
        manifests: Sequence[int] = (0,),
        left: Sequence[int] = (),
    ) -> None:
        """Have a job leave, in whose folder there are manifests.

        With some in what its runs `left` it is a spooled one.
        """
        job_id = JobId(1, number)
        folder = Path(self.spool.job_folder(job_id))
        folder.mkdir(parents=True)
        for each in manifests:
            (folder / manifest_name(each)).touch()
        ad = {"CheckpointDestination": "file:///ck", "GlobalJobId": f"ap#{job_id}", "Owner": owner}
        if left:
            ad["StageInStart"] = "1"
            beside = folder.with_name(f"{folder.name}.left")
            beside.mkdir()
            for each in left:
                (beside / manifest_name(each)).touch()
        job: Any = SimpleNamespace(id=job_id, user=owner, ad=ClassAd(ad))
        self.records.clean_up(job)

    def begin_anew(self, manifests: Sequence[int]) -> None:
        """Have a spooled job begin anew, whose runs left manifests."""
        job_id = JobId(1, 0)
        own = Path(self.spool.job_folder(job_id))
        left = own.with_name(f"{own.name}.left")
        for folder in (own, left, own.with_name(f"{own.name}.output")):
            folder.mkdir(parents=True)
        for each in manifests:
            (left / manifest_name(each)).touch()
        ad = {"CheckpointDestination": "file:///ck", "GlobalJobId": "ap#1.0", "Owner": "alice"}
        job: Any = SimpleNamespace(id=job_id, user="alice", ad=ClassAd(ad | {"StageInStart": "1"}))
        self.records.begin_anew(job)
        # Its next run finds nothing, however long that takes.
        assert not left.exists()

    def waiting(self, number: int, owner: str = "alice") -> list[str]:
        """Return the manifests that wait in the spool, of a job that left."""
        folder = Path(
            self.spool.path, "checkpoint-cleanup", owner, f"cluster1.proc{number}.subproc0"
        )
        return sorted(path.name for path in folder.iterdir() if number_of(path.name) is not None)

    async def delete(self, _runtime: object, _as: object, command: list[str], _limit: float) -> int:
        """Take the part of a process that deletes."""
        self.running += 1
        self.most = max(self.most, self.running)
        folders = command[command.index("deleteFilesListedIn") + 2 :: 2]
        self.batches.append([os.path.basename(folder) for folder in folders])
        await asyncio.sleep(1)
        self.running -= 1
        for folder in map(Path, folders):
            if folder.name == self.hangs_at:
                return 9
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
        return 0


class Log:
    """Keeps what is told."""

    def __init__(self, told: list[str]) -> None:
        self.problem = self._told = told.append

    def __call__(self, text: str) -> None:
        self._told(text)


Begin = Callable[..., Clearing]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    def make(most: int = 100) -> Clearing:
        clearing = Clearing(tmp_path, most)
        monkeypatch.setattr(checkpoint_cleanup, "delete", clearing.delete)
        return clearing

    return make


def run(main: Callable[[], None]) -> None:
    """Do something, and wait until what it began has ended."""

    async def all_of_it() -> None:
        main()
        while ours := tasks.running():
            await asyncio.wait(ours)

    work: Coroutine[Any, Any, None] = all_of_it()
    run_virtually(work)


def test_one_process_after_the_other_deletes_for_the_many_jobs_of_an_owner(
    begin: Begin, tmp_path: Path
) -> None:
    clearing = begin()
    run(
        lambda: (
            [clearing.leave(number, manifests=(0, 999_999_999)) for number in range(250)] and None
        )
    )
    assert clearing.most == 1
    assert len(clearing.batches) <= 2 + 250 // MOST_JOBS
    assert max(map(len, clearing.batches)) <= MOST_JOBS
    done = Counter(name for batch in clearing.batches for name in batch)
    assert done == {f"cluster1.proc{number}.subproc0": 1 for number in range(250)}
    # Nothing of the jobs is left, either.
    assert os.listdir(tmp_path) == ["checkpoint-cleanup"]
    assert os.listdir(tmp_path / "checkpoint-cleanup/alice") == []


def test_what_an_earlier_versions_runs_of_a_spooled_job_left_is_deleted_too(
    begin: Begin, tmp_path: Path
) -> None:
    clearing = begin()
    clearing.hangs_at = "cluster1.proc0.subproc0"
    run(lambda: clearing.leave(0, manifests=(0, 1), left=(2,)))
    assert clearing.waiting(0) == [manifest_name(each) for each in (0, 1, 2)]
    assert os.listdir(tmp_path) == ["checkpoint-cleanup"]


def test_the_checkpoints_of_a_job_that_begins_anew_are_deleted_and_it_stays(
    begin: Begin, tmp_path: Path
) -> None:
    clearing = begin()
    clearing.hangs_at = "cluster1.proc0.subproc0"
    run(lambda: clearing.begin_anew((0, 1)))
    assert clearing.waiting(0) == [manifest_name(each) for each in (0, 1)]
    assert os.listdir(tmp_path / "1/0") == ["cluster1.proc0.subproc0"]


def test_there_are_no_more_processes_at_once_than_the_knob_says_and_each_owner_has_a_turn(
    begin: Begin,
) -> None:
    clearing = begin(most=2)
    run(lambda: [clearing.leave(n, owner=f"owner{n % 5}") for n in range(20)] and None)
    assert clearing.most == 2
    assert sum(map(len, clearing.batches)) == 20
    assert {name for batch in clearing.batches[:5] for name in batch} >= {
        f"cluster1.proc{number}.subproc0" for number in range(5)
    }


def test_what_hangs_is_left_and_the_others_of_its_batch_come_again(begin: Begin) -> None:
    clearing = begin()
    clearing.hangs_at = "cluster1.proc2.subproc0"
    run(lambda: [clearing.leave(number) for number in range(5)] and None)
    assert clearing.batches[-1][0] == "cluster1.proc3.subproc0"
    (told,) = clearing.told
    assert "cluster1.proc2.subproc0" in told
    assert "condor_preen" in told


def test_manifests_that_cannot_be_moved_are_kept_and_told(begin: Begin, tmp_path: Path) -> None:
    """An owner can put things in the way in his own folder."""
    clearing = begin()
    (tmp_path / "checkpoint-cleanup/alice").mkdir(parents=True)
    (tmp_path / "checkpoint-cleanup/alice/cluster1.proc0.subproc0").touch()
    run(lambda: [clearing.leave(number) for number in range(2)] and None)
    assert clearing.batches == [["cluster1.proc1.subproc0"]]
    (kept,) = (tmp_path / "1/0").iterdir()
    assert os.listdir(kept) == [manifest_name(0)]
    (told,) = clearing.told
    assert told.startswith("Job 1.0 leaves checkpoints behind: ")
    assert told.endswith(f"kept in {kept}")
    # Nothing takes it for the folder of a job, of this one or of another with its number.
    assert run_virtually(clearing.spool.remove_orphans(lambda *_: False)) == []
    assert kept.exists()


def test_what_an_earlier_versions_runs_left_is_kept_too_where_it_cannot_be_moved(
    begin: Begin, tmp_path: Path
) -> None:
    clearing = begin()
    (tmp_path / "checkpoint-cleanup").write_text("no folder")
    run(lambda: clearing.leave(0, manifests=(0,), left=(1,)))
    found = {path.name for path in tmp_path.rglob("_condor_checkpoint_*")}
    assert found == {manifest_name(0), manifest_name(1)}
    assert " and " in clearing.told[0].partition("are kept in ")[2]


def test_very_many_manifests_are_moved_in_turns(begin: Begin) -> None:
    clearing = begin()
    turns = 0

    async def main() -> None:
        nonlocal turns
        clearing.leave(0, manifests=range(1000))
        settled = asyncio.ensure_future(clearing.records.settle())
        while not settled.done():
            turns += 1
            await asyncio.sleep(0)

    run_virtually(main())
    assert turns > 15
