"""A job's processes: which are active, which reaped, and which program comes next."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.starter.outcome import is_script_success
from kettle.starter.processes import ProcessList, Role


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
