"""Every file and folder that a pool makes is in the table here, with the mode it is to have.

What others may read is what they need: the configuration and the addresses of the daemons. What
tells of jobs is for the owner of a personal pool alone; in a pool of the whole machine the history
is everybody's, which `condor_history` reads as the user who asks (as in the reference).
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import submit

pytestmark = pytest.mark.timeout(60)

# The first pattern that matches a path below the pool's folder counts. `d` is a folder, `s` a
# socket; the job's own files inside scratch are its own business.
EXPECTED = (
    (r"execute/dir_\d+", "d", 0o700),
    (r"execute/dir_\d+/(scratch|user|htcondor)", "d", 0o700),
    (r"execute/dir_\d+/user/\.chirp\.config", "f", 0o700),
    (r"execute/dir_\d+/.*", "any", None),
    (r"execute/\.private_\d+(/\d)?", "d", 0o700),
    (r"(passwords|tokens)\.d", "d", 0o700),
    (r"(passwords|tokens)\.d/.*", "f", 0o600),
    (r"log|spool", "d", 0o711),
    (r"(etc|lock|execute|run|config\.d)", "d", 0o755),
    (r"condor_config|config\.d/.*|etc/.*", "f", 0o644),
    (r"(log|spool)/\.\w+_address(\.super)?", "f", 0o644),
    (r"spool/\.schedd_classad", "f", 0o644),
    (r"log/startd_history", "f", 0o600),
    (r"log/InstanceLock", "f", 0o600),
    (r"log/(\w+Log(\.slot\d+(_\d+)?)?|master\.out)", "f", 0o640),
    (r"spool/(epoch_|schedd_daemon_)?history", "f", 0o600),
    (r"spool/(job_queue\.log|Accountantnew\.log|\.\w+_lock)", "f", 0o600),
    (r"spool/.*", "any", 0o600),
    (r"lock/daemon_sock", "d", 0o700),
    (r"lock/daemon_sock/\w+", "s", 0o600),
    (r"lock/shared_port_ad(\.port)?", "f", 0o644),
)
# Of the pool of the whole machine, whose users read its history.
OF_THE_MACHINE = (
    (r"log|spool", "d", 0o755),
    (r"log/startd_history|spool/(epoch_|schedd_daemon_)?history", "f", 0o644),
)


def kind_of(mode: int) -> str:
    for test, name in ((stat.S_ISDIR, "d"), (stat.S_ISREG, "f"), (stat.S_ISSOCK, "s")):
        if test(mode):
            return name
    return "?"


def judge(path: str, mode: int, *, system: bool = False) -> str:
    """Return what is wrong with a path's mode, empty if nothing is."""
    for pattern, kind, expected in (*(OF_THE_MACHINE if system else ()), *EXPECTED):
        if re.fullmatch(pattern, path):
            bits = stat.S_IMODE(mode)
            if kind not in {"any", kind_of(mode)}:
                return f"{path} is {kind_of(mode)}, not {kind}"
            return "" if expected in {None, bits} else f"{path} is {bits:o}, not {expected:o}"
    return f"{path} ({kind_of(mode)} {stat.S_IMODE(mode):o}) is not in the table"


def wrong_in(folder: str, *, system: bool = False) -> list[str]:
    found = []
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(parent, name)
            mode = os.lstat(path).st_mode
            found.append(judge(os.path.relpath(path, folder), mode, system=system))
    return sorted(filter(None, found))


@pytest.mark.parametrize("kind", ["as anybody", pytest.param("as root", marks=pytest.mark.root)])
def test_every_file_of_a_pool_has_the_mode_of_the_table(
    tmp_path: Path, work: Path, kind: str
) -> None:
    small = "request_memory = 10MB\nrequest_disk = 1MB\n"
    with personal_pool(tmp_path, "NUM_CPUS = 2\n") as pool:
        submit(pool, work / "one", f"executable = /bin/true\n{small}queue\n").wait_for(5, 20)
        text = f"executable = /bin/sleep\narguments = 30\n{small}queue\n"
        submit(pool, work / "two", text).wait_for(1, 20)
        assert wrong_in(pool.folder) == [], kind
