"""`kettle why` of a job that its cluster has not made yet."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.tools.front.unmade import describe_later

BEGINNING = (
    "It has not been made yet: cluster 7 makes its jobs as there is room for them. "
    "6 of 20 are made, 14 are still to come. "
)


def cluster(**facts: object) -> ClassAd:
    numbers = {"ClusterId": 7, "JobMaterializeNextProcId": 6, "TotalSubmitProcs": 20}
    return ClassAd({**numbers, "JobMaterializeDigestFile": "/d", **facts})


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            {"JobMaterializeLimit": 4, "JobMaterializeMaxIdle": 1},
            (
                "At most 4 in the queue (max_materialize) and 1 idle (max_idle) may be there at a "
                "time."
            ),
        ),
        (
            {"JobMaterializeLimit": 20, "JobMaterializeMaxIdle": 1},
            "At most 1 idle (max_idle) may be there at a time.",
        ),
        (
            {"JobMaterializePaused": 1, "JobMaterializePauseReason": "via condor_hold (by u)."},
            "It makes none while it is held: via condor_hold (by u). Then: condor_release 7",
        ),
        ({"JobMaterializePaused": -1}, "It makes no more; SchedLog says why."),
        ({"JobMaterializePaused": 2, "JobMaterializePauseReason": "x"}, "It makes no more: x."),
        ({}, "Nothing limits them but how fast they are made."),
    ],
)
def test_what_keeps_the_cluster_is_told(facts: dict[str, object], said: str) -> None:
    assert describe_later(cluster(**facts), 9) == BEGINNING + said
    assert describe_later(cluster(**facts), None) == BEGINNING + said


def test_what_was_made_before_and_what_never_will_be_is_not_waited_for() -> None:
    assert describe_later(cluster(), 5) == ""
    assert describe_later(cluster(), 20) == ""
    assert describe_later(cluster(JobMaterializeNextProcId=20), None) == ""


def test_a_cluster_that_does_not_know_its_size_says_so() -> None:
    ad = cluster()
    ad.discard("TotalSubmitProcs")
    assert "6 are made, and how many are to come is not known yet. " in describe_later(ad, 99)
