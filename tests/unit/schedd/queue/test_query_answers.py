"""Job ads encoded for an answer are what each is encoded by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.queue.query_answers import JobBodies
from kettle.wire.codec import Reader, Writer, expand_projection

NAMES = ["Args", "ProcId", "procid", "JobStatus", "Cmd", "Rank", "ClaimId", "É", "Odd Name"]
TEXTS = ["1", "-3", "2.5", '"plain"', '"with \\"quotes\\""', "JobStatus + 1", "undefined", "{ 1 }"]
ADS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), max_size=6)


def job_of(cluster: int, own: dict[str, str], parent: ClassAd) -> Any:
    ad = ClassAd(parent=parent)
    for name, text in own.items():
        ad.insert_text(name, text)
    return SimpleNamespace(id=JobId(cluster, 0), ad=ad)


def test_names_are_spelled_as_they_were_asked_for() -> None:
    job = job_of(1, {"ProcId": "0", "Cmd": "Args"}, ad := ClassAd({"FooBar": 1, "Owner": "ann"}))
    asked = ("PROCID", "FOObar", "procid")
    body = JobBodies(asked, None, encrypted=False).of(job)
    assert sorted(Reader(body, False).ad().names()) == ["FOObar", "PROCID"]
    ad.insert_text("FooBar", "Owner")
    body = JobBodies(asked, None, encrypted=False).of(job)
    assert sorted(Reader(body, False).ad().names()) == ["FOObar", "Owner", "PROCID"]


def lines(body: bytes, *, encrypted: bool) -> list[str]:
    return sorted(Reader(body, encrypted).ad().lines())


@example([({"ClaimId": "JobStatus + 1", "JobStatus": "1"}, [{}])], ["ClaimId"], False)
@example([({}, [{"ClaimId": "JobStatus + 1", "JobStatus": "1"}])], ["ClaimId"], False)
@example([({}, [{"ProcId": "1"}, {"procid": "1"}])], None, False)
@given(
    st.lists(st.tuples(ADS, st.lists(ADS, max_size=4)), max_size=3),
    st.none() | st.lists(st.sampled_from([*NAMES, "Missing"]), min_size=1, max_size=4),
    st.booleans(),
)
def test_an_answer_says_what_each_ad_says(
    clusters: list[tuple[dict[str, str], list[dict[str, str]]]],
    projection: list[str] | None,
    encrypted: bool,
) -> None:
    wanted = None if projection is None else tuple(projection)
    bodies = JobBodies(wanted, 7, encrypted=encrypted)
    for number, (shared, jobs) in enumerate(clusters):
        parent = ClassAd()
        for name, text in shared.items():
            parent.insert_text(name, text)
        for own in jobs:
            job = job_of(number, own, parent)
            shown = None if wanted is None else expand_projection(job.ad, wanted)
            alone = Writer(encrypted).ad(job.ad, server_time=7, projection=shown).getvalue()
            assert lines(bodies.of(job), encrypted=encrypted) == lines(alone, encrypted=encrypted)
