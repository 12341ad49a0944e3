"""The stages of a job's exit, and what a failed step costs."""

from __future__ import annotations

import asyncio

import pytest

from kettle.classad import ClassAd
from kettle.starter.exit_pipeline import (
    STEPS,
    Controller,
    ExitPipeline,
    ExitStep,
    ProcessList,
    Role,
)
from kettle.starter.outcome import is_script_success


class Trace:
    """Performs steps, failing those named, so many times."""

    def __init__(self, **failures: int) -> None:
        self.failures = {ExitStep[name]: count for name, count in failures.items()}
        self.performed: list[ExitStep] = []

    async def __call__(self, step: ExitStep) -> bool:
        self.performed.append(step)
        if self.failures.get(step, 0) > 0:
            self.failures[step] -= 1
            return False
        return True


@pytest.mark.shows("M012", "M019")
def test_the_shadows_pipeline_has_hook_output_log_update_and_exit_in_this_order() -> None:
    trace = Trace()
    assert asyncio.run(ExitPipeline(Controller.SHADOW).run(trace))
    assert [s.name for s in trace.performed] == [
        "CANCEL_UPDATES",
        "EXIT_HOOK",
        "TRANSFER_OUTPUT",
        "USER_LOG",
        "UPDATE_STARTD",
        "JOB_EXIT",
        "AWAIT_DEACTIVATION",
    ]


@pytest.mark.shows("M028", "M031")
def test_a_failed_step_stops_the_pass_and_is_the_first_thing_repeated() -> None:
    pipeline, trace = ExitPipeline(Controller.SHADOW), Trace(TRANSFER_OUTPUT=2)
    assert not asyncio.run(pipeline.run(trace))
    assert not asyncio.run(pipeline.run(trace))
    assert asyncio.run(pipeline.run(trace))
    counts = {step: trace.performed.count(step) for step in ExitStep}
    assert counts[ExitStep.EXIT_HOOK] == 1
    assert counts[ExitStep.TRANSFER_OUTPUT] == 3
    assert counts[ExitStep.JOB_EXIT] == 1
    assert pipeline.finished


@pytest.mark.shows("M021", "M024", "M032")
def test_local_mail_and_ad_file_wait_for_the_queue() -> None:
    pipeline, trace = ExitPipeline(Controller.LOCAL_SCHEDD), Trace(QUEUE_UPDATE=1)
    assert not asyncio.run(pipeline.run(trace))
    assert ExitStep.MAIL not in trace.performed
    assert asyncio.run(pipeline.run(trace))
    assert trace.performed[-2:] == [ExitStep.MAIL, ExitStep.AD_FILE]


@pytest.mark.shows("M015")
def test_only_the_shadows_pipeline_transfers_output() -> None:
    having = [c for c, steps in STEPS.items() if ExitStep.TRANSFER_OUTPUT in steps]
    assert having == [Controller.SHADOW]


@pytest.mark.shows("M006", "M007")
def test_pre_job_and_post_run_one_after_another() -> None:
    processes = ProcessList().add(Role.PRE, 10)
    assert processes.next_role(has_post=True) is None
    processes = processes.reap(10, 0)
    assert processes.next_role(has_post=True) is Role.JOB
    processes = processes.add(Role.JOB, 11).reap(11, 256)
    assert processes.next_role(has_post=True) is Role.POST
    assert processes.next_role(has_post=False) is None
    processes = processes.add(Role.POST, 12)
    assert processes.active
    assert processes.reap(12, 0).next_role(has_post=True) is None


def test_how_a_script_ended_matters_only_where_the_job_says_so() -> None:
    assert ProcessList().add(Role.PRE, 10).reap(10, 256).next_role(has_post=True) is Role.JOB
    assert is_script_success(ClassAd(), "Pre", 256)
    assert is_script_success(ClassAd({"SuccessPreExitCode": 1}), "Pre", 256)
    assert not is_script_success(ClassAd({"SuccessPreExitCode": 0}), "Pre", 256)
    assert not is_script_success(ClassAd({"SuccessPostExitCode": 0}), "Post", 9)
    signal = ClassAd({"SuccessPostExitSignal": 9, "SuccessPostExitBySignal": True})
    assert is_script_success(signal, "Post", 9)


@pytest.mark.shows("M003", "M005")
def test_a_stranger_exit_concerns_nobody() -> None:
    processes = ProcessList().add(Role.JOB, 11)
    assert processes.reap(99, 0) == processes


@pytest.mark.shows("M004")
def test_a_tool_daemon_ends_with_the_job() -> None:
    processes = ProcessList().add(Role.JOB, 11).add(Role.TOOL, 12).reap(11, 0)
    assert processes.active == ()
    assert processes.status_of(Role.TOOL) is None
    assert processes.status_of(Role.JOB) == 0
