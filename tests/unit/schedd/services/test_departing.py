"""Finished jobs leave in batches, and not before their records are on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from kettle.errors import StorageError
from kettle.runtime import tasks
from kettle.schedd.departures import MOST_TOGETHER
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services import departing
from kettle.schedd.services.departing import GATHER_SECONDS, DepartingJobs
from kettle.testing.virtual_loop import run_virtually


class Schedd:
    """Everything around the departures; `story` is what happened, in order."""

    def __init__(self) -> None:
        self.story: list[str] = []
        self.waiting: list[Callable[[], None]] = []
        self.fails = False
        self.jobs: dict[int, Any] = {}
        self.runtime = SimpleNamespace(log=SimpleNamespace(problem=self.story.append))
        self.journal = self.history = self.on_disk = self
        self.scheduler = SimpleNamespace(departures=self)
        self.departures = DepartingJobs(self)  # type: ignore[arg-type]

    def then(self, action: Callable[[], None]) -> None:
        """Last statuses are on disk when the test says so."""
        self.waiting.append(action)

    def end(self, *numbers: int) -> None:
        """Have jobs end, whose last statuses come to the disk together."""
        for number in numbers:
            job: Any = self.jobs.setdefault(
                number, SimpleNamespace(id=JobId(1, number), recorded=False)
            )
            self.departures.begin(job)

    def statuses_are_on_disk(self) -> None:
        waiting, self.waiting = self.waiting, []
        for action in waiting:
            action()

    async def flush(self) -> None:
        await asyncio.sleep(0.01)

    async def sync(self) -> None:
        self.story.append("sync")
        await asyncio.sleep(0.01)
        if self.fails:
            raise StorageError("the disk is gone")
        self.story.append("synced")

    def record(self, jobs: Iterable[Any]) -> Sequence[Any]:
        found = [job for job in jobs if job.id.proc != 13]
        if found:
            self.story.append(f"record {len(found)}")
        for job in found:
            if job.id.proc == 666:
                raise ValueError("an odd job")
            job.recorded = True
        return found

    def take_out(self, jobs: Iterable[Any]) -> None:
        self.story.append(f"take out {len(list(jobs))}")


def test_a_job_leaves_when_its_record_is_on_disk() -> None:
    here = Schedd()

    async def main() -> None:
        here.end(1)
        await asyncio.sleep(1)
        assert here.story == []
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story == ["record 1", "sync", "synced", "take out 1"]
        assert not here.departures.leaving

    run_virtually(main())


def test_jobs_that_end_at_about_the_same_time_share_a_sync() -> None:
    here = Schedd()

    async def main() -> None:
        for number in range(10):
            here.end(number)
            here.statuses_are_on_disk()
            await asyncio.sleep(GATHER_SECONDS / 20)
        await asyncio.sleep(1)
        assert here.story == ["record 10", "sync", "synced", "take out 10"]

    run_virtually(main())


def test_many_jobs_are_seen_out_in_bounded_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(departing, "_SLICE", MOST_TOGETHER)
    here = Schedd()

    async def main() -> None:
        here.end(*range(100, 100 + MOST_TOGETHER + 7))
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        whole = [f"record {MOST_TOGETHER}", "sync", "synced", f"take out {MOST_TOGETHER}"]
        assert here.story == [*whole, "record 7", "sync", "synced", "take out 7"]

    run_virtually(main())


def test_a_job_leaves_once_however_often_it_is_let_go() -> None:
    here = Schedd()

    async def main() -> None:
        here.end(1, 1)
        here.statuses_are_on_disk()
        await asyncio.sleep(GATHER_SECONDS / 2)
        here.end(1)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story == ["record 1", "sync", "synced", "take out 1"]

    run_virtually(main())


def test_what_the_history_does_not_take_stays_and_may_try_again() -> None:
    here = Schedd()

    async def main() -> None:
        here.end(12, 13)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story == ["record 1", "sync", "synced", "take out 1"]
        here.fails = True
        here.end(13, 14)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story[4:] == [
            *("record 1", "sync", "1 finished jobs stay: the disk is gone"),
        ]
        assert not here.departures.leaving
        # What was written is not written twice.
        here.fails = False
        here.end(14, 15)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story[7:] == ["record 1", "sync", "synced", "take out 2"]

    run_virtually(main())


def test_who_settles_does_not_wait_for_others_to_gather() -> None:
    here = Schedd()

    async def main() -> None:
        here.end(1)
        here.statuses_are_on_disk()
        began = asyncio.get_running_loop().time()
        await here.departures.settle()
        assert here.story[-1] == "take out 1"
        assert asyncio.get_running_loop().time() - began < GATHER_SECONDS

    run_virtually(main())


def test_who_settles_does_not_wait_for_those_that_come_later() -> None:
    here = Schedd()

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def others() -> None:
            for number in range(100, 100_000):
                here.end(number)
                here.statuses_are_on_disk()
                await asyncio.sleep(0.005)

        busy = asyncio.ensure_future(others())
        await asyncio.sleep(1)
        here.end(1)
        here.statuses_are_on_disk()
        began = loop.time()
        async with asyncio.timeout(60):
            await asyncio.gather(here.departures.settle(), here.departures.settle())
        assert JobId(1, 1) not in here.departures.leaving
        assert loop.time() - began < 3 * GATHER_SECONDS
        busy.cancel()

    run_virtually(main())


def test_nobody_waits_for_departures_that_are_given_up() -> None:
    here = Schedd()

    async def main() -> None:
        here.end(1)
        here.statuses_are_on_disk()
        settling = asyncio.ensure_future(here.departures.settle())
        await asyncio.sleep(0)
        here.departures.forget()
        async with asyncio.timeout(1):
            await settling

    run_virtually(main())


def test_jobs_that_could_not_be_taken_out_are_not_recorded_again() -> None:
    here = Schedd()
    take_out = here.take_out
    said: list[str] = []

    def fail(jobs: Iterable[Any]) -> None:
        here.story.append("fail")
        raise ValueError("a fault of ours")

    async def main() -> None:
        tasks.set_reporter(said.append)
        here.take_out = fail  # type: ignore[method-assign]
        here.end(1, 2)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story == ["record 2", "sync", "synced", *["fail"] * 3]
        assert not here.departures.leaving
        here.take_out, here.story = take_out, []  # type: ignore[method-assign]
        here.end(1, 2)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story == ["sync", "synced", "take out 2"]
        assert "The departure of a finished job failed" in said[0]

    try:
        run_virtually(main())
    finally:
        tasks.set_reporter(None)


def test_one_job_whose_record_fails_keeps_no_other_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(departing, "_SLICE", 2)
    here = Schedd()
    said: list[str] = []

    async def main() -> None:
        tasks.set_reporter(said.append)
        here.end(1, 2, 3, 666, 4, 5)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        # Of the slice that failed only the odd one is tried again: the other was recorded.
        assert here.story == [
            *("record 2", "record 2", "record 1", "record 2", "sync", "synced"),
            *("take out 2", "take out 2", "take out 1"),
        ]
        assert not here.departures.leaving
        here.story = []
        here.end(666)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story == ["record 1", "record 1", "sync", "synced"]

    try:
        run_virtually(main())
    finally:
        tasks.set_reporter(None)
    assert "Recording a finished job failed" in said[0]


def test_a_slice_that_fails_at_the_end_is_not_recorded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was recorded before a failure is known even where all the rest is cut off."""
    monkeypatch.setattr(departing, "_SLICE", 2)
    here = Schedd()
    record = here.record

    async def main() -> None:
        def die(jobs: Iterable[Any]) -> Sequence[Any]:
            found = list(jobs)
            if any(job.id.proc == 3 for job in found):
                raise asyncio.CancelledError
            return record(found)

        here.record = die  # type: ignore[method-assign]
        here.end(1, 2, 3)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story == ["record 2"]
        here.record = record  # type: ignore[method-assign]
        here.end(1, 2, 3)
        here.statuses_are_on_disk()
        await asyncio.sleep(1)
        assert here.story == ["record 2", "record 1", "sync", "synced", "take out 2", "take out 1"]

    run_virtually(main())
