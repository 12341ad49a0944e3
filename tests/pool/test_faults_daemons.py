"""Daemons that are missing, in each other's way or short of means: said where it is looked for."""

from __future__ import annotations

import os
import pwd
import re
import resource
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import (
    daemon_pid,
    daemon_pids,
    family_of,
    log_text,
    run_tool,
    start_kettle,
    submit,
    title_of,
    wait_until,
)
from system_pools import LIBRARIES, SOURCES, find_interpreter

SLEEP = "executable = /bin/sleep\narguments = 600\ntransfer_executable = false\n"
TRUE = "executable = /bin/true\ntransfer_executable = false\n"
DAEMONS = ("collector", "negotiator", "schedd", "startd")


def pids(pool: PersonalPool) -> dict[str, int]:
    return {name: daemon_pid(pool, f"condor_{name}") for name in DAEMONS}


def is_gone(pid: int) -> bool:
    return not os.path.exists(f"/proc/{pid}")


@pytest.mark.shows("R076")
def test_a_daemon_whose_program_vanishes_is_tried_again_at_growing_intervals_and_named(
    tmp_path: Path, work: Path
) -> None:
    program = work / "ghost"
    text = "#!/bin/sh\nexec /bin/sleep 12345\n"
    config = (
        f"DAEMON_LIST = $(DAEMON_LIST) GHOST\nGHOST = {program}\n"
        "MASTER_GHOST_BACKOFF_CONSTANT = 1\nMASTER_GHOST_BACKOFF_CEILING = 3\n"
    )

    def write_program() -> None:
        program.write_text(text)
        program.chmod(0o755)

    def ghosts(pool: PersonalPool) -> list[int]:
        master = pool.master_pid()
        assert master is not None
        return [pid for pid in family_of(master) if title_of(pid) == "/bin/sleep 12345"]

    write_program()
    with personal_pool(tmp_path, config) as pool:
        before = pids(pool)
        (ghost,) = ghosts(pool)
        program.unlink()
        os.kill(ghost, signal.SIGKILL)
        missing = f"ERROR: cannot start GHOST: [Errno 2] No such file or directory: '{program}'"
        wait_until(lambda: log_text(pool, "MasterLog").count(missing) >= 2, 30)
        pauses = re.findall(r"restarting GHOST in (\d+) seconds", log_text(pool, "MasterLog"))
        assert pauses[:2] == ["2", "3"]
        code, said, _ = run_tool(pool, "condor_who", "-quick")
        assert code == 0
        assert 'GHOST = "Dead"' in said
        assert 'SCHEDD = "Alive"' in said
        _, said, _ = run_tool(pool, "condor_status", "-master", "-l")
        assert "GHOST_StartTime" not in said
        assert "SCHEDD_StartTime" in said
        submit(pool, work / "meanwhile", f"{TRUE}queue\n").wait_for(5, 30)
        write_program()
        wait_until(lambda: len(ghosts(pool)) == 1, 30)
        assert pids(pool) == before


def test_a_port_that_is_taken_is_told_with_the_process_that_has_it(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path) as pool:
        collector = daemon_pid(pool, "condor_collector")
        _, said, _ = run_tool(pool, "condor_status", "-collector", "-af", "MyAddress")
        port = said.partition("?")[0].rpartition(":")[2]
        settings = work / "settings"
        settings.write_text(f"COLLECTOR_HOST = 127.0.0.1:{port}\n")
        other = start_kettle("up", "--dir", str(work / "other"), "--config", str(settings))
        _, complaint = other.communicate(timeout=120)
        assert other.returncode == 1
        assert complaint.count("\n") == 1
        sentence = f"cannot listen on 127.0.0.1 port {port}: Address already in use by process"
        assert f"{sentence} {collector} (condor_collector" in complaint
        submit(pool, work / "on", f"{TRUE}queue\n").wait_for(5, 30)


def test_two_that_start_a_pool_in_one_folder_have_one_pool(work: Path) -> None:
    folder = work / "one"
    racers = [start_kettle("up", "--dir", str(folder)) for _ in range(3)]
    ended = [(*racer.communicate(timeout=200), racer.returncode) for racer in racers]
    pool = PersonalPool(str(folder))
    try:
        for said, complaint, code in ended:
            assert code in (0, 1)
            # Either it is up, or one sentence says who is at it.
            assert "is up" in said if code == 0 else complaint.count("\n") == 1, (said, complaint)
        assert any(code == 0 for *_, code in ended)
        master = pool.master_pid()
        assert master is not None
        assert len(daemon_pids(pool, "condor_schedd")) == 1
        again = start_kettle("up", "--dir", str(folder))
        said, complaint = again.communicate(timeout=120)
        assert (again.returncode, complaint) == (0, "")
        assert said == f"The pool in {folder} is up.\n"
        assert pool.master_pid() == master
    finally:
        pool.stop(how="fast")


def test_descriptors_that_are_used_up_make_others_wait_and_nobody_dies(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path) as pool:
        before = pids(pool)
        _, said, _ = run_tool(pool, "condor_status", "-schedd", "-af", "MyAddress")
        port = int(said.partition("?")[0].rpartition(":")[2])
        # As an administrator sees it whose daemons were started with too few: each of them.
        for pid in before.values():
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (48, 48))
        strangers = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        wait_until(lambda: "Cannot accept a connection" in log_text(pool, "SchedLog"), 30)
        for stranger in strangers:
            stranger.close()
        wait_until(lambda: run_tool(pool, "condor_q")[0] == 0, 60)
        submit(pool, work / "after", f"{TRUE}queue 3\n").wait_for(5, 60)
        assert pids(pool) == before
        assert log_text(pool, "SchedLog").count("Cannot accept a connection") < 200


@pytest.mark.root
def test_processes_that_are_used_up_hold_jobs_with_the_reason_and_nobody_dies(
    work: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    account = make_account("few")
    python = find_interpreter(account.pw_uid)
    paths = os.pathsep.join((SOURCES, LIBRARIES))
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": paths, "HOME": str(work)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        """Run a program as the account."""
        return subprocess.run(
            words,
            env=environment,
            cwd=work,
            user=account.pw_uid,
            group=account.pw_gid,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )

    def tool(name: str, *words: str) -> str:
        code = (
            f"import sys; sys.argv[0] = {name!r}\n"
            f"from kettle.tools.programs import {name} as run; sys.exit(run())"
        )
        done = run(python, "-P", "-c", code, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    pool = PersonalPool(str(work / "pool"))
    (work / "settings").write_text("NUM_CPUS = 20\n")
    tool("kettle", "up", "--dir", pool.folder, "--config", str(work / "settings"))
    try:
        environment["CONDOR_CONFIG"] = pool.config_file
        before = pids(pool)
        master = pool.master_pid()
        assert master is not None
        family = family_of(master)
        # Room for the shadow host with its threads, and a few starters with their jobs.
        threads = sum(len(os.listdir(f"/proc/{pid}/task")) for pid in family) + 9
        for pid in family:
            limit = f"--nproc={threads}:{threads}"
            # What has ended meanwhile needs none.
            assert run("prlimit", "--pid", str(pid), limit).returncode == 0 or is_gone(pid)
        (work / "sub").write_text(
            "executable = /bin/sleep\ntransfer_executable = false\narguments = 1\n"
            "request_memory = 10MB\nrequest_disk = 1MB\nqueue 12\n"
        )
        tool("condor_submit", str(work / "sub"))
        wait_until(lambda: "Resource temporarily unavailable" in log_text(pool, "StartLog"), 60)
        reasons = "HoldReasonCode", "HoldReasonSubCode"
        asked = ("-allusers", "-constraint", "JobStatus == 5", "-af", *reasons)
        wait_until(lambda: "6 11" in tool("condor_q", *asked), 60)
        # When others have ended, there is room again.
        wait_until(lambda: "Claimed" not in tool("condor_status", "-af", "State"), 60)
        tool("condor_rm", "-all")
        (work / "sub").write_text("executable = /bin/true\nlog = log\nqueue\n")
        tool("condor_submit", str(work / "sub"))
        wait_until(lambda: "005 (" in (work / "log").read_text(), 60)
        assert pids(pool) == before
    finally:
        pool.stop(how="fast")


WAITS = "executable = /bin/true\ntransfer_executable = false\ndeferral_time = (CurrentTime + 8)\n"


def test_a_shadow_host_killed_before_its_jobs_program_begins_is_succeeded_and_the_job_runs_once(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, "NUM_CPUS = 2\n") as pool:
        jobs = submit(pool, work, f"{WAITS}queue 2\n")
        kill_host_of_waiting(pool, 2)
        jobs.wait_for(5, 30)
        assert jobs.count_events(1) == {0: 1, 1: 1}
        assert [jobs.record(proc).integer("NumJobStarts") for proc in range(2)] == [1, 1]
        assert jobs.count_events(23) == {0: 1, 1: 1}


def test_a_job_whose_shadow_host_was_killed_before_its_program_began_is_removed_when_asked(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, "NUM_CPUS = 1\n") as pool:
        waiting = WAITS.replace("+ 8", "+ 500").replace(
            "deferral", "deferral_prep_time = 900\ndeferral"
        )
        jobs = submit(pool, work, f"{waiting}queue\n")
        kill_host_of_waiting(pool, 1)
        run_tool(pool, "condor_rm", str(jobs.cluster))
        jobs.wait_until_gone()
        following = submit(pool, work, f"{TRUE}queue\n")
        following.wait_for(5, 15)


def kill_host_of_waiting(pool: PersonalPool, count: int) -> None:
    """Kill the shadow host while so many jobs wait in their sandboxes for their time."""

    def waiting() -> int:
        logs = Path(pool.log_folder).glob("StarterLog*")
        texts = (log.read_text(encoding="utf-8", errors="replace") for log in logs)
        return sum(text.count("seconds for its deferral time") for text in texts)

    wait_until(lambda: waiting() == count, 15)
    os.kill(daemon_pid(pool, "condor_shadow"), signal.SIGKILL)


@pytest.mark.parametrize("moves", [False, True])
def test_a_shared_port_that_is_killed_is_where_it_was_or_everybody_says_where(
    tmp_path: Path, work: Path, moves: bool
) -> None:
    settings = "USE_SHARED_PORT = true\nMASTER_BACKOFF_CONSTANT = 0\n"
    with personal_pool(tmp_path, settings) as pool:
        place = Path(pool.log_folder, ".collector_address")
        before = place.read_text()
        job = submit(
            pool,
            work,
            f"{SLEEP}queue\n",
        )
        job.wait_for(1, 30)
        if moves:
            Path(pool.folder, "lock", "shared_port_ad.port").write_text("1\n")
        os.kill(daemon_pid(pool, "condor_shared_port"), signal.SIGKILL)
        wait_until(lambda: run_tool(pool, "condor_status", "-af", "Name")[0] == 0, 40)
        assert (place.read_text() != before) == moves
        wait_until(lambda: run_tool(pool, "condor_rm", "-all")[0] == 0, 40)
        job.wait_for(9, 30)
        following = submit(pool, work / "on", f"{TRUE}queue\n")
        following.wait_for(5, 60)


def test_jobs_run_whose_shadows_cannot_write_their_log_and_the_schedd_says_so(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path) as pool:
        log = Path(pool.log_folder, "ShadowLog")
        log.mkdir()
        submit(pool, work, f"{TRUE}queue\n").wait_for(5, 30)
        assert f"its log {log} cannot be written: Is a directory" in log_text(pool, "SchedLog")


def test_a_pool_whose_log_folder_is_deleted_is_still_that_pool(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, "USE_SHARED_PORT = true\n") as pool:
        master, before = pool.master_pid(), pids(pool)
        shutil.rmtree(pool.log_folder)
        shutil.rmtree(Path(pool.folder) / "lock")
        assert pool.master_pid() == master
        again = start_kettle("up", "--dir", pool.folder)
        said, complaint = again.communicate(timeout=120)
        assert (again.returncode, said, complaint) == (0, f"The pool in {pool.folder} is up.\n", "")
        names = [f".{name}_address" for name in ("collector", "negotiator", "schedd", "startd")]
        places = [Path(pool.log_folder, name) for name in ("InstanceLock", "MasterLog")]
        places += [
            Path(pool.folder, "spool" if "schedd" in name else "log", name) for name in names
        ]
        wait_until(lambda: all(place.exists() for place in places), 30)
        assert Path(pool.log_folder, "InstanceLock").read_text() == f"{master}\n"
        wait_until(lambda: run_tool(pool, "condor_q")[0] == 0, 30)
        submit(pool, work / "on", f"{TRUE}queue\n").wait_for(5, 30)
        assert (pool.master_pid(), pids(pool)) == (master, before)
