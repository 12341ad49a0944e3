"""`kettle why` of a job that its cluster has not made yet."""

from __future__ import annotations

import argparse
import io
import json
from typing import Any

import pytest

from kettle.classad import ClassAd
from kettle.errors import NotFoundError
from kettle.tools.front import why
from kettle.tools.front.unmade import describe_later
from kettle.tools.programs import Streams

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


def test_there_is_no_explanation_of_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_none(*_: object) -> Any:
        raise NotFoundError("there is none")

    monkeypatch.setattr(why.place, "reach_queue", lambda *_: None)
    monkeypatch.setattr(why, "find_job", find_none)
    monkeypatch.setattr(why, "describe_unmade", lambda *_: describe_later(cluster(), 9))
    for as_json in (True, False):
        out = io.StringIO()
        asked = argparse.Namespace(job="7.9", dir=None, json=as_json)
        assert why.run(asked, {}, Streams(io.StringIO(), out, io.StringIO())) == 0
        if as_json:
            said = json.loads(out.getvalue())
            assert (said["job"], said["explanation"]) == ("7.9", None)
        else:
            assert out.getvalue().startswith("Job 7.9: It has not been made yet")
