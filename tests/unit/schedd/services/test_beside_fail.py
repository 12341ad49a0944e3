"""A job beside the schedd that could not be started is held, and waits a while once released."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.attributes.codes import JobUniverse
from kettle.classad import ClassAd
from kettle.config import Config
from kettle.schedd.beside import NotStarted, Run
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.beside import BesideJobs
from kettle.testing.virtual_loop import run_virtually


class _Log:
    def __call__(self, text: str) -> None:
        self.problem(text)

    def problem(self, text: str) -> None:
        assert "1.0" in text


@pytest.mark.parametrize(("universe", "cools"), [(JobUniverse.SCHEDULER, True), (12, False)])
def test_a_job_that_could_not_be_started_is_held_and_cools_down_in_its_universe(
    monkeypatch: pytest.MonkeyPatch, universe: int, cools: bool
) -> None:
    reports: list[dict[str, str]] = []

    async def main() -> None:
        config = Config.from_text("SCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 20")
        runtime = SimpleNamespace(config=config, log=_Log())
        schedd: Any = SimpleNamespace(runtime=runtime, now=lambda: 1000)
        jobs = BesideJobs(schedd, cast(Any, None))
        ad = ClassAd({"JobUniverse": universe, "NumJobStarts": 1})
        run = Run(cast(Any, SimpleNamespace(id=JobId(1, 0), ad=ad, universe=universe)), 0)
        monkeypatch.setattr(jobs, "_address", lambda: "<192.0.2.1:9618>")
        monkeypatch.setattr(
            jobs, "_close", lambda _run, _code, report, _events: reports.append(report)
        )
        jobs._fail(run, NotStarted("no such program", 6, 2))

    run_virtually(main())
    (report,) = reports
    assert (report["HoldReasonCode"], report["NumJobStarts"]) == ("6", "0")
    found = (report.get("JobCoolDownExpiration"), report.get("NumJobCoolDowns"))
    assert found == (("1020", "1") if cools else (None, None))
