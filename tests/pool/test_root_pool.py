"""A personal pool of root's stays root's, whatever accounts its machine has (R086).

The account `condor` exists within a mount namespace alone, whose /etc/passwd is a copy: no other
process of this machine ever sees it, and it is gone with its holder.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import print_logs, wait_until_gone
from pool_jobs import daemon_pid
from system_pools import LIBRARIES, SOURCES, find_interpreter

pytestmark = [pytest.mark.root, pytest.mark.timeout(180)]
shows = pytest.mark.shows

DAEMONS = ("condor_master", "condor_collector", "condor_negotiator", "condor_schedd")
CONDOR = 54064
ACCOUNT = {
    "passwd": f"condor:x:{CONDOR}:{CONDOR}::/var/lib/condor:/usr/sbin/nologin\n",
    "group": f"condor:x:{CONDOR}:\n",
}
CALL = """
import sys
from kettle.tools.programs import run_program
sys.exit(run_program(sys.argv.pop(1)))
"""


@dataclass
class House:
    """A machine's accounts, for processes started here alone, and a pool among them."""

    holder: int
    folder: Path
    pool: PersonalPool
    python: str

    def add_condor(self) -> None:
        """Make the account `condor` here; whoever runs here sees it at once."""
        for name, line in ACCOUNT.items():
            with (self.folder / name).open("a") as file:
                file.write(line)

    def call(self, name: str, *words: str, limit: float = 120) -> tuple[int, str, str]:
        """Run a tool as a program among these accounts; return its code and what it said."""
        inside = ("nsenter", "-t", str(self.holder), "-m")
        environment = {**self.pool.environment(), "KETTLE_DIR": self.pool.folder}
        environment["PYTHONPATH"] = os.pathsep.join((SOURCES, LIBRARIES))
        done = subprocess.run(
            [*inside, self.python, "-P", "-c", CALL, name, *words],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def ok(self, name: str, *words: str) -> str:
        code, said, complaint = self.call(name, *words)
        assert code == 0, f"{name} {words}: {said}{complaint}"
        return said


@pytest.fixture
def house() -> Iterator[House]:
    folder = Path(tempfile.mkdtemp(prefix="kettle-house-"))
    folder.chmod(0o755)
    binds = []
    for name in ACCOUNT:
        shutil.copyfile(f"/etc/{name}", folder / name)
        binds.append(f"mount --bind {folder}/{name} /etc/{name}")
    script = f"{' && '.join(binds)} && echo ready && exec sleep infinity"
    holder = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert holder.stdout is not None
    pool = PersonalPool(str(folder / "pool"))
    try:
        with holder.stdout:
            if holder.stdout.readline() != b"ready\n":
                pytest.skip("this machine has no mount namespaces, or no room for one")
        house = House(holder.pid, folder, pool, find_interpreter(CONDOR))
        try:
            yield house
        except BaseException:
            print_logs(pool)
            raise
        finally:
            pool.stop(how="fast")
        wait_until_gone(pool)
    finally:
        holder.kill()
        holder.wait()
        shutil.rmtree(folder, ignore_errors=True)


def owner_of_process(pid: int) -> int:
    """Return the effective uid of a process."""
    found = re.search(r"^Uid:\s+\d+\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def assert_root_s(house: House) -> None:
    """Daemons work as root, their files are root's, and root's jobs run with a log of root's."""
    for name in DAEMONS:
        assert owner_of_process(daemon_pid(house.pool, name)) == 0, name
    home = house.folder / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "log").unlink(missing_ok=True)
    (home / "job").write_text(
        f"executable = /usr/bin/id\narguments = -u\ntransfer_executable = false\nlog = {home}/log\n"
        f"output = {home}/out\nrequest_memory = 10MB\nrequest_disk = 1MB\nqueue\n"
    )
    (cluster,) = re.findall(r"cluster (\d+)", house.ok("condor_submit", str(home / "job")))
    house.ok("condor_wait", "-wait", "60", str(home / "log"))
    said = house.ok("condor_history", cluster, "-limit", "1", "-af", "Owner", "ExitCode")
    assert said == "root 0\n"
    assert (home / "out").stat().st_uid == 0
    assert int((home / "out").read_text()) not in {0, CONDOR}
    folders = [Path(house.pool.folder, name) for name in ("log", "spool", "lock", "execute")]
    files = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    assert [path for path in files if path.lstat().st_uid == CONDOR] == []


@shows("R086")
def test_a_pool_of_root_s_is_root_s_where_there_is_an_account_condor(house: House) -> None:
    house.add_condor()
    house.ok("kettle", "up")
    assert_root_s(house)
    code, said, complaint = house.call("kettle", "run", "--", "echo", "here")
    assert (code, said) == (0, "here\n"), complaint


@shows("R086")
def test_an_account_condor_that_appears_while_the_pool_is_up_changes_nothing(house: House) -> None:
    house.ok("kettle", "up")
    assert_root_s(house)
    house.add_condor()
    for name in ("condor_schedd", "condor_startd", "condor_negotiator", "condor_collector"):
        before = daemon_pid(house.pool, name)
        os.kill(before, signal.SIGKILL)
        daemon_pid(house.pool, name, other_than=before)
    assert_root_s(house)


@shows("R086")
def test_a_pool_that_was_made_for_the_account_condor_is_root_s_when_it_comes_up_again(
    house: House,
) -> None:
    house.add_condor()
    house.pool.make()
    made = Path(house.pool.config_file)
    text = re.sub(r"\n# As whom.*\nCONDOR_IDS = .*\n", "", made.read_text())
    assert "CONDOR_IDS" not in text
    made.write_text(text.replace("ALLOW_DEFAULT = ", "ALLOW_DEFAULT = condor@x, "))
    for path in (Path(house.pool.folder, name) for name in ("log", "spool", "lock", "execute")):
        os.chown(path, CONDOR, CONDOR)
    house.ok("kettle", "up")
    assert_root_s(house)
    assert "condor@" not in house.ok("condor_config_val", "ALLOW_ADMINISTRATOR")
