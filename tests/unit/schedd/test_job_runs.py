"""What the start of a run changes in a job's ad."""

from __future__ import annotations

from kettle.classad import ClassAd
from kettle.schedd.job_runs import claim_attributes, start_attributes


def test_where_a_match_says_nothing_of_pool_and_group_neither_does_the_job() -> None:
    job = ClassAd({"RemotePool": "cm.of.its.own", "RemoteNegotiatingGroup": "group_rich"})
    silent = claim_attributes("<s>#1#1#key", "<s>", ClassAd({"Name": "slot1@vm"}))
    changes = start_attributes(job, silent, 5)
    assert changes["RemotePool"] is None
    assert changes["RemoteNegotiatingGroup"] is None
    said = claim_attributes("<s>#1#1#key", "<s>", ClassAd({"RemotePool": "cm"}))
    assert start_attributes(job, said, 5)["RemotePool"] == '"cm"'
    assert "RemotePool" not in start_attributes(ClassAd(), silent, 5)
