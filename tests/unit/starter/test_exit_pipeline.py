"""The steps of a job's end: in order, each once."""

from __future__ import annotations

import asyncio

import pytest

from kettle.starter.exit_pipeline import ExitPipeline, ExitStep


@pytest.mark.shows("M012", "M019")
def test_output_comes_before_the_report_and_the_report_before_the_leaving() -> None:
    performed = []

    async def perform(step: ExitStep) -> None:
        performed.append(step.name)

    pipeline = ExitPipeline()
    asyncio.run(pipeline.run(perform))
    assert performed == [
        "CANCEL_UPDATES",
        "TRANSFER_OUTPUT",
        "UPDATE_STARTD",
        "JOB_EXIT",
        "AWAIT_DEACTIVATION",
    ]
    assert pipeline.finished


def test_a_step_that_is_under_way_is_not_done() -> None:
    pipeline = ExitPipeline()
    seen = []

    async def perform(step: ExitStep) -> None:
        seen.append((pipeline.has_done(ExitStep.TRANSFER_OUTPUT), pipeline.finished))

    asyncio.run(pipeline.run(perform))
    assert seen == [(False, False), (False, False), (True, False), (True, False), (True, False)]
