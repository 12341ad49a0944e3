"""How long jobs beside the schedd have when it stops, on virtual time and without processes."""

from __future__ import annotations

import asyncio
import signal
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.schedd.beside import Run
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services import beside
from kettle.schedd.services.beside import BesideJobs
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
