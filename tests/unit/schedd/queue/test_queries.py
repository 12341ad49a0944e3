"""Groups of jobs, and the counts at the end of an answer."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.schedd.queue import queries
from kettle.schedd.queue.jobs import Job
from kettle.schedd.queue.query_answers import Answer
from kettle.wire.codec import Reader
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


def ids_of(schedd: Schedd, **wanted: object) -> list[tuple[int | None, int | None]]:
    asked = queries.parse(ClassAd(wanted), ALICE, only_my_jobs=False)
    answer = Answer(schedd.queue, asked, NOW, lambda _: (0, ()))
    *ads, _end = (Reader(body).ad() for body, _ in answer.parts(False) if body)
    return [(ad.integer("ClusterId"), ad.integer("ProcId")) for ad in ads]


def test_the_ads_of_clusters_count_where_a_limit_is_set(schedd: Schedd) -> None:
    jobs = [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3), (3, 0)]
    all_of = [(1, None), *jobs[:2], (2, None), *jobs[2:6], (3, None), jobs[6]]
    assert ids_of(schedd, IncludeClusterAd=True) == all_of
    for limit in range(len(all_of) + 2):
        assert ids_of(schedd, IncludeClusterAd=True, LimitResults=limit) == all_of[:limit]
    assert ids_of(schedd, LimitResults=3) == jobs[:3]


@pytest.mark.parametrize("text", ["error", "ERROR", "1/0", '"a"', "undefined"])
def test_a_constraint_that_is_never_true_finds_nothing(schedd: Schedd, text: str) -> None:
    ad = ClassAd()
    ad.insert_text("Requirements", text)
    asked = queries.parse(ad, ALICE, only_my_jobs=False)
    assert list(queries.matching(schedd.queue, asked)) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [("", None), (" ", None), ("1+1", ()), ("A, b-c", ("A",)), ("A\nB", ("A", "B"))],
)
def test_a_projection_without_a_name_shows_nothing(
    text: str, names: tuple[str, ...] | None
) -> None:
    asked = queries.parse(ClassAd({"Projection": text}), ALICE, only_my_jobs=False)
    assert asked.projection == names
