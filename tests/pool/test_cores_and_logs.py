"""Jobs that are bound to cores, seen by the operating system, and logs of single jobs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import submit

LOOK = (
    "executable = /bin/sh\narguments = \"-c 'sleep 1; grep Cpus_allowed_list /proc/self/status'\"\n"
)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core binds nothing")
def test_jobs_run_on_the_cores_of_their_slots(tmp_path: Path) -> None:
    present = sorted(os.sched_getaffinity(0))
    config = f"ASSIGN_CPU_AFFINITY = WantsCores =!= false\nNUM_CPUS = {len(present)}\n"
    with personal_pool(tmp_path / "pool", config) as pool:
        free = "+WantsCores = $(Process) != 4\n"
        text = LOOK + "request_cpus = 1\noutput = out.$(Process)\n" + free + "queue 5\n"
        jobs = submit(pool, tmp_path / "work", text)
        jobs.wait_for(5, 60)
    seen = [(tmp_path / f"work/out.{proc}").read_text().split()[1] for proc in range(5)]
    assert {int(core) for core in seen[:4]} <= set(present)
    # The first jobs of all begin at the same time, each on a core of its own.
    assert len(set(seen[:4])) == min(4, len(present))
    # A job of the same claim that is not to be bound is not.
    assert "-" in seen[4] or "," in seen[4]


def test_each_job_has_a_log_of_its_own(tmp_path: Path) -> None:
    # Jobs of one claim, which one starter runs.
    config = "STARTER_LOG_NAME_APPEND = JobId\nSTARTER_DEBUG = D_JOB\n"
    with personal_pool(tmp_path / "pool", config) as pool:
        jobs = submit(pool, tmp_path / "work", "executable = /bin/true\nqueue 3\n")
        jobs.wait_for(5, 60)
        logs = {path.name: path.read_text() for path in Path(pool.log_folder).glob("StarterLog.*")}
        assert sorted(logs) == [f"StarterLog.{jobs.cluster}.{proc}" for proc in range(3)]
        for proc in range(3):
            assert f"#{jobs.cluster}.{proc}#" in logs[f"StarterLog.{jobs.cluster}.{proc}"]


def test_cores_that_the_machine_does_not_have_bind_nothing(tmp_path: Path) -> None:
    config = "ENFORCE_CPU_AFFINITY = true\nSLOT1_CPU_AFFINITY = 99999\n"
    with personal_pool(tmp_path / "pool", config) as pool:
        jobs = submit(pool, tmp_path / "work", LOOK + "output = out\nqueue\n")
        jobs.wait_for(5, 60)
    own = Path("/proc/self/status").read_text().partition("Cpus_allowed_list:")[2].split()[0]
    assert (tmp_path / "work/out").read_text().split()[1] == own
