"""When what jobs left is ended without a startd: the judgement of the process that stays behind.

It is held against the shortest lease (`policy/lease.py`): whoever could start the job elsewhere
waits for so long, and everything is over before.
"""

from __future__ import annotations

from enum import Enum

# For so long a next startd may still come, which does the same and takes the sandboxes away too.
GRACE_SECONDS = 2.0
# A starter whose startd is gone ends its job and tells the shadow; this is long for that.
STARTER_SECONDS = 8.0


class Verdict(Enum):
    """What is to be done now."""

    WAIT = 1
    END = 2
    LEAVE = 3


def is_needed(*, root: bool, own_pids: bool, namespaces: bool) -> bool:
    """Whether anything of a job can outlive its starter.

    Nothing does where the kernel ends each job's PID namespace: root asks for one (`own_pids`),
    and the kernel grants it (`namespaces`).
    """
    return not (root and own_pids and namespaces)


def judge(seconds: float, *, starters: bool, same_folder: bool) -> Verdict:
    """Judge, so long after the startd's death, by whether starters of it are still at work.

    An execute folder that is not the one it was has jobs that are none of ours.
    """
    if not same_folder:
        return Verdict.LEAVE
    if seconds < GRACE_SECONDS or (starters and seconds < STARTER_SECONDS):
        return Verdict.WAIT
    return Verdict.END


def pause_after(deaths: int) -> float:
    """Return after how many seconds one that was killed so often is started again."""
    return float(min(60, 2 ** min(deaths - 1, 6)))
