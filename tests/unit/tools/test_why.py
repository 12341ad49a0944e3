"""`kettle why` chooses one sentence, and the sentence is the right one."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.matchmaking.explain import explain
from kettle.tools.front.why import decide_verdict, render_conditions


def job(requirements: str = "TARGET.Memory >= RequestMemory", **facts: object) -> ClassAd:
    ad = ClassAd({"ClusterId": 7, "ProcId": 0, "JobStatus": 1, "RequestMemory": 100, **facts})
    ad.insert_text("Requirements", requirements)
    return ad


def slot(start: str = "true", **facts: object) -> ClassAd:
    ad = ClassAd({"Name": "slot1@h", "Memory": 1000, "State": "Unclaimed", **facts})
    ad.insert_text("START", start)
    ad.insert_text("Requirements", "START")
    return ad


@pytest.mark.parametrize(
    ("ad", "slots", "said"),
    [
        (job(), [], "the pool has no slots"),
        (job(), [slot()], "1 of 1 slots would take it now"),
        (job(), [slot(State="Claimed", RemoteUser="a@b")], "are in use (1 busy)"),
        (job(RequestMemory=5000), [slot()], "no slot meets TARGET.Memory >= RequestMemory"),
        (job(Owner="x"), [slot(start='TARGET.Owner == "y"')], "no slot meets"),
        (job(JobStatus=5, HoldReason="because", HoldReasonCode=1), [], "It is held: because."),
        (job(JobStatus=2, RemoteHost="slot1@h", JobCurrentStartDate=90), [], "for 10 s now"),
    ],
)
def test_the_verdict_names_what_stands_in_the_way(
    ad: ClassAd, slots: list[ClassAd], said: str
) -> None:
    assert said in decide_verdict(ad, explain(ad, slots), 100.0)


def test_each_condition_is_counted() -> None:
    text = render_conditions(explain(job(RequestMemory=5000), [slot(), slot(Memory=9000)]))
    assert "1 of 2" in text
    assert "TARGET.Memory >= RequestMemory" in text
