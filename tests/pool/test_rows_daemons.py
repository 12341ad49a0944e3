"""Daemons stopped, started, restarted, reconfigured and killed (R042 to R044, R076, R077)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kettle
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool, wait_until_gone
from pool_jobs import ask_queue, daemon_pid, daemon_pids, run_tool, submit, wait_until

shows = pytest.mark.shows

CONFIG = (
    "NUM_CPUS = 4\nMASTER_BACKOFF_CEILING = 1\nPOLLING_INTERVAL = 1\nPERIODIC_EXPR_INTERVAL = 1\n"
)
SLEEPER = """\
executable = /bin/sleep
arguments = 60
transfer_executable = false
request_memory = 10MB
request_disk = 1MB
queue
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("daemons"), CONFIG) as pool:
        yield pool


def control(pool: PersonalPool, *words: str) -> None:
    code, _, complaint = run_tool(pool, *words)
    assert (code, complaint) == (0, ""), words


def slots(pool: PersonalPool) -> list[str]:
    return run_tool(pool, "condor_status", "-af", "Name")[1].split()


@shows("R044")
@shows("R077")
@pytest.mark.parametrize("how", ["-graceful", "-fast", "-peaceful"])
def test_the_startd_is_turned_off_and_on(pool: PersonalPool, how: str) -> None:
    master = pool.master_pid()
    wait_until(lambda: slots(pool) != [], 10)
    control(pool, "condor_off", how, "-startd")
    wait_until(lambda: daemon_pids(pool, "condor_startd") == [], 10)
    wait_until(lambda: slots(pool) == [], 5)
    assert pool.master_pid() == master
    assert daemon_pids(pool, "condor_schedd")
    control(pool, "condor_on", "-startd")
    wait_until(lambda: slots(pool) != [], 10)


@shows("R043")
def test_the_startd_alone_is_restarted(pool: PersonalPool) -> None:
    master, startd = pool.master_pid(), daemon_pid(pool, "condor_startd")
    control(pool, "condor_restart", "-startd")
    daemon_pid(pool, "condor_startd", other_than=startd)
    wait_until(lambda: slots(pool) != [], 10)
    assert pool.master_pid() == master


@shows("R042")
def test_a_policy_that_changed_is_obeyed_after_a_reconfig(pool: PersonalPool, work: Path) -> None:
    jobs = submit(pool, work, SLEEPER)
    jobs.wait_for(1, 15)
    extra = Path(pool.folder, "config.d", "preempt")
    extra.write_text("PREEMPT = true\nSTART = false\nNUM_CPUS = 7\nMaxJobRetirementTime = 0\n")
    wait_until(lambda: slots(pool) != [], 10)
    before = run_tool(pool, "condor_status", "-af", "TotalSlotCpus")[1].split()[0]
    assert jobs.count_events(4) == {}
    control(pool, "condor_reconfig")
    jobs.wait_for(4, 15)
    assert run_tool(pool, "condor_status", "-af", "TotalSlotCpus")[1].split()[0] == before
    extra.unlink()
    control(pool, "condor_reconfig")
    jobs.wait_for(1, 20, each=2)
    control(pool, "condor_rm", str(jobs.cluster))
    jobs.wait_for(9, 10)


def test_a_file_that_is_broken_while_a_job_begins_does_not_stop_it(
    pool: PersonalPool, work: Path
) -> None:
    # Whoever submits needs a configuration as well: the job waits until the file is broken.
    later = "hold = true\nperiodic_release = time() - EnteredCurrentStatus > 3\nqueue\n"
    jobs = submit(pool, work, SLEEPER.replace("= 60", "= 0").replace("queue\n", later))
    extra = Path(pool.folder, "config.d", "broken")
    extra.write_text("this is no statement\n")
    try:
        jobs.wait_for(5, 30)
    finally:
        extra.unlink()


def test_a_typo_and_a_reconfig_change_nothing_and_the_jobs_go_on(
    pool: PersonalPool, work: Path
) -> None:
    extra = Path(pool.folder, "config.d", "typo")
    extra.write_text(
        "SHADOW_WORKLIFE = 1 hour\nTCP_KEEPALIVE_INTERVAL = 5 min\n"
        "ALLOW_TRANSFER_REMAP_TO_MKDIR = maybe\nPERIODIC_EXPR_INTERVAL = 1 min\n"
        "SEC_ENABLE_MATCH_PASSWORD_AUTHENTICATION = maybe\nOUR_KNOB = 5\n"
    )
    log = Path(pool.folder, "log", "SchedLog")
    try:
        control(pool, "condor_reconfig")
        control(pool, "condor_reconfig", "-schedd")
        control(pool, "condor_reconfig", "-startd")
        wait_until(lambda: "the old configuration stays" in log.read_text(), 10)
        assert "line 1: SHADOW_WORKLIFE = 1 hour is not" in log.read_text()
        jobs = submit(pool, work, SLEEPER.replace("= 60", "= 0"))
        jobs.wait_for(5, 30)
        assert run_tool(pool, "condor_config_val", "-schedd", "OUR_KNOB")[1] == "Not defined\n"
    finally:
        extra.write_text("OUR_KNOB = 5\n")
    control(pool, "condor_reconfig")
    known = ("condor_config_val", "-schedd", "OUR_KNOB")
    wait_until(lambda: run_tool(pool, *known)[1] == "5\n", 10)
    extra.unlink()
    control(pool, "condor_reconfig")


@shows("R025")
@shows("R032")
@shows("R040")
@pytest.mark.parametrize("program", ["kettle.master", "kettle.schedd", "kettle.startd"])
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("A = 1\nthis is not valid\n", r"Line 2 while reading .*/condor_config"),
        ("use FOO:BAR\n", r"FOO"),
        (None, r"/condor_config"),
    ],
)
def test_a_daemon_does_not_start_on_a_configuration_that_it_cannot_read(
    tmp_path: Path, program: str, text: str | None, complaint: str
) -> None:
    path = tmp_path / "condor_config"
    if text is not None:
        path.write_text(text)
    code, said = begin(path, f"runpy.run_module({program!r}, run_name='__main__')", "-f")
    assert code not in (0, -signal.SIGTERM)
    assert re.search(complaint, said), said
    assert "Traceback" not in said
    for words in (("condor_q",), ("condor_status",), ("condor_config_val", "A")):
        tool = f"importlib.import_module('kettle.tools.programs').run_program({words[0]!r})"
        code, said = begin(path, tool, *words[1:])
        assert code != 0
        assert re.search(complaint, said), (words, said)


def begin(config: Path, code: str, *words: str) -> tuple[int, str]:
    """Run one program with a configuration; return its exit code and what it complained of."""
    source = str(Path(kettle.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import importlib, runpy, sys; sys.exit({code})", *words],
        env={"CONDOR_CONFIG": str(config), "PATH": "/usr/bin:/bin", "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@shows("R076")
def test_a_killed_schedd_is_started_again(pool: PersonalPool) -> None:
    schedd = daemon_pid(pool, "condor_schedd")
    os.kill(schedd, signal.SIGKILL)
    daemon_pid(pool, "condor_schedd", other_than=schedd)
    wait_until(lambda: run_tool(pool, "condor_q")[0] == 0, 10)


@shows("R077")
def test_ads_are_withdrawn_at_once_or_run_out(tmp_path: Path) -> None:
    config = "UPDATE_INTERVAL = 2\nCLASSAD_LIFETIME = 3\nHOUSEKEEPING_INTERVAL = 1\n"
    config += "COLLECTOR_UPDATE_INTERVAL = 1\nMASTER_BACKOFF_CONSTANT = 60\n"
    with personal_pool(tmp_path, config) as pool:
        startd = daemon_pid(pool, "condor_startd")
        wait_until(lambda: slots(pool) != [], 10)
        os.kill(startd, signal.SIGKILL)
        wait_until(lambda: slots(pool) == [], 30)


@shows("R043")
@shows("R076")
def test_a_restart_replaces_every_daemon_and_sigterm_ends_them(tmp_path: Path, work: Path) -> None:
    names = ("condor_collector", "condor_negotiator", "condor_schedd", "condor_startd")
    with personal_pool(tmp_path, CONFIG) as pool:
        before = {pid for name in names for pid in daemon_pids(pool, name)}
        control(pool, "condor_restart")

        def are_new() -> bool:
            now = [daemon_pids(pool, name) for name in names]
            return all(now) and not before & {pid for pids in now for pid in pids}

        wait_until(are_new, 30)
        wait_until(lambda: run_tool(pool, "condor_status", "-af", "Name")[1] != "", 15)
        wait_until(lambda: run_tool(pool, "condor_q")[0] == 0, 15)
        jobs = submit(pool, work, SLEEPER)
        jobs.wait_for(1, 20)
        master = pool.master_pid()
        assert master is not None
        os.kill(master, signal.SIGTERM)
        wait_until(lambda: pool.master_pid() is None, 30)
        wait_until_gone(pool)
        # With a lease the access point means to find the job again; the execution point ended it.
        pool.start()
        assert ask_queue(pool, str(jobs.cluster), "ProcId") == [["0"]]
        jobs.wait_for(1, 20, each=2)
        control(pool, "condor_rm", str(jobs.cluster))
        jobs.wait_for(9, 10)
