"""What a schedd asks for, and how a negotiator reads it."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.matchmaking.requests import (
    build_request,
    concurrency_limits,
    parse_request,
)


def test_a_request_carries_identity_significant_attributes_and_count() -> None:
    job = ClassAd(
        {"ClusterId": 7, "ProcId": 3, "Owner": "u", "GlobalJobId": "g", "Iwd": "/x", "Foo": 1}
    )
    job.insert_text("Requirements", "TARGET.Foo > Foo")
    ad = build_request(job, ["Foo"], autocluster_id=4, count=12)
    assert ad.integer("_condor_RESOURCE_COUNT") == 12
    assert ad.text("Requirements") == "TARGET.Foo > Foo"
    assert ad.integer("Foo") == 1
    assert "Iwd" not in ad
    parsed = parse_request(ad, submitter="u@d", schedd="<s>")
    assert (parsed.cluster, parsed.proc, parsed.autocluster_id, parsed.left) == (7, 3, 4, 12)
    assert parsed.wants_diagnostics


def test_what_the_negotiator_says_of_a_submitter_is_neither_sent_nor_taken() -> None:
    own = {"SubmitterGroup": "group_a", "SubmittorPrio": 0.1, "submitteruserprio": 0.1}
    job = ClassAd({"ClusterId": 7, "ProcId": 3, "SubmitterNote": "mine", **own})
    ad = build_request(job, [*own, "SubmitterNote"], autocluster_id=4, count=1)
    assert not any(name in ad for name in own)
    assert ad.string("SubmitterNote") == "mine"
    parsed = parse_request(job, submitter="u@d", schedd="<s>")
    assert not any(name in parsed.ad for name in own)
    assert parsed.ad.string("SubmitterNote") == "mine"


def test_a_job_ad_of_an_old_schedd_is_a_request_for_one() -> None:
    parsed = parse_request(ClassAd({"ClusterId": 7, "ProcId": 3}), submitter="u", schedd="s")
    assert parsed.left == 1
    assert parsed.group == ("s", 7, 3)


def test_a_nonsense_count_is_bounded() -> None:
    ad = ClassAd({"_condor_RESOURCE_COUNT": -5})
    assert parse_request(ad, submitter="u", schedd="s").left == 1
    ad = ClassAd({"_condor_RESOURCE_COUNT": 2**60})
    assert parse_request(ad, submitter="u", schedd="s").left == 10_000_000


def test_concurrency_limits_are_names_with_amounts() -> None:
    found = list(concurrency_limits("A, b:2.5 ,c:x,,d:-1"))
    assert found == [("a", 1.0), ("b", 2.5), ("c", 1.0), ("d", 1.0)]
    assert list(concurrency_limits("")) == []
