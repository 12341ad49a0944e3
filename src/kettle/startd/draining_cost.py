"""What draining a machine now would cost, and when it would be done.

Arithmetic only: condor_defrag's DEFRAG_RANK looks at it in the ads of slots. Work that is thrown
away counts in core seconds, with the time that the job has to leave.
"""

from __future__ import annotations

from collections.abc import Iterable

from kettle.named_tuples import NamedTuple
from kettle.startd.retirement import Grants, retirement_left, vacate_seconds

# More seconds than any; a peaceful shutdown lets jobs run without end.
FOREVER = 2**31 - 1


class RunningJob(NamedTuple):
    """A job on a slot: its cores, how long it has run, and what it is granted for leaving."""

    cores: float
    ran_seconds: float
    grants: Grants


class Expected(NamedTuple):
    """Core seconds lost, and when the machine would be empty; moments of the startd's clock."""

    graceful_badput: float = 0.0
    quick_badput: float = 0.0
    graceful_at: float | None = None
    quick_at: float | None = None


def expect(running: Iterable[RunningJob], before: Expected, now: float) -> Expected:
    """Return what draining now costs; `before` is what was expected last.

    A machine without jobs is done already: since when stays what it was.
    """
    graceful_badput = quick_badput = longest_graceful = longest_quick = 0.0
    is_empty = True
    for job in running:
        is_empty = False
        quick = vacate_seconds(job.grants, job.ran_seconds)
        # Retirement ends ahead of its limit, by the time to vacate.
        graceful = max(quick, retirement_left(job.grants, job.ran_seconds))
        quick_badput += job.cores * (job.ran_seconds + quick)
        graceful_badput += job.cores * (job.ran_seconds + graceful)
        longest_quick, longest_graceful = max(longest_quick, quick), max(longest_graceful, graceful)
    if is_empty:
        return Expected(
            0.0, 0.0, _no_later(before.graceful_at, now), _no_later(before.quick_at, now)
        )
    return Expected(
        min(graceful_badput, FOREVER),
        min(quick_badput, FOREVER),
        now + min(longest_graceful, FOREVER),
        now + min(longest_quick, FOREVER),
    )


def _no_later(moment: float | None, now: float) -> float:
    return now if moment is None else min(moment, now)
