"""How long a slot may still run its job once somebody wants the slot back.

Arithmetic only. How much time is left is decided here; that it has run out is an event which
`service.py` delivers to `slot_machine.py` (manual, Expression Summary, MAXJOBRETIREMENTTIME
and MachineMaxVacateTime).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grants:
    """What machine and job say about leaving, in seconds; None where the job says nothing."""

    machine_retirement_seconds: float = 0
    job_retirement_seconds: float | None = None
    machine_vacate_seconds: float = 600
    job_vacate_seconds: float | None = None


def retirement_left(grants: Grants, ran_seconds: float) -> float:
    """Return the seconds the job may still run; zero or less means it has to go now.

    The job may only lower the grant (B124). Counted from the job's start without suspended
    time, not from the moment of preemption: a job that had its time gets none on top (B122).
    """
    allowed = grants.machine_retirement_seconds
    if grants.job_retirement_seconds is not None:
        allowed = min(allowed, grants.job_retirement_seconds)
    return allowed - ran_seconds


def vacate_seconds(grants: Grants, ran_seconds: float) -> float:
    """Return how long Vacating may last.

    A job that wants less gets less (B132); one that wants more gets more only as far as it
    has retirement left beyond the machine's limit (B133).
    """
    machine, job = grants.machine_vacate_seconds, grants.job_vacate_seconds
    if job is None:
        return max(0.0, machine)
    if job <= machine:
        return max(0.0, job)
    left = retirement_left(grants, ran_seconds)
    return min(job, left) if left > machine else machine


def seconds_until_soft_kill(grants: Grants, ran_seconds: float) -> float:
    """Return when Retiring ends: ahead of the limit by the vacate time (B126)."""
    left = retirement_left(grants, ran_seconds)
    return left - vacate_seconds(grants, ran_seconds) if left > 0 else left
