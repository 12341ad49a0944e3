"""Pools of three machines, each of which is ours or the real HTCondor's, in every mixture.

The central manager (collector, negotiator), the access point (schedd, shadows) and the execution
point (startd, starters) authenticate each other and encrypt what they say; a job goes the whole way
and back with its files, and is suspended, held, released and removed with the tools of either side.

Known by: PASSWORD, IDTOKENS or SSL, as the first table says; encrypted.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from interop.real_pool import RealPool, peer_root, real_pool
from interop.test_security_pairings import SERVER, Secrets
from kettle.tools.programs import Streams, load_tool
from pool_jobs import wait_until

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

ROLES = {
    "central manager": "COLLECTOR, NEGOTIATOR",
    "access point": "SCHEDD",
    "execution point": "STARTD",
}
# Who is the real one's; the others are ours. The methods are those by which the daemons know each
# other; who submits to the real schedd is known by FS.
MIXTURES = [
    (("central manager",), "PASSWORD"),
    (("access point",), "PASSWORD"),
    (("execution point",), "PASSWORD"),
    (("central manager", "access point"), "IDTOKENS"),
    (("central manager", "execution point"), "IDTOKENS"),
    (("access point", "execution point"), "IDTOKENS"),
    (("central manager",), "SSL"),
    (("access point",), "SSL"),
    (("execution point",), "SSL"),
]
EVERYWHERE = """\
SEC_DEFAULT_AUTHENTICATION_METHODS={method},FS
SEC_CLIENT_AUTHENTICATION_METHODS={method},FS
AUTH_SSL_CLIENT_CAFILE={pki}/ca.pem
AUTH_SSL_CLIENT_CERTFILE={pki}/user.pem
AUTH_SSL_CLIENT_KEYFILE={pki}/user.key
SEC_USE_FAMILY_SESSION=false
ALLOW_ADVERTISE_STARTD=*
ALLOW_ADVERTISE_SCHEDD=*
ALLOW_ADVERTISE_MASTER=*
QUEUE_SUPER_USERS=root, condor, condor_pool, condor@password, condor@mapped
STARTER_ALLOW_RUNAS_OWNER=false
SCHEDD_NAME=mixed
DAEMON_LIST=MASTER, {daemons}
"""
# The real schedd obeys a super user only whom it knows by an account or a record.
MAPFILE = 'SSL "/O=Test/CN=alice" condor@mapped\n'
# Who submits is an account, not the pool.
AS_ACCOUNT = "_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS=FS"
JOINED = "COLLECTOR_HOST={address}\n"
OURS = """\
LOCAL_DIR={folder}
LOG=$(LOCAL_DIR)/log
SPOOL=$(LOCAL_DIR)/spool
EXECUTE=$(LOCAL_DIR)/execute
LOCK=$(LOCAL_DIR)/lock
RUN=$(LOCAL_DIR)/run
NETWORK_INTERFACE=127.0.0.1
CONDOR_HOST=127.0.0.1
COLLECTOR_HOST=127.0.0.1:0
COLLECTOR_ADDRESS_FILE=$(LOG)/.collector_address
USE_SHARED_PORT=false
ALLOW_READ=*
ALLOW_WRITE=*
ALLOW_DAEMON=*
ALLOW_NEGOTIATOR=*
ALLOW_ADMINISTRATOR=*
NUM_CPUS=4
MEMORY=4096
SCHEDD_INTERVAL=2
NEGOTIATOR_INTERVAL=2
UPDATE_INTERVAL=5
STARTD_NAME=kettle
"""
# What has to be there before a job can run.
KINDS = {"Scheduler", "Machine", "Negotiator", "Collector"}
JOB = """\
executable = /bin/sh
transfer_executable = false
arguments = "-c 'cat in.txt; echo made > made.txt; exit 3'"
transfer_input_files = in.txt
transfer_output_files = made.txt
should_transfer_files = yes
output = said.txt
log = job.log
request_memory = 10
request_disk = 1MB
"""
SLEEP = """\
executable = /bin/sleep
transfer_executable = false
arguments = 600
should_transfer_files = yes
log = job.log
request_memory = 10
request_disk = 1MB
"""


@dataclass
class Mixture:
    """A pool of two kinds of daemons."""

    ours: Path
    real: RealPool
    submits: str

    def ask(self, *words: str, **settings: str) -> str:
        """Run our tool."""
        out = StringIO()
        environment = {
            "PATH": os.environ["PATH"],
            "CONDOR_CONFIG": str(self.ours / "condor_config"),
            **settings,
        }
        code = load_tool(words[0])([*words], environment, Streams(StringIO(), out, out))
        assert code == 0, out.getvalue()
        return out.getvalue()

    def really_ask(self, *words: str) -> str:
        """Run the real tool as root."""
        done = subprocess.run(
            self.real.argv(*words), capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout

    def kinds(self) -> set[str]:
        """Return of which daemons the collector has ads."""
        return set(self.ask("condor_status", "-any", "-af", "MyType").split())

    def both(self, *words: str) -> list[str]:
        """Run both tools until their words agree; something may change between the two."""
        said: list[list[str]] = []

        def agree() -> bool:
            said[:] = [sorted(ask(*words).split()) for ask in (self.ask, self.really_ask)]
            return said[0] == said[1]

        wait_until(agree, 10, lambda: f"{words}: {said}")
        return said[0]

    def submit(self, name: str, text: str) -> Path:
        """Submit with the tool of the access point's side; return the event log."""
        home = (self.real.folder if self.submits == "real" else self.ours) / "user" / name
        home.mkdir(parents=True)
        home.chmod(0o777)
        (home / "in.txt").write_text("input\n")
        if self.submits == "real":
            (home / "job.sub").write_text(text + "queue\n")
            self.real.run_as_tester(f"cd {name} && {AS_ACCOUNT} condor_submit job.sub")
        else:
            (home / "job.sub").write_text(f"initialdir = {home}\n{text}queue\n")
            self.ask("condor_submit", str(home / "job.sub"), **dict([AS_ACCOUNT.split("=")]))
        return home / "job.log"


def has_event(log: Path, number: str, times: int = 1) -> bool:
    """Whether an event log has an event so many times."""
    lines = log.read_text().splitlines() if log.exists() else []
    return sum(line.startswith(f"{number} (") for line in lines) >= times


@contextmanager
def our_part(folder: Path, text: str) -> Iterator[None]:
    """Our daemons below a master of ours; they end with it."""
    for name in ("log", "spool", "execute", "lock", "run", "user"):
        (folder / name).mkdir()
    (folder / "execute").chmod(0o1777)
    (folder / "condor_config").write_text(OURS.format(folder=folder) + text)
    environment = {
        "PATH": os.environ["PATH"],
        "CONDOR_CONFIG": str(folder / "condor_config"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with (folder / "master.out").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "kettle.master", "-f"],
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        yield
    except BaseException:
        for path in sorted((folder / "log").glob("*Log")):
            lines = path.read_text(errors="replace").splitlines()[-40:]
            sys.stdout.write(f"--- our {path.name}\n" + "\n".join(lines) + "\n")
        raise
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(60)


@contextmanager
def mixed(method: str, theirs: tuple[str, ...]) -> Iterator[Mixture]:
    """Bring up both parts, the one with the central manager first."""
    secrets = Secrets(peer_root(), f"kettle-mixed-pki-{os.getpid()}")
    folder = Path(tempfile.mkdtemp(prefix="kettle-mixed-"))
    folder.chmod(0o755)
    link = Path(secrets.inside)
    name = f"kettle-mixed-{os.getpid()}"

    def settings(real: bool, address: str) -> str:
        daemons = ", ".join(ROLES[role] for role in ROLES if (role in theirs) == real)
        text = SERVER.format(pki=secrets.inside)
        text += EVERYWHERE.format(pki=secrets.inside, method=method, daemons=daemons)
        return text + (JOINED.format(address=address) if address else "")

    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(shutil.rmtree, secrets.outside, ignore_errors=True)
        secrets.make()
        (secrets.outside / "mapfile").write_text(MAPFILE)
        link.symlink_to(secrets.outside)
        stack.callback(link.unlink)
        real_first = "central manager" in theirs
        address = ""
        for real in (real_first, not real_first):
            if real:
                pool = stack.enter_context(real_pool(name, settings(True, address), alone=False))
                (pool.folder / "user").mkdir()
                (pool.folder / "user").chmod(0o777)
            else:
                stack.enter_context(our_part(folder, settings(False, address)))
            file = (pool.folder if real else folder) / "log/.collector_address"
            if not address:
                wait_until(file.exists, 20, lambda: "a collector's address")
                address = file.read_text().split("?")[0].strip("<>\n")
        submits = "real" if "access point" in theirs else "ours"
        mixture = Mixture(folder, pool, submits)
        wait_until(lambda: mixture.kinds() >= KINDS, 30, lambda: str(mixture.kinds()))
        yield mixture


@pytest.mark.parametrize(("theirs", "method"), MIXTURES)
def test_a_pool_of_both_kinds_runs_a_job_and_obeys_the_tools_of_both(
    theirs: tuple[str, ...], method: str
) -> None:
    with mixed(method, theirs) as pool:
        assert set(pool.both("condor_status", "-any", "-af", "MyType")) >= KINDS
        log = pool.submit("files", JOB)
        wait_until(lambda: has_event(log, "005"), 60, lambda: "the end of the first job")
        assert "(1) Normal termination (return value 3)" in log.read_text()
        assert (log.parent / "said.txt").read_text() == "input\n"
        assert (log.parent / "made.txt").read_text() == "made\n"
        schedd = pool.both("condor_status", "-schedd", "-af", "Name")[0]
        log = pool.submit("sleeping", SLEEP)
        wait_until(lambda: has_event(log, "001"), 60, lambda: "the start of the second job")
        address = pool.ask("condor_status", "-schedd", "-af", "MyAddress").strip()
        job = pool.ask("condor_q", "-name", schedd, "-all", "-af:j", "Cmd").split()[0]
        mine, others = (pool.ask, pool.really_ask)
        for number, tool, ask in (
            ("010", "condor_suspend", mine),
            ("011", "condor_continue", others),
            ("012", "condor_hold", mine),
            ("013", "condor_release", others),
        ):
            ask(tool, "-addr", address, job)
            wait_until(lambda number=number: has_event(log, number), 30, lambda tool=tool: tool)
        wait_until(lambda: has_event(log, "001", 2), 60, lambda: "the second start")
        assert "012" not in pool.both("condor_q", "-name", schedd, "-all", "-af", "ClusterId")
        others("condor_rm", "-addr", address, job)
        wait_until(lambda: has_event(log, "009"), 30, lambda: "the removal")
