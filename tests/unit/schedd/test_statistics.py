"""How the schedd divides and counts runs."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import JobStatus, ShadowExit
from kettle.classad import ClassAd
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.job_queue import Job
from kettle.schedd.statistics import Statistics, measure_run

NOW = 1_000_000
RUN = {
    "JobCurrentStartDate": NOW - 100,
    "JobCurrentStartExecutingDate": NOW - 90,
    "JobCurrentStartTransferOutputDate": NOW - 5,
    "JobDuration": 84.2,
    "LastRemoteWallClockTime": 100.0,
    "ImageSize": 100,
}


def make_job(status: int, **attributes: object) -> Job:
    return Job(JobId(1, 0), ClassAd({**RUN, **attributes}), status=status)


def published(statistics: Statistics) -> ClassAd:
    ad = ClassAd()
    statistics.publish(ad, NOW)
    return ad


def test_a_run_is_divided_into_before_executing_and_after() -> None:
    times = measure_run(ClassAd(RUN), NOW)
    assert (times.total, times.before, times.executing, times.after) == (100, 10, 85, 5)
    assert times.by_starter == 84


def test_a_run_whose_program_never_started_was_all_before() -> None:
    ad = ClassAd({**RUN, "JobCurrentStartExecutingDate": NOW - 5000})
    times = measure_run(ad, NOW)
    assert (times.total, times.before, times.executing, times.after) == (100, 100, 0, 0)


def test_a_completed_job_counts_with_its_length_and_size() -> None:
    statistics = Statistics(NOW - 500)
    statistics.on_ended(make_job(JobStatus.COMPLETED), ShadowExit.EXITED, NOW)
    ad = published(statistics)
    assert ad.integer("JobsCompleted") == ad.integer("RecentJobsCompleted") == 1
    assert ad.integer("JobsExitedNormally") == 1
    assert ad.integer("JobsAccumExecuteTime") == 85
    assert ad.integer("JobsAccumExecuteAltTime") == 84
    assert ad.integer("JobsAccumPreExecuteTime") == 10
    assert ad.integer("JobsAccumPostExecuteTime") == 5
    assert (ad.string("JobsCompletedRuntimes") or "").startswith("0, 0, 1, 0")
    assert (ad.string("JobsCompletedSizes") or "").startswith("0, 1, 0")
    assert ad.integer("JobsAccumBadputTime") == 0


@pytest.mark.parametrize(
    ("reason", "counter"),
    [
        (ShadowExit.KILLED, "JobsAccumBadputTime"),
        (ShadowExit.EXCEPTION, "JobsAccumExceptionalBadputTime"),
        (ShadowExit.NOT_STARTED, "JobsAccumChurnTime"),
    ],
)
def test_a_run_that_ended_badly_is_badput_or_churn(reason: ShadowExit, counter: str) -> None:
    statistics = Statistics(NOW - 500)
    statistics.on_ended(make_job(JobStatus.IDLE), reason, NOW)
    assert published(statistics).integer(counter) == 100


@pytest.mark.parametrize(
    ("reason", "status", "counter"),
    [
        (ShadowExit.EXITED, JobStatus.COMPLETED, "Succeeded"),
        (ShadowExit.RECONNECT_FAILED, JobStatus.IDLE, "Failed"),
        (ShadowExit.KILLED, JobStatus.REMOVED, "Interrupted"),
    ],
)
def test_what_became_of_runs_that_were_looked_for_is_counted(
    reason: ShadowExit, status: JobStatus, counter: str
) -> None:
    statistics = Statistics(NOW - 500)
    job = make_job(status)
    statistics.on_looked_for(job)
    assert published(statistics).integer("JobsRestartReconnectsAttempting") == 1
    statistics.on_ended(job, reason, NOW)
    ad = published(statistics)
    assert ad.integer("JobsRestartReconnectsAttempting") == 0
    assert ad.integer(f"JobsRestartReconnects{counter}") == 1


def test_bytes_are_those_of_this_run_alone() -> None:
    statistics = Statistics(NOW - 500)
    statistics.on_moved(10.0, 0.0, NOW)
    statistics.on_moved(-3.0, 5.0, NOW)
    ad = published(statistics)
    assert (ad.real("FileTransferUploadBytes"), ad.real("FileTransferDownloadBytes")) == (10.0, 5.0)


def test_running_jobs_are_sorted_by_length_and_size_and_many_only_now_and_then() -> None:
    statistics = Statistics(NOW - 500)
    many = [make_job(JobStatus.RUNNING) for _ in range(1000)]

    def runtimes(now: int, jobs: list[Job]) -> str:
        ad = ClassAd()
        statistics.publish(ad, now, jobs)
        return ad.string("JobsRunningRuntimes") or ""

    assert runtimes(NOW, many).startswith("0, 0, 1000, 0")
    assert runtimes(NOW + 1, many[:999]).startswith("0, 0, 999, 0")
    assert runtimes(NOW + 2, many).startswith("0, 0, 999, 0")
    assert runtimes(NOW + 3, many).startswith("0, 0, 1000, 0")
