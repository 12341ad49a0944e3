"""What the start of a run changes in a job's ad."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.schedd.job_runs import claim_attributes, start_attributes


def test_where_a_match_says_nothing_of_pool_and_group_neither_does_the_job() -> None:
    job = ClassAd({"RemotePool": "cm.of.its.own", "RemoteNegotiatingGroup": "group_rich"})
    silent = claim_attributes("<s>#1#1#key", "<s:1>", ClassAd({"Name": "slot1@vm"}))
    changes = start_attributes(job, silent, 5)
    assert changes["RemotePool"] is None
    assert changes["RemoteNegotiatingGroup"] is None
    said = claim_attributes("<s>#1#1#key", "<s:1>", ClassAd({"RemotePool": "cm"}))
    assert start_attributes(job, said, 5)["RemotePool"] == '"cm"'
    assert "RemotePool" not in start_attributes(ClassAd(), silent, 5)


def test_what_the_negotiator_put_into_a_slot_stays_with_the_job() -> None:
    slot = ClassAd({"Name": "slot1@vm", "NegotiatorMatchExprSite": "here", "Negotiator": 1})
    slot.insert_text("NegotiatorMatchExprRoom", "Cpus > 1")
    said = claim_attributes("<s>#1#1#key", "<s:1>", slot)
    found = {name: text for name, text in said.items() if name.startswith("MATCH_EXP_")}
    assert found == {
        "MATCH_EXP_NegotiatorMatchExprSite": '"here"',
        "MATCH_EXP_NegotiatorMatchExprRoom": "Cpus > 1",
    }


def test_a_run_says_when_the_one_before_it_began() -> None:
    assert "JobLastStartDate" not in start_attributes(ClassAd(), {}, 5)
    assert start_attributes(ClassAd({"JobCurrentStartDate": 3}), {}, 5)["JobLastStartDate"] == "3"


def test_a_job_names_whom_its_claim_takes_the_startd_for() -> None:
    said = claim_attributes("<s>#1#1#key", "<10.0.0.7:96?alias=vm>", ClassAd())
    assert said["StartdPrincipal"] == '"execute-side@matchsession/10.0.0.7"'


def test_a_run_begins_without_an_attempt_to_find_it_again() -> None:
    # As in every record of a real schedd.
    changes = start_attributes(ClassAd({"JobCurrentReconnectAttempt": 3}), {}, 1000)
    assert changes["JobCurrentReconnectAttempt"] == "undefined"
