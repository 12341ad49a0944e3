"""The real condor_q and condor_status, and ours, asked about one and the same pool of ours.

What the two print must agree byte for byte, but for moments and spans of time, which go on between
the two calls, and addresses. A few jobs of each kind stand in the queue.

Known by: CLAIMTOBE.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from interop.real_pool import inside, peer_root
from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, run_tool, wait_until

pytestmark = pytest.mark.interop

CONFIGURATION = """
SEC_DEFAULT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_CLIENT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_CLAIMTOBE_USER = root
QUEUE_SUPER_USERS = root, condor
ALLOW_READ = *
ALLOW_WRITE = *
NUM_CPUS = 4
MEMORY = 4000
SCHEDD_NAME = ap@
"""
INSIDE = """
RELEASE_DIR = /usr
LIBEXEC = /usr/libexec/condor
LOCAL_DIR = {folder}
LOG = {folder}
SPOOL = {folder}
COLLECTOR_HOST = {collector}
SEC_DEFAULT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_CLIENT_AUTHENTICATION_METHODS = CLAIMTOBE
SEC_CLAIMTOBE_USER = root
UID_DOMAIN = {domain}
SCHEDD_ADDRESS_FILE = {folder}/.schedd_address
COLLECTOR_ADDRESS_FILE = {folder}/.collector_address
HISTORY = {folder}/history
SCHEDD_NAME = ap@
"""
JOB = """
executable = /bin/sleep
arguments = 300
transfer_executable = false
should_transfer_files = yes
request_memory = 100
"""
JOBS = {
    "done": "executable = /bin/true\ntransfer_executable = false\nqueue 3\n",
    "scheduler": "universe = scheduler\nexecutable = /bin/sleep\narguments = 300\nqueue\n",
    "running": JOB + "batch_name = long one\nqueue 2\n",
    "held": JOB + "hold = true\nbatch_name = held\nqueue 2\n",
    "idle": JOB + "requirements = NoSuchAttribute\nqueue\n",
    "node": JOB + '+DAGManJobId = 2\n+DAGNodeName = "A"\nqueue\n',
    "late": JOB + "requirements = NoSuchAttribute\nmax_materialize = 2\nqueue 5\n",
}
# Jobs that are idle, running and held when all were submitted, but for the scheduler universe's.
STANDING = ["3", "3", "2"]
TABLES = """
condor_q
condor_q -nobatch
condor_q -allusers
condor_q -allusers -nobatch
condor_q -hold
condor_q -held
condor_q -hold -nobatch
condor_q -idle
condor_q -io
condor_q -dag
condor_q -grid
condor_q -global
condor_q -global -allusers -nobatch
condor_q -global nobody
condor_q -global -constraint false
condor_q -global -constraint false -nobatch
condor_q -global -constraint false -totals
condor_q -global -constraint false -af ClusterId
condor_q -global -constraint false -long
condor_q -global -constraint false -json
condor_q -global -constraint false -xml
condor_q -schedd-constraint false
condor_q -schedd-constraint false -af ClusterId
condor_q -schedd-constraint false -json
condor_q -schedd-constraint false -xml
condor_q -schedd-constraint false -jobset
condor_q -schedd-constraint false -autocluster
condor_q -batch
condor_q -totals
condor_q -allusers -totals
condor_q -hold-codes
condor_q -better-analyze -constraint ClusterId>2
condor_q -analyze -constraint ClusterId>2
condor_q -better-analyze:priority 3.0
condor_q -better-analyze:summary -constraint ClusterId>2
condor_q -better-analyze:reverse -constraint ClusterId>2
condor_q -unmatchable -better-analyze -constraint ClusterId==5
condor_q -cputime
condor_q -currentrun
condor_q -factory -allusers
condor_q -jobset
condor_q 2
condor_q 3
condor_q 3.1
condor_q root
condor_q nobody
condor_q 99
condor_q -submitter root
condor_q -constraint JobStatus==5
condor_q -constraint JobStatus==5 -af ClusterId ProcId HoldReason
condor_q -af:j Owner JobStatus Cmd
condor_q -af:h ClusterId JobUniverse
condor_q -af:lrng ClusterId Cmd
condor_q -limit 2 -af ClusterId ProcId
condor_q -nobatch -wide
condor_q -nobatch -wide:60
condor_q -xml 3.0 -attributes ClusterId,Cmd
condor_q -json 3.0 -attributes ClusterId,Cmd
condor_q -long 3.0 -attributes ClusterId,Cmd
condor_q -stream-results -nobatch
condor_q -capture-raw-results:/dev/null 3
condor_q -json 3 -attributes Foo
condor_q -long 3 -attributes Foo
condor_qedit -dry-run 3 Foo 1
condor_history
condor_history -limit 2
condor_history 1.1 -af ClusterId ProcId ExitCode
condor_history -constraint ProcId>0 -af ProcId
condor_history -since 1.0 -af ProcId
condor_history -scanlimit 2 -af ProcId
condor_history -completedsince 1 -af ProcId
condor_history -forwards -af ProcId
condor_history -json -limit 1 -attributes ClusterId,Cmd
condor_history nobody
condor_history -name ap@
condor_history -name ap@ -limit 2
condor_history -name ap@ -scanlimit 2 -af ProcId
condor_history -name ap@ -since 1.0 -af ProcId
condor_history -name ap@ -forwards -af ProcId
condor_history -name ap@ -constraint ProcId>0 -af ProcId
condor_history -name ap@ -long -limit 1
condor_history -name ap@ -json -attributes ClusterId,Cmd
condor_history -name ap@ -completedsince 1 -af ProcId
condor_history -name ap@ 1.1 -af ClusterId ProcId
condor_history -name ap@ nobody
condor_history -name ap@ -epochs -af ProcId
condor_history -name ap@ -extract x
condor_history -name nosuch@
condor_status
condor_status -compact -totals
condor_status -claimed
condor_status -avail
condor_status -run
condor_status -schedd
condor_status -schedd -run
condor_status -submitters
condor_status -master
condor_status -startd
condor_status -any
condor_status -gpus
condor_status -state
condor_status -server
condor_status -collector
condor_status -negotiator
condor_status -data
condor_status -healthy
condor_status -healthy:verbose
condor_status -broken
condor_status -java
condor_status -vm
condor_status -absent
condor_status -cod
condor_status -storage
condor_status -license
condor_status -grid
condor_status -defrag
condor_status -generic
condor_status -subsystem schedd
condor_status -wide
condor_status -totals
condor_status -state -totals
condor_status -af:h Name State
condor_status -constraint State=="Unclaimed"
condor_status -limit 1
condor_status -sort Name -af Name
condor_status -schedd -af Name TotalRunningJobs
condor_status -xml -limit 1 -attributes State
condor_status -long -limit 1 -attributes Foo
condor_status -json -limit 1 -attributes Foo
condor_status -long -limit 1 -attributes Foo -af Name
condor_who -jobs
condor_who -jobs -constraint ProcId==0
condor_who -jobs -af ClusterId ProcId
condor_who -af:h Name State
condor_config_val -schedd -evaluate MAX_JOBS_RUNNING
condor_config_val -schedd -evaluate SPOOL
condor_ping
condor_ping -quiet
condor_ping -table
condor_ping -table READ WRITE DAEMON
condor_ping -verbose READ
condor_ping -af:h Name From Result AuthMethods Encryption MyRemoteUserName User
condor_ping -type collector -af Name Result Sid=!=undefined TriedAuthentication SessionLease
condor_ping -format "%s|" Name READ WRITE
"""
_MOVING = (
    re.compile(r"\d\d/\d\d(/\d\d)? \d\d:\d\d:\d\d"),
    re.compile(r" *\d+\+\d\d:\d\d:\d\d"),
    re.compile(r"<127[^>\s]*>?"),
    # The load of the machine.
    re.compile(r"\b\d+\.\d\d\d\b"),
)
# Which side it is, and the how manieth time.
_OWN = ("Local  Version:", "Session ID:")
# In what order a startd tells of its slots moves on too.
_UNORDERED = ("condor_who",)


@dataclass
class Side:
    """One side: the tools of the chroot with the pool's address, or ours."""

    pool: PersonalPool
    root: Path
    folder: str

    def real(self, words: list[str]) -> tuple[int, str, str]:
        """Run a real tool."""
        done = subprocess.run(
            [
                *(*inside(self.root), "env"),
                *(f"CONDOR_CONFIG={self.folder}/config", "TZ=UTC"),
                *words,
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def ours(self, words: list[str]) -> tuple[int, str, str]:
        """Run our tool of the same name."""
        return run_tool(self.pool, words[0], *words[1:])


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Side]:
    root = peer_root()
    folder = f"/tmp/kettle-beside-{os.getpid()}"
    inside = root / folder[1:]
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    with personal_pool(tmp_path_factory.mktemp("beside"), CONFIGURATION) as pool:
        inside.mkdir()
        try:
            submit_all(pool, inside)
            furnish(pool, inside, folder)
            yield Side(pool, root, folder)
        finally:
            shutil.rmtree(inside)
            os.environ.pop("TZ")
            if before is not None:
                os.environ["TZ"] = before
            time.tzset()


def submit_all(pool: PersonalPool, folder: Path) -> None:
    for name, text in JOBS.items():
        (folder / name).write_text(text)
        code, _, complaint = run_tool(pool, "condor_submit", str(folder / name))
        assert code == 0, complaint
    wait_until(lambda: ask_queue(pool, "-all", "JobStatus").count(["2"]) == 4, 30)
    wait_until(lambda: run_tool(pool, "condor_history", "-af", "ProcId")[1].count("\n") == 3, 30)
    # The tools ask the collector, which is told of counts by and by.
    wait_until(lambda: count_told(pool) == STANDING, 30)


def count_told(pool: PersonalPool) -> list[str]:
    """Return how many jobs are idle, running and held as the schedd's ad in the collector says."""
    words = ("-schedd", "-af", "TotalIdleJobs", "TotalRunningJobs", "TotalHeldJobs")
    return run_tool(pool, "condor_status", *words)[1].split()


def furnish(pool: PersonalPool, inside: Path, folder: str) -> None:
    """Give the real tools a configuration and what they would find beside the daemons."""
    log = Path(pool.log_folder)
    for file in (*log.glob(".*address"), *Path(pool.folder, "spool").glob("history")):
        shutil.copy(file, inside / file.name)
    text = INSIDE.format(
        folder=folder,
        collector=(log / ".collector_address").read_text().splitlines()[0],
        domain=run_tool(pool, "condor_config_val", "UID_DOMAIN")[1].strip(),
    )
    (inside / "config").write_text(text)


def still(text: str, *, ordered: bool = True) -> list[str]:
    for moving in _MOVING:
        text = moving.sub(lambda found: "~" * len(found[0]), text)
    lines = [line for line in text.splitlines() if not line.startswith(_OWN)]
    return lines if ordered else sorted(lines)


def differ(real: str, ours: str, *, ordered: bool) -> list[str]:
    lines = (still(text, ordered=ordered) for text in (real, ours))
    return list(difflib.unified_diff(*lines, "real", "ours", lineterm=""))


@pytest.mark.parametrize("line", TABLES.strip().splitlines())
def test_both_tools_print_the_same(line: str, sides: Side) -> None:
    words = line.split()
    differences: list[str] = []
    # What moves on between the two calls may differ once.
    for _ in range(3):
        real, ours = sides.real(words), sides.ours(words)
        ordered = words[0] not in _UNORDERED
        differences = [
            *differ(real[1], ours[1], ordered=ordered),
            *differ(real[2], ours[2], ordered=ordered),
        ]
        if not differences and real[0] == ours[0]:
            return
    assert not differences, "\n".join(differences)
    assert sides.real(words)[0] == sides.ours(words)[0]
