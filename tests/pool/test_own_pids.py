"""A job of a root pool has a PID namespace, which ends with its starter (USE_PID_NAMESPACES)."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from kettle.testing.pool_processes import family_of
from pool_jobs import Jobs, programs_of, run_tool, submit, title_of, wait_until

pytestmark = [pytest.mark.timeout(240), pytest.mark.root]
shows = pytest.mark.shows

CONFIG = "NUM_CPUS = 2\n"
INIT = "condor_pid_ns_init"
# How soon what hid is dead; nothing but the kernel has to do anything for it.
AT_ONCE_SECONDS = 1.0

# Hides a process that nothing tells from any other: no environment, session, parent, folder or
# open file is left of the job's. It sleeps what the second word says, as nobody else does.
HIDE = """\
import os, sys, time
if os.fork():
    time.sleep(300)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
os.closerange(0, 4096)
os.execve("/bin/sleep", ["sleep", sys.argv[1]], {})
"""


def hide(pool: PersonalPool, work: Path, lines: str) -> tuple[Jobs, int]:
    """Submit a job that hides a process; return it, and the pid of what hid."""
    script = work / "hide.py"
    script.write_text(HIDE)
    name = f"{1000 + os.getpid()}"
    jobs = submit(
        pool,
        work / "job",
        f"executable = /usr/bin/env\narguments = python3 -I {script} {name}\n"
        f"transfer_executable = false\nrequest_memory = 100MB\nrequest_disk = 1MB\n{lines}queue\n",
    )
    found: list[int] = []

    def is_hidden() -> bool:
        found[:] = [pid for pid in programs_of(f"sleep {name}") if title_of(pid)[:5] == "sleep"]
        return len(found) == 1

    wait_until(is_hidden, 20, lambda: str(found))
    return jobs, found[0]


def daemons_of(pool: PersonalPool) -> list[int]:
    """Return every process of ours in a pool: daemons, zygotes, shadows and starters."""
    master = pool.master_pid()
    assert master is not None
    names = {pid: title_of(pid) for pid in family_of(master)}
    found = [pid for pid, name in names.items() if name.startswith("condor_") and name != INIT]
    assert any(names[pid].startswith("condor_starter") for pid in found), names
    return found


def shell(pool: PersonalPool, folder: Path, script: str, lines: str = "", count: int = 1) -> Jobs:
    """Submit a job that runs a script of the shell; its output is in `out`."""
    program = folder / "script.sh"
    folder.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    return submit(
        pool,
        folder,
        f"executable = {program}\noutput = out\nerror = err\nshould_transfer_files = yes\n"
        f"request_memory = 100MB\nrequest_disk = 1MB\n{lines}queue {count}\n",
    )


@shows("E006")
@pytest.mark.parametrize("universe", ["vanilla", "local"])
def test_what_hid_is_dead_at_once_when_all_daemons_are_killed_at_once(
    tmp_path: Path, work: Path, universe: str
) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        lines = "" if universe == "local" else "should_transfer_files = yes\n"
        jobs, hidden = hide(pool, work, f"universe = {universe}\n{lines}")
        watched = os.pidfd_open(hidden)
        everybody = daemons_of(pool)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in everybody:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        dead = bool(select.select([watched], [], [], AT_ONCE_SECONDS)[0])
        if not dead:
            signal.pidfd_send_signal(watched, signal.SIGKILL)
        os.close(watched)
        assert dead
        assert jobs.count_events(1) == {0: 1}


def test_what_a_job_sees_of_processes_is_its_own(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, CONFIG) as pool:
        script = (
            "echo $PPID; tr '\\0' ' ' </proc/$$/cmdline; echo\n"
            "cd /proc; for one in [0-9]*; do cat $one/comm; done 2>/dev/null"
        )
        jobs = shell(pool, work / "own", script)
        jobs.wait_for(5, 20)
        parent, mine, *seen = (work / "own" / "out").read_text().splitlines()
        assert parent == "0"
        assert "script.sh" in mine or "condor_exec" in mine
        assert len(seen) == 2
        assert seen[0] == INIT[:15]


def test_without_the_knob_a_job_sees_the_machine_s_processes(tmp_path: Path, work: Path) -> None:
    with personal_pool(tmp_path, f"{CONFIG}USE_PID_NAMESPACES = false\n") as pool:
        jobs = shell(pool, work / "all", "echo $$; ls /proc")
        jobs.wait_for(5, 20)
        assert str(pool.master_pid()) in (work / "all" / "out").read_text().split()


def test_the_init_is_no_process_of_the_job(tmp_path: Path, work: Path) -> None:
    """It is neither counted nor stopped."""
    with personal_pool(tmp_path, CONFIG) as pool:
        jobs = shell(pool, work / "two", f"sleep 271.{os.getpid()} & wait")
        number = str(jobs.cluster)
        wait_until(lambda: len(programs_of(f"sleep 271.{os.getpid()}")) == 1, 20)
        assert run_tool(pool, "condor_suspend", number)[0] == 0
        jobs.wait_for(10, 20)
        assert "Number of processes actually suspended: 2" in jobs.log.read_text()
        (sleeper,) = programs_of(f"sleep 271.{os.getpid()}")
        state = Path(f"/proc/{sleeper}/stat")
        wait_until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T", 20)
        assert run_tool(pool, "condor_continue", number)[0] == 0
        jobs.wait_for(11, 20)
        wait_until(lambda: state.read_text().rpartition(")")[2].split()[0] == "S", 20)
        assert run_tool(pool, "condor_rm", number)[0] == 0
        jobs.wait_for(9, 20)
        wait_until(lambda: not state.exists(), 20)


def test_a_job_ends_as_it_would_without(tmp_path: Path, work: Path) -> None:
    """Its exit code, its signal, what it used, and a core file that is named after its number."""
    with personal_pool(tmp_path, f"{CONFIG}USE_PID_NAMESPACES = true\n") as pool:
        jobs = shell(
            pool, work / "code", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 7"
        )
        jobs.wait_for(5, 60)
        ad = jobs.record()
        assert ad.integer("ExitCode") == 7
        assert (ad.real("RemoteUserCpu") or 0) > 0
        jobs = shell(
            pool, work / "core", "echo dump >core.$$; kill -SEGV $$", "coresize = 1000000\n"
        )
        jobs.wait_for(5, 20)
        ad = jobs.record()
        assert ad.integer("ExitSignal") == signal.SIGSEGV
        assert (work / "core" / f"core.{jobs.cluster}.0").read_text() == "dump\n"


def test_a_job_that_ends_with_its_init_runs_again_and_so_does_the_next_of_its_claim(
    tmp_path: Path, work: Path
) -> None:
    """Nothing of a job can kill its init: what the kernel kills with that did not fail itself."""
    with personal_pool(tmp_path, "NUM_CPUS = 1\n") as pool:
        lines = f"arguments = $(Process)\nenvironment = NAME=272.{os.getpid()}\n"
        script = '[ "$1" = 1 ] || ! grep -q "^NumJobStarts = 0$" .job.ad || exec sleep $NAME'
        jobs = shell(pool, work / "jobs", script, lines, count=2)
        wait_until(lambda: len(programs_of(f"sleep 272.{os.getpid()}")) == 1, 20)
        master = pool.master_pid()
        assert master is not None
        (init,) = set(family_of(master)).intersection(programs_of(INIT))
        os.kill(init, signal.SIGKILL)
        wait_until(lambda: jobs.count_events(5) == {0: 1, 1: 1}, 30, lambda: str(jobs.events()))
        for proc in (0, 1):
            assert jobs.record(proc).integer("ExitCode") == 0
        assert jobs.record(0).integer("NumShadowStarts") == 2
        assert jobs.count_events(12) == {}


PLUGIN = """#!/bin/sh
if [ "$1" = -classad ]; then
  printf 'PluginType = "FileTransfer"\\nSupportedMethods = "own"\\nMultipleFileSupport = true\\n'
  exit 0
fi
url=$(sed -n 's/.*Url = "\\([^"]*\\)".*/\\1/p' "$2")
readlink /proc/self/ns/pid >"/${url#own://}"
cp "/${url#own://}" file
echo "[ TransferUrl = \\"$url\\"; TransferSuccess = true; TransferFileBytes = 3 ]" >"$4"
"""


def test_a_plug_in_s_processes_end_with_the_job_s(tmp_path: Path, work: Path) -> None:
    plugin = work / "own.sh"
    plugin.write_text(PLUGIN)
    plugin.chmod(0o755)
    with personal_pool(tmp_path, f"{CONFIG}FILETRANSFER_PLUGINS = {plugin}\n") as pool:
        url = f"own://{str(work / 'said').strip('/')}"
        lines = f"transfer_input_files = {url}\n"
        jobs = shell(pool, work / "job", "readlink /proc/self/ns/pid", lines)
        jobs.wait_for(5, 20)
        said = (work / "job" / "out").read_text()
        assert (work / "said").read_text() == said
        assert said.strip() != os.readlink("/proc/self/ns/pid")
