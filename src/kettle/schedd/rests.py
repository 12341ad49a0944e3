"""How long a job waits whose runs fail, before it may run again.

Pure. A machine whose starter dies of every job, or a job that kills its starter, would otherwise
be started again at once and for ever, many times a second.

Compat: in the reference the next negotiation, seconds away, is all that slows such a job down;
here a freed slot is matched at once (test_rests).
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.codes import VACATE_BASE, VacateReasonCode
from kettle.classad import ClassAd
from kettle.classad.text import read_count
from kettle.policy.attribute_protection import RESTS_UNTIL
from kettle.schedd.queue.job_ids import JobId

# The wish of a user, of a policy, or of a machine's owner; every other reason is a fault, also one
# that nobody has heard of: a starter may name any.
_WISHES = frozenset(
    int(code)
    for code in (
        VacateReasonCode.JobPolicyVacate,
        VacateReasonCode.SystemPolicyVacate,
        VacateReasonCode.UserVacateJob,
        VacateReasonCode.ClaimDeactivated,
        VacateReasonCode.StartdVacateCommand,
        VacateReasonCode.StartdPreemptExpression,
        VacateReasonCode.StartdShutdown,
        VacateReasonCode.StartdDraining,
        VacateReasonCode.StartdCoalesce,
        VacateReasonCode.StartdHibernate,
        VacateReasonCode.StartdReleaseCommand,
        VacateReasonCode.StartdPreemptingClaimRank,
        VacateReasonCode.StartdPreemptingClaimUserPrio,
        VacateReasonCode.ScheddVacate,
        VacateReasonCode.JobRemoved,
        VacateReasonCode.SuccessfulCheckpoint,
        VacateReasonCode.StartdRehoming,
    )
)
# So many failed runs in a row may be the machine's bad day.
_FREE = 2
LONGEST_SECONDS = 64
# A run as long as that has got on, however it ended.
_LONG_RUN_SECONDS = 300


def note_rest(ad: ClassAd, until: int) -> None:
    """Say in a job's ad until when it rests, for `kettle why`; the queue's log is told nothing."""
    ad[RESTS_UNTIL] = until


def forget_rest(ad: ClassAd) -> None:
    """Take that back: before the job goes into the history, or a later log, with it."""
    ad.discard(RESTS_UNTIL)


class Rests:
    """The failed runs in a row of each job that had any."""

    def __init__(self) -> None:
        self._failed: dict[JobId, int] = {}

    def after_run(self, job: JobId, report: Mapping[str, str], ran_seconds: float) -> int:
        """Return how many seconds a job waits after a run; 0 for nearly all of them.

        `report` is what its shadow said at the end, as the queue's texts.
        """
        if not _is_fault(report):
            self._failed.pop(job, None)
            return 0
        count = 1 if ran_seconds >= _LONG_RUN_SECONDS else self._failed.get(job, 0) + 1
        self._failed[job] = count
        return min(2 ** (count - _FREE), LONGEST_SECONDS) if count > _FREE else 0

    def forget(self, job: JobId) -> None:
        """Forget a job that has left."""
        self._failed.pop(job, None)


def _is_fault(report: Mapping[str, str]) -> bool:
    code = _read(report.get("VacateReasonCode", ""))
    if code is None or code >= VACATE_BASE:
        return code is not None and code not in _WISHES
    if code < 0:
        return True
    # A transfer that failed has the code of a hold, and a subcode that spares the job from it.
    return code > 0 and (_read(report.get("VacateReasonSubCode", "")) or 0) <= -VACATE_BASE


def _read(text: str) -> int | None:
    number = read_count(text.removeprefix("-"))
    return -number if number is not None and text.startswith("-") else number
