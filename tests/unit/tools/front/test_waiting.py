"""What `kettle run` says of a batch that does not begin."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.tools.front import waiting, why
from kettle.tools.front.waiting import Waiting


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[ClassAd]:
    """The jobs of the schedd that is asked."""
    jobs: list[ClassAd] = []

    def query(
        _connector: object, _address: object, *, constraint: str, limit: int
    ) -> list[ClassAd]:
        asked = parse_expression(constraint)
        return [one for one in jobs if one.evaluate_expression(asked) is True][:limit]

    def judge(_reach: object, job: ClassAd) -> why.Judgement:
        verdict = why.describe_hold(job) if job.integer("JobStatus") == 5 else "It is idle."
        return why.Judgement(verdict, None, asks_slots=False)

    monkeypatch.setattr(waiting, "query_jobs", query)
    monkeypatch.setattr(why, "judge", judge)
    return jobs


def job(proc: int, status: int) -> ClassAd:
    return ClassAd(
        {"ClusterId": 7, "ProcId": proc, "JobStatus": status, "HoldReason": "its owner says so"}
    )


def tell(*, late: bool) -> str:
    reach = SimpleNamespace(connector=None, schedd=lambda: SimpleNamespace(address=None))
    return Waiting(lambda: cast(Any, reach), lambda: 7, "").tell(late=late)


def test_a_batch_whose_jobs_are_all_held_is_told_of_at_last(queue: list[ClassAd]) -> None:
    queue += [job(0, 5), job(1, 5)]
    assert tell(late=False) == ""
    said = tell(late=True)
    assert said.startswith("No job has begun yet. Job 7.0: It is held: its owner says so.")
    assert "condor_release 7.0" in said


def test_an_idle_job_goes_before_a_held_one(queue: list[ClassAd]) -> None:
    queue += [job(0, 5), job(1, 1)]
    assert "Job 7.1: It is idle." in tell(late=True)


def test_of_jobs_that_are_neither_nothing_is_said(queue: list[ClassAd]) -> None:
    queue += [job(0, 2), job(1, 4)]
    assert tell(late=True) == ""
