"""How the schedd divides and counts runs."""

from __future__ import annotations

import math

import pytest

from kettle.attributes.codes import JobStatus, JobUniverse, ShadowExit
from kettle.classad import ClassAd
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job
from kettle.schedd.statistics import Statistics, read_horizons

NOW = 1_000_000
RUN = {
    "JobCurrentStartDate": NOW - 100,
    "JobCurrentStartExecutingDate": NOW - 90,
    "JobCurrentStartTransferOutputDate": NOW - 5,
    "LastRemoteWallClockTime": 100.0,
    "ImageSize": 100,
}


def make_job(status: int, **attributes: object) -> Job:
    return Job(JobId(1, 0), ClassAd({**RUN, **attributes}), status=status)


def published(statistics: Statistics) -> ClassAd:
    ad = ClassAd()
    statistics.publish(ad, NOW)
    return ad


def test_a_completed_job_counts_with_its_length_and_size() -> None:
    statistics = Statistics(NOW - 500)
    statistics.on_ended(make_job(JobStatus.COMPLETED), ShadowExit.EXITED, NOW)
    ad = published(statistics)
    assert ad.integer("JobsCompleted") == ad.integer("RecentJobsCompleted") == 1
    assert ad.integer("JobsExitedNormally") == 1
    assert ad.integer("JobsAccumExecuteTime") == 85
    assert ad.integer("JobsAccumExecuteAltTime") == 85
    assert ad.integer("JobsAccumPreExecuteTime") == 10
    assert ad.integer("JobsAccumPostExecuteTime") == 5
    assert (ad.string("JobsCompletedRuntimes") or "").startswith("0, 0, 1, 0")
    assert (ad.string("JobsCompletedSizes") or "").startswith("0, 1, 0")
    assert ad.integer("JobsAccumBadputTime") == 0


def test_only_the_first_start_of_a_job_is_counted() -> None:
    statistics = Statistics(NOW - 500)
    statistics.on_started(make_job(JobStatus.RUNNING, JobRunCount=1, QDate=NOW - 9), NOW)
    statistics.on_started(make_job(JobStatus.RUNNING, JobRunCount=2, QDate=NOW - 9), NOW)
    ad = published(statistics)
    assert ad.integer("JobsStarted") == 1
    assert ad.integer("JobsAccumTimeToStart") == 9


def test_a_shadow_that_had_a_run_before_is_recycled() -> None:
    statistics = Statistics(NOW - 500)
    statistics.on_shadow("alice@vm", NOW, running=3, recycled=False)
    statistics.on_shadow("alice@vm", NOW, running=2, recycled=True)
    ad = published(statistics)
    assert (ad.integer("ShadowsStarted"), ad.integer("ShadowsRecycled")) == (1, 1)
    assert ad.integer("ShadowsRunningPeak") == 3


def test_the_end_of_a_scheduler_job_is_not_counted() -> None:
    statistics = Statistics(NOW - 500)
    job = make_job(JobStatus.COMPLETED)
    job.universe = JobUniverse.SCHEDULER
    statistics.on_ended(job, ShadowExit.EXITED, NOW)
    ad = published(statistics)
    assert ad.integer("JobsExited") == ad.integer("JobsCompleted") == 0


@pytest.mark.parametrize(("decided", "held"), [(False, "{ 1 }"), (True, None)])
def test_a_hold_that_somebody_asked_for_is_none_of_what_the_jobs_did_lately(
    decided: bool, held: str | None
) -> None:
    statistics = Statistics(NOW - 500)
    job = make_job(JobStatus.HELD)
    statistics.on_ended(job, ShadowExit.SHOULD_HOLD, NOW, decided=decided)
    ad = ClassAd()
    statistics.recent_use.publish(job.user, ad, NOW)
    assert ad.text("HourlyJobsHeld") == held


def test_a_job_that_waits_after_a_failure_is_counted() -> None:
    statistics = Statistics(NOW - 500)
    statistics.on_cooling(make_job(JobStatus.IDLE, Owner="ann"), NOW)
    assert published(statistics).integer("JobsCoolDown") == 1


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


def test_what_transfers_took_is_counted_in_seconds_and_smoothed_as_load() -> None:
    horizons = read_horizons("10s:10 1h:3600")
    statistics = Statistics(NOW, horizons=horizons)
    statistics.on_spent({"FileTransferFileReadSeconds": 2.0, "Cmd": 7.0}, NOW + 10)
    statistics.on_spent({"FileTransferNetWriteSeconds": 0.5}, NOW + 10)
    ad = ClassAd()
    statistics.publish(ad, NOW + 10)
    assert ad.real("FileTransferFileReadSeconds") == 2.0
    assert ad.real("FileTransferNetWriteSeconds") == 0.5
    assert ad.real("FileTransferFileWriteSeconds") == 0.0
    assert ad.real("FileTransferFileReadLoad_10s") == pytest.approx(0.2 * (1 - math.exp(-1)))
    assert ad.real("FileTransferUploadBytesPerSecond_10s") == 0.0
    assert "FileTransferFileReadLoad_1h" not in ad


def test_times_that_nobody_can_read_are_the_default_ones() -> None:
    assert list(read_horizons("1m:60, 5m:300")) == ["1m", "5m"]
    many = " ".join(f"x{number}:{number}" for number in range(1, 99))
    for text in ("1m", "1m:x", "1m:0", "a b:3", many):
        assert list(read_horizons(text)) == ["1m", "5m", "1h", "1d"]


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
