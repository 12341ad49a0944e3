"""What a job's log is told of a job beside the schedd, against logs that the reference wrote.

The logs in tests/data/event_logs/beside are of jobs of a real 25.14.1 pool: local-universe ones are
its starter's, scheduler-universe ones its schedd's.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from kettle.attributes.codes import JobUniverse, ShadowExit
from kettle.classad import ClassAd
from kettle.policy.job_policy import SystemPolicy
from kettle.records.event_base import Event
from kettle.records.event_kinds import ExecuteEvent
from kettle.records.event_log import read_events, render_event
from kettle.schedd import beside
from kettle.schedd.beside import NotStarted, Run
from kettle.schedd.beside_events import failure_events, last_events
from unit.schedd.queue_fixture import Schedd

RECORDED = Path(__file__).parents[2] / "data" / "event_logs" / "beside"
ADDRESS = "<127.0.0.1:9618>"


def run_of(universe: int, **attributes: str) -> Run:
    schedd = Schedd()
    (job,) = schedd.submit(Cmd='"/bin/true"', JobUniverse=str(universe), **attributes)
    run = Run(job, 0)
    schedd.queue.update(job.id, beside.start_attributes(job.ad, "h", 5))
    return run


def recorded_end(name: str) -> list[str]:
    """What a recorded log says after the job's start, without its times and addresses."""
    events = read_events((RECORDED / name).read_bytes())
    starts = [at for at, event in enumerate(events) if isinstance(event, ExecuteEvent)]
    begins = starts[0] + 1 if starts else 1
    run = events[begins : starts[1] if len(starts) > 1 else None]
    return bodies([event for event in run if event.number not in (9, 13)])


def bodies(events: list[Event]) -> list[str]:
    for event in events:
        if event.number == 21:
            event.host = ADDRESS  # type: ignore[attr-defined]
    return [render_event(event).decode().partition(") ")[2][20:] for event in events]


def end(run: Run, status: int) -> list[str]:
    if not run.wish:
        run.attributes |= beside.exit_attributes(status)
    reason, more = beside.decide_end(run, SystemPolicy(), 100.0)
    return bodies(last_events(run, status, reason, more))


SCHEDULER, LOCAL = int(JobUniverse.SCHEDULER), int(JobUniverse.LOCAL)
BY_UNIVERSE = pytest.mark.parametrize(
    ("universe", "letter"), [(LOCAL, "l"), (SCHEDULER, "s")], ids=["local", "scheduler"]
)


@BY_UNIVERSE
def test_a_hold_that_was_taken_back_is_an_eviction(universe: int, letter: str) -> None:
    run = run_of(universe)
    run.wish, run.reason, run.code, run.released = "Hold", "mine", 1, True
    assert end(run, signal.SIGTERM) == recorded_end(f"hold_run_{letter}.log")[:1]


@BY_UNIVERSE
def test_a_job_that_is_held_or_removed_is_evicted_without_why(universe: int, letter: str) -> None:
    run = run_of(universe)
    run.wish, run.reason, run.code = "Hold", "my reason (by user tester)", 1
    assert end(run, signal.SIGTERM) == recorded_end(f"hold_run_{letter}.log")
    run.wish, run.reason, run.code = "Remove", "via condor_rm (by user tester)", 1023
    assert end(run, signal.SIGTERM) == recorded_end(f"periodic_remove_{letter}.log")[:1]
    assert beside.leave_attributes(run) == {
        "VacateReason": "via condor_rm (by user tester)",
        "VacateReasonCode": 1023,
        "VacateReasonSubCode": 0,
    }


@BY_UNIVERSE
def test_only_a_local_job_that_is_vacated_has_its_exit_in_the_log(
    universe: int, letter: str
) -> None:
    run = run_of(universe)
    run.wish, run.reason, run.code = "Vacate", "Job vacated by schedd", 1022
    assert end(run, signal.SIGTERM) == recorded_end(f"vacate_{letter}.log")


@BY_UNIVERSE
def test_a_hold_at_the_exit_has_its_subcode_and_evicts_only_a_local_job(
    universe: int, letter: str
) -> None:
    run = run_of(
        universe,
        OnExitHold="ExitCode == 5",
        OnExitHoldReason='"five"',
        OnExitHoldSubCode="5",
    )
    assert end(run, 5 << 8) == recorded_end(f"exit_hold_{letter}.log")


@BY_UNIVERSE
def test_a_job_that_goes_back_by_its_expression_says_which(universe: int, letter: str) -> None:
    run = run_of(universe, OnExitRemove="ExitCode == 0 || NumJobStarts > 1")
    assert end(run, 1 << 8) == recorded_end(f"exit_remove_false_{letter}.log")[:1]


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("gone_exe_l.log", "Failed to execute '{0}/t.sh': (errno=2: 'No such file or directory')"),
        (
            "gone_input_l.log",
            "Failed to open '{0}/in.txt' as standard input: No such file or directory (errno 2)",
        ),
        ("gone_exe_s.log", "File '{0}/t.sh' is missing or not executable"),
    ],
)
def test_a_program_that_could_not_be_started_is_told_as_the_reference_tells_it(
    name: str, failure: str
) -> None:
    universe = LOCAL if name.endswith("_l.log") else SCHEDULER
    code, subcode = (8, 2) if "input" in name else (6, 2 if universe == LOCAL else 13)
    home = f"/home/tester/ev/{name.removesuffix('.log')}"
    reason = NotStarted(failure.format(home), code, subcode)
    assert bodies(failure_events(run_of(universe), reason, ADDRESS)) == recorded_end(name)


@pytest.mark.parametrize(
    ("universe", "executed", "starts", "runs"),
    [
        (LOCAL, True, "1", "1"),
        (LOCAL, False, "0", "1"),
        (SCHEDULER, False, "0", "undefined"),
    ],
)
def test_a_start_that_came_to_nothing_is_not_counted(
    universe: int, executed: bool, starts: str, runs: str
) -> None:
    run = run_of(universe)
    run.executed = executed
    counts = {name: run.job.ad.text(name) for name in ("NumJobStarts", "JobRunCount")}
    counts |= beside.unstarted_attributes(run)
    assert counts == {"NumJobStarts": starts, "JobRunCount": runs}
    assert run.job.ad.text("NumShadowStarts") == ("1" if universe == LOCAL else None)


@BY_UNIVERSE
def test_a_job_beside_the_schedd_is_retried_as_often_as_it_may(universe: int, letter: str) -> None:
    assert letter in "ls"
    run = run_of(
        universe,
        JobMaxRetries="1",
        OnExitRemove="NumJobCompletions > JobMaxRetries || ExitCode =?= 0",
    )
    reasons = []
    for _ in range(2):
        run.attributes |= beside.exit_attributes(4 << 8)
        reason, more = beside.decide_end(run, SystemPolicy(), 100.0)
        run.job.ad.update(ClassAd(more))
        reasons.append(reason)
    assert reasons == [ShadowExit.SHOULD_REQUEUE, ShadowExit.EXITED]


def test_the_log_of_a_scheduler_job_has_its_times() -> None:
    run = run_of(SCHEDULER)
    run.attributes |= {"RemoteUserCpu": 3.0, "RemoteSysCpu": 1.0}
    assert "Usr 0 00:00:03, Sys 0 00:00:01  -  Run Remote Usage" in end(run, 0)[0]
    run = run_of(LOCAL)
    run.attributes |= {"RemoteUserCpu": 3.0, "RemoteSysCpu": 1.0}
    assert "Usr 0 00:00:03, Sys 0 00:00:01  -  Run Local Usage" in end(run, 0)[0]
