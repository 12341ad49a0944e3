"""What the end of a run means for its job: a function of the shadow's exit code and report."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.codes import HoldReasonCode, ShadowExit
from kettle.schedd import job_machine, job_runs
from kettle.schedd.job_machine import ON_A_MACHINE
from kettle.schedd.queue.jobs import Job

# Exits after which the job has ended by itself.
ENDED = frozenset(
    (int(ShadowExit.EXITED), int(ShadowExit.EXITED_CLAIM_CLOSING), int(ShadowExit.CORED))
)


def event_of_exit(job: Job, reason: int, report: Mapping[str, str]) -> job_machine.Event | None:
    """Return what a shadow's exit means for a job; None if the user has decided already."""
    if reason in ENDED and job_machine.may(job.status, job_machine.Completed):
        return job_machine.Completed()
    if job.status not in ON_A_MACHINE:
        return None
    attributes = job_runs.reported_ad(report)
    if reason in {ShadowExit.SHOULD_HOLD, ShadowExit.COMMON_TRANSFER_HOLD}:
        return job_machine.Held(
            attributes.string("HoldReason") or "Unspecified",
            attributes.integer("HoldReasonCode") or 0,
            attributes.integer("HoldReasonSubCode") or 0,
        )
    if reason == ShadowExit.MISSED_DEFERRAL:
        return job_machine.Held(
            attributes.string("HoldReason") or "the job missed its deferred execution time",
            int(HoldReasonCode.MissedDeferredExecutionTime),
        )
    if reason == ShadowExit.SHOULD_REMOVE:
        return job_machine.Removed(attributes.string("RemoveReason") or "")
    return job_machine.Requeued()
