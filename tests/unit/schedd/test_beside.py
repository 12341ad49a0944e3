"""What a scheduler-universe job is started with."""

from __future__ import annotations

import signal
from typing import Any, cast

import pytest

from kettle.attributes.codes import JobUniverse
from kettle.classad import ClassAd
from kettle.config import Config, load_config
from kettle.config.sources import MemorySources
from kettle.schedd.beside import (
    Process,
    Run,
    StarterDied,
    cool_down,
    counts,
    exit_attributes,
    exit_status,
    leave_signal,
    lost_attributes,
    may_be_of,
    own_environment,
    plan_program,
    schedd_as_machine,
    start_attributes,
    startable,
)
from kettle.schedd.beside_events import lost_events
from kettle.schedd.rests import note_rest
from unit.schedd.queue_fixture import Schedd

HOST = load_config(
    MemorySources(
        {
            "/c": "ARCH = X86_64\nOPSYS = LINUX\nOPSYSVER = 1302\nOPSYSANDVER = Debian13\n"
            "UID_DOMAIN = vm\nDETECTED_CPUS = 2\nDETECTED_MEMORY = 24105\n"
        }
    ),
    {"CONDOR_CONFIG": "/c"},
)


def job(**attributes: object) -> ClassAd:
    return ClassAd({"ClusterId": 7, "ProcId": 1, "Cmd": "/bin/env", "Iwd": "/", **attributes})


def test_the_environment_of_an_ad_is_words_without_outer_quotes() -> None:
    program = plan_program(job(Environment="A=1 B='x  y' C=a;b"), {"A": "0", "D": "4"})
    assert {name: program.environment[name] for name in "ABCD"} == {
        "A": "1",
        "B": "x  y",
        "C": "a;b",
        "D": "4",
    }


def test_the_old_environment_has_its_delimiter() -> None:
    program = plan_program(job(Env="A=1 2|B=3", EnvDelim="|"), {})
    assert (program.environment["A"], program.environment["B"]) == ("1 2", "3")


def test_the_job_knows_which_it_is() -> None:
    assert plan_program(job(), {}).environment["CONDOR_ID"] == "7.1"


def test_the_job_s_file_is_named_whatever_its_own_environment_says() -> None:
    ad = job(Environment="_CONDOR_JOB_AD=/own")
    assert plan_program(ad, {}, "/x/.job.ad").environment["_CONDOR_JOB_AD"] == "/x/.job.ad"
    assert plan_program(ad, {}).environment["_CONDOR_JOB_AD"] == "/own"


def test_a_signal_that_is_none_is_the_next_that_is_one() -> None:
    ad = job(RemoveKillSig="NSIG", KillSig="SIG_SETMASK")
    assert leave_signal(ad, "Remove") == leave_signal(ad, "Vacate") == signal.SIGTERM
    assert leave_signal(job(HoldKillSig="NSIG", KillSig="usr1"), "Hold") == signal.SIGUSR1


def test_waiting_jobs_start_by_priority_and_then_as_they_were_submitted() -> None:
    schedd = Schedd()
    jobs = schedd.submit(3, JobUniverse="7")
    schedd.queue.update(jobs[2].id, {"JobPrio": "5"})
    assert list(filter(None, startable(schedd.queue, ClassAd(), {}, 1000))) == [
        jobs[2],
        jobs[0],
        jobs[1],
    ]


@pytest.mark.parametrize("universe", ["7", "12"])
@pytest.mark.parametrize(
    ("requirements", "starts"),
    [
        ("true", True),
        ("1", True),
        ("false", False),
        ('"true"', False),
        ("Nonesuch", False),
        ("TARGET.Disk >= RequestDisk && TARGET.Memory >= 128 && TARGET.Cpus > 1", True),
        ("TARGET.Disk > 5000", False),
        ('TARGET.Arch == "X86_64" && TARGET.OpSys == "LINUX"', True),
        ("TARGET.TotalLocalJobsRunning == 0", True),
        # It is no ad of the collector's.
        ('TARGET.Machine == "x"', False),
        ("isUndefined(TARGET.Name) && isUndefined(TARGET.MyType)", True),
    ],
)
def test_a_job_beside_the_schedd_has_the_schedd_for_a_machine(
    universe: str, requirements: str, starts: bool
) -> None:
    schedd = Schedd()
    (job,) = schedd.submit(JobUniverse=universe, Requirements=requirements, RequestDisk="1024")
    machine = schedd_as_machine(HOST, 5000)
    machine.update(counts(schedd.queue))
    assert list(filter(None, startable(schedd.queue, machine, {}, 1000))) == (
        [job] if starts else []
    )


def test_a_start_beside_the_schedd_says_when_the_one_before_was() -> None:
    ad = job(JobStatus=1, JobUniverse=7, JobCurrentStartDate=3, JobStartDate=3)
    changes = start_attributes(ad, "vm", 5)
    assert (changes["JobLastStartDate"], changes["OrigMaxHosts"]) == ("3", "1")
    assert exit_attributes(9)["ExitReason"] == "died on signal 9 (Killed)"
    assert "JobCoreDumped" not in exit_attributes(9)
    assert exit_attributes(139)["JobCoreDumped"] is True


def test_a_job_of_the_scheduler_universe_has_its_exit_status() -> None:
    # Observed of a real schedd: 2 there, and still 0 in the local universe.
    assert exit_status(JobUniverse.SCHEDULER, 2 << 8) == {"ExitStatus": 2}
    assert exit_status(JobUniverse.LOCAL, 2 << 8) == {}
    assert exit_status(JobUniverse.SCHEDULER, 9) == {}


@pytest.mark.parametrize(
    ("universe", "status", "said", "cools"),
    [
        (7, 3 << 8, {}, True),
        (7, 3 << 8, {"NumJobCoolDowns": "4"}, True),
        (7, 3 << 8, {"DisableCoolDown": "true"}, False),
        (7, 0, {}, False),
        (7, signal.SIGKILL, {}, False),
        (12, 3 << 8, {}, False),
        # Observed of a real schedd: one that could not be started is held, and cools down.
        (7, None, {}, True),
        (7, None, {"DisableCoolDown": "true"}, True),
        (12, None, {}, False),
    ],
)
def test_a_scheduler_job_that_failed_cools_down(
    universe: int, status: int | None, said: dict[str, str], cools: bool
) -> None:
    schedd = Schedd()
    (job,) = schedd.submit(1, JobUniverse=str(universe), **said)
    before = job.ad.integer("NumJobCoolDowns") or 0
    found = cool_down(Run(job, 0), status, 300, 1000)
    assert found == (
        {"NumJobCoolDowns": before + 1, "JobCoolDownExpiration": 1300} if cools else {}
    )
    schedd.queue.update(job.id, {name: str(value) for name, value in found.items()})
    assert list(filter(None, startable(schedd.queue, ClassAd(), {}, 1300))) == (
        [] if cools else [job]
    )
    assert list(filter(None, startable(schedd.queue, ClassAd(), {}, 1301))) == [job]


def test_what_left_its_family_is_of_no_younger_job() -> None:
    jobs = [Process(uid=1000, birth=50), Process(uid=1001, birth=70)]
    for own in (1000, 1001, 1002):
        assert may_be_of(jobs, own, 1000, 50)
        assert not may_be_of(jobs, own, 1000, 49)
        assert not may_be_of(jobs, own, 0, 49)
        assert not may_be_of([], own, 1000, 99)
    # Of the ended job's account, while that job's own successor or neighbour is younger.
    assert not may_be_of(jobs, 1001, 1001, 69)
    assert not may_be_of(jobs, 1002, 1002, 99)


def test_what_a_job_started_as_another_account_is_not_killed_with_another_job() -> None:
    """By sudo, or by a program that is set-uid and becomes its owner altogether."""
    assert may_be_of([Process(1000, 5)], 1002, 0, 10)
    assert may_be_of([Process(1000, 5)], 1002, 1001, 10)
    # With nobody else there it is the ended job's, and goes before that is started again.
    assert not may_be_of([], 1002, 0, 10)
    assert not may_be_of([Process(1000, 11)], 1002, 0, 10)


def test_a_scheduler_universe_job_is_told_where_its_schedd_is_found_and_how_it_is_trusted() -> None:
    config = Config.from_text("SPOOL = /s\nSCHEDD_ADDRESS_FILE = $(SPOOL)/.schedd_address\n")
    told = own_environment(config, "session#info#key")
    assert told == {
        "CONDOR_SECURITY_SESSION": "session#info#key",
        "_condor_SCHEDD_ADDRESS_FILE": "/s/.schedd_address",
        "_condor_SCHEDD_DAEMON_AD_FILE": "/s/.schedd_classad",
    }
    wanted = job(Environment="_condor_SCHEDD_ADDRESS_FILE=/mine")
    assert plan_program(wanted, {}, "", told).environment.items() >= told.items()


def test_a_schedd_of_which_jobs_are_told_nothing_still_trusts_them() -> None:
    config = Config.from_text("USE_LOCAL_SCHEDD_FOR_SCHEDULER_UNIVERSE = false\nSPOOL = /s\n")
    assert own_environment(config, "key") == {"CONDOR_SECURITY_SESSION": "key"}


def test_a_job_that_rests_after_its_starters_died_is_not_startable() -> None:
    schedd = Schedd()
    (local,) = schedd.submit(JobUniverse="12")
    note_rest(local.ad, 1010)
    assert list(filter(None, startable(schedd.queue, ClassAd(), {}, 1009))) == []
    assert list(filter(None, startable(schedd.queue, ClassAd(), {}, 1010))) == [local]


def test_a_stop_takes_the_place_of_no_hold_and_no_removal() -> None:
    for promised in ("Hold", "Remove"):
        run = Run(cast(Any, None), 0)
        assert run.ask("Vacate", "the schedd shuts down", 0, 0)
        assert not run.ask("Vacate", "again", 0, 0)
        assert run.ask(promised, "because", 1, 2)
        assert not run.ask("Vacate", "the schedd shuts down", 0, 0)
        assert (run.wish, run.reason, run.code, run.subcode) == (promised, "because", 1, 2)
    assert run.ask("Hold", "for something else", 3, 4)


@pytest.mark.parametrize(
    ("status", "said"),
    [(9, "The starter ended with signal 9"), (256, "The starter ended with no word of its job")],
)
def test_a_run_that_lost_its_starter_is_told_of_if_it_began(status: int, said: str) -> None:
    (local,) = Schedd().submit(JobUniverse="12")
    run, death = Run(local, 1000), StarterDied(status)
    assert lost_attributes(death)["VacateReason"] == said
    assert lost_events(run, death) == []
    run.executed = True
    assert [str(getattr(event, "reason", "")) for event in lost_events(run, death)] == [said]
