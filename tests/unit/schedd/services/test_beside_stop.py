"""How long jobs beside the schedd have when it stops, on virtual time and without processes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.attributes.codes import JobUniverse
from kettle.classad import ClassAd
from kettle.config import Config
from kettle.runtime import tasks
from kettle.schedd.beside import NotStarted, Run
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services import beside
from kettle.schedd.services.beside import BesideJobs
from kettle.schedd.services.start_turns import StartTurn
from kettle.testing.virtual_loop import run_virtually


class Stubborn:
    """A process that ignores what it is asked."""

    pid = 7

    def __init__(self, ended: asyncio.Event) -> None:
        self.running = True
        self.signals: list[tuple[float, int]] = []
        self._ended = ended

    def signal(self, number: int) -> None:
        self.signals.append((asyncio.get_running_loop().time(), number))
        if number == signal.SIGKILL:
            self.running = False
            self._ended.set()


@pytest.mark.parametrize(
    ("job", "text", "seconds"),
    [
        ({}, "SHUTDOWN_GRACEFUL_TIMEOUT = 600", 600),
        ({}, "SCHEDD_SHUTDOWN_GRACEFUL_TIMEOUT = 700", 700),
        # The master hurries who is late; a schedd alone keeps to what such jobs always have.
        ({}, "SHUTDOWN_GRACEFUL_TIMEOUT = 5", 30),
        ({"JobMaxVacateTime": 6}, "SHUTDOWN_GRACEFUL_TIMEOUT = 600", 6),
    ],
)
def test_a_job_that_ignores_its_signal_has_the_time_of_the_stop_or_its_own(
    monkeypatch: pytest.MonkeyPatch, job: dict[str, object], text: str, seconds: float
) -> None:
    monkeypatch.setattr(beside, "kill_tree", lambda _pid: None)

    async def stop() -> list[tuple[float, int]]:
        runtime = SimpleNamespace(config=Config.from_text(text), log=SimpleNamespace(problem=print))
        jobs = BesideJobs(cast(Any, SimpleNamespace(runtime=runtime)), cast(Any, None))
        ended, id_ = asyncio.Event(), JobId(1, 0)
        child = Stubborn(ended)
        ad = ClassAd({"JobUniverse": 7, **job})
        jobs.runs[id_] = Run(cast(Any, SimpleNamespace(id=id_, ad=ad)), 0)
        jobs._children[id_] = cast(Any, child)
        stopping = asyncio.ensure_future(jobs.stop("graceful"))
        await ended.wait()
        stopping.cancel()
        return child.signals

    (asked, first), (killed, last) = run_virtually(stop())
    assert (first, last) == (signal.SIGTERM, signal.SIGKILL)
    assert killed - asked == pytest.approx(seconds)


class Idle:
    """Jobs beside a schedd whose queue log is on disk when the test says so, or never."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, universe: JobUniverse) -> None:
        self.on_disk = asyncio.Event()
        self.story: list[str] = []
        runtime = SimpleNamespace(config=Config.from_text(""), log=SimpleNamespace(problem=print))
        journal = SimpleNamespace(flush=self.on_disk.wait)
        schedd: Any = SimpleNamespace(runtime=runtime, journal=journal)
        self.jobs = BesideJobs(schedd, cast(Any, None))
        id_ = JobId(1, 0)
        ad = ClassAd({"JobUniverse": int(universe)})
        self.job: Any = SimpleNamespace(id=id_, ad=ad, universe=universe)
        run = self.jobs.runs[id_] = Run(self.job, 0)

        async def start(*_: object) -> int:
            self.story.append("started")
            return 0

        def end(run: Run, status: int) -> None:
            self.story.append(f"ended: {run.wish or 'by itself'}")

        monkeypatch.setattr(beside.LocalRun, "__init__", lambda *_: None)
        monkeypatch.setattr(beside.LocalRun, "serve", start)
        monkeypatch.setattr(self.jobs, "_run_program", start)

        def fail(run: Run, failure: NotStarted) -> None:
            self.story.append(f"failed: {failure}")

        monkeypatch.setattr(self.jobs, "_end", end)
        monkeypatch.setattr(self.jobs, "_fail", fail)
        told = asyncio.Event()
        told.set()
        self.living = asyncio.ensure_future(self.jobs._live(run, StartTurn(told)))


@pytest.mark.parametrize("universe", [JobUniverse.LOCAL, JobUniverse.SCHEDULER])
@pytest.mark.parametrize("word", ["Remove", "Hold", "Vacate", "VacateFast"])
def test_a_job_that_is_to_leave_before_its_start_is_on_disk_is_not_started(
    monkeypatch: pytest.MonkeyPatch, universe: JobUniverse, word: str
) -> None:
    async def main() -> list[str]:
        here = Idle(monkeypatch, universe)
        await asyncio.sleep(1)
        assert here.jobs.signal(here.job, word, "now", 1, 0)
        here.on_disk.set()
        await here.living
        assert not here.jobs.runs
        return here.story

    wish = "Vacate" if word == "VacateFast" else word
    assert run_virtually(main()) == [f"ended: {wish}"]


@pytest.mark.parametrize("universe", [JobUniverse.LOCAL, JobUniverse.SCHEDULER])
def test_a_stop_does_not_wait_for_room_for_what_has_not_been_started(
    monkeypatch: pytest.MonkeyPatch, universe: JobUniverse
) -> None:
    async def main() -> list[str]:
        here = Idle(monkeypatch, universe)
        await asyncio.sleep(1)
        async with asyncio.timeout(1):
            await here.jobs.stop("fast")
        return here.story

    assert run_virtually(main()) == ["ended: Vacate"]


@pytest.mark.parametrize("universe", [JobUniverse.LOCAL, JobUniverse.SCHEDULER])
def test_a_job_that_nobody_wants_to_leave_is_started_once_that_is_on_disk(
    monkeypatch: pytest.MonkeyPatch, universe: JobUniverse
) -> None:
    async def main() -> list[str]:
        here = Idle(monkeypatch, universe)
        await asyncio.sleep(1)
        assert here.story == []
        here.on_disk.set()
        await here.living
        return here.story

    assert run_virtually(main()) == ["started", "ended: by itself"]


@pytest.mark.parametrize("universe", [JobUniverse.LOCAL, JobUniverse.SCHEDULER])
@pytest.mark.parametrize("word", ["", "Remove"])
def test_a_fault_of_ours_leaves_no_job_running_for_ever(
    monkeypatch: pytest.MonkeyPatch, universe: JobUniverse, word: str
) -> None:
    said: list[str] = []

    async def main() -> list[str]:
        tasks.set_reporter(said.append)
        here = Idle(monkeypatch, universe)

        async def stumble(*_: object) -> int:
            if word:
                here.jobs.runs[here.job.id].wish = word
            here.jobs._children[here.job.id] = child
            raise TypeError("a bug")

        async def end(*_: object) -> None:
            here.story.append("processes ended")

        child: Any = SimpleNamespace(running=False, wait=end)
        monkeypatch.setattr(beside.LocalRun, "serve", stumble)
        monkeypatch.setattr(beside.LocalRun, "end_processes", end, raising=False)
        monkeypatch.setattr(here.jobs, "_run_program", stumble)
        here.on_disk.set()
        await here.living
        assert not here.jobs.runs
        assert not here.jobs._children
        return here.story

    try:
        story = run_virtually(main())
    finally:
        tasks.set_reporter(None)
    assert story == ["processes ended", "ended: Remove" if word else "failed: TypeError: a bug"]
    assert "a bug" in said[0]


def test_who_throws_its_mark_away_between_two_looks_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = 0

    def has_mark(_pid: int, *_marks: str) -> bool:
        nonlocal looks
        looks += 1
        return looks == 1

    monkeypatch.setattr(beside, "has_mark", has_mark)
    monkeypatch.setattr(beside, "marked", lambda *_: [77] if has_mark(77) else [])
    runtime = SimpleNamespace(
        config=Config.from_text(""),
        log=SimpleNamespace(problem=print),
        processes=SimpleNamespace(orphans=lambda: [77]),
        privileges=SimpleNamespace(as_root=contextlib.nullcontext),
    )
    jobs = BesideJobs(cast(Any, SimpleNamespace(runtime=runtime)), cast(Any, None))
    job = SimpleNamespace(id=JobId(1, 0), ad=ClassAd())
    assert 77 in (jobs._left_behind(cast(Any, job), 0) or ())
