"""How a running job is told to leave its machine, by who wants it and how far it is: a table.

Decides between the startd's words: DEACTIVATE_CLAIM gives the program its soft signal and the
seconds that machine and job agree on, DEACTIVATE_CLAIM_FORCIBLY kills it. The seconds are the
startd's (`startd/retirement.py`), the signal is the starter's (`starter/leave_machine.py`).
Sources: what a real pool does; daemon notes, GRACEFULLY_REMOVE_JOBS.
"""

from __future__ import annotations

from enum import IntEnum

from kettle.classad import ClassAd
from kettle.shadow.endings import Request, Wish

# What the job itself, else the pool, says something about: whether it may end by itself.
_AS_THE_JOB_WANTS = frozenset((Wish.REMOVE, Wish.HOLD, Wish.POLICY_REMOVE, Wish.POLICY_HOLD))
REMOVALS = frozenset((Wish.REMOVE, Wish.FORGET, Wish.POLICY_REMOVE))


class Leave(IntEnum):
    """What the startd is told; a later word counts if it is a greater one."""

    GENTLY = 1
    # Its output is sent as if it had ended by itself.
    WITH_OUTPUT = 2
    AT_ONCE = 3


def wants_grace(job: ClassAd, by_default: bool) -> bool:
    """Whether a job that is removed or held may end by itself.

    `by_default` is GRACEFULLY_REMOVE_JOBS, which counts where the job has no WantGracefulRemoval
    that is true or false.
    """
    wanted = job.boolean("WantGracefulRemoval")
    return by_default if wanted is None else wanted


def choose_leave(request: Request | None, *, grace: bool, program_ended: bool) -> Leave:
    """Return what the startd is told; without a request it is an error's end.

    `grace` is what `wants_grace` says. A program that has ended hears no signal, and nobody waits
    for the files of a removed job: they are broken off whatever seconds the job has. Of one that
    is held, or vacated, the work is done, and its files have the seconds to arrive in.
    """
    if request is None:
        return Leave.GENTLY
    if request.fast:
        return Leave.AT_ONCE
    if request.brings_output:
        return Leave.WITH_OUTPUT
    if request.wish in REMOVALS and program_ended:
        return Leave.AT_ONCE
    if request.wish in _AS_THE_JOB_WANTS and not grace:
        return Leave.AT_ONCE
    return Leave.GENTLY
