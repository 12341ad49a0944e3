"""Jobs for tests against a real pool: submitted, awaited, and what they left behind read.

The jobs of `Witness` write down, outside their sandboxes, each time they begin and end and whether
an earlier execution of the same job was still alive, so that a test can say that none ever was.
"""

from __future__ import annotations

import contextlib
import io
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kettle.classad import ClassAd, parse_old_ad
from kettle.pool.personal import PersonalPool
from kettle.records.event_base import Event
from kettle.records.event_log import read_events
from kettle.runtime.process.cgroups import find_hierarchy
from kettle.runtime.process.liveness import is_killed as is_killed
from kettle.testing.pool_processes import daemon_pids as daemon_pids
from kettle.testing.pool_processes import family_of as family_of
from kettle.testing.pool_processes import parent_of as parent_of
from kettle.testing.pool_processes import title_of as title_of
from kettle.tools.programs import Streams, load_tool

# Waiting costs time only when what is waited for never comes, so the bounds are for the slowest
# machine: so many times as long as a quiet one needs, and never less than LEAST_SECONDS.
PATIENCE = 5
LEAST_SECONDS = 60
_TERSE = re.compile(r"(\d+)\.(\d+) - \d+\.(\d+)")

# Notes "begin" and "end", and "double" if an earlier execution still has the lock, which is also
# seen from where no process of that is.
_WITNESS = """\
#!/bin/sh
notes=$1
exec 9>>"$notes.lock"
flock -n 9 || echo double >>"$notes"
echo begin >>"$notes"
until [ -e "$2" ]; do sleep 0.3 9>&-; done
echo end >>"$notes"
"""


# Settings of a pool whose execution side is behind a wall: it gives the address of a forwarding
# host that forwards nothing, and is called through its broker.
WALLED = "".join(
    f"{name}.CCB_ADDRESS = $(COLLECTOR_HOST)\n"
    f"{name}.TCP_FORWARDING_HOST = 127.0.0.9\n"
    f"{name}.PRIVATE_NETWORK_NAME = behind-the-wall\n"
    for name in ("STARTD", "STARTER")
)


def run_tool(pool: PersonalPool, name: str, *words: str) -> tuple[int, str, str]:
    """Run a tool against the pool, in this process; return its exit code and what it said."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    main = load_tool(name)
    code: int = main([name, *words], pool.environment(), streams)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


def ask_queue(pool: PersonalPool, which: str, *attributes: str) -> list[list[str]]:
    """Return attributes of the jobs that condor_q finds, one row for each, by job id."""
    where = ["-all"] if which == "-all" else [which]
    words = ["-af:t", "ClusterId", "ProcId", *attributes]
    code, said, complaint = run_tool(pool, "condor_q", *where, *words)
    assert code == 0, complaint
    rows = sorted(
        (line.split("\t") for line in said.splitlines()), key=lambda row: (int(row[0]), int(row[1]))
    )
    return [[word.strip() for word in row[2:]] for row in rows]


def log_text(pool: PersonalPool, name: str) -> str:
    """Return what a daemon has written into its log."""
    return Path(pool.log_folder, name).read_text(encoding="utf-8", errors="replace")


def daemon_pid(pool: PersonalPool, name: str, *, other_than: int = 0) -> int:
    """Wait until a pool has one process of a daemon's name, not `other_than`; return its pid.

    For a moment after a fork there are two, and after a death there is none.
    """
    found: list[int] = []

    def is_one() -> bool:
        found[:] = daemon_pids(pool, name)
        return len(found) == 1 and found[0] != other_than

    wait_until(is_one, 10, lambda: f"{name}: {found}, other than {other_than}")
    return found[0]


@dataclass(frozen=True)
class Jobs:
    """A cluster in a pool's queue, its event log and its folder."""

    pool: PersonalPool
    cluster: int
    count: int
    log: Path

    def events(self) -> list[Event]:
        """Return the events of the cluster so far."""
        if not self.log.exists():
            return []
        found = read_events(self.log.read_bytes(), year=time.localtime().tm_year)
        return [event for event in found if event.cluster == self.cluster]

    def count_events(self, number: int) -> dict[int, int]:
        """Return how many events of a number each proc has."""
        return dict(Counter(event.proc for event in self.events() if event.number == number))

    def wait_for(self, number: int, seconds: float, *, each: int = 1) -> None:
        """Wait until every job has so many events of a number; AssertionError if not in time."""
        wait_until(
            lambda: (
                len(self.count_events(number)) == self.count
                and min(self.count_events(number).values()) >= each
            ),
            seconds,
            lambda: f"events {number} after {seconds} s: {self.count_events(number)}",
        )

    def wait_for_status(self, status: int, *attributes: str) -> list[str]:
        """Wait until the queue says that proc 0 has a status; return more of what it says.

        An event may be in the log a moment before the queue knows what it tells.
        """
        rows: list[list[str]] = []

        def has_it() -> bool:
            rows[:] = ask_queue(self.pool, f"{self.cluster}.0", "JobStatus", *attributes)
            return [row[0] for row in rows] == [str(status)]

        wait_until(has_it, 10, lambda: f"status {status}: {rows}, {self.events()}")
        return rows[0][1:]

    def wait_until_gone(self) -> None:
        """Wait until no job of the cluster is in the queue."""
        which = str(self.cluster)
        wait_until(lambda: ask_queue(self.pool, which, "JobStatus") == [], 10)

    def record(self, proc: int = 0) -> ClassAd:
        """Wait until a job has its one history record, and return it."""
        wait_until(lambda: proc in self.history(), 10, lambda: f"no history of proc {proc}")
        (ad,) = self.history()[proc]
        return ad

    def history(self) -> dict[int, list[ClassAd]]:
        """Return the history records of the cluster by proc."""
        found: dict[int, list[ClassAd]] = {}
        path = Path(self.pool.folder, "spool", "history")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        lines: list[str] = []
        for line in text.splitlines():
            if not line.startswith("***"):
                lines.append(line)
                continue
            ad = parse_old_ad(lines)
            lines = []
            if ad.integer("ClusterId") == self.cluster:
                found.setdefault(ad.integer("ProcId") or 0, []).append(ad)
        return found


def submit(pool: PersonalPool, folder: Path, text: str) -> Jobs:
    """Submit a submit file's text, with `log` added; AssertionError with what was said if not."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "job.log"
    path = folder / "job.sub"
    path.write_text(f"log = {log}\ninitialdir = {folder}\n{text}", encoding="utf-8")
    code, said, complaint = run_tool(pool, "condor_submit", "-terse", str(path))
    found = _TERSE.search(said)
    assert code == 0, f"condor_submit: {code} {said} {complaint}"
    assert found is not None, f"condor_submit said {said!r}"
    return Jobs(pool, int(found[1]), int(found[3]) - int(found[2]) + 1, log)


def submit_script(pool: PersonalPool, work: Path, script: str, lines: str) -> Jobs:
    """Queue a shell script as a job whose output is `out` and `err`; `lines` are the file's own."""
    path = work / "job.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    text = f"executable = {path}\noutput = out\nerror = err\n{lines}"
    return submit(pool, work, f"{text}\nqueue\n")


def submit_as(pool: PersonalPool, account: pwd.struct_passwd, folder: Path, text: str) -> Path:
    """Submit a file as somebody else, from a folder of his own; return the job's event log."""
    folder.mkdir()
    os.chown(folder, account.pw_uid, account.pw_gid)
    (folder / "job.sub").write_text(f"log = log\n{text}")
    # Everything that a submission loads is loaded before the account changes: the other one
    # may not be able to read it.
    submit(pool, folder.parent / "warm", "executable = /bin/true\nhold = true\nqueue\n")
    code, complaint = run_as(account, folder, pool, "condor_submit", "-terse", "job.sub")
    assert code == 0, complaint
    return folder / "log"


def run_as(
    account: pwd.struct_passwd, folder: Path, pool: PersonalPool, *words: str
) -> tuple[int, str]:
    """Run a tool as somebody else; return its exit code, 99 if it broke, and what it complained."""
    said = folder / "complaint"
    said.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setgroups([])
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
            os.chdir(folder)
            code, _, complaint = run_tool(pool, *words)
            said.write_text(complaint)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, said.read_text() if said.exists() else ""


def wait_until(
    condition: Callable[[], bool], seconds: float, describe: Callable[[], str] = lambda: ""
) -> None:
    """Wait until the condition holds; AssertionError, with the description, if it never does.

    `seconds` is what a quiet machine may take. It is no bound that a test shows: those are shown
    in scenarios, on virtual time.
    """
    bound = max(seconds * PATIENCE, LEAST_SECONDS)
    deadline = time.monotonic() + bound
    while not condition():
        assert time.monotonic() < deadline, f"not within {bound} s: {describe()}"
        time.sleep(0.02)


def programs_of(words: str) -> list[int]:
    """Return the processes of this machine that run with such words, not what they fork.

    What a job tells of itself is its number in its own PID namespace, which nobody else has.
    """
    everybody = map(int, filter(str.isdecimal, os.listdir("/proc")))
    found = [pid for pid in everybody if words in title_of(pid)]
    return [pid for pid in found if parent_of(pid) not in found]


# Every daemon that works for a pool, and what works for them.
EVERYBODY = (
    "condor_master",
    "condor_collector",
    "condor_negotiator",
    "condor_schedd",
    "condor_shadow",
    "condor_startd",
    "condor_starter",
)


def kill_at_once(pool: PersonalPool, *names: str) -> None:
    """Stop every process of these names, so that none can react, and kill them all."""
    pids = [pid for name in names for pid in daemon_pids(pool, name)]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def is_noted(pid: int, execute: Path, *, grouped: bool = True) -> bool:
    """Whether a starter has noted a process of its job, or a control group has it.

    Local jobs are not `grouped`.
    """
    notes = execute.glob(".processes_*")
    has_group = grouped and os.getuid() == 0 and find_hierarchy() is not None
    return has_group or any(f"{pid} " in note.read_text() for note in notes)


class Witness:
    """A cluster of jobs that note their executions in `folder` and run until they are let go."""

    def __init__(self, pool: PersonalPool, folder: Path, count: int, lines: str = "") -> None:
        self.notes = folder / "notes"
        self.notes.mkdir(parents=True)
        if os.getuid() == 0:
            os.chmod(self.notes, 0o777)
        script = folder / "witness.sh"
        script.write_text(_WITNESS, encoding="utf-8")
        script.chmod(0o755)
        self.jobs = submit(
            pool,
            folder,
            f"executable = {script}\narguments = {self.notes}/$(Process) {self.notes}/go\n"
            "request_cpus = 1\nrequest_memory = 10MB\nrequest_disk = 1MB\n"
            f"{lines}queue {count}\n",
        )

    def let_go(self) -> None:
        """Let every job that runs, or ever will, end."""
        (self.notes / "go").touch()

    def wait_until_begun(self, executions: int) -> None:
        """Wait until the jobs have begun so many executions in all."""

        def begun() -> int:
            return sum(map(self.begun, range(self.jobs.count)))

        wait_until(lambda: begun() >= executions, 30, lambda: f"{begun()} have begun")

    def begun(self, proc: int) -> int:
        """Return how many executions of a job have begun."""
        return self._words(proc).count("begin")

    def alive(self) -> int:
        """Return how many executions are alive."""
        return sum(not is_killed(pid) for pid in programs_of(f"{self.notes}/"))

    def doubles(self) -> list[int]:
        """Return the jobs of which two executions were ever alive at once."""
        return [proc for proc in range(self.jobs.count) if "double" in self._words(proc)]

    def _words(self, proc: int) -> list[str]:
        path = self.notes / str(proc)
        if not path.exists():
            return []
        return path.read_text(encoding="utf-8").split()


def make_machine(pool: PersonalPool, folder: Path) -> Path:
    """Write the configuration of a master with a startd alone, for a pool; return its file.

    It stands beside the pool with logs of its own, as if on another machine.
    """
    settings = [f"include : {pool.config_file}", "DAEMON_LIST = MASTER STARTD"]
    for name in ("log", "execute", "lock", "run"):
        (folder / name).mkdir(parents=True)
        shutil.chown(folder / name, os.stat(pool.log_folder).st_uid)
        settings.append(f"{name.upper()} = {folder}/{name}")
    settings.append(f"COLLECTOR_ADDRESS_FILE = {pool.log_folder}/.collector_address")
    settings.append("MASTER_NAME = machine")
    path = folder / "condor_config"
    path.write_text("\n".join(settings) + "\n", encoding="utf-8")
    return path


# A job that holds its slot until it is removed; commands of a test's own and `queue` follow.
LONG = """\
executable = /bin/sleep
transfer_executable = false
request_memory = 10MB
request_disk = 1MB
arguments = 300
"""


def statuses(jobs: Jobs) -> list[str]:
    """Return the statuses of a cluster's jobs that are in the queue, sorted."""
    return sorted(row[0] for row in ask_queue(jobs.pool, str(jobs.cluster), "JobStatus"))


def empty(pool: PersonalPool) -> None:
    """Remove every job and wait until no slot is claimed, for the next test of a shared pool."""
    run_tool(pool, "condor_rm", "-all")
    wait_until(
        lambda: not run_tool(pool, "condor_status", "-claimed", "-af", "Name")[1].strip(), 20
    )


def start_kettle(*words: str) -> subprocess.Popen[str]:
    """Start the `kettle` command as a process of its own, which somebody at a terminal can end."""
    code = "import sys; from kettle.tools.programs import kettle; sys.exit(kettle())"
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        preexec_fn=_be_at_a_terminal,
    )


def _be_at_a_terminal() -> None:
    """Ignore no signal: what a shell starts in the background does, or what `nohup` starts."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
