"""Shared memory, semaphores and message queues of a job end with it, and are its own."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import submit, submit_as, wait_until

pytestmark = [pytest.mark.timeout(120), pytest.mark.root]

# Makes one of each, and says how many of the System V's it sees, and whether the POSIX queue was
# there before; the first word names what it makes.
MAKE = """\
import ctypes, os, sys
libc = ctypes.CDLL(None)
own = int(sys.argv[1])
print(sum(len(open("/proc/sysvipc/" + name).readlines()) - 1 for name in ("shm", "sem", "msg")))
name = b"/kettle-%d" % own
print(libc.mq_open(name, os.O_RDWR) < 0)
print(libc.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None) >= 0)
made = [libc.shmget(own, ctypes.c_size_t(4096), 0o1600), libc.semget(own, 2, 0o1600),
        libc.msgget(own, 0o1600)]
print(min(made) >= 0)
"""


def count(uid: int) -> int:
    """Return how many System V objects of an account the machine has."""
    tables = [Path(f"/proc/sysvipc/{name}").read_text() for name in ("shm", "sem", "msg")]
    return sum(str(uid) in line.split() for table in tables for line in table.splitlines())


@pytest.mark.parametrize("universe", ["vanilla", "local"])
def test_what_a_job_shares_is_its_own_and_ends_with_it(
    tmp_path: Path, work: Path, make_account: Callable[[str], pwd.struct_passwd], universe: str
) -> None:
    account = make_account("a")
    script = work / "make.py"
    script.write_text(MAKE)
    lines = (
        f"universe = {universe}\nexecutable = /usr/bin/env\n"
        f"arguments = python3 -I {script} {account.pw_uid}\n"
        "transfer_executable = false\noutput = out.$(Process)\nerror = err\n"
        "request_memory = 64MB\nrequest_disk = 1MB\nqueue 2\n"
    )
    config = "NUM_CPUS = 1\nALLOW_WRITE = $(ALLOW_DEFAULT), *@$(UID_DOMAIN)\n"
    with personal_pool(tmp_path, config) as pool:
        log = submit_as(pool, account, work / "job", lines)
        wait_until(lambda: log.exists() and log.read_text().count("\n005 (") == 2, 30)
        for number in range(2):
            said = (work / "job" / f"out.{number}").read_text().split()
            assert said == ["0", "True", "True", "True"], (work / "job" / "err").read_text()
        wait_until(lambda: count(account.pw_uid) == 0, 10)


# Says in which namespace it is and how many of the System V's objects it sees; the second run
# leaves one.
LEAVE = """\
import ctypes, os, sys
print(os.readlink("/proc/self/ns/ipc"))
print(sum(len(open("/proc/sysvipc/" + name).readlines()) - 1 for name in ("shm", "sem", "msg")))
libc = ctypes.CDLL(None)
queue = libc.mq_open(b"/kettle-left", os.O_RDWR | os.O_CREAT, 0o600, None)
print(queue >= 0)
if sys.argv[1] == "1":
    libc.semget(7, 2, 0o1600)
libc.mq_unlink(b"/kettle-left")
"""


def test_the_next_job_has_the_same_place_for_shared_memory_only_where_nothing_was_left(
    tmp_path: Path, work: Path
) -> None:
    script = work / "leave.py"
    script.write_text(LEAVE)
    with personal_pool(tmp_path, "NUM_CPUS = 1\n") as pool:
        jobs = submit(
            pool,
            work / "job",
            f"executable = /usr/bin/env\narguments = python3 -I {script} $(Process)\n"
            "transfer_executable = false\nshould_transfer_files = yes\noutput = out.$(Process)\n"
            "error = err\nrequest_memory = 64MB\nrequest_disk = 1MB\nqueue 3\n",
        )
        jobs.wait_for(5, 30)
        said = [(work / "job" / f"out.{number}").read_text().split() for number in range(3)]
    places = [words[0] for words in said]
    assert [words[1:] for words in said] == [["0", "True"]] * 3
    assert places[0] == places[1]
    assert os.readlink("/proc/self/ns/ipc") not in places


def test_a_dedicated_account_leaves_nothing_where_there_is_no_namespace(
    tmp_path: Path, work: Path, make_account: Callable[[str], pwd.struct_passwd]
) -> None:
    slot = make_account("s")
    script = work / "make.py"
    script.write_text(MAKE)
    config = (
        "NUM_CPUS = 1\nUSE_PID_NAMESPACES = false\nSLOT_TYPE_1 = 100%\nNUM_SLOTS_TYPE_1 = 1\n"
        f"SLOT_TYPE_1_PARTITIONABLE = false\nSLOT1_USER = {slot.pw_name}\n"
        f"STARTER_ALLOW_RUNAS_OWNER = false\nDEDICATED_EXECUTE_ACCOUNT_REGEXP = {slot.pw_name}\n"
    )
    with personal_pool(tmp_path, config) as pool:
        jobs = submit(
            pool,
            work / "job",
            f"executable = /usr/bin/env\narguments = python3 -I {script} {slot.pw_uid}\n"
            "transfer_executable = false\nshould_transfer_files = yes\noutput = out\n"
            "error = err\nrequest_memory = 64MB\nrequest_disk = 1MB\nqueue\n",
        )
        jobs.wait_for(5, 30)
        assert (work / "job" / "out").read_text().split()[-1] == "True"
        wait_until(lambda: count(slot.pw_uid) == 0, 10)


# Message queues are shown where the machine shows them, but a job's own.
_SHOW = """\
import os, sys
from kettle.runtime.process import kernel
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.starter.services import view

folder = sys.argv[1]
view.QUEUES = f"{folder}/mqueue"
os.mkdir(view.QUEUES)
kernel.unshare_mounts()
kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
kernel.unshare_ipc()
kernel.mount("mqueue", view.QUEUES, "mqueue")
open(f"{view.QUEUES}/machine", "w").close()
found = view.JobView(
    Privileges(account_of(0), can_switch=True), f"{folder}/view", own_pids=True, tell=print
)
for number in range(2):
    found.prepare((), account_of(65534), shared_memory=False)
    with found.entered():
        print(os.listdir(view.QUEUES))
        open(f"{view.QUEUES}/own", "w").close()
    print(os.listdir(view.QUEUES))
found.close()
"""


def test_the_folder_of_message_queues_shows_those_of_the_job(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SHOW, str(tmp_path)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["[]", "['machine']"] * 2, done.stderr
