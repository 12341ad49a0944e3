"""The process that a schedd forks its jobs from is killed while they start: no job's fault."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import family_of, run_tool, submit, title_of, wait_until

pytestmark = pytest.mark.timeout(300)

CONFIG = "NUM_CPUS = 2\nSCHEDULER_UNIVERSE_COOL_DOWN_DURATION = 1000\n"
COUNT = 8


def kill_zygotes(pool: PersonalPool) -> None:
    """Kill whoever has that title: a child that has not got its own yet has it, too."""
    for pid in family_of(pool.master_pid() or 0):
        if title_of(pid).startswith("condor_schedd: zygote"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.shows("S007")
@pytest.mark.shows("S008")
@pytest.mark.parametrize("universe", ["scheduler", "local"])
def test_a_schedd_s_zygote_that_is_killed_costs_no_job_anything(
    tmp_path: Path, work: Path, universe: str
) -> None:
    notes = work / "notes"
    with personal_pool(tmp_path, CONFIG) as pool:
        notes.touch(0o666)
        notes.chmod(0o666)
        script = work / "note.sh"
        script.write_text(f"#!/bin/sh\necho $1 >>{notes}\n")
        script.chmod(0o755)
        jobs = submit(
            pool,
            work / "job",
            f"universe = {universe}\nexecutable = {script}\narguments = $(Process)\n"
            f"transfer_executable = false\nqueue {COUNT}\n",
        )
        for _ in range(3):
            # A line of each, of a digit and its end, and no more when all of them have begun.
            wanted = min(notes.stat().st_size + 1, 2 * COUNT)
            kill_zygotes(pool)
            wait_until(
                lambda wanted=wanted: notes.stat().st_size >= wanted, 30,  # type: ignore[misc]
                lambda: run_tool(pool, "condor_q", "-hold", "-all")[1],
            )  # fmt: skip
        done = "JobStatus == 4 && NumJobStarts == 1 && NumJobCoolDowns is undefined"

        def finished() -> str:
            words = ("-constraint", done, "-af", "ProcId")
            return run_tool(pool, "condor_history", *words)[1]

        wait_until(
            lambda: len(finished().split()) == COUNT, 60,
            lambda: f"{finished()} {run_tool(pool, 'condor_q', '-all', '-nobatch')[1]}",
        )  # fmt: skip
        assert sorted(notes.read_text().split()) == [str(number) for number in range(COUNT)]
        assert not jobs.count_events(12)
