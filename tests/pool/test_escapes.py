"""Jobs that hide from their starter end with their job, and with any two daemons killed at once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import (
    Jobs,
    daemon_pids,
    is_noted,
    kill_at_once,
    programs_of,
    run_tool,
    submit,
    title_of,
    wait_until,
)

pytestmark = pytest.mark.timeout(500)
shows = pytest.mark.shows

CONFIG = "NUM_CPUS = 4\nMASTER_BACKOFF_CONSTANT = 0\nMASTER_BACKOFF_CEILING = 1\n"

# Leaves nothing by which it could be recognised: no environment, no session, no parent, no working
# directory, no open file; and it cannot be asked to go. Its notes name what it sleeps, as nobody
# else does: its pid may be a number of its PID namespace.
HIDE = """\
import os, signal, sys, time
notes = sys.argv[1]
if os.fork():
    time.sleep(float(sys.argv[2]))
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
own = f"150.{time.time_ns()}"
with open(notes, "a") as file:
    file.write(f"{own}\\n")
os.closerange(0, 64)
os.execve("/bin/sleep", ["sleep", own], {})
"""

# The same, while the program that hides it asks about its job again and again.
ASK = HIDE.replace(
    "    time.sleep(float(sys.argv[2]))\n",
    """\
    import socket
    host, port, cookie = open(os.environ["_CONDOR_CHIRP_CONFIG"]).read().split()[:3]
    line = socket.create_connection((host, int(port))).makefile("rwb", buffering=0)
    line.write(f"cookie {cookie}\\n".encode())
    line.readline()
    while True:
        line.write(b"get_job_attr ClusterId\\n")
        line.read(int(line.readline()))
""",
)

# Two new processes for each that lives a moment, so that there is always one that nobody has seen.
BOMB = """\
import os, sys, time
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
end = time.time() + 100
while time.time() < end:
    with open("/dev/null"): pass
    try:
        if os.fork() and os.fork():
            time.sleep(0.05)
            if os.getpid() % 3: os._exit(0)
    except OSError:
        time.sleep(0.01)
"""


def hide(
    pool: PersonalPool, work: Path, seconds: float, program: str = HIDE, more: str = ""
) -> Jobs:
    """Submit a job that hides a process and goes on for so long itself."""
    script = work / "hide.py"
    script.write_text(program)
    script.chmod(0o755)
    return submit(
        pool,
        work / "job",
        f"executable = /usr/bin/env\narguments = python3 -I {script} {work}/pids {seconds}\n"
        "transfer_executable = false\nshould_transfer_files = yes\n"
        f"request_memory = 100MB\nrequest_disk = 1MB\n{more}queue\n",
    )


def hidden(work: Path) -> list[str]:
    """Return the names of what hid, the first first."""
    notes = work / "pids"
    return notes.read_text().split() if notes.exists() else []


def alive(name: str) -> bool:
    return bool(programs_of(f"sleep {name}"))


def assert_gone_before_the_second_start(work: Path, jobs: Jobs, seconds: float = 60) -> None:
    """What hid in the first execution is dead once the second one has hidden something too."""
    wait_until(lambda: len(hidden(work)) == 2, seconds, lambda: f"{hidden(work)} {jobs.events()}")
    assert not alive(hidden(work)[0])


@shows("E004")
@shows("E006")
def test_what_hid_is_dead_when_its_job_ends(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 0.5)
        jobs.wait_for(5, 30)
        assert len(hidden(work)) == 1
        assert not alive(hidden(work)[0])


@shows("E004")
def test_what_hid_is_dead_when_its_job_is_removed(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 60)
        wait_until(lambda: len(hidden(work)) == 1, 20)
        assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
        wait_until(lambda: not alive(hidden(work)[0]), 20)


@shows("E017")
@pytest.mark.root
def test_a_fork_bomb_is_dead_when_its_job_is_removed(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 60, BOMB)
        wait_until(lambda: bool(hidden(work)), 20)
        assert run_tool(pool, "condor_rm", str(jobs.cluster))[0] == 0
        wait_until(lambda: not bombs(work), 30)
        other = submit(pool, work / "other", "executable = /bin/true\nrequest_disk = 1MB\nqueue\n")
        other.wait_for(5, 20)


def bombs(work: Path) -> list[int]:
    """Return the processes of the bomb that live."""
    return [
        int(name)
        for name in os.listdir("/proc")
        if name.isdecimal() and f"{work}/hide.py" in title_of(int(name))
    ]


@shows("E006")
@pytest.mark.parametrize(
    "names", [("condor_startd", "condor_starter"), ("condor_starter", "condor_startd")]
)
def test_startd_and_starter_killed_at_once_leave_nothing_alive_beside_a_second_start(
    tmp_path: Path, work: Path, names: tuple[str, str]
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90)
        wait_until(lambda: len(hidden(work)) == 1, 20)
        kill_at_once(pool, *names)
        assert_gone_before_the_second_start(work, jobs)
        # It notes its number a moment before it has its name.
        wait_until(lambda: alive(hidden(work)[1]), 20)
        # One sandbox; what a root pool mounts for its job lies beside it.
        found = os.listdir(os.path.join(pool.folder, "execute"))
        assert len([name for name in found if name.startswith("dir_")]) == 1


@shows("E006")
def test_a_daemon_without_jobs_that_dies_with_the_startd_saves_nothing_of_a_job(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90)
        wait_until(lambda: len(hidden(work)) == 1, 20)
        (master,) = daemon_pids(pool, "condor_master")
        # The master hears of all of them in one moment.
        os.kill(master, signal.SIGSTOP)
        kill_at_once(pool, "condor_starter", "condor_startd", "condor_negotiator")
        wait_until(lambda: not daemon_pids(pool, "condor_startd"), 20)
        os.kill(master, signal.SIGCONT)
        assert_gone_before_the_second_start(work, jobs)


@shows("S007")
def test_what_a_local_job_hid_is_dead_before_its_second_start(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90, more="universe = local\n")
        wait_until(lambda: len(hidden(work)) == 1, 20)
        kill_at_once(pool, "condor_starter", "condor_schedd")
        assert_gone_before_the_second_start(work, jobs)
        assert len(local_sandboxes(pool)) == 1


@shows("S007")
def test_a_local_job_whose_starter_dies_waits_and_is_started_again(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90, more="universe = local\n")
        wait_until(lambda: len(hidden(work)) == 1, 20)
        kill_at_once(pool, "condor_starter")
        assert_gone_before_the_second_start(work, jobs)
        assert len(local_sandboxes(pool)) == 1
        wait_until(lambda: jobs.log.read_text().count("\n001 (") == 2, 20)
        assert "\tReason: The starter ended with signal 9\n" in jobs.log.read_text()


@shows("S007")
def test_a_local_job_whose_starter_dies_with_a_question_is_started_again(
    tmp_path: Path, work: Path
) -> None:
    """The schedd's answer finds nobody: that is no word of the starter's that it cannot run."""
    assert ASK != HIDE
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90, ASK, "universe = local\n+WantIOProxy = true\n")
        wait_until(lambda: len(hidden(work)) == 1 and alive(hidden(work)[0]), 20)
        (schedd,) = daemon_pids(pool, "condor_schedd")
        os.kill(schedd, signal.SIGSTOP)
        # It asks a thousand times in this.
        time.sleep(1)
        kill_at_once(pool, "condor_starter")
        wait_until(lambda: not daemon_pids(pool, "condor_starter"), 20)
        os.kill(schedd, signal.SIGCONT)
        assert_gone_before_the_second_start(work, jobs)
        assert "012" not in [line[:3] for line in jobs.log.read_text().splitlines()]
        assert len(local_sandboxes(pool)) == 1


@shows("S007")
def test_everything_killed_at_once_leaves_nothing_of_a_local_job_after_the_next_start(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, f"{CONFIG}USE_PID_NAMESPACES = false\n") as pool:
        jobs = hide(pool, work, 90, more="universe = local\n")
        wait_until(lambda: len(hidden(work)) == 1 and alive(hidden(work)[0]), 20)
        note = f"{programs_of(hidden(work)[0])[0]} "
        notes = Path(pool.folder, "spool/local_univ_execute")
        wait_until(lambda: any(note in one.read_text() for one in notes.glob(".processes_*")), 20)
        everybody = ("condor_master", "condor_startd", "condor_starter", "condor_schedd")
        kill_at_once(pool, *everybody, "condor_procd")
        assert alive(hidden(work)[0])
        pool.start()
        assert_gone_before_the_second_start(work, jobs)
        assert len(local_sandboxes(pool)) == 1


@shows("S008")
def test_everything_killed_at_once_leaves_nothing_of_a_scheduler_job_that_kept_its_environment(
    tmp_path: Path, work: Path
) -> None:
    keeps = HIDE.replace('["sleep", own], {})', '["sleep", own], os.environ)')
    assert keeps != HIDE
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90, keeps, "universe = scheduler\n")
        wait_until(lambda: len(hidden(work)) == 1 and alive(hidden(work)[0]), 20)
        everybody = ("condor_master", "condor_startd", "condor_schedd")
        kill_at_once(pool, *everybody, "condor_procd")
        assert alive(hidden(work)[0])
        pool.start()
        assert_gone_before_the_second_start(work, jobs)


@shows("S008")
def test_everything_killed_at_once_leaves_nothing_of_a_scheduler_job_after_the_next_start(
    tmp_path: Path, work: Path
) -> None:
    """What threw its environment away was noted by its schedd."""
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90, more="universe = scheduler\n")
        wait_until(lambda: len(hidden(work)) == 1 and alive(hidden(work)[0]), 20)
        (pid,) = programs_of(hidden(work)[0])
        notes = Path(pool.folder, "spool/local_univ_execute")
        wait_until(lambda: is_noted(pid, notes, grouped=False), 20)
        kill_at_once(pool, "condor_master", "condor_startd", "condor_schedd", "condor_procd")
        assert alive(hidden(work)[0])
        pool.start()
        assert_gone_before_the_second_start(work, jobs)
        run_tool(pool, "condor_rm", "-all")
        wait_until(lambda: not list(notes.glob(".processes_*")), 20)


def local_sandboxes(pool: PersonalPool) -> list[str]:
    """Return what lies where local jobs have their folders."""
    names = os.listdir(Path(pool.folder, "spool/local_univ_execute"))
    return [name for name in names if name.startswith("dir_")]


@pytest.mark.skipif(os.getuid() == 0, reason="root's pools have control groups")
def test_everything_killed_at_once_leaves_nothing_alive_after_the_next_start_without_root(
    tmp_path: Path, work: Path
) -> None:
    """What hid was noted by its starter."""
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90)
        wait_until(lambda: len(hidden(work)) == 1 and alive(hidden(work)[0]), 20)
        note = f"{programs_of(hidden(work)[0])[0]} "
        notes = Path(pool.folder, "execute")
        wait_until(lambda: any(note in one.read_text() for one in notes.glob(".processes_*")), 20)
        everybody = ("condor_master", "condor_startd", "condor_starter", "condor_schedd")
        kill_at_once(pool, *everybody, "condor_procd")
        wait_until(lambda: not daemon_pids(pool, "condor_shadow"), 20)
        assert alive(hidden(work)[0])
        pool.start()
        assert_gone_before_the_second_start(work, jobs)


@pytest.mark.root
@shows("E017")
def test_a_job_that_a_starter_froze_before_it_was_killed_with_its_startd_ends_at_once(
    tmp_path: Path, work: Path
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = hide(pool, work, 90)
        wait_until(lambda: len(hidden(work)) == 1, 20)
        wait_until(lambda: alive(hidden(work)[0]), 20)
        (pid,) = programs_of(f"sleep {hidden(work)[0]}")
        names = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        where = {line.split(":")[1]: line.split(":")[2] for line in names}.get("freezer", "/")
        state = Path(f"/sys/fs/cgroup/freezer{where}/freezer.state")
        if where == "/" or not state.exists():
            pytest.skip(f"this machine has no control groups of version 1: {names}")
        state.write_text("FROZEN")
        kill_at_once(pool, "condor_starter", "condor_startd")
        assert_gone_before_the_second_start(work, jobs, 40)


@pytest.mark.root
@shows("E017")
def test_everything_killed_at_once_leaves_nothing_alive_after_the_next_start(
    tmp_path: Path, work: Path
) -> None:
    """Where no PID namespace ends it (`test_own_pids.py`), its control group still has it."""
    with personal_pool(tmp_path, f"{CONFIG}USE_PID_NAMESPACES = false\n") as pool:
        jobs = hide(pool, work, 90)
        wait_until(lambda: len(hidden(work)) == 1 and alive(hidden(work)[0]), 20)
        names = [line for line in Path("/proc/self/cgroup").read_text().splitlines() if line]
        if not any(os.access(f"/sys/fs/cgroup{where}", os.W_OK) for where in ("", "/freezer")):
            pytest.skip(f"this machine has no control groups that root may write: {names}")
        kill_at_once(pool, "condor_master", "condor_startd", "condor_starter", "condor_procd")
        wait_until(lambda: not daemon_pids(pool, "condor_schedd"), 20)
        assert alive(hidden(work)[0])
        pool.start()
        assert_gone_before_the_second_start(work, jobs)
