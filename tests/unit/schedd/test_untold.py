"""Submissions that no log tells of are found from the newest job backwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.jobs import Job
from kettle.schedd.untold import ENOUGH_TOLD, untold


def job(cluster: int, *, owner: str = "alice", status: int = 1, **attributes: object) -> Job:
    ad = ClassAd({"ClusterId": cluster, "ProcId": 0, "UserLog": "log", **attributes})
    return Job(JobId(cluster, 0), ad, status=status, owner=owner, user=f"{owner}@here")


def logs(ad: ClassAd) -> Sequence[str]:
    return (ad.string("UserLog") or "").split()


def found(
    jobs: Iterable[Job], told: Iterable[int], unseen: Iterable[int] = ()
) -> list[tuple[int, list[str]]]:
    """Return of which clusters which logs do not tell."""
    seen, hidden = set(told), set(unseen)

    def is_told(job: Job, path: str) -> bool | None:
        return None if job.id.cluster in hidden else job.id.cluster in seen

    return [(each.id.cluster, paths) for each, paths in untold(jobs, logs, is_told)]


def test_the_newest_jobs_are_found_in_the_order_of_their_commits() -> None:
    assert found(map(job, (4, 3, 2, 1)), told=(1, 2)) == [(3, ["log"]), (4, ["log"])]


def test_what_a_log_says_of_one_job_it_says_of_all_older_ones() -> None:
    assert found(map(job, (3, 2, 1)), told=(2,)) == [(3, ["log"])]


def test_each_log_of_a_job_is_looked_at() -> None:
    def only_the_first(_: Job, path: str) -> bool:
        return path == "own"

    of_two = job(1, UserLog="own dag")
    assert untold([of_two], logs, only_the_first) == [(of_two, ["dag"])]


def test_logs_of_two_owners_with_one_name_are_two() -> None:
    jobs = [job(3, owner="bob"), job(2), job(1, owner="bob")]
    assert found(jobs, told=(3,)) == [(2, ["log"])]


def test_a_log_whose_beginning_is_not_seen_is_believed_unless_it_tells_of_an_older_job() -> None:
    jobs = [job(3), job(2), job(1)]
    assert found(jobs, told=(), unseen=(1, 2, 3)) == []
    assert found(jobs, told=(1,), unseen=(2, 3)) == [(2, ["log"]), (3, ["log"])]


@pytest.mark.parametrize(
    "attributes",
    [
        {"status": JobStatus.RUNNING},
        {"status": JobStatus.COMPLETED},
        {"NumShadowStarts": 1},
        {"NumJobStarts": 2},
        {"ClaimId": "<127.0.0.1:1>#1#1#..."},
        {"KettleScheddEvents": "something waits"},
        {"status": JobStatus.REMOVED, "JobAbortEventLogged": True},
        {"status": JobStatus.HELD, "JobStatus": 5, "HoldReasonCode": 16},
        {"UserLog": ""},
    ],
)
def test_a_job_that_began_or_waits_for_its_files_or_has_no_log_is_not_asked_for(
    attributes: dict[str, object],
) -> None:
    assert found([job(1, **attributes)], told=()) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("status", [JobStatus.IDLE, JobStatus.HELD, JobStatus.REMOVED])
def test_a_job_that_was_held_or_removed_meanwhile_came_first(status: JobStatus) -> None:
    assert found([job(1, status=status, NumJobStarts=0)], told=()) == [(1, ["log"])]


def test_of_a_long_queue_only_the_end_is_looked_at() -> None:
    asked = []

    def is_told(job: Job, path: str) -> bool:
        asked.append(path)
        return job.id.cluster != 1

    queue = [job(number, UserLog=f"log{number}") for number in range(3 * ENOUGH_TOLD, 0, -1)]
    assert untold(queue, logs, is_told) == []
    assert len(asked) == ENOUGH_TOLD
