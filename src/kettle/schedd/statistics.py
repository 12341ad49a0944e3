"""The schedd's counters, under the names HTCondor gives them, since the start and recently.

Pure: events and the clock in, attributes out. How counters are kept is `kettle.statistics`', which
ad they go into is `ads`' business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kettle.attributes.codes import JobStatus, ShadowExit
from kettle.classad import ClassAd
from kettle.schedd.queue.job_queue import Changes, Job
from kettle.statistics.counters import Counters, Kind, Row
from kettle.statistics.histograms import (
    RUNTIME_LIMITS,
    SIZE_LIMITS,
    Histogram,
    parse_limits,
)
from kettle.statistics.windows import Rate

# Over how long the rates are smoothed, by the ending of their attributes.
_RATE_HORIZONS = {"1m": 60.0, "5m": 300.0}
_RUNTIME_LIMITS, _SIZE_LIMITS = parse_limits(RUNTIME_LIMITS), parse_limits(SIZE_LIMITS)

ROWS = (
    Row("JobsSubmitted", "Jobs that came into the queue."),
    Row("JobsStarted", "Runs of jobs that were started."),
    Row("JobsExited", "Runs that ended, however."),
    Row("JobsCompleted", "Jobs that ended by themselves and are done."),
    Row("JobsExitedNormally", "Runs whose job ended by itself."),
    Row("JobsKilled", "Runs that were ended because the job is removed or evicted."),
    Row("JobsExitException", "Runs whose shadow failed."),
    Row("JobsExecFailed", "Runs whose program could not be executed."),
    Row("JobsCheckpointed", "Runs that left a checkpoint and went."),
    Row("JobsShouldRequeue", "Runs after which the job waits again."),
    Row("JobsShouldRemove", "Runs after which the job is to be removed."),
    Row("JobsShouldHold", "Runs after which the job goes on hold."),
    Row("JobsCoredumped", "Runs that a signal ended with a core file."),
    Row("JobsNotStarted", "Runs that never came to start their job."),
    Row("JobsMissedDeferralTime", "Runs that came after the time their job was to start."),
    Row("JobsExitedAndClaimClosing", "Runs that ended by themselves on a claim that closes."),
    Row("JobsDebugLogError", "Runs whose shadow could not write its log."),
    Row("JobsShadowNoMemory", "Runs for which there was no memory."),
    Row("JobsCoolDown", "Jobs that wait a while after a failure."),
    Row("JobsWierdTimestamps", "Runs whose moments contradict each other."),
    Row("JobsAccumTimeToStart", "Seconds that jobs waited for their start."),
    Row("JobsAccumRunningTime", "Seconds of all runs."),
    Row("JobsAccumExecuteTime", "Seconds between input and output of completed jobs."),
    Row(
        "JobsAccumExecuteAltTime", "Seconds that programs of completed jobs ran, by their starters."
    ),
    Row("JobsAccumBadputTime", "Seconds of runs whose work is lost."),
    Row(
        "JobsAccumExceptionalBadputTime", "Seconds of runs whose shadow failed or that left a core."
    ),
    Row("JobsAccumChurnTime", "Seconds of runs that never came to work."),
    Row("JobsAccumPreExecuteTime", "Seconds before programs began: claims, input."),
    Row("JobsAccumPostExecuteTime", "Seconds after programs ended: output."),
    Row("ShadowsStarted", "Shadows that were started."),
    Row("ResourceRequestsSent", "Requests that negotiators were sent."),
    Row(
        "JobsCompletedRuntimes",
        "Runs of completed jobs, by their length.",
        Kind.HISTOGRAM,
        RUNTIME_LIMITS,
    ),
    Row(
        "JobsCompletedSizes",
        "Runs of completed jobs, by their memory image.",
        Kind.HISTOGRAM,
        SIZE_LIMITS,
    ),
    Row(
        "JobsBadputRuntimes",
        "Runs whose work is lost, by their length.",
        Kind.HISTOGRAM,
        RUNTIME_LIMITS,
    ),
    Row(
        "JobsBadputSizes",
        "Runs whose work is lost, by their memory image.",
        Kind.HISTOGRAM,
        SIZE_LIMITS,
    ),
    Row("FileTransferUploadBytes", "Bytes of input that went to jobs.", Kind.REAL),
    Row("FileTransferDownloadBytes", "Bytes of output that came from jobs.", Kind.REAL),
    Row("JobsRestartReconnectsSucceeded", "Runs found again after our restart.", Kind.TOTAL),
    Row("JobsRestartReconnectsFailed", "Runs not found again after our restart.", Kind.TOTAL),
    Row(
        "JobsRestartReconnectsLeaseExpired",
        "Runs whose lease had ended when we came back.",
        Kind.TOTAL,
    ),
    Row(
        "JobsRestartReconnectsInterrupted",
        "Runs that were held or removed while they were looked for.",
        Kind.TOTAL,
    ),
)
"""What is counted as it happens. `publish` adds what is found out when the ad is made."""

_BY_EXIT = {
    int(ShadowExit.EXITED): "JobsExitedNormally",
    int(ShadowExit.EXITED_CLAIM_CLOSING): "JobsExitedAndClaimClosing",
    int(ShadowExit.KILLED): "JobsKilled",
    int(ShadowExit.EXCEPTION): "JobsExitException",
    int(ShadowExit.EXEC_FAILED): "JobsExecFailed",
    int(ShadowExit.CHECKPOINTED): "JobsCheckpointed",
    int(ShadowExit.SHOULD_REQUEUE): "JobsShouldRequeue",
    int(ShadowExit.SHOULD_REMOVE): "JobsShouldRemove",
    int(ShadowExit.SHOULD_HOLD): "JobsShouldHold",
    int(ShadowExit.CORED): "JobsCoredumped",
    int(ShadowExit.NOT_STARTED): "JobsNotStarted",
    int(ShadowExit.MISSED_DEFERRAL): "JobsMissedDeferralTime",
    int(ShadowExit.NO_MEMORY): "JobsShadowNoMemory",
    int(ShadowExit.LOG_ERROR): "JobsDebugLogError",
}
# Ends of runs in which no work of the job was done that could be lost.
_CHURN = frozenset(
    int(reason)
    for reason in (
        ShadowExit.NOT_STARTED,
        ShadowExit.NO_MEMORY,
        ShadowExit.EXEC_FAILED,
        ShadowExit.MISSED_DEFERRAL,
        ShadowExit.USAGE,
    )
)
# How many running jobs a second are looked at for the ad, at most.
_JOBS_A_SECOND = 500
_EXCEPTIONAL = frozenset((int(ShadowExit.EXCEPTION), int(ShadowExit.CORED)))


@dataclass(frozen=True, slots=True)
class RunTimes:
    """How long the parts of a run took, in whole seconds."""

    total: int
    before: int
    executing: int
    after: int
    by_starter: int
    contradictory: bool = False


def measure_run(ad: ClassAd, now: int) -> RunTimes:
    """Divide the run that just ended by what its job's ad says of its moments."""
    total = max(0, int(ad.real("LastRemoteWallClockTime") or 0.0))
    began = ad.integer("JobCurrentStartDate") or now - total
    executed = ad.integer("JobCurrentStartExecutingDate")
    output = ad.integer("JobCurrentStartTransferOutputDate")
    if executed is None or executed < began:
        # The program of this run never started.
        return RunTimes(total, total, 0, 0, 0, contradictory=began > now)
    before = min(total, executed - began)
    after = min(total - before, max(0, now - output)) if output and output >= executed else 0
    executing = total - before - after
    by_starter = int(ad.real("JobDuration") or executing)
    return RunTimes(total, before, executing, after, by_starter, contradictory=executed > now)


class Statistics:
    """What has happened since the daemon's start."""

    def __init__(
        self, started: int, *, window_seconds: int = 1200, quantum_seconds: int = 240
    ) -> None:
        self.counters = Counters(
            ROWS, started, window_seconds=window_seconds, quantum_seconds=quantum_seconds
        )
        self.shadows_peak = 0
        self._rates = {
            name: Rate(started, _RATE_HORIZONS)
            for name in ("FileTransferUploadBytes", "FileTransferDownloadBytes")
        }
        # Work of runs that were not found again after a restart, by its length.
        self._lost_runs = Histogram(_RUNTIME_LIMITS)
        self._reconnecting: set[tuple[int, int]] = set()
        self._running_runtimes = Histogram(_RUNTIME_LIMITS)
        self._running_sizes = Histogram(_SIZE_LIMITS)
        self._looked_at = 0

    def add(self, name: str, now: int, amount: float = 1) -> None:
        """Count something under its attribute's name."""
        self.counters.add(name, now, amount)

    def value(self, name: str) -> float:
        """Return a counter."""
        return self.counters.value(name)

    def on_submitted(self, changes: Changes, now: int) -> None:
        """Count the new jobs of a commit."""
        if changes.new:
            self.add("JobsSubmitted", now, len(changes.new))

    def on_started(self, job: Job, now: int, *, running: int = 0) -> None:
        """Count the start of a job's shadow, one of so many that are `running` now."""
        self.shadows_peak = max(self.shadows_peak, running)
        self.add("JobsStarted", now)
        self.add("ShadowsStarted", now)
        waited = now - (job.ad.integer("QDate") or now)
        self.add("JobsAccumTimeToStart", now, max(0, waited))

    def on_moved(self, uploaded: float, downloaded: float, now: int) -> None:
        """Count the bytes that a run moved: to the job, and from it."""
        if uploaded > 0:
            self.add("FileTransferUploadBytes", now, uploaded)
        if downloaded > 0:
            self.add("FileTransferDownloadBytes", now, downloaded)

    def on_ended(self, job: Job, reason: int, now: int) -> None:
        """Count the end of a job's run."""
        self.add("JobsExited", now)
        name = _BY_EXIT.get(reason)
        if name is not None:
            self.add(name, now)
        times = measure_run(job.ad, now)
        self.add("JobsAccumRunningTime", now, times.total)
        self.add("JobsAccumPreExecuteTime", now, times.before)
        self.add("JobsAccumPostExecuteTime", now, times.after)
        if times.contradictory:
            self.add("JobsWierdTimestamps", now)
        size = (job.ad.integer("ImageSize") or 0) * 1024
        if job.status == JobStatus.COMPLETED:
            self.add("JobsCompleted", now)
            self.add("JobsAccumExecuteTime", now, times.executing)
            self.add("JobsAccumExecuteAltTime", now, times.by_starter)
            self.counters.add_value("JobsCompletedRuntimes", now, times.total)
            self.counters.add_value("JobsCompletedSizes", now, size)
        elif reason in _CHURN:
            self.add("JobsAccumChurnTime", now, times.total)
        elif reason not in (ShadowExit.EXITED, ShadowExit.CHECKPOINTED):
            self.add("JobsAccumBadputTime", now, times.total)
            if reason in _EXCEPTIONAL:
                self.add("JobsAccumExceptionalBadputTime", now, times.total)
            self.counters.add_value("JobsBadputRuntimes", now, times.total)
            self.counters.add_value("JobsBadputSizes", now, size)
        self._end_reconnection(job, reason, times.total, now)

    # -- after a restart --------------------------------------------------------------------

    def on_looked_for(self, job: Job) -> None:
        """Note that the run of a job is looked for after our restart."""
        self._reconnecting.add(job.id)

    def on_lease_expired(self, now: int) -> None:
        """Count a run whose lease, as far as it was recorded, had ended before our restart."""
        self.add("JobsRestartReconnectsLeaseExpired", now)

    def on_found_again(self, job: Job, now: int) -> None:
        """Count a run that was found again; any word of its shadow that it is at work says so."""
        if job.id in self._reconnecting:
            self._reconnecting.discard(job.id)
            self.add("JobsRestartReconnectsSucceeded", now)

    def _end_reconnection(self, job: Job, reason: int, seconds: int, now: int) -> None:
        if job.id not in self._reconnecting:
            return
        self._reconnecting.discard(job.id)
        if reason == ShadowExit.RECONNECT_FAILED:
            self.add("JobsRestartReconnectsFailed", now)
            self._lost_runs.add(seconds)
        elif job.status in (JobStatus.HELD, JobStatus.REMOVED):
            self.add("JobsRestartReconnectsInterrupted", now)
        else:
            self.add("JobsRestartReconnectsSucceeded", now)

    # -- the ad -----------------------------------------------------------------------------

    def publish(self, ad: ClassAd, now: int, running: Sequence[Job] = ()) -> None:
        """Put the counters into an ad, and how long and how large `running` jobs are."""
        self.counters.publish(ad, now)
        ad["StatsLastUpdateTime"] = now
        ad["RecentWindowMax"] = self.counters.window_seconds
        ad["RecentStatsTickTime"] = self.counters.tick_time
        for name, rate in self._rates.items():
            for word, value in rate.observe(self.counters.value(name), now).items():
                ad[f"{name}PerSecond_{word}"] = value
        ad["ShadowsRunningPeak"] = self.shadows_peak
        ad["JobsRestartReconnectsAttempting"] = len(self._reconnecting)
        ad["JobsRestartReconnectsBadput"] = str(self._lost_runs)
        ad["JobsRuntimesHistogramBuckets"] = RUNTIME_LIMITS
        ad["JobsSizesHistogramBuckets"] = SIZE_LIMITS
        self._look_at(running, now)
        ad["JobsRunningRuntimes"] = str(self._running_runtimes)
        ad["JobsRunningSizes"] = str(self._running_sizes)

    def _look_at(self, running: Sequence[Job], now: int) -> None:
        """Sort running jobs; many only once in a while, for each has to be looked at."""
        if now - self._looked_at < len(running) // _JOBS_A_SECOND:
            return
        self._looked_at = now
        self._running_runtimes = Histogram(_RUNTIME_LIMITS)
        self._running_sizes = Histogram(_SIZE_LIMITS)
        for job in running:
            self._running_runtimes.add(now - (job.ad.integer("JobCurrentStartDate") or now))
            self._running_sizes.add((job.ad.integer("ImageSize") or 0) * 1024)
