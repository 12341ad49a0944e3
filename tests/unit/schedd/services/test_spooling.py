"""Files of spooled jobs as they arrive."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.config import Config
from kettle.errors import ConnectionLost, KettleError
from kettle.runtime import tasks
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.runtime.storage.files import Files
from kettle.runtime.storage.removal import remove_as_root
from kettle.runtime.storage.transfer_files import LocalFiles
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.owner_accounts import OwnerAccounts
from kettle.schedd.services.spool import SpoolFolder
from kettle.schedd.services.spooling import SpoolCommands
from kettle.testing.dialog_pairs import run_pair
from kettle.transfer.go_ahead import Terms
from kettle.transfer.outcome import Outcome
from kettle.transfer.receiving import download
from kettle.wire.dialog import Dialog

JOB = JobId(7, 0)


class Arrival:
    """A schedd with one job, and a client that sends it one file and then does as a test says."""

    def __init__(self, path: Path, sync: Callable[[], None] = lambda: None) -> None:
        files = Files(InlineSynchronizer())
        files.synchronizer.sync = self._sync  # type: ignore[method-assign]
        runtime: Any = SimpleNamespace(
            files=files,
            privileges=Privileges(account_of(os.getuid()), can_switch=False),
            config=Config.from_text("RESERVED_DISK = 0\n", subsystem="SCHEDD"),
        )
        self.job: Any = SimpleNamespace(id=JOB, user="alice@here", ad=ClassAd({"Owner": "alice"}))
        self.job.status = JobStatus.HELD
        self.runs = False
        self.queue: Any = SimpleNamespace(jobs={JOB: self.job}, update=self._update)
        self.spool = SpoolFolder(runtime, str(path))
        self.folder = Path(self.spool.job_folder(JOB))
        self.story: list[str] = []
        self._fail_sync = sync
        schedd: Any = SimpleNamespace(
            runtime=runtime,
            spool=self.spool,
            accounts=OwnerAccounts(runtime, str(path), "here"),
            queue=self.queue,
            scheduler=SimpleNamespace(orders=SimpleNamespace(has_run=lambda job: self.runs)),
            now=lambda: 1000,
        )
        departures: Any = SimpleNamespace(leaving=())
        self._commands = SpoolCommands(schedd, departures, lambda job: self.spool.take_left(job.id))

    async def _sync(self, fd: int) -> None:
        self._fail_sync()
        self.story.append(f"sync {os.path.basename(os.readlink(f'/proc/self/fd/{fd}'))}")

    def _update(self, job: JobId, changes: dict[str, str]) -> None:
        self.story.append(f"{job} has {', '.join(name for name in changes if 'Stage' in name)}")

    async def take(self, end: Callable[[], None] = lambda: None) -> None:
        """Receive the job's files."""

        async def run(dialog: object) -> Outcome:
            del dialog
            self.folder.with_name(f"{self.folder.name}.tmp").joinpath("input").write_text("x")
            end()
            return Outcome()

        stream: Any = SimpleNamespace(run=run, remote_name="here:1")
        await self._commands._take(stream, self.job)

    def left(self) -> list[str]:
        """Return what is in the spool."""
        return sorted(os.listdir(self.folder.parent)) if self.folder.parent.exists() else []


def test_files_are_on_disk_before_anybody_is_told_that_they_are_there(tmp_path: Path) -> None:
    arrival = Arrival(tmp_path)
    asyncio.run(arrival.take())
    name = arrival.folder.name
    above = ["sync 0", "sync 7", f"sync {tmp_path.name}"]
    told = "7.0 has StageInStart, StageInFinish"
    assert arrival.story == [f"sync {name}.tmp", "sync input", *above, told]
    assert arrival.left() == [name]


def test_a_disk_that_fails_is_no_arrival(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError(5, "Input/output error")

    arrival = Arrival(tmp_path, fail)
    with pytest.raises(KettleError, match="Input/output error"):
        asyncio.run(arrival.take())
    assert (arrival.story, arrival.left()) == ([], [])


def test_a_connection_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    def end() -> None:
        raise ConnectionLost("gone")

    arrival = Arrival(tmp_path)
    with pytest.raises(ConnectionLost):
        asyncio.run(arrival.take(end))
    assert (arrival.story, arrival.left()) == ([], [])
    asyncio.run(arrival.take())
    assert arrival.left() == [arrival.folder.name]


def test_a_job_that_left_meanwhile_leaves_nothing(tmp_path: Path) -> None:
    arrival = Arrival(tmp_path)
    with pytest.raises(KettleError, match=r"7\.0 left"):
        asyncio.run(arrival.take(lambda: arrival.queue.jobs.clear()))
    assert list(tmp_path.iterdir()) == []


def test_files_of_one_job_arrive_once_at_a_time(tmp_path: Path) -> None:
    arrival = Arrival(tmp_path)

    async def main() -> None:
        refused: list[KettleError] = []

        async def second() -> None:
            try:
                await arrival.take()
            except KettleError as error:
                refused.append(error)

        await asyncio.gather(arrival.take(), second())
        assert [str(error) for error in refused] == ["files of job 7.0 are just arriving"]

    asyncio.run(main())
    assert arrival.left() == [arrival.folder.name]


def test_files_that_come_once_more_leave_a_job_its_event_log(tmp_path: Path) -> None:
    arrival = Arrival(tmp_path)
    arrival.job.ad["UserLog"] = "log"
    arrival.job.ad["DAGManNodesLog"] = "nodes"
    asyncio.run(arrival.take())
    (arrival.folder / "log").write_text("000\n")
    (arrival.folder / "nodes").symlink_to("input")
    (arrival.folder / "input").write_text("changed")
    with (arrival.folder / "log").open("a") as log:

        def end() -> None:
            (arrival.folder.with_name(f"{arrival.folder.name}.tmp") / "log").write_text("sent")

        asyncio.run(arrival.take(end))
        log.write("001\n")
    assert (arrival.folder / "log").read_text() == "000\n001\n"
    assert sorted(os.listdir(arrival.folder)) == ["input", "log"]
    assert (arrival.folder / "input").read_text() == "x"


@pytest.mark.parametrize("what", ["status", "run"])
def test_files_do_not_change_under_a_job_that_has_begun_to_run_as_they_arrived(
    tmp_path: Path, what: str
) -> None:
    arrival = Arrival(tmp_path)
    asyncio.run(arrival.take())
    (arrival.folder / "input").write_text("of before")
    arrival.story.clear()

    def end() -> None:
        if what == "status":
            arrival.job.status = JobStatus.RUNNING
        else:
            arrival.runs = True

    with pytest.raises(KettleError, match=r"7\.0 .*its files stay as they are"):
        asyncio.run(arrival.take(end))
    assert (arrival.folder / "input").read_text() == "of before"
    assert arrival.left() == [arrival.folder.name]
    assert not any("Stage" in each for each in arrival.story)


def test_a_job_that_began_elsewhere_as_its_files_came_to_the_disk_stays_there(
    tmp_path: Path,
) -> None:
    """Its ad would tell of a folder that its run, begun with another, knows nothing of."""

    def begin() -> None:
        arrival.runs |= arrival.folder.exists()

    arrival = Arrival(tmp_path, begin)
    arrival.job.status = JobStatus.IDLE
    with pytest.raises(KettleError, match=r"7\.0 .*its files stay as they are"):
        asyncio.run(arrival.take())
    assert not any("Stage" in each for each in arrival.story)


class Fetching:
    """A client that fetches a job's output, as far as the schedd sends it."""

    def __init__(self, arrival: Arrival, box: Path) -> None:
        self._commands = arrival._commands
        self._job = arrival.job
        self._box = box
        self.sent: list[object] = []
        self._commands._schedd.runtime.log = lambda text: None
        arrival.job.owner = pwd.getpwuid(os.getuid()).pw_name
        arrival.job.ad["StageInStart"] = 1
        arrival.job.status = JobStatus.COMPLETED

    async def fetch(self) -> bool:
        """Let the schedd send it; tell whether all of it came."""

        async def run(dialog: Dialog[Outcome]) -> Outcome:
            terms = Terms("TOOL", peer="<1.2.3.4:5>", code=12)
            receiving = download(lambda name: str(self._box / name), LocalFiles(), terms)
            return run_pair(dialog, receiving)[0]

        async def send(message: object) -> None:
            self.sent.append(message)

        return await self._commands._give(
            cast("Any", SimpleNamespace(run=run, send=send, remote_name="here:1")), self._job
        )


def test_a_job_whose_output_cannot_be_sent_keeps_nobody_from_the_next_ones(tmp_path: Path) -> None:
    arrival = Arrival(tmp_path / "spool")
    deep = arrival.folder.joinpath(*["d"] * 105)
    deep.mkdir(parents=True)
    fetching = Fetching(arrival, tmp_path)
    assert asyncio.run(fetching.fetch()) is False
    assert len(fetching.sent) == 1
    shutil.rmtree(arrival.folder)
    arrival.folder.mkdir()
    (arrival.folder / "out").write_text("x")
    assert asyncio.run(fetching.fetch()) is True
    assert (tmp_path / "out").read_text() == "x"
    # No account, and none can be lent.
    arrival.job.user = ""
    arrival._commands._schedd.runtime.privileges = Privileges(
        account_of(os.getuid()), can_switch=True
    )
    assert asyncio.run(fetching.fetch()) is False


def test_others_have_their_turn_while_many_files_are_looked_at_or_removed(tmp_path: Path) -> None:
    arrival = Arrival(tmp_path / "spool")
    arrival.folder.mkdir(parents=True)
    for number in range(1000):
        (arrival.folder / str(number)).touch()
    turns: list[int] = []

    async def count() -> None:
        while True:
            turns.append(len(turns))
            await asyncio.sleep(0)

    async def during(work: Coroutine[Any, Any, Any]) -> int:
        turns.clear()
        counting = asyncio.ensure_future(count())
        await work
        counting.cancel()
        return len(turns)

    fetching = Fetching(arrival, tmp_path)
    assert asyncio.run(during(fetching.fetch())) > 9
    files = arrival._commands._schedd.accounts.files_of(arrival.job.user)
    assert asyncio.run(during(tasks.in_turns(files.date_back(str(arrival.folder), 100)))) > 9
    removal = remove_as_root(arrival.spool._runtime.privileges, str(arrival.folder))
    assert asyncio.run(during(tasks.in_turns(removal))) > 9
    assert not arrival.folder.exists()
