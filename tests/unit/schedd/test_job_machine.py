"""JobStatus: every way from one status to another, and what is written on the way."""

from __future__ import annotations

import pytest

from kettle.attributes.codes import HoldReasonCode, JobStatus
from kettle.classad import ClassAd
from kettle.errors import ImpossibleTransition
from kettle.schedd.job_machine import (
    TRANSITIONS,
    Attributes,
    Completed,
    Continued,
    Event,
    Held,
    OutputStarted,
    Released,
    Removed,
    Requeued,
    Started,
    Suspended,
    may,
    step,
)

NOW = 5000
S = JobStatus
ON_A_MACHINE = (S.RUNNING, S.TRANSFERRING_OUTPUT, S.SUSPENDED)
# From, what happens, to. What is not here cannot happen.
EDGES: list[tuple[JobStatus, Event, JobStatus]] = [
    (S.IDLE, Started(), S.RUNNING),
    (S.IDLE, Held("r"), S.HELD),
    (S.IDLE, Removed("r"), S.REMOVED),
    (S.HELD, Held("again"), S.HELD),
    (S.HELD, Released("r"), S.IDLE),
    (S.HELD, Removed("r"), S.REMOVED),
    (S.REMOVED, Held("r"), S.HELD),
    (S.COMPLETED, Removed("r"), S.REMOVED),
    (S.RUNNING, Suspended(), S.SUSPENDED),
    (S.TRANSFERRING_OUTPUT, Suspended(), S.SUSPENDED),
    (S.SUSPENDED, Continued(), S.RUNNING),
    (S.TRANSFERRING_OUTPUT, Continued(), S.RUNNING),
    (S.RUNNING, OutputStarted(), S.TRANSFERRING_OUTPUT),
    (S.SUSPENDED, OutputStarted(), S.TRANSFERRING_OUTPUT),
    *((status, Held("r"), S.HELD) for status in ON_A_MACHINE),
    *((status, Removed("r"), S.REMOVED) for status in ON_A_MACHINE),
    *((status, Requeued(), S.IDLE) for status in ON_A_MACHINE),
    *((status, Completed(), S.COMPLETED) for status in (S.IDLE, *ON_A_MACHINE, S.HELD)),
]
EVENTS = (
    Held("r"),
    Released("r"),
    Removed("r"),
    Started(),
    Suspended(),
    Continued(),
    OutputStarted(),
    Requeued(),
    Completed(),
)


def job(status: JobStatus, **attributes: object) -> ClassAd:
    return ClassAd({"JobStatus": int(status), **attributes})


def happen(status: JobStatus, event: Event, **attributes: object) -> Attributes:
    return step(job(status, **attributes), event, NOW)


@pytest.mark.parametrize(
    ("source", "event", "target"), EDGES, ids=lambda part: getattr(part, "name", str(part))
)
def test_a_job_goes_from_here_to_there(source: JobStatus, event: Event, target: JobStatus) -> None:
    changes = happen(source, event)
    assert changes["JobStatus"] == str(int(target))
    # A real queue knows no such status: what it calls the last one is that the job ran.
    last = JobStatus.RUNNING if source is JobStatus.TRANSFERRING_OUTPUT else source
    assert changes["LastJobStatus"] == str(int(last))
    assert changes["EnteredCurrentStatus"] == str(NOW)


def test_nothing_else_can_happen() -> None:
    known = {(source, type(event)) for source, event, _ in EDGES}
    assert known == {(source, row.event) for row in TRANSITIONS for source in row.sources}
    for status in JobStatus:
        for event in EVENTS:
            assert may(status, type(event)) == ((status, type(event)) in known)
            if (status, type(event)) not in known:
                with pytest.raises(ImpossibleTransition, match=f"status {int(status)} "):
                    happen(status, event)


def test_a_hold_is_counted_by_its_reason_and_says_why() -> None:
    changes = happen(S.IDLE, Held('it "broke"\nhere', HoldReasonCode.JobPolicy, 7), NumHolds=2)
    assert changes["HoldReason"] == r'"it \"broke\" here"'
    assert (changes["HoldReasonCode"], changes["HoldReasonSubCode"]) == ("3", "7")
    assert changes["NumHolds"] == "3"
    assert changes["NumHoldsByReason"] == "[ JobPolicy = 1 ]"


@pytest.mark.parametrize("before", [S.REMOVED, S.COMPLETED])
def test_a_hold_on_the_way_out_of_the_queue_is_followed_by_the_way_out(before: JobStatus) -> None:
    ad = job(S.HELD, JobStatusOnRelease=int(before))
    changes = step(ad, Released("r"), NOW)
    assert changes["JobStatus"] == str(int(before))
    assert changes["JobStatusOnRelease"] is None


def test_a_removed_job_that_is_held_remembers_that_it_was_to_go() -> None:
    assert happen(S.REMOVED, Held("r"))["JobStatusOnRelease"] == str(int(S.REMOVED))
    assert "JobStatusOnRelease" not in happen(S.RUNNING, Held("r"))


def test_a_hold_that_came_too_late_is_over_with_the_job() -> None:
    changes = happen(S.HELD, Completed(), HoldReason="why", HoldReasonCode=1)
    assert (changes["HoldReason"], changes["LastHoldReason"]) == (None, '"why"')
    assert changes["CompletionDate"] == str(NOW)
    removed = happen(S.HELD, Completed(), JobStatusOnRelease=int(S.REMOVED))
    assert removed["JobStatus"] == str(int(S.REMOVED))


def test_a_release_moves_the_reason_of_the_hold_into_the_past() -> None:
    changes = happen(S.HELD, Released("fine"), HoldReason="why", HoldReasonCode=1)
    assert changes["LastHoldReason"] == '"why"'
    assert changes["LastHoldReasonCode"] == "1"
    assert "LastHoldReasonSubCode" not in changes
    assert changes["HoldReason"] is changes["HoldReasonSubCode"] is None
    assert changes["ReleaseReason"] == '"fine"'


def test_time_in_suspension_adds_up() -> None:
    assert happen(S.RUNNING, Suspended(), TotalSuspensions=1)["TotalSuspensions"] == "2"
    changes = happen(
        S.SUSPENDED, Continued(), LastSuspensionTime=NOW - 30, CumulativeSuspensionTime=12
    )
    assert changes["CumulativeSuspensionTime"] == "42"
    assert changes["LastSuspensionTime"] == "0"
    # A clock that went back takes nothing away, and who was not suspended gains nothing.
    back = happen(S.SUSPENDED, Continued(), LastSuspensionTime=NOW + 30)
    assert back["CumulativeSuspensionTime"] == "0"
    assert "CumulativeSuspensionTime" not in happen(S.SUSPENDED, Continued())


def test_a_job_occupies_hosts_only_while_it_is_on_one() -> None:
    assert happen(S.IDLE, Started())["CurrentHosts"] == "1"
    assert happen(S.RUNNING, Requeued())["CurrentHosts"] == "0"
    ended = happen(S.RUNNING, Completed())
    assert (ended["CurrentHosts"], ended["CompletionDate"]) == ("0", str(NOW))


def test_why_a_job_was_held_is_past_when_it_is_removed() -> None:
    held = ClassAd({"JobStatus": 5, "HoldReason": "x", "HoldReasonCode": 1})
    changes = step(held, Removed("gone"), 100)
    assert changes["HoldReason"] is changes["HoldReasonCode"] is None
    assert (changes["LastHoldReason"], changes["LastHoldReasonCode"]) == ('"x"', "1")
    running = ClassAd({"JobStatus": 2})
    assert "LastHoldReason" not in step(running, Removed("gone"), 100)
