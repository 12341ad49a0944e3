"""When a job with a deferral time begins (manual, Job deferral).

Arithmetic only; `service.py` waits. Looked at once the input files are there, by this machine's
clock.
"""

from __future__ import annotations

from kettle.attributes.codes import HoldReasonCode
from kettle.classad import UNDEFINED, ClassAd
from kettle.starter.launch import CannotLaunch


def deferral_time(job: ClassAd) -> int | None:
    """Return when a job is to begin; None if it may at once.

    To be asked once: a time that is said from the present one, as `(CurrentTime + 60)`, would move
    on as long as it is waited for (N003). CannotLaunch with the hold code where DeferralTime is no
    time (N023).
    """
    moment = job.evaluate("DeferralTime")
    if moment is UNDEFINED:
        return None
    if isinstance(moment, bool) or not isinstance(moment, int) or moment < 0:
        raise CannotLaunch(
            f"DeferralTime is {job.text('DeferralTime')}, which is no time in seconds",
            HoldReasonCode.MissedDeferredExecutionTime,
        )
    return moment


def seconds_to_wait(job: ClassAd, moment: int, now: float) -> float:
    """Return how long a job still has to wait for its time; 0 for one that may begin.

    CannotLaunch with the hold code where the time has passed, beyond the window (N007, N011).
    """
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
