"""Orders about a job: to leave, however often; to stop and to go on, also before it begins."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import cast

from kettle.classad import ClassAd
from kettle.starter.outcome import Vacate
from kettle.starter.services.orders import JobOrders
from kettle.starter.services.parts import Starter
from kettle.testing.virtual_loop import run_virtually

FIRST, SECOND = Vacate("first", 1), Vacate("second", 2)


class Job:
    """A starter whose job does what it is told, and notes when."""

    def __init__(self, *, started: bool) -> None:
        self.activation = None
        self.deactivated = asyncio.Event()
        self.job_started = started
        self.vacate: Vacate | None = None
        self.launch_plan = SimpleNamespace(soft_kill_signal=15)
        self.pipeline = SimpleNamespace(has_done=lambda _: False)
        self.shadow = SimpleNamespace(hurry=lambda _: None)
        self.programs = SimpleNamespace(ended=asyncio.Event(), signal=self._note)
        self.transfer = SimpleNamespace(break_off=lambda _: None)
        self.reports = SimpleNamespace(state="Running", update=ClassAd)
        self.jobs = SimpleNamespace(
            kill_all=lambda: self._note("kill"),
            suspend=lambda: self._note("suspend"),
            resume=lambda: self._note("resume"),
        )
        self.noted: list[tuple[float, object]] = []
        self.began = asyncio.get_running_loop().time()

    def log(self, text: str) -> None:
        pass

    async def call(self, _: object) -> None:
        pass

    def _note(self, what: object) -> int:
        now = asyncio.get_running_loop().time() - self.began
        self.noted.append((round(now, 3), what))
        return 1


def orders_of(job: Job) -> JobOrders:
    return JobOrders(cast(Starter, job))


def left(*orders: tuple[float, float]) -> list[tuple[float, object]]:
    """Return what a running job sees that is ordered, at these times, to leave within seconds."""

    async def scenario() -> list[tuple[float, object]]:
        job = Job(started=True)
        given = orders_of(job)
        for number, (at, seconds) in enumerate(orders):
            await asyncio.sleep(at - (asyncio.get_running_loop().time() - job.began))
            given.leave(SECOND if number else FIRST, graceful=True, seconds=seconds)
        await asyncio.sleep(20)
        assert job.vacate is FIRST
        given.close()
        return job.noted

    return run_virtually(scenario())


def test_a_job_that_is_asked_to_leave_again_is_signalled_once_and_ends_at_the_earliest_end() -> (
    None
):
    assert left((0, 3)) == [(0, 15), (3, "kill")]
    assert left((0, 3), (1, 3)) == [(0, 15), (3, "kill")]
    assert left((0, 3), (1, 0.25)) == [(0, 15), (1.25, "kill")]


def test_a_job_that_is_stopped_before_it_begins_begins_stopped_unless_it_may_go_on() -> None:
    async def begin(*, goes_on: bool) -> list[object]:
        job = Job(started=False)
        given = orders_of(job)
        given.suspend()
        if goes_on:
            given.resume()
        assert job.noted == []
        job.job_started = True
        given.begin()
        await asyncio.sleep(0)
        return [what for _, what in job.noted]

    assert run_virtually(begin(goes_on=False)) == ["suspend"]
    assert run_virtually(begin(goes_on=True)) == []


def test_a_job_that_runs_stops_and_goes_on() -> None:
    async def scenario() -> list[object]:
        job = Job(started=True)
        given = orders_of(job)
        given.suspend()
        assert job.reports.state == "Suspended"
        given.resume()
        assert job.reports.state == "Running"
        await asyncio.sleep(0)
        return [what for _, what in job.noted]

    assert run_virtually(scenario()) == ["suspend", "resume"]
