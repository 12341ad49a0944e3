"""A queue that outlives its schedd: the real one takes over our SPOOL, and ours takes over its.

One machine, one spool folder. All daemons of the one side are killed at once, with jobs that wait,
are held, run, are spooled and have yet to be made; then the other side starts in their place.

Known by: FS, encrypted.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from interop.machines import Done, Machine, network, processes_in, wait_for
from interop.real_machine import furnish
from interop.real_pool import peer_root

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

POOL = """\
LOCAL_DIR={folder}/{side}
LOG=$(LOCAL_DIR)/log
EXECUTE=$(LOCAL_DIR)/execute
LOCK=$(LOCAL_DIR)/lock
RUN=$(LOCAL_DIR)/run
SPOOL={folder}/spool
DAEMON_LIST=MASTER, COLLECTOR, NEGOTIATOR, SCHEDD, STARTD
CONDOR_HOST=127.0.0.1
NETWORK_INTERFACE=127.0.0.1
COLLECTOR_HOST=127.0.0.1:9618
USE_SHARED_PORT=false
UID_DOMAIN=test
SEC_DEFAULT_AUTHENTICATION_METHODS=FS
SEC_DEFAULT_AUTHENTICATION=REQUIRED
SEC_DEFAULT_ENCRYPTION=REQUIRED
ALLOW_READ=*
ALLOW_WRITE=*
ALLOW_DAEMON=*
ALLOW_NEGOTIATOR=*
ALLOW_ADMINISTRATOR=*
NUM_CPUS=8
MEMORY=8192
NUM_SLOTS_TYPE_1=1
SLOT_TYPE_1=100%
SLOT_TYPE_1_PARTITIONABLE=true
SCHEDD_INTERVAL=2
NEGOTIATOR_INTERVAL=2
NEGOTIATOR_MIN_INTERVAL=1
NEGOTIATOR_CYCLE_DELAY=1
UPDATE_INTERVAL=5
RUNBENCHMARKS=False
OPEN=false
START=$(OPEN) || TARGET.Early =?= true
"""
REAL_PLACES = """\
RELEASE_DIR=/usr
BIN=/usr/bin
SBIN=/usr/sbin
LIB=/usr/lib/condor
LIBEXEC=/usr/libexec/condor
SHARE=/usr/share/condor
ETC=/etc/condor
"""
JOB = """\
executable = /bin/sh
transfer_executable = false
should_transfer_files = yes
request_memory = 10
request_disk = 1MB
log = {name}.log
output = {name}.$(Process).out
"""
EARLY = "+Early = true\n"
JOBS = {
    "past": f"{EARLY}arguments = \"-c 'exit 4'\"\nqueue\n",
    "running": f"{EARLY}job_lease_duration = 20\n"
    "arguments = \"-c 'test -e {home}/go || sleep 600'\"\nqueue\n",
    "waiting": "transfer_input_files = in.txt\n"
    "arguments = \"-c 'cat in.txt; echo $(Process)'\"\nqueue 2\n",
    "held": "hold = true\narguments = \"-c 'echo $(Process)'\"\nqueue 2\n",
    "late": "max_materialize = 1\narguments = \"-c 'echo $(word)'\"\n"
    "queue word in (one, two, three)\n",
    "spooled": "transfer_input_files = in.txt\narguments = \"-c 'cat in.txt; echo more > made'\"\n"
    "transfer_output_files = made\nqueue\n",
}


@dataclass
class Site:
    """A machine with a spool, the account that submits, and both sides' programs."""

    machine: Machine
    root: Path
    account: pwd.struct_passwd
    master: subprocess.Popen[bytes] = field(init=False)

    @property
    def folder(self) -> Path:
        return self.machine.folder / "shared"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def start(self, side: str) -> None:
        """Bring up one side's pool."""
        for name in ("log", "execute", "lock", "run"):
            (self.folder / side / name).mkdir(parents=True, exist_ok=True)
        (self.folder / side / "execute").chmod(0o1777)
        (self.folder / "spool").mkdir(exist_ok=True)
        text = POOL.format(folder=self.folder, side=side)
        text += REAL_PLACES if side == "real" else ""
        (self.folder / side / "condor_config").write_text(text)
        self._hand_over(side)
        self._begin(side)
        self.wait(
            lambda: (
                {"Machine", "DaemonMaster"}
                <= set(self.ask(side, "condor_status", "-any", "-af", "MyType").said.split())
                and self.ask(side, "condor_q", "-af", "ClusterId").code == 0
            ),
            side,
        )

    def open(self, side: str) -> None:
        """Have its machine take jobs that may not run at first."""
        file = self.folder / side / "condor_config"
        file.write_text(file.read_text() + "OPEN=true\n")
        words = [
            "chroot",
            str(self.root),
            "env",
            f"CONDOR_CONFIG={file}",
            "condor_reconfig",
            "-all",
        ]
        self.machine.ok(*words)

    def _hand_over(self, side: str) -> None:
        """Give what is the daemons' to the account of this side's daemons."""
        condor = pwd_line(self.root, "condor")
        ids = (int(condor[2]), int(condor[3])) if side == "real" else (0, 0)
        for folder in (self.folder / "spool", self.folder / side):
            for path in (folder, *folder.rglob("*")):
                if path.stat().st_uid != self.account.pw_uid:
                    os.chown(path, *ids)

    def _begin(self, side: str) -> None:
        words = ["condor_master", "-f"]
        if side == "ours":
            words = [sys.executable, "-m", "kettle.master", "-f"]
        with (self.folder / side / "said").open("w") as said:
            self.master = subprocess.Popen(
                [*self.machine.inside, *self._program(side, words)],
                stdout=said,
                stderr=said,
                stdin=subprocess.DEVNULL,
                env={**self.machine.environment, "PYTHONPATH": os.pathsep.join(sys.path)},
                start_new_session=True,
            )

    def _program(self, side: str, words: Sequence[str]) -> list[str]:
        """The command line of one side's daemon; tools are the real ones for both, as the account.

        The interpreter may be where only root can read it.
        """
        environ = ["env", "-C", str(self.home), f"CONDOR_CONFIG={self.folder}/{side}/condor_config"]
        if words[0] == sys.executable:
            return [*environ, *words]
        ids = f"{self.account.pw_uid}:{self.account.pw_gid}"
        who = [] if words[0] == "condor_master" else [f"--userspec={ids}"]
        return ["chroot", *who, str(self.root), *environ, *words]

    def ask(self, side: str, *words: str) -> Done:
        """Run a tool as the account."""
        return self.machine.run(*self._program(side, words))

    def ok(self, side: str, *words: str) -> str:
        """Run a tool as the account, with success."""
        done = self.ask(side, *words)
        assert done.code == 0, (words, done)
        return done.said

    def submit(self, side: str, name: str) -> str:
        """Submit one of the jobs; return its cluster."""
        text = (JOB + JOBS[name]).replace("{name}", name).replace("{home}", str(self.home))
        (self.home / f"{name}.sub").write_text(text)
        words = ["-spool"] if name == "spooled" else []
        said = self.ok(side, "condor_submit", "-terse", *words, f"{name}.sub")
        return said.split(".")[0].strip()

    def events(self, name: str) -> list[str]:
        """The numbers of a job's events so far."""
        log = self.home / f"{name}.log"
        if not log.exists():
            return []
        return [line[:3] for line in log.read_text().splitlines() if line[3:5] == " ("]

    def wait(self, done: Callable[[], bool], side: str, what: str = "") -> None:
        """Wait for something with the help of one side's pool."""
        wait_for(done, 90, lambda: f"{what} {self.describe(side)}")

    def wait_for_event(self, side: str, name: str, event: str, count: int = 1) -> None:
        """Wait until a job's log has an event so many times."""
        what = f"{event} of {name}"
        self.wait(lambda: self.events(name).count(event) == count, side, what)

    def describe(self, side: str) -> str:
        """The ends of its logs, and its queue."""
        logs = sorted((self.folder / side / "log").glob("*Log*"))
        logs.append(self.folder / side / "said")
        said = "".join(f"== {p.name}\n{p.read_text(errors='replace')[-3000:]}" for p in logs)
        events = "".join(f"== {p.name}\n{p.read_text()}" for p in self.home.glob("*.log"))
        return said + events + self.ask(side, "condor_q", "-nobatch", "-all").said

    def kill(self) -> None:
        """Kill everything on the machine at once: nobody sees another die."""
        self._signal(signal.SIGSTOP)
        self._signal(signal.SIGKILL)
        self.master.wait(10)
        wait_for(lambda: not self._signal(signal.SIGKILL), 20, "what was killed stays")

    def _signal(self, number: int) -> list[int]:
        found = processes_in(self.machine.holder.pid)
        found.remove(self.machine.holder.pid)
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return found


def pwd_line(root: Path, name: str) -> list[str]:
    """Return an account's fields as the programs below a root directory know it."""
    lines = (root / "etc/passwd").read_text().splitlines()
    return next(line.split(":") for line in lines if line.startswith(f"{name}:"))


@contextlib.contextmanager
def one_machine() -> Iterator[Site]:
    """A machine that both sides know, with nothing running."""
    root = peer_root()
    name = f"ktspool{os.getpid() % 100000}"
    with network("spool") as made, contextlib.ExitStack() as stack:
        machine = made.add("one")
        subprocess.run(["useradd", "--no-create-home", "--shell", "/bin/sh", name], check=True)
        stack.callback(subprocess.run, ["userdel", "--force", name], capture_output=True)
        site = Site(machine, root, pwd.getpwnam(name))
        furnish(machine, root)
        for path in (site.folder, site.home):
            path.mkdir(mode=0o755)
        os.chown(site.home, site.account.pw_uid, site.account.pw_gid)
        (site.home / "in.txt").write_text("brought along\n")
        # The programs there know the account, and see the folder where we see it.
        known = machine.folder / "passwd"
        line = ":".join(map(str, site.account))
        known.write_text((root / "etc/passwd").read_text() + line + "\n")
        machine.ok("mount", "--bind", str(known), str(root / "etc/passwd"))
        there = Path(f"{root}{site.folder}")
        there.mkdir(parents=True)
        stack.callback(remove_empty, root, there)
        machine.ok("mount", "--bind", str(site.folder), str(there))
        # Who authenticates by the file system meets the other side in one folder.
        machine.ok("mount", "--bind", "/tmp", str(root / "tmp"))
        try:
            yield site
        except BaseException:
            print(site.describe("real"), site.describe("ours"))
            raise
        finally:
            site.kill()


def remove_empty(root: Path, folder: Path) -> None:
    """Remove the empty folders on which something was mounted."""
    while folder != root:
        with contextlib.suppress(OSError):
            folder.rmdir()
        folder = folder.parent


def leave_behind(site: Site, side: str) -> dict[str, str]:
    """Submit all jobs, and run two of them; return the clusters."""
    site.start(side)
    clusters = {name: site.submit(side, name) for name in JOBS}
    site.wait_for_event(side, "past", "005")
    site.wait_for_event(side, "running", "001")
    past = ("condor_q", clusters["past"], "-af", "ClusterId")
    site.wait(lambda: site.ok(side, *past) == "", side, "the first job in the queue")
    # The real one has a departure on disk with the next thing that it must not lose.
    site.ok(side, "condor_hold", "-reason", "for a while", f"{clusters['waiting']}.1")
    return clusters


def queue_of(site: Site, side: str, clusters: dict[str, str]) -> list[str]:
    """Return what is in the queue, but for the job that runs."""
    names = ("JobStatus", "HoldReason", "HoldReasonCode", "Owner", "User", "Args")
    lines = site.ok(side, "condor_q", "-af:j", *names).splitlines()
    return sorted(line for line in lines if not line.startswith(clusters["running"]))


def finish(site: Site, side: str, clusters: dict[str, str]) -> None:
    """Release one job, remove another, and let all others come to their ends."""
    site.ok(side, "condor_release", clusters["waiting"] + ".1", clusters["held"] + ".0")
    site.ok(side, "condor_rm", clusters["held"] + ".1")
    site.open(side)
    for name, count in {"running": 1, "waiting": 2, "held": 1, "late": 3}.items():
        site.wait_for_event(side, name, "005", count)
    # What is spooled stays until it is fetched, its log too.
    spooled = ("condor_q", clusters["spooled"], "-af", "JobStatus")
    site.wait(lambda: site.ok(side, *spooled) == "4\n", side, "the end of spooled")
    site.ok(side, "condor_transfer_data", clusters["spooled"])
    site.wait(lambda: site.ok(side, "condor_q", "-af", "ClusterId") == "", side, "the queue")


@pytest.mark.parametrize(("first", "second"), [("ours", "real"), ("real", "ours")])
def test_the_jobs_of_a_killed_schedd_are_finished_by_the_other(first: str, second: str) -> None:
    with one_machine() as site:
        clusters = leave_behind(site, first)
        before = queue_of(site, first, clusters)
        site.kill()
        (site.home / "go").touch()
        site.start(second)
        assert queue_of(site, second, clusters) == before
        finish(site, second, clusters)
        for name, said in {
            "waiting.0": "brought along\n0\n",
            "waiting.1": "brought along\n1\n",
            "held.0": "0\n",
            "late.0": "one\n",
            "late.1": "two\n",
            "late.2": "three\n",
            "spooled.0": "brought along\n",
        }.items():
            assert (site.home / f"{name}.out").read_text() == said, name
        assert (site.home / "made").read_text() == "more\n"
        assert site.events("spooled").count("005") == 1
        assert site.events("held").count("009") == 1
        # What ran before was announced as over before it began again.
        running = [event for event in site.events("running") if event in {"001", "024", "005"}]
        assert running == ["001", "024", "001", "005"]
        past = site.ok(second, "condor_history", "-af", "ClusterId", "ProcId", "JobStatus")
        rows = [line.split() for line in past.splitlines()]
        ended = {(cluster, proc): status for cluster, proc, status in rows}
        assert len(rows) == len(ended) == 10, past
        assert ended.pop((clusters["held"], "1")) == "3"
        assert set(ended.values()) == {"4"}
        assert (clusters["past"], "0") in ended
