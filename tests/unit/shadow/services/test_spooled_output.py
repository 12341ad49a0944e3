"""The final output of a spooled job: all of it is the job's, or nothing, whoever dies when."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.attributes.codes import ShadowExit
from kettle.classad import ClassAd
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.runtime.storage.durable import InlineSynchronizer
from kettle.runtime.storage.files import Files
from kettle.shadow.endings import Ending, ExitReport
from kettle.shadow.services.spooled_output import (
    OutputStore,
    begin_with_whole_output,
    bring_output_in,
)

SENT = {"state": "input", "log": "events"}
OUTPUT = {"state": "output", "more": "output", "log": "forged"}


class Killed(BaseException):
    """The process is gone."""


class Disk(InlineSynchronizer):
    """Kills the process as it is to sync once more than so many times."""

    def __init__(self, kills_at: int = -1) -> None:
        super().__init__(really=False)
        self.left = kills_at

    async def sync(self, fd: int) -> None:
        """Be killed, perhaps."""
        del fd
        if self.left == 0:
            raise Killed
        self.left -= 1


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A job's own folder in the spool, with what its user sent."""
    own = tmp_path / "1/0/cluster1.proc0.subproc0"
    own.mkdir(parents=True)
    for name, text in SENT.items():
        (own / name).write_text(text)
    return own


def run_of(own: Path, disk: Disk | None = None) -> Any:
    runtime = SimpleNamespace(
        privileges=Privileges(account_of(os.getuid()), can_switch=False),
        files=Files(disk or Disk()),
    )
    logged: list[str] = []
    return SimpleNamespace(
        host=SimpleNamespace(runtime=runtime, spool=str(own.parents[2])),
        job=ClassAd({"StageInStart": 5, "Iwd": str(own), "UserLog": "log"}),
        cluster=1, proc=0, report=None, told=None, request=None, logged=logged, log=logged.append,
    )  # fmt: skip


def receive(run: Any, own: Path, files: dict[str, str] | None = None) -> None:
    """Let a run send its final output."""

    async def take() -> None:
        store = OutputStore(run, str(own))
        arriving = Path(await store.begin())
        for name, text in (OUTPUT if files is None else files).items():
            (arriving / name).write_text(text)
        await store.keep()

    asyncio.run(take())


def contents(own: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in own.iterdir()}


def others(own: Path) -> list[str]:
    return sorted(path.name.removeprefix(own.name) for path in own.parent.iterdir())


WHOLE = {"state": "output", "more": "output", "log": "events"}
ENDED, HELD, AWAY = Ending(ShadowExit.EXITED), Ending(ShadowExit.SHOULD_HOLD), Ending(107)
REPORT = ExitReport(0, ShadowExit.EXITED, ClassAd())
OVER: Any = [({"report": REPORT}, ENDED), ({"told": AWAY}, AWAY), ({"request": None}, HELD)]


@pytest.mark.parametrize(("known", "ending"), OVER)
def test_output_is_the_job_s_when_its_run_is_over(
    own: Path, known: dict[str, object], ending: Ending
) -> None:
    run = run_of(own)
    receive(run, own)
    assert contents(own) == SENT
    for name, value in known.items():
        setattr(run, name, value)
    asyncio.run(bring_output_in(run, ending))
    assert (contents(own), others(own)) == (WHOLE, [""])


@pytest.mark.parametrize("report", [None, ExitReport(9, 107, ClassAd())])
def test_a_run_that_has_no_end_of_its_own_leaves_the_input_of_the_next(
    own: Path, report: ExitReport | None
) -> None:
    run = run_of(own)
    receive(run, own)
    run.report = report
    asyncio.run(bring_output_in(run, AWAY))
    asyncio.run(begin_with_whole_output(run_of(own)))
    assert (contents(own), others(own)) == (SENT, [""])


def test_output_that_is_sent_again_is_all_there_is(own: Path) -> None:
    run = run_of(own)
    receive(run, own)
    receive(run, own, {"only": "this"})
    run.report = REPORT
    asyncio.run(bring_output_in(run, ENDED))
    assert contents(own) == SENT | {"only": "this"}


@pytest.mark.parametrize("syncs", range(10))
def test_who_is_killed_at_any_time_leaves_all_of_it_or_nothing(own: Path, syncs: int) -> None:
    """What is gone on with is a new run, or the same one, as its log tells of its end."""
    run = run_of(own, Disk(syncs))
    run.report = REPORT
    try:
        receive(run, own)
        asyncio.run(bring_output_in(run, ENDED))
        killed = False
    except Killed:
        killed = True
    assert killed == (syncs < 9)
    asyncio.run(begin_with_whole_output(run_of(own)))
    assert contents(own) in (SENT, WHOLE)
    assert others(own) == [""]


def test_what_was_left_before_is_older_than_the_output(own: Path) -> None:
    left = own.with_name(f"{own.name}.left")
    left.mkdir()
    for name in ("state", "checkpoint"):
        (left / name).write_text("left")
    run = run_of(own)
    receive(run, own)
    run.report = REPORT
    asyncio.run(bring_output_in(run, ENDED))
    assert (contents(own), contents(left)) == (WHOLE, {"checkpoint": "left"})


def test_output_that_cannot_be_brought_in_is_told_of_and_kept(own: Path) -> None:
    run = run_of(own)
    receive(run, own)
    run.report = REPORT
    for name in own.iterdir():
        name.unlink()
    own.rmdir()
    own.write_text("no folder")
    asyncio.run(bring_output_in(run, ENDED))
    (line,) = run.logged
    assert line.startswith(f"ERROR: The job's output stays beside {own}: ")
    assert others(own) == ["", ".ended"]
    with pytest.raises(OSError, match="Not a directory"):
        asyncio.run(begin_with_whole_output(run_of(own)))


def test_a_job_that_is_not_in_the_spool_is_left_alone(own: Path) -> None:
    run = run_of(own)
    run.job["Iwd"] = "/elsewhere"
    receive(run, own)
    run.report = REPORT
    asyncio.run(bring_output_in(run, ENDED))
    asyncio.run(begin_with_whole_output(run))
    assert others(own) == ["", ".output"]
