"""What a claim is requested with: the job, and of the match only what the negotiator said."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.schedd.claims import Claim
from kettle.schedd.queue.job_ids import JobId
from kettle.schedd.services.claims import claim_request
from kettle.startd.requests import read_holder, with_limits

FORGED = {
    "RemoteGroup": "group_b",
    "RemoteNegotiatingGroup": "group_b",
    "RemoteAutoregroup": True,
    "MatchedConcurrencyLimits": "matlab:100",
    "ConcurrencyLimits": "matlab:100",
    "WorkingCM": "elsewhere",
    "ScheddName": "another",
    "_condor_NUM_DYNAMIC_SLOTS": 50,
    "_condor_CLAIM_PARTITIONABLE_SLOT": True,
}


def request(matched: dict[str, object], **more: object) -> ClassAd:
    """Return the request for a job that was matched so."""
    job = ClassAd({"User": "eve@vm", "Owner": "eve", "RequestCpus": 2, **more})
    slot = ClassAd(matched)
    claim = Claim("<s>#1#1#key", "<s>", slot, "eve@vm", 1, JobId(1, 0), 0.0, "eve@vm")
    return claim_request(job, claim, "schedd@vm")


def test_where_the_match_is_silent_a_jobs_own_word_of_it_does_not_count() -> None:
    ad = request({}, **FORGED)
    assert ad.string("RemoteGroup") is None
    assert ad.string("RemoteNegotiatingGroup") == "<none>"
    assert ad.boolean("RemoteAutoregroup") is False
    assert ad.string("MatchedConcurrencyLimits") is None
    assert ad.string("ConcurrencyLimits") is None
    assert ad.string("WorkingCM") is None
    assert ad.string("ScheddName") == "schedd@vm"
    assert ad.integer("_condor_NUM_DYNAMIC_SLOTS") == 1
    assert ad.boolean("_condor_CLAIM_PARTITIONABLE_SLOT") is False
    holder = read_holder(ad, schedd_address="", client_machine="", alive_seconds=1)
    holder = with_limits(holder, ClassAd(), ad)
    assert (holder.group, holder.negotiating_group, holder.limits) == ("", "<none>", "")
    assert ad.integer("RequestCpus") == 2


def test_what_the_match_says_is_told() -> None:
    said = {"RemoteGroup": "group_a", "RemoteNegotiatingGroup": "group_a"}
    ad = request(said, **FORGED)
    assert ad.string("RemoteGroup") == "group_a"
    assert ad.string("RemoteNegotiatingGroup") == "group_a"


def test_a_claim_is_requested_with_the_limits_of_the_match() -> None:
    ad = request({"MatchedConcurrencyLimits": "lic:2"}, **FORGED)
    assert ad.string("ConcurrencyLimits") == "lic:2"


def test_a_job_without_such_words_is_told_as_it_is() -> None:
    ad = request({})
    assert "ConcurrencyLimits" not in ad
    assert "RemoteGroup" not in ad
    assert "WorkingCM" not in ad


def test_a_startd_counts_what_the_requests_limits_are_on_the_slot_alone() -> None:
    """As a schedd of the reference asks, which says nothing of the limits that were matched."""
    ad = ClassAd({"User": "eve@vm", "MatchedConcurrencyLimits": "matlab:100"})
    ad.insert_text("ConcurrencyLimits", 'ifThenElse(TARGET.Cpus > 1, "many", "one")')
    holder = read_holder(ad, schedd_address="", client_machine="", alive_seconds=1)
    assert holder.limits == ""
    assert with_limits(holder, ClassAd({"Cpus": 4}), ad).limits == "many"


def test_a_startd_sees_what_the_negotiator_put_into_its_slot() -> None:
    ad = request({"NegotiatorMatchExprSite": "here"}, NegotiatorMatchExprSite="there")
    assert ad.string("NegotiatorMatchExprSite") == "here"
