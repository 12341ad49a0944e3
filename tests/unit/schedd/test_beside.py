"""What a scheduler-universe job is started with."""

from __future__ import annotations

import signal

from kettle.classad import ClassAd
from kettle.schedd.beside import leave_signal, plan_program, startable
from unit.schedd.queue_fixture import Schedd


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


def test_a_signal_that_is_none_is_the_next_that_is_one() -> None:
    ad = job(RemoveKillSig="NSIG", KillSig="SIG_SETMASK")
    assert leave_signal(ad, "Remove") == leave_signal(ad, "Vacate") == signal.SIGTERM
    assert leave_signal(job(HoldKillSig="NSIG", KillSig="usr1"), "Hold") == signal.SIGUSR1


def test_waiting_jobs_start_by_priority_and_then_as_they_were_submitted() -> None:
    schedd = Schedd()
    jobs = schedd.submit(3, JobUniverse="7")
    schedd.queue.update(jobs[2].id, {"JobPrio": "5"})
    assert list(startable(schedd.queue, ClassAd(), {})) == [jobs[2], jobs[0], jobs[1]]
