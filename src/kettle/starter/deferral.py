"""When a job with a deferral time begins (manual, Job deferral).

Arithmetic only; `service.py` waits. Looked at once the input files are there, by this machine's
clock.
"""

from __future__ import annotations

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import UNDEFINED, ClassAd
from kettle.starter.launch import CannotLaunch


def seconds_to_wait(job: ClassAd, now: float) -> float:
    """Return how long the job still has to wait; 0 for one that may begin.

    CannotLaunch with the hold code where its time has passed, beyond its window (N007, N011), or
    where DeferralTime is no time (N023).
    """
    moment = job.evaluate("DeferralTime")
    if moment is UNDEFINED:
        return 0.0
    if isinstance(moment, bool) or not isinstance(moment, int) or moment < 0:
        raise CannotLaunch(
            f"DeferralTime is {job.text('DeferralTime')}, which is no time in seconds",
            HoldReasonCode.MissedDeferredExecutionTime,
        )
    if now <= moment:
        return moment - now
    window = job.integer("DeferralWindow") or 0
    # Whole seconds, as the time itself is: exactly the window is still in time.
    late = int(now) - moment
    if late > window:
        raise CannotLaunch(
            f"The job's deferral time of {moment} was missed by {late} seconds; "
            f"its deferral window is {window} seconds",
            HoldReasonCode.MissedDeferredExecutionTime,
        )
    return 0.0
