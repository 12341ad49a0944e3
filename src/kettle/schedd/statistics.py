"""The schedd's counters, under the names HTCondor gives them, since the start and recently.

Pure: events and the clock in, attributes out. The recent value covers the last
STATISTICS_WINDOW_SECONDS in steps of a quantum. Which ad they go into is `ads`' business.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from kettle.attributes.codes import JobStatus, ShadowExit
from kettle.classad import ClassAd
from kettle.schedd.queue.job_queue import Changes, Job

# Counters that are published even while they are zero.
COUNTERS = (
    "JobsSubmitted",
    "JobsStarted",
    "JobsExited",
    "JobsCompleted",
    "JobsExitedNormally",
    "JobsKilled",
    "JobsExitException",
    "JobsExecFailed",
    "JobsCheckpointed",
    "JobsShouldRequeue",
    "JobsShouldRemove",
    "JobsShouldHold",
    "JobsCoredumped",
    "JobsNotStarted",
    "JobsMissedDeferralTime",
    "JobsExitedAndClaimClosing",
    "JobsDebugLogError",
    "JobsShadowNoMemory",
    "JobsCoolDown",
    "JobsAccumTimeToStart",
    "JobsAccumRunningTime",
    "JobsAccumExecuteTime",
    "JobsAccumBadputTime",
    "JobsAccumExceptionalBadputTime",
    "JobsAccumPreExecuteTime",
    "JobsAccumPostExecuteTime",
    "ShadowsStarted",
    "ResourceRequestsSent",
    "Autoclusters",
)

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


class Recent:
    """Sums over the last few quanta, for many names at once."""

    def __init__(self, window_seconds: int, quantum_seconds: int) -> None:
        self._quantum = max(1, quantum_seconds)
        self._steps: deque[dict[str, float]] = deque(maxlen=max(1, window_seconds // self._quantum))
        self._step_began = 0

    def add(self, name: str, amount: float, now: int) -> None:
        """Count in the current quantum."""
        self.advance(now)
        step = self._steps[-1]
        step[name] = step.get(name, 0) + amount

    def advance(self, now: int) -> None:
        """Begin as many quanta as have passed."""
        if not self._steps:
            self._steps.append({})
            self._step_began = now
        passed = (now - self._step_began) // self._quantum
        for _ in range(min(passed, self._steps.maxlen or 1)):
            self._steps.append({})
        if passed > 0:
            self._step_began += passed * self._quantum

    def total(self, name: str) -> float:
        """Return the sum over the window."""
        return sum(step.get(name, 0) for step in self._steps)


class Statistics:
    """What has happened since the daemon's start."""

    def __init__(
        self, started: int, *, window_seconds: int = 1200, quantum_seconds: int = 240
    ) -> None:
        self.started = started
        self._window = window_seconds
        self._counts: dict[str, float] = dict.fromkeys(COUNTERS, 0)
        self._recent = Recent(window_seconds, quantum_seconds)
        self.shadows_peak = 0

    def add(self, name: str, now: int, amount: float = 1) -> None:
        """Count something under its attribute's name."""
        self._counts[name] = self._counts.get(name, 0) + amount
        self._recent.add(name, amount, now)

    def value(self, name: str) -> float:
        """Return a counter."""
        return self._counts.get(name, 0)

    def on_submitted(self, changes: Changes, now: int) -> None:
        """Count the new jobs of a commit."""
        if changes.new:
            self.add("JobsSubmitted", now, len(changes.new))

    def on_started(self, job: Job, now: int) -> None:
        """Count the start of a job's shadow."""
        self.add("JobsStarted", now)
        self.add("ShadowsStarted", now)
        waited = now - (job.ad.integer("QDate") or now)
        self.add("JobsAccumTimeToStart", now, max(0, waited))

    def on_ended(self, job: Job, reason: int, now: int) -> None:
        """Count the end of a job's run."""
        self.add("JobsExited", now)
        name = _BY_EXIT.get(reason)
        if name is not None:
            self.add(name, now)
        seconds = job.ad.real("LastRemoteWallClockTime") or 0.0
        self.add("JobsAccumRunningTime", now, int(seconds))
        if job.status == JobStatus.COMPLETED:
            self.add("JobsCompleted", now)
            self.add("JobsAccumExecuteTime", now, int(seconds))
        else:
            self.add("JobsAccumBadputTime", now, int(seconds))

    def publish(self, ad: ClassAd, now: int, names: Iterable[str] = COUNTERS) -> None:
        """Put the counters into an ad."""
        self._recent.advance(now)
        for name in names:
            ad[name] = int(self._counts.get(name, 0))
            ad[f"Recent{name}"] = int(self._recent.total(name))
        lifetime = max(0, now - self.started)
        ad["StatsLifetime"] = lifetime
        ad["RecentStatsLifetime"] = min(lifetime, self._window)
        ad["ShadowsRunningPeak"] = self.shadows_peak
