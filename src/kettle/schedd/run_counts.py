"""What the end of a run counts for, in the names of the statistics.

Pure: a job's ad, how its shadow ended and the clock in, amounts out. What is done with the amounts
is `statistics`' business.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import auto

from kettle.attributes.codes import ShadowExit
from kettle.choices import Choice
from kettle.classad import ClassAd


class Worth(Choice):
    """What became of a run's work."""

    KEPT = auto()
    LOST = auto()
    # It never came to work.
    NONE = auto()


# What every end counts as, and what became of the work. Anything else is a failure of the shadow.
_EXITS: dict[int, tuple[tuple[str, ...], Worth]] = {
    int(ShadowExit.EXITED): (("JobsExitedNormally", "JobsCompleted"), Worth.KEPT),
    int(ShadowExit.EXITED_CLAIM_CLOSING): (
        ("JobsExitedAndClaimClosing", "JobsExitedNormally", "JobsCompleted"),
        Worth.KEPT,
    ),
    int(ShadowExit.CHECKPOINTED): (("JobsCheckpointed",), Worth.KEPT),
    int(ShadowExit.SHOULD_REQUEUE): (("JobsShouldRequeue",), Worth.KEPT),
    int(ShadowExit.RECONNECT_FAILED): (("JobsShouldRequeue",), Worth.KEPT),
    int(ShadowExit.KILLED): (("JobsKilled",), Worth.LOST),
    int(ShadowExit.NO_CHECKPOINT): (("JobsKilled",), Worth.LOST),
    int(ShadowExit.SHOULD_REMOVE): (("JobsShouldRemove", "JobsKilled"), Worth.LOST),
    int(ShadowExit.SHOULD_HOLD): (("JobsShouldHold",), Worth.LOST),
    int(ShadowExit.MISSED_DEFERRAL): (("JobsMissedDeferralTime",), Worth.LOST),
    int(ShadowExit.CORED): (("JobsCoredumped",), Worth.LOST),
    int(ShadowExit.NOT_STARTED): (("JobsNotStarted",), Worth.NONE),
    int(ShadowExit.EXEC_FAILED): (("JobsExecFailed",), Worth.NONE),
    int(ShadowExit.NO_MEMORY): (("JobsShadowNoMemory", "JobsExecFailed"), Worth.NONE),
}
# A user's decision is known before the shadow ends: whatever it says then, the run was killed.
_DECIDED = frozenset((int(ShadowExit.SHOULD_HOLD), int(ShadowExit.SHOULD_REQUEUE)))


@dataclass(frozen=True, slots=True)
class RunTimes:
    """How long the parts of a run took, in whole seconds."""

    total: int
    before: int
    executing: int
    after: int
    executed: bool = True
    contradictory: bool = False


def measure_run(ad: ClassAd, now: int) -> RunTimes:
    """Divide the run that just ended by what its job's ad says of its moments."""
    total = max(0, ad.integer("LastRemoteWallClockTime") or 0)
    began = ad.integer("JobCurrentStartDate") or now - total
    executed = ad.integer("JobCurrentStartExecutingDate")
    output = ad.integer("JobCurrentStartTransferOutputDate")
    if executed is None or executed < began:
        # The program of this run never started.
        return RunTimes(total, total, 0, 0, executed=False, contradictory=began > now)
    before = min(total, executed - began)
    after = min(total - before, max(0, now - output)) if output and output >= executed else 0
    executing = total - before - after
    return RunTimes(total, before, executing, after, contradictory=executed > now)


@dataclass(frozen=True, slots=True)
class Counted:
    """What the end of a run adds: amounts to counters, and values to histograms."""

    amounts: dict[str, float]
    values: dict[str, float]


def count_end(ad: ClassAd, reason: int, now: int, *, decided: bool = False) -> Counted:
    """Return what a run counts for that ended now.

    `reason` is a ShadowExit; `decided` says that the job's user had held or removed it already.
    Compat: as in the reference, the work of a run that was evicted counts as kept, that of one
    that was held before its program started both as lost and as churn
    (test_a_run_counts_as_the_reference_counts_it).
    """
    if decided and reason in _DECIDED:
        reason = int(ShadowExit.KILLED)
    failed = reason not in _EXITS
    names, worth = _EXITS.get(reason, (("JobsExitException",), Worth.LOST))
    if reason == ShadowExit.LOG_ERROR:
        names = ("JobsDebugLogError", *names)
    amounts: dict[str, float] = {"JobsExited": 1, **dict.fromkeys(names, 1)}
    times = measure_run(ad, now)
    if times.contradictory:
        amounts["JobsWierdTimestamps"] = 1
    if worth is Worth.NONE:
        amounts["JobsAccumChurnTime"] = times.total
        return Counted(amounts, {})
    amounts["JobsAccumPreExecuteTime"] = times.before
    amounts["JobsAccumPostExecuteTime"] = times.after
    amounts["JobsAccumExecuteTime"] = amounts["JobsAccumExecuteAltTime"] = times.executing
    size = (ad.integer("ImageSize") or 0) * 1024
    if worth is Worth.KEPT:
        amounts["JobsAccumRunningTime"] = times.total
        return Counted(amounts, {"JobsCompletedRuntimes": times.total, "JobsCompletedSizes": size})
    amounts["JobsAccumBadputTime"] = times.total
    if failed:
        amounts["JobsAccumExceptionalBadputTime"] = times.total
    if not times.executed:
        amounts["JobsAccumChurnTime"] = times.total
    return Counted(amounts, {"JobsBadputRuntimes": times.total, "JobsBadputSizes": size})
