"""The schedd's counters, under the names HTCondor gives them, since the start and recently.

Pure: events and the clock in, attributes out. How counters are kept is `kettle.statistics`', which
ad they go into is `ads`' business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kettle.attributes.codes import JobStatus, JobUniverse, ShadowExit
from kettle.classad import ClassAd
from kettle.schedd.job_counters import JOB_ROWS, JobSets, Running
from kettle.schedd.job_runs import MOVING_SECONDS
from kettle.schedd.queue.applying import Changes
from kettle.schedd.queue.jobs import Job
from kettle.schedd.recent_use import RecentUse
from kettle.schedd.run_counts import Counted, count_end
from kettle.statistics.counters import Counters, Kind, Row
from kettle.statistics.histograms import RUNTIME_LIMITS, SIZE_LIMITS, Histogram, parse_limits
from kettle.statistics.windows import Rate

# Over how long the rates are smoothed, by the ending of their attributes: the default of
# TRANSFER_IO_REPORT_TIMESPANS.
RATE_HORIZONS = {"1m": 60.0, "5m": 300.0, "1h": 3600.0, "1d": 86400.0}
# Limit: an attribute for each, of six rates.
_MOST_HORIZONS = 10
# What the smoothed rate of each is called.
_RATES = {
    "FileTransferUploadBytes": "FileTransferUploadBytesPerSecond",
    "FileTransferDownloadBytes": "FileTransferDownloadBytesPerSecond",
    **{name: f"{name.removesuffix('Seconds')}Load" for name in MOVING_SECONDS},
}
_RUNTIME_LIMITS = parse_limits(RUNTIME_LIMITS)

ROWS = (
    *JOB_ROWS,
    Row("JobsSubmitted", "Jobs that came into the queue."),
    Row("ShadowsStarted", "Shadows that were started."),
    Row("ShadowsRecycled", "Jobs that followed another on its machine."),
    Row("ShadowsReconnections", "Runs whose machine was found again."),
    Row("ResourceRequestsSent", "Requests that negotiators were sent."),
    Row("FileTransferUploadBytes", "Bytes of input that went to jobs.", Kind.REAL),
    Row("FileTransferDownloadBytes", "Bytes of output that came from jobs.", Kind.REAL),
    Row("FileTransferFileReadSeconds", "Reading jobs' input took.", Kind.REAL),
    Row("FileTransferFileWriteSeconds", "Writing jobs' output took.", Kind.REAL),
    Row("FileTransferNetReadSeconds", "Output was waited for.", Kind.REAL),
    Row("FileTransferNetWriteSeconds", "Sending jobs' input took.", Kind.REAL),
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

# How many running jobs a second are looked at for the ad, at most.
_JOBS_A_SECOND = 500


def read_horizons(text: str) -> Mapping[str, float]:
    """Read TRANSFER_IO_REPORT_TIMESPANS, like `1m:60 5m:300`; else the default."""
    found = {}
    for word in text.replace(",", " ").split():
        name, _, seconds = word.partition(":")
        if not name.isalnum() or not seconds.isdecimal() or not 0 < int(seconds) < 10**9:
            return RATE_HORIZONS
        found[name] = float(seconds)
    return found if len(found) <= _MOST_HORIZONS else RATE_HORIZONS


class Statistics:
    """What has happened since the daemon's start."""

    def __init__(
        self,
        started: int,
        *,
        window_seconds: int = 1200,
        quantum_seconds: int = 240,
        horizons: Mapping[str, float] = RATE_HORIZONS,
    ) -> None:
        self.counters = Counters(
            ROWS, started, window_seconds=window_seconds, quantum_seconds=quantum_seconds
        )
        self.shadows_peak = 0
        self._rates = {name: Rate(started, horizons) for name in _RATES}
        # Work of runs that were not found again after a restart, by its length.
        self._lost_runs = Histogram(_RUNTIME_LIMITS)
        self._reconnecting: set[tuple[int, int]] = set()
        self.sets = JobSets(started, (window_seconds, quantum_seconds))
        self.recent_use = RecentUse(started)
        self._running = Running()
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

    def on_started(self, job: Job, now: int) -> None:
        """Count the start of a run; of a job, its first one alone, as in the reference."""
        if (job.ad.integer("JobRunCount") or 1) > 1:
            return
        waited = max(0, now - (job.ad.integer("QDate") or now))
        self._count(job, Counted({"JobsStarted": 1, "JobsAccumTimeToStart": waited}, {}), now)

    def on_shadow(self, user: str, now: int, *, running: int, recycled: bool) -> None:
        """Count a shadow, one of so many that are `running`; `recycled` had a run before."""
        self.recent_use.on_launched(user, now)
        self.shadows_peak = max(self.shadows_peak, running)
        self.add("ShadowsRecycled" if recycled else "ShadowsStarted", now)

    def on_moved(self, uploaded: float, downloaded: float, now: int) -> None:
        """Count the bytes that a run moved: to the job, and from it."""
        if uploaded > 0:
            self.add("FileTransferUploadBytes", now, uploaded)
        if downloaded > 0:
            self.add("FileTransferDownloadBytes", now, downloaded)

    def on_spent(self, seconds: Mapping[str, float], now: int) -> None:
        """Count how long the transfers of a run took, by the attributes' names."""
        for name in MOVING_SECONDS:
            if seconds.get(name, 0.0) > 0:
                self.add(name, now, seconds[name])

    def on_ended(self, job: Job, reason: int, now: int, *, decided: bool = False) -> None:
        """Count the end of a job's run; `decided` says that it was held or removed before.

        Compat: as in the reference, jobs of the scheduler universe count when they start, not when
        they end (test_the_end_of_a_scheduler_job_is_not_counted).
        """
        if job.universe == JobUniverse.SCHEDULER:
            return
        counted = count_end(job.ad, reason, now, decided=decided)
        self._count(job, counted, now)
        if not decided:
            held = job.status == JobStatus.HELD
            self.recent_use.on_ended(job.user, reason, now, held=held)
        seconds = max(0, job.ad.integer("LastRemoteWallClockTime") or 0)
        self._end_reconnection(job, reason, seconds, now)

    def on_cooling(self, job: Job, now: int) -> None:
        """Count a job that waits a while after a failure."""
        self._count(job, Counted({"JobsCoolDown": 1}, {}), now)

    def _count(self, job: Job, counted: Counted, now: int) -> None:
        self.counters.add_all(counted.amounts, now)
        for name, value in counted.values.items():
            self.counters.add_value(name, now, value)
        self.sets.count(job.ad, counted, now)

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
                ad[f"{_RATES[name]}_{word}"] = value
        ad["ShadowsRunningPeak"] = self.shadows_peak
        ad["JobsRestartReconnectsAttempting"] = len(self._reconnecting)
        ad["JobsRestartReconnectsBadput"] = str(self._lost_runs)
        ad["JobsRuntimesHistogramBuckets"] = RUNTIME_LIMITS
        ad["JobsSizesHistogramBuckets"] = SIZE_LIMITS
        self.look_at(running, now)
        self._running.publish(ad)

    def look_at(self, running: Sequence[Job], now: int, *, rest_seconds: int = 0) -> None:
        """Sort running jobs; many only once in a while, for each has to be looked at.

        `rest_seconds` is how old what was found before may be.
        """
        if now - self._looked_at < max(rest_seconds, len(running) // _JOBS_A_SECOND):
            return
        self._looked_at = now
        self._running = Running()
        for job in running:
            self._running.add(job.ad, now)
        self.sets.look_at((job.ad for job in running), now)
        self.sets.forget(now)
