"""What the end of a run counts for."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import ShadowExit
from kettle.classad import ClassAd
from kettle.schedd.run_counts import count_end, measure_run

NOW = 1_000_000
RUN = {
    "JobCurrentStartDate": NOW - 100,
    "JobCurrentStartExecutingDate": NOW - 90,
    "JobCurrentStartTransferOutputDate": NOW - 5,
    "LastRemoteWallClockTime": 100.0,
    "ImageSize": 100,
}
GOOD, BAD, CHURN = "JobsAccumRunningTime", "JobsAccumBadputTime", "JobsAccumChurnTime"


def test_a_run_is_divided_into_before_executing_and_after() -> None:
    times = measure_run(ClassAd(RUN), NOW)
    assert (times.total, times.before, times.executing, times.after) == (100, 10, 85, 5)


def test_a_run_whose_program_never_started_was_all_before() -> None:
    ad = ClassAd({**RUN, "JobCurrentStartExecutingDate": NOW - 5000})
    times = measure_run(ad, NOW)
    assert (times.total, times.before, times.executing, times.after) == (100, 100, 0, 0)


@pytest.mark.parametrize(
    ("reason", "names", "time"),
    [
        (ShadowExit.EXITED, "JobsExitedNormally JobsCompleted", GOOD),
        (ShadowExit.SHOULD_REQUEUE, "JobsShouldRequeue", GOOD),
        (ShadowExit.RECONNECT_FAILED, "JobsShouldRequeue", GOOD),
        (ShadowExit.CHECKPOINTED, "JobsCheckpointed", GOOD),
        (ShadowExit.KILLED, "JobsKilled", BAD),
        (ShadowExit.SHOULD_REMOVE, "JobsShouldRemove JobsKilled", BAD),
        (ShadowExit.SHOULD_HOLD, "JobsShouldHold", BAD),
        (ShadowExit.CORED, "JobsCoredumped", BAD),
        (ShadowExit.EXCEPTION, "JobsExitException", BAD),
        (ShadowExit.LOG_ERROR, "JobsDebugLogError JobsExitException", BAD),
        (ShadowExit.NOT_STARTED, "JobsNotStarted", CHURN),
        (ShadowExit.NO_MEMORY, "JobsShadowNoMemory JobsExecFailed", CHURN),
    ],
)
def test_a_run_counts_as_the_reference_counts_it(reason: ShadowExit, names: str, time: str) -> None:
    amounts = count_end(ClassAd(RUN), reason, NOW).amounts
    counts = {name for name in amounts if not name.startswith("JobsAccum")}
    assert counts == {"JobsExited", *names.split()}
    assert [name for name in (GOOD, BAD, CHURN) if name in amounts] == [time]
    assert amounts[time] == 100


def test_a_run_that_was_held_before_its_program_started_is_churn_too() -> None:
    ad = ClassAd({**RUN, "JobCurrentStartExecutingDate": NOW - 5000})
    amounts = count_end(ad, ShadowExit.SHOULD_HOLD, NOW).amounts
    assert amounts[BAD] == amounts[CHURN] == amounts["JobsAccumPreExecuteTime"] == 100


def test_only_a_shadows_failure_is_exceptional() -> None:
    lost = "JobsAccumExceptionalBadputTime"
    assert count_end(ClassAd(RUN), ShadowExit.EXCEPTION, NOW).amounts[lost] == 100
    assert lost not in count_end(ClassAd(RUN), ShadowExit.CORED, NOW).amounts


@pytest.mark.parametrize("reason", [ShadowExit.SHOULD_HOLD, ShadowExit.SHOULD_REQUEUE])
def test_a_run_whose_job_a_user_held_was_killed(reason: ShadowExit) -> None:
    amounts = count_end(ClassAd(RUN), reason, NOW, decided=True).amounts
    assert amounts["JobsKilled"] == 1
    assert not {"JobsShouldHold", "JobsShouldRequeue"} & set(amounts)


def test_a_job_that_ended_before_it_could_be_held_has_ended() -> None:
    amounts = count_end(ClassAd(RUN), ShadowExit.EXITED, NOW, decided=True).amounts
    assert "JobsCompleted" in amounts
    assert "JobsKilled" not in amounts
