"""Groups of jobs, and the counts at the end of an answer."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.schedd.queue import queries
from kettle.schedd.queue.job_queue import Job
from unit.schedd.queue_fixture import ALICE, NOW, Schedd


@pytest.fixture
def schedd() -> Schedd:
    found = Schedd()
    found.submit(2, JobUniverse="7", Cmd='"/bin/dag"')
    found.submit(4, Cmd='"/bin/b"')
    found.submit(1, JobUniverse="12", Cmd='"/bin/a"')
    return found


def query(**wanted: object) -> queries.Query:
    ad = ClassAd(
        {"ProjectionIsGroupBy": True, "Projection": "Cmd", "MaxReturnedJobIds": 2, **wanted}
    )
    return queries.parse(ad, ALICE, only_my_jobs=False)


def groups(schedd: Schedd, asked: queries.Query) -> list[tuple[str | None, str | None]]:
    def signature(_: Job) -> tuple[int, tuple[str, ...]]:
        raise AssertionError

    found = queries.aggregate(schedd.queue, asked, signature)
    return [(ad.string("Cmd"), ad.string("JobIds")) for ad in found]


def test_groups_come_by_their_values_with_their_first_and_last_jobs(schedd: Schedd) -> None:
    assert groups(schedd, query()) == [
        ("/bin/a", "3.0"),
        ("/bin/b", "2.0 ... 2.3"),
        ("/bin/dag", "1.0 1.1"),
    ]


def test_as_many_ids_are_told_as_are_wanted_and_the_last(schedd: Schedd) -> None:
    found = groups(schedd, query(MaxReturnedJobIds=3))
    assert found[1] == ("/bin/b", "2.0 2.1 ... 2.3")


def test_a_limit_is_one_of_groups(schedd: Schedd) -> None:
    assert groups(schedd, query(LimitResults=1)) == [("/bin/a", "3.0")]


def test_a_constraint_is_asked_of_the_group(schedd: Schedd) -> None:
    ad = ClassAd({"ProjectionIsGroupBy": True, "Projection": "Cmd"})
    ad.insert_text("Requirements", 'Cmd == "/bin/a"')
    assert len(groups(schedd, queries.parse(ad, ALICE, only_my_jobs=False))) == 1
    # What is not in the projection is not in the group.
    ad.insert_text("Requirements", "JobStatus == 1")
    assert groups(schedd, queries.parse(ad, ALICE, only_my_jobs=False)) == []


def test_jobs_of_the_scheduler_universe_are_counted_apart(schedd: Schedd) -> None:
    asked = query()
    found = queries.count(schedd.queue.jobs.values())
    ad = queries.summary(schedd.queue, asked, found, NOW)
    for prefix in ("", "Allusers"):
        assert ad.integer(f"{prefix}Jobs") == 5
        assert ad.integer(f"{prefix}Idle") == 5
        assert ad.integer(f"{prefix}SchedulerJobs") == 2
        assert ad.integer(f"{prefix}SchedulerIdle") == 2
