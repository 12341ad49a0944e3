"""A job's lease: how long it may run while its starter and its shadow do not hear of each other.

It keeps a job from running twice: the starter ends the job when the lease is over, and only then
does the access point start it anew. So there is one reading of it, and for a whole run one number:
the schedd works it out as the run begins and notes it in the job's ad (`RUN_LEASE`), the shadow
tells the starter that number, and a shadow that takes the run over goes by it, whatever became of
JobLeaseDuration meanwhile (an expression that changes by itself, `condor_qedit`).

A job without a lease is one whose JobLeaseDuration is missing, no number, 0 or less. Its starter
ends it as soon as its shadow is gone. That may go unnoticed where the network is cut, so there,
too, silence has an end (`UNLEASED_SECONDS`), which both sides keep to.
Compat: the reference starts such a job anew at once
(test_a_restart_looks_for_a_run_without_a_lease_too).
Source: manual, Special Environment Considerations, Job Leases.
"""

from __future__ import annotations

from kettle.classad import ClassAd

RUN_LEASE = "KettleRunLease"
"""The lease of the run that a job has now, in seconds; 0 for none."""

# As the lease of a claim: six missed alives of 300 s (S012).
UNLEASED_SECONDS = 1800


# The shortest that condor_submit lets pass. Limit: a run gets none that is shorter, however its job
# came by it (`+JobLeaseDuration`, `condor_qedit`): where starter and startd died, what hides there
# is ended by the next startd, and that takes a moment.
SHORTEST_SECONDS = 20


def lease_of(job: ClassAd) -> int | None:
    """Return the lease in seconds that a job's ad names; None for none."""
    seconds = job.integer("JobLeaseDuration")
    return seconds if seconds is not None and seconds > 0 else None


def lease_to_begin_with(job: ClassAd) -> int | None:
    """Return the lease in seconds that the next run of a job gets; None for none."""
    seconds = lease_of(job)
    return None if seconds is None else max(SHORTEST_SECONDS, seconds)


def lease_of_run(job: ClassAd) -> int | None:
    """Return the lease in seconds of the run that a job has now; None for none."""
    noted = job.integer(RUN_LEASE)
    if noted is None:
        # A schedd of another kind, or of an earlier version, began it.
        return lease_of(job)
    return noted if noted > 0 else None


def longest_silence(lease: int | None) -> int:
    """Return for how many seconds nothing may be heard before a run counts as over."""
    return UNLEASED_SECONDS if lease is None else lease
