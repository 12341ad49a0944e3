"""`kettle why` chooses one sentence, and the sentence is the right one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from kettle.classad import ClassAd
from kettle.config import Config
from kettle.matchmaking.explain import explain
from kettle.tools.front import trace, why
from kettle.tools.front.why import (
    decide_verdict,
    describe_beside,
    describe_slotless,
    describe_trouble,
    render_conditions,
)
from kettle.tools.reach import Reach


def job(requirements: str = "TARGET.Memory >= RequestMemory", **facts: object) -> ClassAd:
    ad = ClassAd({"ClusterId": 7, "ProcId": 0, "JobStatus": 1, "RequestMemory": 100, **facts})
    ad.insert_text("Requirements", requirements)
    return ad


def slot(start: str = "true", **facts: object) -> ClassAd:
    ad = ClassAd({"Name": "slot1@h", "Memory": 1000, "State": "Unclaimed", **facts})
    ad.insert_text("START", start)
    ad.insert_text("Requirements", "START")
    return ad


def partitionable(**facts: object) -> ClassAd:
    return slot(PartitionableSlot=True, TotalSlotMemory=1000, **facts)


@pytest.mark.parametrize(
    ("ad", "slots", "said"),
    [
        (job(), [], "the pool has no slots"),
        (job(), [slot()], "1 of 1 slot would take it now"),
        (
            job(),
            [slot(State="Claimed", RemoteUser="a@b")],
            "would take it if nothing else ran there",
        ),
        (job(RequestMemory=5000), [slot()], "no slot meets TARGET.Memory >= RequestMemory"),
        (job(Owner="x"), [slot(start='TARGET.Owner == "y"')], "which the slots themselves ask"),
        (job(), [partitionable(Memory=0)], "1 of 1 slot would take it if nothing else ran there"),
        (job(RequestMemory=5000), [partitionable(Memory=0)], "no slot meets TARGET.Memory"),
        (
            job(LastRejMatchReason="concurrency limit x reached", LastRejMatchTime=50),
            [slot()],
            "other jobs use all of what it needs: concurrency limit x reached.",
        ),
        (
            job(
                LastRejMatchReason="concurrency limit x reached",
                LastRejMatchTime=5,
                LastMatchTime=9,
            ),
            [slot()],
            "should start within moments",
        ),
        (job(), [slot(State="Drained")], "offline or take no jobs now"),
        (
            job(LastRejMatchReason="insufficient priority", LastRejMatchTime=50),
            [slot(State="Claimed", RemoteUser="a@b")],
            "users with a better priority",
        ),
        (
            job(KettleRestsUntil=130, VacateReason="starter exploded"),
            [slot()],
            "its last runs failed at once (starter exploded); it is tried again in 30 s.",
        ),
        (job(KettleRestsUntil=99), [slot()], "should start within moments"),
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


@pytest.mark.parametrize(
    ("ahead", "said"),
    [(1, "1 idle job of its user goes"), (40, "40 idle jobs of"), (1000, "1000 or more idle jobs")],
)
def test_who_waits_for_a_full_pool_hears_how_many_go_first(ahead: int, said: str) -> None:
    assert said in decide_verdict(job(), explain(job(), [partitionable(Memory=0)]), 0, ahead=ahead)


def test_who_fits_no_slot_does_not_wait_for_a_turn() -> None:
    big = job(RequestMemory=5000)
    assert "go first" not in decide_verdict(big, explain(big, [partitionable()]), 0, ahead=3)


def schedd(**facts: str) -> ClassAd:
    ad = ClassAd({"MyType": "Scheduler", "DetectedMemory": 1000, "TotalLocalJobsRunning": 200})
    for name, text in facts.items():
        ad.insert_text(name, text)
    return ad


@pytest.mark.parametrize(
    ("universe", "facts", "memory", "said"),
    [
        (
            12,
            {"StartLocalUniverse": "TotalLocalJobsRunning < 200"},
            10,
            "the schedd starts none now: START_LOCAL_UNIVERSE is TotalLocalJobsRunning < 200.",
        ),
        (
            7,
            {"StartSchedulerUniverse": "false"},
            10,
            (
                "A scheduler universe job runs on the machine of its schedd, in no slot, and the "
                "schedd starts none now"
            ),
        ),
        (12, {}, 5000, "that machine does not meet TARGET.Memory >= RequestMemory."),
        (12, {"StartLocalUniverse": "true"}, 10, "it should start within moments"),
    ],
)
def test_of_a_job_beside_the_schedd_no_slot_is_asked(
    universe: int, facts: dict[str, str], memory: int, said: str
) -> None:
    assert said in describe_beside(job(JobUniverse=universe, RequestMemory=memory), schedd(**facts))


@pytest.mark.parametrize("universe", [7, 12])
def test_of_a_job_beside_the_schedd_is_told_why_its_start_was_refused(universe: int) -> None:
    reason = "its schedd starts no job: cannot write job_queue.log: No space left on device"
    refused = job(JobUniverse=universe, LastRejMatchTime=5, LastRejMatchReason=reason)
    assert describe_beside(refused, schedd()) == f"It is idle because {reason}."


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            {"JobUniverse": 9, "GridResource": "batch slurm"},
            "nothing here hands jobs of the grid universe to batch slurm",
        ),
        (
            {"JobUniverse": 7, "JobCoolDownExpiration": 150, "ExitCode": 3},
            "its last run failed (exit code 3); it is started again in 50 s",
        ),
        (
            {"JobUniverse": 7, "JobCoolDownExpiration": 150, "ExitBySignal": True, "ExitSignal": 9},
            "its last run failed (signal 9); it is started again in 50 s",
        ),
        (
            {"JobUniverse": 7, "JobCoolDownExpiration": 150},
            "its last run failed; it is started again in 50 s",
        ),
    ],
)
def test_a_job_that_needs_no_slot_says_what_keeps_it(
    said: dict[str, object], sentence: str
) -> None:
    assert sentence in describe_slotless(job(**said), 100)


def test_nothing_else_keeps_a_job_that_needs_no_slot() -> None:
    assert describe_slotless(job(JobUniverse=7, JobCoolDownExpiration=100), 100) == ""


def test_a_machine_says_why_it_takes_no_jobs() -> None:
    trouble = "EXECUTE, /x, cannot be written"
    slots = [ClassAd({"Machine": "vm", "KettleTrouble": trouble})] * 2 + [ClassAd({"Machine": "w"})]
    idle = ClassAd({"Requirements": True, "JobStatus": 1})
    nothing = explain(idle, [])
    assert describe_trouble(idle, slots, nothing) == f" vm takes no jobs: {trouble}."
    assert describe_trouble(idle, slots[2:], nothing) == ""


def test_what_to_ask_for_instead_is_all_that_no_slot_has_and_what_the_largest_has_empty() -> None:
    wanted = "TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory"
    ad = job(wanted, ClusterId=7, ProcId=0, RequestCpus=500, RequestMemory=9_999_999)
    parts = {"PartitionableSlot": True, "Cpus": 0, "TotalSlotCpus": 8, "TotalSlotMemory": 4096}
    said = decide_verdict(ad, explain(ad, [slot(Memory=100, **parts), slot(Cpus=2)]), 0.0)
    assert said.endswith(
        "It would match with RequestCpus <= 8 and RequestMemory <= 4096, the most that a slot has: "
        "condor_qedit 7.0 RequestCpus=8 RequestMemory=4096"
    )
    # Each by itself is there, and no slot has both.
    two = [slot(Cpus=8, Memory=10), slot(Cpus=1, Memory=4096)]
    said = decide_verdict(ad, explain(ad, two), 0.0)
    assert said.endswith(
        "It would need RequestCpus <= 8 and RequestMemory <= 4096, and still match no slot."
    )
    # What other jobs have now is no reason to ask for less.
    ad = job("TARGET.Cpus >= RequestCpus", RequestCpus=8)
    (condition,) = explain(ad, [slot(**parts)]).job_conditions
    assert (condition.met, condition.met_when_empty, condition.suggestion) == (0, 1, "")


def test_a_job_whose_last_run_has_not_left_is_not_said_to_start_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was held and released, and its program ignores SIGTERM: no slot gets it meanwhile."""
    monkeypatch.setattr(why, "find_slots", lambda _: [slot()])
    monkeypatch.setattr(why, "count_ahead", lambda *_: 0)
    monkeypatch.setattr(why, "describe_log_trouble", lambda *_: "")
    reach = cast(Reach, SimpleNamespace(config=Config.from_text("")))
    found = why.judge(reach, job(RemoteHost="slot1_1@vm"))
    assert found.verdict.startswith("It is idle, but its last run has not left slot1_1@vm yet")
    assert not found.asks_slots
    assert "should start within moments" in why.judge(reach, job()).verdict
    # Of one that runs or is held it is told anyway.
    assert "It runs on" in why.judge(reach, job(JobStatus=2, RemoteHost="slot1_1@vm")).verdict


@pytest.mark.parametrize(
    ("status", "said"),
    [(1, "idle while its last run leaves"), (3, "being removed"), (5, "being held")],
)
def test_a_trace_says_that_a_run_is_still_leaving(status: int, said: str) -> None:
    ad = job(JobStatus=status, RemoteHost="slot1_1@vm")
    assert trace.is_leaving(ad)
    assert trace.describe_status(ad, leaving=True) == said
    assert not trace.is_leaving(job(JobStatus=status))
