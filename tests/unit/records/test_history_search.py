"""What a query for history ads means."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import RefusedError
from kettle.records import history_query
from kettle.records.history import HistoryRecord
from kettle.wire.codec import Reader


@pytest.mark.parametrize(
    ("since", "ends_at"),
    [("4", {"4.0", "4.1"}), ("4.1", {"4.1"}), ('"4.1"', {"4.1"}), ("ProcId == 0", {"4.0", "5.0"})],
)
def test_a_job_id_ends_a_search_whether_it_comes_as_a_number_or_as_a_text(
    since: str, ends_at: set[str]
) -> None:
    ad = ClassAd()
    ad.insert_text("Since", since)
    query = history_query.parse(ad)
    assert query.since is not None
    jobs = [
        ClassAd({"ClusterId": cluster, "ProcId": proc}) for cluster in (4, 5) for proc in (0, 1)
    ]
    found = {
        f"{job.integer('ClusterId')}.{job.integer('ProcId')}"
        for job in jobs
        if job.satisfies(query.since)
    }
    assert found == ends_at


@pytest.mark.parametrize("since", ["true", "false", "undefined", "error"])
def test_what_is_true_of_every_record_or_of_none_ends_no_search(since: str) -> None:
    # HTCondor's schedd answers it with an error, too.
    ad = ClassAd()
    ad.insert_text("Since", since)
    with pytest.raises(RefusedError, match=f"invalid Since constraint: {since}"):
        history_query.parse(ad)


@pytest.mark.parametrize(
    ("source", "names", "kinds"),
    [
        ("", "", ""),
        ("JOB_EPOCH", "", "EPOCH"),
        ("JOB_EPOCH", "spawn", "SPAWN"),
        ("JOB_EPOCH", "starter,transfer", "STARTER INPUT OUTPUT CHECKPOINT"),
        ("JOB_EPOCH", "all,starter", ""),
    ],
)
def test_kinds_of_records_are_named_one_by_one_or_together(
    source: str, names: str, kinds: str
) -> None:
    ad = ClassAd({"HistoryRecordSource": source, "HistoryAdTypeFilter": names})
    assert history_query.parse(ad).kinds == set(kinds.split())


def test_what_a_projection_names_brings_along_what_it_refers_to() -> None:
    lines = ("Parts = { PartA,partb }", 'PartA = "a"', "PartB = Base + 1", "Base = 5", "Other = 1")
    record = HistoryRecord(lines, "JOB", {})
    query = history_query.parse(ClassAd({"Projection": "Parts,Absent", "StreamResults": False}))
    answer = b"".join(body for body, _ in history_query.parts([record], query, False))
    ad = Reader(answer).ad()
    assert {name.lower() for name in ad} == {"parts", "parta", "partb", "base"}
    assert ad.evaluate("PartB") == 6
