"""The files of jobs that are given away: nothing of anybody's is replaced or waited for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import StorageError
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.process.snapshot import InlineSnapshots
from kettle.runtime.storage.files import Files
from kettle.schedd.queue.exports import LOG_NAME
from kettle.schedd.services.exports import ExportCommands
from kettle.testing.virtual_loop import run_virtually
from kettle.wire.codec import Reader, Writer
from unit.schedd.queue_fixture import ALICE, SETTINGS, Schedd


class Aside(InlineSnapshots):
    """Does what is to be done aside at once, unless its folder hangs."""

    hangs = False

    async def run(self, make: Callable[[], Callable[[], None]], name: str) -> None:
        if self.hangs:
            await asyncio.sleep(3600)
        await super().run(make, name)


class Desk:
    """The commands over a real queue, where the daemon cannot switch."""

    def __init__(self) -> None:
        self.pure = Schedd()
        self.answer: ClassAd | None = None
        self.said: list[str] = []
        self.aside = Aside()
        schedd: Any = SimpleNamespace(
            queue=self.pure.queue,
            queue_settings=SETTINGS,
            actor=lambda stream: ALICE,
            runtime=SimpleNamespace(
                privileges=Privileges(account_of(os.getuid()), can_switch=False),
                files=Files(),
                snapshots=self.aside,
                log=SimpleNamespace(problem=self.said.append),
            ),
            journal=SimpleNamespace(flush=self._nothing),
            now=lambda: 1000,
        )
        self.commands = ExportCommands(schedd)

    async def _nothing(self) -> None:
        return

    def ask(self, handler: str, folder: Path, **more: object) -> ClassAd:
        """Return the answer to a request."""
        writer = Writer()
        writer.ad(ClassAd({"ExportDir": str(folder), **more}))

        async def receive() -> Any:
            return Reader(writer.getvalue())

        async def send(reply: Any) -> None:
            self.answer = reply.response

        stream = SimpleNamespace(receive=receive, send=send)
        run_virtually(getattr(self.commands, handler)(stream))
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
    desk.aside.hangs = True
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 0
    assert "Managed" not in job.ad
    assert desk.ask("on_import", tmp_path).integer("ActionResult") == 0
    desk.aside.hangs = False
    assert desk.ask("on_export", tmp_path, ActionIds=str(job.id)).integer("ActionResult") == 1
    assert job.ad.string("Managed") == "External"


@pytest.mark.timeout(20)
def test_no_file_of_a_daemon_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    path = str(tmp_path / "p")
    with pytest.raises(StorageError, match="no regular file"):
        Files().read(path)
    with pytest.raises(StorageError, match="no regular file"):
        list(Files().read_pieces(path))
