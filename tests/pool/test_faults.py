"""What is missing, full or torn around a pool: the right sentence at the right place, and on."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from kettle.errors import KettleError
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, daemon_pid, run_tool, submit, wait_until

TAILS = (
    b"105\n103 99.0 Foo 1\n",
    b"105\n101 99.0 Job Machine\n103 99.0 Fo",
    b"\0\0\0\0\0\0",
    b"103 1.0 JobPrio",
    bytes(range(128, 256)),
)


def test_a_torn_tail_of_the_queue_log_is_cut_off(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path) as pool:
        jobs = submit(pool, work, "executable = /bin/true\nhold = true\nqueue 3\n")
        log = Path(pool.folder, "spool", "job_queue.log")
        for tail in TAILS:
            pool.stop(how="fast")
            with log.open("ab") as file:
                file.write(tail)
            pool.start()
            assert ask_queue(pool, "-all", "JobStatus") == [["5"]] * 3, tail
        assert run_tool(pool, "condor_release", str(jobs.cluster))[0] == 0
        jobs.wait_for(5, 30)


def holds_with(pool: PersonalPool, cluster: int, code: str) -> bool:
    return ask_queue(pool, str(cluster), "HoldReasonCode") == [[code]]


def test_files_that_are_not_there_hold_the_job_with_the_code_of_their_fault(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path) as pool:
        missing = submit(
            pool,
            work / "input",
            "executable = /bin/true\nshould_transfer_files = yes\n"
            "transfer_input_files = nofile\nqueue\n",
        )
        missing.wait_for(12, 30)
        script = work / "gone.sh"
        script.write_text("#!/bin/sh\n", encoding="utf-8")
        script.chmod(0o755)
        gone = submit(
            pool,
            work / "gone",
            f"executable = {script}\nshould_transfer_files = no\nhold = true\nqueue\n",
        )
        script.unlink()
        assert run_tool(pool, "condor_release", str(gone.cluster))[0] == 0
        for jobs, code in ((missing, "13"), (gone, "6")):
            wait_until(
                partial(holds_with, pool, jobs.cluster, code),
                15,
                partial(str, [code, jobs.events()]),
            )
        submit(pool, work / "after", "executable = /bin/true\nqueue\n").wait_for(5, 30)


def test_a_job_that_cannot_bring_its_output_home_is_held_and_one_too_big_waits(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path) as pool:
        lost = submit(
            pool,
            work / "lost",
            "executable = /bin/true\nshould_transfer_files = yes\n"
            "output = /nonesuch/folder/out\nqueue\n",
        )
        large = submit(
            pool, work / "large", "executable = /bin/true\nrequest_memory = 900TB\nqueue\n"
        )
        wait_until(
            lambda: holds_with(pool, lost.cluster, "12"),
            20,
            lambda: str([ask_queue(pool, "-all", "HoldReasonCode", "HoldReason"), lost.events()]),
        )
        submit(pool, work / "after", "executable = /bin/true\nqueue\n").wait_for(5, 30)
        assert ask_queue(pool, str(large.cluster), "JobStatus") == [["1"]]


def test_a_daemon_whose_program_is_missing_is_named_at_the_start(tmp_path: Path) -> None:
    config = "DAEMON_LIST = $(DAEMON_LIST) GHOST\nGHOST = /nonesuch/condor_ghost\n"
    sentence = "cannot start GHOST: .* No such file or directory: '/nonesuch/condor_ghost'"
    with pytest.raises(KettleError, match=sentence), personal_pool(tmp_path, config):
        pass


def test_a_startd_that_hangs_holds_nobody_up_and_runs_jobs_when_it_is_back(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path) as pool:
        startd = daemon_pid(pool, "condor_startd")
        os.kill(startd, signal.SIGSTOP)
        try:
            jobs = submit(pool, work, "executable = /bin/true\nqueue 3\n")
            assert run_tool(pool, "condor_status", "-af", "Name")[0] == 0
            assert ask_queue(pool, str(jobs.cluster), "JobStatus") == [["1"]] * 3
        finally:
            os.kill(startd, signal.SIGCONT)
        jobs.wait_for(5, 30)
