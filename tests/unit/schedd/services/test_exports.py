"""The files of jobs that are given away: nothing of anybody's is replaced or waited for."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import KettleError, RefusedError, StorageError
from kettle.policy.attribute_protection import EXPORT_UNDER_WAY
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.process.snapshot import InlineSnapshots
from kettle.runtime.storage import files as files_module
from kettle.runtime.storage.files import Files
from kettle.runtime.storage.owned_files import OwnedFiles
from kettle.schedd.queue import exports
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.exports import LOG_NAME, NewLog
from kettle.schedd.queue.jobs import Job
from kettle.schedd.services import export_folders
from kettle.schedd.services.export_folders import ExportFolders
from kettle.schedd.services.exports import ExportCommands
from kettle.testing.virtual_loop import run_virtually
from kettle.wire.codec import Reader, Writer
from unit.schedd.queue_fixture import ALICE, SETTINGS, Schedd

# When the first export of a desk is born: it is later than the desk.
OURS = Privileges(account_of(os.getuid()), can_switch=False)
BORN = 1001
# Whose files they are does not matter here.
ACCOUNTS: Any = SimpleNamespace(files_of=lambda _: None)


class Aside(InlineSnapshots):
    """Does what is to be done aside at once, unless its folder hangs."""

    hangs = 0.0
    # Whether what hung has done nothing at its end.
    dies = True
    # What is done to the log of whom a signal ends before he could say that it is there.
    killed: Callable[[], object] | None = None
    # How many looks are ended by a signal.
    blind = 0

    async def run(
        self, make: Callable[[], Callable[[], None]], name: str, seconds: int = 600
    ) -> None:
        if self.hangs:
            await asyncio.sleep(self.hangs)
            if self.dies:
                raise KettleError(f"{name}: the child ended with status -14")
        if self.blind and "look" in name:
            self.blind -= 1
            raise KettleError(f"{name}: the child ended with status -14")
        await super().run(make, name)
        if self.killed is not None and "look" not in name:
            self.killed()
            self.killed = None
            raise KettleError(f"{name}: the child ended with status -9")


class Desk:
    """The commands over a real queue, where the daemon cannot switch."""

    def __init__(self) -> None:
        self.pure = Schedd()
        self.answer: ClassAd | None = None
        self.said: list[str] = []
        self.aside = Aside()
        schedd: Any = SimpleNamespace(
            queue=self.pure.queue,
            accounts=SimpleNamespace(files_of=lambda _: OwnedFiles(OURS, OURS.daemon)),
            queue_settings=SETTINGS,
            actor=lambda stream: ALICE,
            runtime=SimpleNamespace(
                privileges=OURS,
                files=Files(),
                snapshots=self.aside,
                log=SimpleNamespace(problem=self.said.append),
            ),
            journal=SimpleNamespace(flush=self._nothing),
            now=lambda: 1000,
            scheduler=SimpleNamespace(
                orders=SimpleNamespace(has_run=lambda job: False),
                policy=SimpleNamespace(see_out=lambda jobs: None),
            ),
        )
        self.commands = ExportCommands(schedd)
        # Whether a job was exported when the answer came.
        self.at_answer = False

    async def _nothing(self) -> None:
        return

    def ask(
        self,
        handler: str,
        folder: Path,
        *,
        wait: float = 0.0,
        meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None,
        **more: object,
    ) -> ClassAd:
        """Return the answer to a request, so many seconds later."""
        writer = Writer()
        writer.ad(ClassAd({"ExportDir": str(folder), **more}))

        async def receive() -> Any:
            return Reader(writer.getvalue())

        async def send(reply: Any) -> None:
            self.answer = reply.response

        async def whole() -> None:
            others = asyncio.ensure_future(meanwhile()) if meanwhile is not None else None
            await getattr(self.commands, handler)(SimpleNamespace(receive=receive, send=send))
            self.at_answer = any("Managed" in job.ad for job in self.pure.queue.jobs.values())
            if others is not None:
                others.cancel()
            await asyncio.sleep(wait)

        run_virtually(whole())
        assert self.answer is not None
        return self.answer


def test_an_export_replaces_nothing_and_follows_no_link(tmp_path: Path) -> None:
    spool, mine = tmp_path / "spool", tmp_path / "mine"
    spool.mkdir()
    mine.mkdir()
    queue = spool / LOG_NAME
    queue.write_text("the queue of everybody\n")
    desk = Desk()
    (job,) = desk.pure.submit()
    (mine / LOG_NAME).symlink_to(queue)
    (mine / f"{LOG_NAME}.{os.getpid()}.new").symlink_to(queue)
    for folder in (spool, mine):
        answer = desk.ask("on_export", folder, ActionIds=str(job.id))
        assert answer.integer("ActionResult") == 0
        assert "File exists" in desk.said[-1]
    assert queue.read_text() == "the queue of everybody\n"
    assert "Managed" not in job.ad
    (mine / LOG_NAME).unlink()
    assert desk.ask("on_export", mine, ActionIds=str(job.id)).integer("ActionResult") == 1
    with (mine / LOG_NAME).open("a") as log:
        log.write(f"103 {job.id} JobStatus 4\n")
    answer = desk.ask("on_import", mine)
    assert (answer.integer("ActionResult"), answer.integer("TotalJobAds")) == (1, 1)
    assert job.status == 4
    assert queue.read_text() == "the queue of everybody\n"


@pytest.mark.timeout(20)
def test_an_import_waits_for_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / LOG_NAME)
    desk = Desk()
    assert desk.ask("on_import", tmp_path).integer("ActionResult") == 0
    assert "no regular file" in desk.said[-1]


def test_a_folder_that_no_note_can_name_is_refused(tmp_path: Path) -> None:
    desk = Desk()
    (job,) = desk.pure.submit()
    folder = tmp_path / "two\nlines"
    folder.mkdir()
    answer = desk.ask("on_export", folder, ActionIds=str(job.id))
    assert (answer.string("ErrorString") or "").endswith("which holds a control character")
    assert not list(folder.iterdir())


def test_who_exports_twice_into_a_folder_is_told_that_the_log_is_there(tmp_path: Path) -> None:
    desk = Desk()
    (job,) = desk.pure.submit()
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1
    assert desk.ask("on_unexport", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1
    answer = desk.ask("on_export", tmp_path, ActionIds=str(job.id))
    said = "Failed to initialize export job log: job_queue.log exists already"
    assert answer.string("ErrorString") == said
    assert "Managed" not in job.ad
    (tmp_path / LOG_NAME).unlink()
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1


def test_an_import_is_committed_in_pieces(tmp_path: Path) -> None:
    desk = Desk()
    jobs = desk.pure.submit(4)
    assert desk.ask("on_export", tmp_path, ActionIds=str(jobs[0].id)).integer("ActionResult") == 1
    with (tmp_path / LOG_NAME).open("a") as log:
        for job in jobs:
            log.writelines(f"103 {job.id} Word{number} {'1' * 200}\n" for number in range(1000))
    seen: list[int] = []
    desk.pure.queue.observe(lambda changes: seen.append(1))
    answer = desk.ask("on_import", tmp_path)
    assert (answer.integer("ActionResult"), answer.integer("TotalJobAds")) == (1, 4)
    assert len(seen) == 4
    assert all(job.ad.text("Word999") == "1" * 200 for job in jobs)


def test_a_folder_that_hangs_is_given_up_and_its_jobs_are_nobody_else_s(tmp_path: Path) -> None:
    desk = Desk()
    (job,) = desk.pure.submit()
    desk.aside.hangs = 60.0
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 0
    assert not {"Managed", EXPORT_UNDER_WAY} & set(job.ad.own_names())
    assert desk.ask("on_import", tmp_path).integer("ActionResult") == 0
    desk.aside.hangs = 0.0
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1
    assert job.ad.string("Managed") == "External"
    assert EXPORT_UNDER_WAY not in job.ad


@pytest.mark.parametrize("dies", [True, False])
def test_jobs_are_exported_as_long_as_a_child_may_still_write_their_log(
    dies: bool, tmp_path: Path
) -> None:
    """One that hangs in the kernel outlives its time, and may write when its server is back."""
    desk = Desk()
    (job,) = desk.pure.submit()
    desk.aside.hangs, desk.aside.dies = 3600.0, dies
    answer = desk.ask("on_export", tmp_path, wait=3600.0, ActionIds=str(job.id))
    assert "hangs" in (answer.string("ErrorString") or "")
    assert desk.at_answer
    assert EXPORT_UNDER_WAY not in job.ad
    assert ("Managed" in job.ad) is (tmp_path / LOG_NAME).exists() is not dies


def test_an_export_is_not_taken_back_once_its_log_was_written(tmp_path: Path) -> None:
    """The disk of the queue is full in that moment, and the user takes the log elsewhere."""
    desk = Desk()
    (job,) = desk.pure.submit()
    commit, refused = desk.commands._commit_all, []

    async def full(transactions: Any) -> None:
        if len(refused) < 2 and (tmp_path / LOG_NAME).exists():
            refused.append(transactions)
            if len(refused) == 2:
                (tmp_path / LOG_NAME).unlink()
            raise StorageError("no room")
        await commit(transactions)

    desk.commands._commit_all = full  # type: ignore[method-assign]
    answer = desk.ask("on_export", tmp_path, wait=300.0, ActionIds=str(job.id))
    assert answer.integer("ActionResult") == 0
    assert len(refused) == 2
    assert not (tmp_path / LOG_NAME).exists()
    assert job.ad.string("Managed") == "External"
    assert EXPORT_UNDER_WAY not in job.ad


def test_a_log_whose_writer_was_killed_at_the_end_is_an_export(tmp_path: Path) -> None:
    desk = Desk()
    (job,) = desk.pure.submit()
    desk.aside.killed = lambda: None
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1
    assert job.ad.string("Managed") == "External"
    assert EXPORT_UNDER_WAY not in job.ad


@pytest.mark.parametrize("is_gone", [False, True])
def test_jobs_are_exported_until_it_is_known_what_a_killed_writer_left(
    is_gone: bool, tmp_path: Path
) -> None:
    desk = Desk()
    (job,) = desk.pure.submit()
    desk.aside.killed = (tmp_path / LOG_NAME).unlink if is_gone else lambda: None
    desk.aside.blind = 3
    answer = desk.ask("on_export", tmp_path, wait=300.0, ActionIds=str(job.id))
    assert "Nobody knows" in (answer.string("ErrorString") or "")
    assert desk.at_answer
    assert ("Managed" in job.ad) is not is_gone
    assert EXPORT_UNDER_WAY not in job.ad


@pytest.mark.parametrize("kept", [0, 5, 40])
def test_what_was_gathered_of_a_log_is_no_export_and_is_in_nobody_s_way(
    kept: int, tmp_path: Path
) -> None:
    desk, path = Desk(), tmp_path / LOG_NAME
    (job,) = desk.pure.submit()

    def leave_a_part() -> None:
        os.truncate(path, kept)
        path.rename(_log(desk, path).aside)

    desk.aside.killed = leave_a_part
    answer = desk.ask("on_export", tmp_path, ActionIds=str(job.id))
    assert answer.string("ErrorString") == "Failed to initialize export job log"
    assert not {"Managed", EXPORT_UNDER_WAY} & set(job.ad.own_names())
    assert not list(tmp_path.iterdir())
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1


def _log(desk: Desk, path: Path, born: int = BORN) -> NewLog:
    return NewLog(str(path), born, desk.commands._number)


@pytest.mark.parametrize("own", [b"", b"107 1 Crea", b"my own"])
def test_a_users_own_file_of_that_name_is_no_part_of_an_export(own: bytes, tmp_path: Path) -> None:
    desk, path = Desk(), tmp_path / LOG_NAME
    (job,) = desk.pure.submit()
    desk.aside.killed = lambda: path.write_bytes(own)
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 0
    assert not {"Managed", EXPORT_UNDER_WAY} & set(job.ad.own_names())
    assert path.read_bytes() == own


def test_of_two_exports_in_one_second_none_is_taken_for_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one's writer is killed before its log is there; the first one's log is."""
    desk = Desk()
    first, second = desk.pure.submit()[0], desk.pure.submit()[0]
    assert desk.ask("on_export", tmp_path, ActionIds=str(first.id)).integer("ActionResult") == 1

    def die(*_: object, **__: object) -> None:
        raise KettleError("the child ended with status -9")

    monkeypatch.setattr(Files, "create", die)
    assert desk.ask("on_export", tmp_path, ActionIds=str(second.id)).integer("ActionResult") == 0
    assert first.is_external
    assert not second.is_external


def test_jobs_of_a_folder_that_nobody_may_look_into_are_free_at_once(tmp_path: Path) -> None:
    """Nothing was begun there: that is known without a look, which would never be answered."""
    desk = Desk()
    (job,) = desk.pure.submit()
    desk.aside.blind = 1000
    answer = desk.ask("on_export", tmp_path / "none", ActionIds=str(job.id))
    assert answer.string("ErrorString") == "Failed to initialize export job log"
    assert not {"Managed", EXPORT_UNDER_WAY} & set(job.ad.own_names())
    assert desk.aside.blind == 1000


@pytest.mark.parametrize(
    ("found", "is_exported"),
    [
        # The other manager has written it anew, and there is less of it now.
        (b"107 2 CreationTimestamp 1001\n", True),
        (b"107 2 CreationTimestamp 1000\n", False),
        (b"107 1 CreationTimestamp 1000\n" + b"103 1.0 A 1\n" * 10_000, False),
        (b"my own", False),
    ],
)
def test_a_log_is_known_again_by_when_it_was_born(
    found: bytes, is_exported: bool, tmp_path: Path
) -> None:
    desk, path = Desk(), tmp_path / LOG_NAME
    desk.commands._number = 1_000_001
    (job,) = desk.pure.submit()
    first = desk.commands._number
    found = found.replace(b"107 ", b"107 %d" % (first // 10))
    desk.aside.killed = lambda: path.write_bytes(found)
    answer = desk.ask("on_export", tmp_path, ActionIds=str(job.id))
    assert (answer.integer("ActionResult") == 1) is is_exported is ("Managed" in job.ad)
    assert path.read_bytes() == found


def test_a_pipe_in_the_place_of_a_log_is_none(tmp_path: Path) -> None:
    desk, path = Desk(), tmp_path / LOG_NAME
    (job,) = desk.pure.submit()

    def replace_it() -> None:
        path.unlink()
        os.mkfifo(path)

    desk.aside.killed = replace_it
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 0
    assert not {"Managed", EXPORT_UNDER_WAY} & set(job.ad.own_names())


def test_of_two_schedds_exports_in_one_second_none_is_taken_for_the_other(tmp_path: Path) -> None:
    """The second one's writer is killed before it has looked whether there is a log."""
    first, second = Desk(), Desk()
    (ours,), (theirs,) = first.pure.submit(), second.pure.submit()
    assert first.ask("on_export", tmp_path, ActionIds=str(ours.id)).integer("ActionResult") == 1
    given = (tmp_path / LOG_NAME).read_bytes()

    async def begins(make: Callable[[], Callable[[], None]], name: str, seconds: int = 1) -> None:
        """Die when the log was begun and not looked for."""
        if "look" in name:
            await Aside.run(second.aside, make, name, seconds)
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Files, "create", _die_at_once)
            await Aside.run(second.aside, make, name, seconds)

    second.aside.run = begins  # type: ignore[method-assign]
    assert second.ask("on_export", tmp_path, ActionIds=str(theirs.id)).integer("ActionResult") == 0
    assert ours.is_external
    assert not theirs.is_external
    assert (tmp_path / LOG_NAME).read_bytes() == given


def _die_at_once(*_: object, **__: object) -> None:
    raise KettleError("the child ended with status -9")


@contextlib.contextmanager
def _no_links(renames: int | None) -> Iterator[None]:
    """Be on a file system without hard links; `renames` is what it says to a careful rename."""

    def refuse(number: int) -> Callable[..., None]:
        def refused(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        return refused

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kettle.runtime.storage.files.os.link", refuse(errno.EPERM))
        if renames is not None:
            patch.setattr("kettle.runtime.process.kernel.rename_new", refuse(renames))
        yield


@pytest.mark.parametrize("renames", [None, errno.EINVAL])
def test_a_folder_without_hard_links_takes_an_export_and_nothing_in_it_is_replaced(
    renames: int | None, tmp_path: Path
) -> None:
    desk, path = Desk(), tmp_path / LOG_NAME
    (job,) = desk.pure.submit()
    with _no_links(renames):
        assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1
        assert queue_log_jobs(path.read_bytes()) == {str(job.id)}
        assert os.listdir(tmp_path) == [LOG_NAME]
        (other,) = desk.pure.submit()
        path.write_bytes(b"my own")
        assert desk.ask("on_export", tmp_path, ActionIds=str(other.id)).integer("ActionResult") == 0
        with pytest.raises(FileExistsError):
            # Also where it came since somebody looked.
            files_module.give_name(str(tmp_path / LOG_NAME), str(path))
    assert path.read_bytes() == b"my own"


def test_what_held_the_name_of_a_log_goes_with_what_was_gathered_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, path = Desk(), tmp_path / LOG_NAME
    monkeypatch.setattr(export_folders, "_LIVE_SECONDS", 0)
    (job,) = desk.pure.submit()

    def between() -> None:
        path.rename(_log(desk, path).aside)
        path.touch(0)

    desk.aside.killed = between
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 0
    assert not os.listdir(tmp_path)
    assert not job.is_external


@pytest.mark.parametrize("left", [5, 7])
def test_what_holds_a_name_for_another_schedd_stays_while_that_may_live(
    left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its log would be lost below the next one's, and the jobs in it with it."""
    desk, path = Desk(), tmp_path / LOG_NAME
    (job,) = desk.pure.submit()
    with _no_links(errno.EINVAL):
        dead = NewLog(str(path), left)
        Path(dead.aside).write_text(f"{dead.head}\n")
        other = NewLog(str(path), 9, 77)
        Path(other.aside).write_text(f"{other.head}\n")
        with open(other.aside, "rb") as written:
            fcntl.flock(written, fcntl.LOCK_EX)
            # The other one is between its two last steps, and a third one comes.
            path.touch(0)
            answer = desk.ask("on_export", tmp_path, ActionIds=str(job.id))
            assert answer.integer("ActionResult") == 0
            assert not job.is_external
            os.rename(other.aside, path)
        assert path.read_text() == f"{other.head}\n"
        # When nobody can hold it any more it goes.
        path.unlink()
        path.touch(0)
        monkeypatch.setattr(export_folders, "_LIVE_SECONDS", 0)
        answer = desk.ask("on_export", tmp_path, ActionIds=str(job.id))
        assert answer.integer("ActionResult") == 1
    assert os.listdir(tmp_path) == [LOG_NAME]


def test_what_a_killed_schedd_gathered_goes_with_the_next_export_and_nothing_else_does(
    tmp_path: Path,
) -> None:
    """Also where nobody remembers it: its queue, or its jobs, are gone."""
    desk, path = Desk(), tmp_path / LOG_NAME
    (job,) = desk.pure.submit()
    left = [NewLog(str(path), 5), _log(desk, path, 7), NewLog(str(path), 9, 77)]
    for log, size in zip(left, (0, 10, 10_000), strict=True):
        whole = f"{log.head}\n".encode() + b"101 0.0 Job Machine\n" * 1000
        Path(log.aside).write_bytes(whole[:size])
    earlier = tmp_path / f"{LOG_NAME}.3.new"
    earlier.write_bytes(b"107 1 CreationTimestamp 3\n103 1.0 A 1\n")
    stays = {LOG_NAME, f"{LOG_NAME}.12.1.new", f"{LOG_NAME}.13.1.new", f"{LOG_NAME}.new"}
    Path(NewLog(str(path), 12).aside).write_bytes(b"my own")
    (tmp_path / f"{LOG_NAME}.new").touch()
    with open(NewLog(str(path), 13).aside, "wb") as written:
        fcntl.flock(written, fcntl.LOCK_EX)
        answer = desk.ask("on_export", tmp_path, ActionIds=str(job.id))
        assert answer.integer("ActionResult") == 1
        assert set(os.listdir(tmp_path)) == stays


class Killed(BaseException):
    """The schedd is not there any more."""


def killed_at(step: int, folder: Path) -> tuple[Schedd, list[Job], int, bool]:
    """Export jobs with a schedd that is killed at a step; return the next one's queue.

    With it its jobs, how many steps there were, and whether the first one had answered.
    """
    desk = Desk()
    jobs = desk.pure.submit(4)
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1
        if steps == step:
            raise Killed

    def counting(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **more: Any) -> Any:
            count()
            done = call(*given, **more)
            count()
            return done

        return counted

    real = {name: getattr(os, name) for name in ("open", "write", "fsync", "link", "unlink")}
    answered = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exports, "_JOBS_A_STEP", 1)
        patch.setattr(desk.pure.journal, "append", counting(desk.pure.journal.append))
        for name, call in real.items():
            patch.setattr(f"kettle.runtime.storage.files.os.{name}", counting(call))
        with contextlib.suppress(Killed):
            answer = desk.ask("on_export", folder, ActionIds=str(jobs[0].id))
            answered = answer.integer("ActionResult") == 1
    after = Desk()
    after.pure.queue = desk.pure.replayed()
    after.commands._schedd.queue = after.pure.queue  # type: ignore[misc]

    async def start() -> None:
        after.commands.start()
        await asyncio.sleep(1)

    run_virtually(start())
    return after.pure, list(after.pure.queue.jobs.values()), steps, answered


def test_wherever_a_schedd_is_killed_each_job_is_in_one_place(tmp_path: Path) -> None:
    seen: Counter[bool] = Counter()
    for step in count(1):
        folder = tmp_path / str(step)
        folder.mkdir()
        _, jobs, steps, answered = killed_at(step, folder)
        log = folder / LOG_NAME
        given = queue_log_jobs(log.read_bytes()) if log.exists() else set()
        for job in jobs:
            assert EXPORT_UNDER_WAY not in job.ad
            assert job.is_external == (str(job.id) in given), f"step {step}"
        assert len(given) in {0, len(jobs)}
        assert set(os.listdir(folder)) <= {LOG_NAME}
        seen[bool(given)] += 1
        if steps < step:
            assert answered
            break
    assert min(seen[True], seen[False]) > 4


def queue_log_jobs(data: bytes) -> set[str]:
    lines = (line.split() for line in data.decode().splitlines())
    keys = {words[1] for words in lines if words[0] == "101"}
    return {key for key in keys if not key.startswith("0")}


def test_others_have_their_turn_while_many_jobs_are_exported_and_taken_back(
    tmp_path: Path,
) -> None:
    desk = Desk()
    jobs = desk.pure.submit(1000)
    most = here = 0

    def note(changes: Changes) -> None:
        nonlocal most, here
        here += len(changes.changed)
        most = max(most, here)

    desk.pure.queue.observe(note)

    async def others() -> None:
        nonlocal here
        while True:
            here = 0
            await asyncio.sleep(0)

    for handler in ("on_export", "on_unexport"):
        answer = desk.ask(handler, tmp_path, meanwhile=others, ActionIds=str(jobs[0].id))
        assert answer.integer("TotalJobAds") == 1000
        assert all(job.is_external for job in jobs) is (handler == "on_export")
    assert 0 < most <= 200


def test_a_job_that_cannot_be_given_away_any_more_leaves_the_others_free(tmp_path: Path) -> None:
    """It begins while those before it are marked."""
    desk = Desk()
    jobs = desk.pure.submit(300)

    def begin(changes: Changes) -> None:
        if jobs[0].id in changes.changed and jobs[-1].status == 1 and jobs[0].is_external:
            desk.pure.queue.update(jobs[-1].id, {"JobStatus": "2"})

    desk.pure.queue.observe(begin)
    answer = desk.ask("on_export", tmp_path, ActionIds=str(jobs[0].id))
    assert "neither idle nor held" in (answer.string("ErrorString") or "")
    assert not any({"Managed", EXPORT_UNDER_WAY} & set(job.ad.own_names()) for job in jobs)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_hangs_keeps_nobody_else_from_importing(tmp_path: Path) -> None:
    desk = Desk()
    (job,) = desk.pure.submit()
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1
    answers: list[float] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()

        async def ask() -> None:
            writer = Writer()
            writer.ad(ClassAd({"ExportDir": str(tmp_path)}))

            async def receive() -> Any:
                return Reader(writer.getvalue())

            async def send(_: Any) -> None:
                answers.append(loop.time() - began)

            stream: Any = SimpleNamespace(receive=receive, send=send)
            await desk.commands.on_import(stream)

        began = loop.time()
        desk.aside.hangs = 3600.0
        hanging = asyncio.ensure_future(ask())
        await asyncio.sleep(1)
        desk.aside.hangs = 0.0
        desk.commands._schedd.actor = lambda _: replace(ALICE, user="bob@vm")  # type: ignore[method-assign]
        await ask()
        hanging.cancel()

    run_virtually(scenario())
    assert [round(seconds) for seconds in answers] == [1]


def test_whose_folders_hang_keep_nobody_else_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_folders, "_MOST_HANGING", 12)

    class Some(Aside):
        async def run(
            self, make: Callable[[], Callable[[], None]], name: str, seconds: int = 600
        ) -> None:
            hangs, self.hangs = self.hangs, 0.0
            await asyncio.sleep(hangs)

    async def scenario() -> None:
        loop, aside = asyncio.get_running_loop(), Some()
        runtime: Any = SimpleNamespace(snapshots=aside)
        folders = ExportFolders(runtime, ACCOUNTS)
        log = NewLog(str(tmp_path / LOG_NAME), 1)
        hanging = []
        for number in range(12):
            aside.hangs = 3600.0
            call = folders.create(f"user{number}", log, [])
            hanging.append(asyncio.ensure_future(call))
            await asyncio.sleep(0)
            if number == 7:
                began = loop.time()
                await folders.create("ann", log, [])
                assert loop.time() - began <= 5.0
        await asyncio.sleep(10)
        with pytest.raises(RefusedError, match="too many folders"):
            await folders.create("ann", log, [])
        await asyncio.gather(*hanging)
        # Nothing is left of those who are done.
        await asyncio.gather(*(folders.create(f"u{n}", log, []) for n in range(20)))
        assert (folders._hanging, folders._turns, folders._asked) == (0, {}, {})
        assert folders._all._value == 8

    run_virtually(scenario())


def test_who_has_too_many_folders_hang_is_refused(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        hanging = Aside()
        hanging.hangs = 60.0
        runtime: Any = SimpleNamespace(snapshots=hanging)
        folders = ExportFolders(runtime, ACCOUNTS)
        log = NewLog(str(tmp_path / LOG_NAME), 1)
        calls = [folders.create("ann", log, []) for _ in range(6)]
        calls.append(folders.create("bob", log, []))
        loop = asyncio.get_running_loop()
        began = loop.time()

        async def end(call: Coroutine[Any, Any, None]) -> str:
            try:
                await call
            except KettleError as error:
                return f"{loop.time() - began:.0f} {type(error).__name__}"
            return "done"

        return await asyncio.gather(*map(end, calls))

    said = run_virtually(scenario())
    assert said[4:6] == ["0 NotBegun"] * 2
    # Somebody else waits for his own folder only.
    assert said[6] == "60 NotBegun"


@pytest.mark.timeout(20)
def test_no_file_of_a_daemon_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    path = str(tmp_path / "p")
    with pytest.raises(StorageError, match="no regular file"):
        Files().read(path)
    with pytest.raises(StorageError, match="no regular file"):
        list(Files().read_pieces(path))
