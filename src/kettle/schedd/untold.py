"""Whose submission no event log tells of: a schedd was killed when it had them in its queue only.

Pure. Events 000 are written in the order of the commits, once what they tell of is in the queue's
log: what a crash keeps from being written is the last of them. So a new schedd looks from the
newest job backwards, and seldom far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.records.unwritten_events import SCHEDD_EVENTS, SHADOW_EVENTS
from kettle.schedd.job_processes import noted_process
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.spooling import is_waiting_for_files

# Limit: after so many jobs in a row that logs tell of, or may tell of, no older one is looked at.
ENOUGH_TOLD = 1000
_NEVER_RUN = frozenset((JobStatus.IDLE, JobStatus.HELD, JobStatus.REMOVED))
# What a job has that began once, or of which an event waits that is not its first.
_BEGAN = ("NumShadowStarts", "NumJobStarts", "ClaimId")
_HAS_TOLD = (SCHEDD_EVENTS, SHADOW_EVENTS, "JobAbortEventLogged")


def untold(
    jobs: Iterable[Job],
    paths_of: Callable[[ClassAd], Sequence[str]],
    is_told: Callable[[Job, str], bool | None],
) -> list[tuple[Job, list[str]]]:
    """Return jobs whose submission logs do not tell, in the order of their commits, and the logs.

    `jobs` are a queue's, the newest first, and `paths_of` their logs. `is_told` looks whether a log
    tells of a job's submission; None if the log goes further back than that can be seen, which is
    taken for told unless the log tells of an older one.
    """
    settled: set[tuple[str, str]] = set()
    unseen: dict[tuple[str, str], list[Job]] = {}
    lacking: dict[JobId, list[str]] = {}
    quiet = 0
    looked = []
    for job in jobs:
        if quiet >= ENOUGH_TOLD:
            break
        if not _never_ran(job):
            continue
        looked.append(job)
        quiet += 1
        for path in paths_of(job.ad):
            log = job.user, path
            if log in settled:
                continue
            told = is_told(job, path)
            if told is None:
                unseen.setdefault(log, []).append(job)
                continue
            if told:
                settled.add(log)
                found = unseen.pop(log, [])
            else:
                found = [job]
            for each in found:
                lacking.setdefault(each.id, []).append(path)
                quiet = 0
    return [(job, lacking[job.id]) for job in reversed(looked) if job.id in lacking]


def _never_ran(job: Job) -> bool:
    ad = job.ad
    return (
        job.status in _NEVER_RUN
        and not any(name in ad for name in _HAS_TOLD)
        and not any(ad.integer(name) or ad.string(name) for name in _BEGAN)
        and noted_process(ad) is None
        and not is_waiting_for_files(ad)
    )
