"""What `kettle down` says becomes of running jobs."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.tools.front.leaving import (
    Running,
    describe,
    describe_wait,
    note_finished,
    sort_running,
)

AGAIN = "The next 'kettle up' starts them again."
FOUND = "A 'kettle up' within 40 min finds them again."
LOST = "They end there when their leases have run out."


def job(proc: int, host: str = "", universe: int = 5, lease: int = 2400) -> ClassAd:
    facts: dict[str, object] = {
        "ClusterId": 1,
        "ProcId": proc,
        "GlobalJobId": f"ap#1.{proc}#7",
        "JobUniverse": universe,
        "JobLeaseDuration": lease,
    }
    if host:
        facts["RemoteHost"] = host
    return ClassAd(facts)


def slot(name: str, global_job_id: str) -> ClassAd:
    number = global_job_id.split("#")[1]
    return ClassAd({"Name": name, "JobId": number, "GlobalJobId": global_job_id})


def test_jobs_end_with_the_pool_if_they_run_on_its_slots_or_beside_its_schedd() -> None:
    jobs = [job(0, "slot1_1@here"), job(1, universe=12), job(2, "slot1_1@there", lease=600)]
    slots = [slot("slot1_1@here", "ap#1.0#7"), slot("slot1_2@here", "other#9.0#3")]
    running = sort_running([*jobs, job(3, "slot2@there")], slots)
    assert running.here == ["1.0", "1.1"]
    assert running.elsewhere == ["1.2", "1.3"]
    assert running.guests == ["9.0"]
    assert running.lease_seconds == 600


def test_a_job_without_a_lease_ends_with_its_pool_wherever_it_runs() -> None:
    jobs = [job(0, "slot1_1@there", lease=0), job(1, universe=9, lease=0)]
    running = sort_running(jobs, [])
    assert (running.here, running.elsewhere) == (["1.0"], ["1.1"])


def test_a_job_that_ended_in_its_last_seconds_is_not_started_again() -> None:
    running = Running(here=["1.0", "1.1", "1.2", "01.-1"])
    log = (
        b"107 1 CreationTimestamp 7\n101 1.0 Job Machine\n103 1.0 JobStatus 2\n"
        b'103 1.1 JobStatus 4\n102 1.2\n103 1.1 Cmd "102 1.0"\n103 1.0 JobStatus x\n102\n'
    )
    note_finished(running, log.splitlines(keepends=True))
    assert (running.here, running.finished) == (["1.0", "01.-1"], ["1.1", "1.2"])


def test_each_fate_has_its_sentence() -> None:
    running = Running(
        here=[f"1.{n}" for n in range(7)],
        finished=["2.0"],
        elsewhere=["3.0"],
        guests=["4.0"],
        lease_seconds=2400,
    )
    assert describe(running, purged=False) == [
        "Running jobs that ended by themselves meanwhile: 1 (2.0).",
        f"Running jobs stopped: 7 (1.0, 1.1, 1.2, 1.3, 1.4, …). {AGAIN}",
        f"Running jobs left on other machines: 1 (3.0). {FOUND}",
        "Running jobs of other access points stopped: 1 (4.0). Those start them again.",
    ]
    assert describe(Running(here=["1.0"], elsewhere=["3.0"]), purged=True) == [
        "Running jobs stopped: 1 (1.0). They are gone with the queue.",
        f"Running jobs left on other machines: 1 (3.0). {LOST}",
    ]
    assert describe(Running(), purged=False) == []
    unknown = Running(unknown="the schedd is silent")
    assert describe(unknown, purged=False) == [
        "How many jobs were running is not known: the schedd is silent."
    ]


def test_a_removed_job_that_is_about_to_leave_is_nobody_s_guest() -> None:
    slots = [
        ClassAd({"Name": f"slot1_{n}@vm", "JobId": f"{n}.0", "GlobalJobId": f"{whose}#{n}.0#9"})
        for n, whose in ((1, "vm"), (2, "other"))
    ]
    assert sort_running([], slots, "vm").guests == ["2.0"]
    assert sort_running([], slots).guests == ["1.0", "2.0"]


@pytest.mark.parametrize(
    ("here", "fast", "said"),
    [
        (["1.0"], False, "Waiting for running jobs to leave: 1 (1.0). One that ignores its signal"),
        (["1.0"], False, "all of them after 1800 s (SHUTDOWN_GRACEFUL_TIMEOUT); Ctrl-C leaves"),
        (["1.0"], True, "Waiting for the daemons to end; the master is killed after 1800 s."),
        ([], False, "Waiting for the daemons to end; they are stopped fast after 1800 s."),
    ],
)
def test_a_pool_that_is_not_down_yet_says_what_it_waits_for(
    here: list[str], fast: bool, said: str
) -> None:
    assert said in describe_wait(Running(here=here), 1800.0, fast=fast)
