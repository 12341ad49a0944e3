"""Our collector and negotiator serve the real schedd, startd and tools.

Known by: CLAIMTOBE.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from interop.real_pool import RealPool, peer_root, real_pool
from kettle.tools.programs import Streams
from kettle.tools.status import condor_status, condor_userprio

pytestmark = pytest.mark.interop

CONFIG = """\
LOCAL_DIR={folder}
LOG=$(LOCAL_DIR)/log
SPOOL=$(LOCAL_DIR)/spool
EXECUTE=$(LOCAL_DIR)/execute
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
ALLOW_ADVERTISE_STARTD=*
ALLOW_ADVERTISE_SCHEDD=*
ALLOW_ADVERTISE_MASTER=*
SEC_DEFAULT_AUTHENTICATION_METHODS=CLAIMTOBE
NEGOTIATOR_INTERVAL=3
"""

# The real daemons must not take our collector for one of their own family.
REAL = """\
COLLECTOR_HOST={address}
DAEMON_LIST=MASTER,SCHEDD,STARTD
SEC_DEFAULT_AUTHENTICATION_METHODS=CLAIMTOBE
SEC_USE_FAMILY_SESSION=false
"""


@dataclass
class Mixed:
    """Our central manager with the real rest."""

    folder: Path
    real: RealPool

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "CONDOR_CONFIG": str(self.folder / "condor_config")}

    def tool(self, main: Callable[..., int], *words: str) -> str:
        """Run one of our tools in this process against our collector."""
        out, problems = io.StringIO(), io.StringIO()
        code = main(["tool", *words], self.environment, Streams(io.StringIO(), out, problems))
        assert code == 0, problems.getvalue()
        return out.getvalue()

    def submit(self, text: str) -> str:
        path = self.real.folder / "user" / "job.sub"
        path.write_text(text)
        self.real.run_as_tester("condor_submit", "-terse", "job.sub")
        return self.real.run("condor_q", "-af", "ClusterId").split()[-1]


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen in {seconds} s"
        time.sleep(0.2)


@contextmanager
def our_daemon(folder: Path, name: str) -> Iterator[None]:
    environment = {
        "PATH": os.environ["PATH"],
        "CONDOR_CONFIG": str(folder / "condor_config"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with (folder / f"{name}.out").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", f"kettle.{name}", "-f"],
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(20)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mixed]:
    peer_root()
    folder = tmp_path_factory.mktemp("central")
    for name in ("log", "spool", "execute"):
        (folder / name).mkdir()
    (folder / "condor_config").write_text(CONFIG.format(folder=folder))
    address_file = folder / "log/.collector_address"
    with our_daemon(folder, "collector"):
        wait_for(address_file.exists, 20, "our collector's start")
        address = address_file.read_text().split("?")[0].strip("<>\n").split("\n")[0].rstrip(">")
        with (
            our_daemon(folder, "negotiator"),
            real_pool(f"kettle-central-{os.getpid()}", REAL.format(address=address)) as real,
        ):
            user = real.folder / "user"
            user.mkdir(exist_ok=True)
            user.chmod(0o777)
            mixed = Mixed(folder, real)
            wait_for(lambda: bool(real.run("condor_status", "-af", "Name")), 30, "a slot")
            yield mixed


def test_real_and_own_condor_status_show_the_same_pool(mixed: Mixed) -> None:
    # The clock column and daemon loads may change between two calls.
    for words in (("-af", "Name", "State"), ("-any", "-af", "MyType"), ("-schedd",)):
        real = mixed.real.run("condor_status", *words)
        assert mixed.tool(condor_status.main, *words).splitlines() == real.splitlines()


@pytest.mark.shows("A087")
def test_jobs_of_the_real_schedd_run_in_one_cycle_by_dividing_the_slot(mixed: Mixed) -> None:
    cluster = mixed.submit(
        "executable=/bin/sleep\narguments=1\nrequest_memory=64\nlog=job.log\nqueue 4\n"
    )
    log = mixed.real.folder / "user/job.log"
    wait_for(
        lambda: log.exists() and log.read_text().count("Normal termination") == 4,
        60,
        f"the end of cluster {cluster}",
    )


def test_a_real_schedd_understands_why_a_job_is_rejected(mixed: Mixed) -> None:
    cluster = mixed.submit("executable=/bin/true\nrequest_memory=999999999\nqueue\n")

    def reason() -> str:
        return mixed.real.run("condor_q", cluster, "-af", "LastRejMatchReason").strip()

    wait_for(lambda: reason() == "no match found", 30, "a rejection")
    mixed.real.run("condor_rm", cluster)


@pytest.mark.shows("R072")
def test_real_condor_userprio_reads_and_sets(mixed: Mixed) -> None:
    cluster = mixed.submit("executable=/bin/sleep\narguments=30\nrequest_memory=64\nqueue\n")
    wait_for(
        lambda: mixed.real.run("condor_q", cluster, "-af", "JobStatus").strip() == "2",
        30,
        "a start",
    )
    user = mixed.real.run("condor_q", cluster, "-af", "User").strip()
    said = mixed.real.run("condor_userprio", "-setfactor", user, "50")
    assert said == f"The priority factor of {user} was set to 50.000000\n"
    shown = mixed.real.run("condor_userprio", "-negotiator", "-af", "Name", "PriorityFactor")
    assert f"{user} 50.0" in shown

    def held_by(name: str) -> str:
        return mixed.real.run("condor_userprio", "-getreslist", name)

    wait_for(lambda: "Number of Resources Used: 1" in held_by(user), 20, "the charge")
    held = held_by(user)
    ours = mixed.tool(condor_userprio.main, "-getreslist", user)
    assert ours.splitlines()[2].split()[:2] == held.splitlines()[2].split()[:2]
    mixed.real.run("condor_rm", cluster)


@pytest.mark.shows("R074")
def test_real_condor_advertise_injects_and_withdraws_ads(mixed: Mixed) -> None:
    path = mixed.real.folder / "user/ads"
    inside = f"/tmp/{mixed.real.name}/user/ads"
    path.write_text('MyType="Generic"\nName="one"\n\nMyType="Generic"\nName="two"\n')
    said = mixed.real.run("condor_advertise", "-multiple", "UPDATE_AD_GENERIC", inside)
    assert said.startswith("Sent 2 of 2 ads")
    assert mixed.real.run("condor_status", "-generic", "-af", "Name").split() == ["one", "two"]
    path.write_text('MyType="Query"\nTargetType="Generic"\nName="one"\nRequirements=true\n')
    mixed.real.run("condor_advertise", "INVALIDATE_ADS_GENERIC", inside)
    wait_for(
        lambda: mixed.tool(condor_status.main, "-generic", "-af", "Name") == "two\n", 5, "the end"
    )


@pytest.mark.shows("R077")
def test_a_real_daemon_that_stops_withdraws_its_ads(mixed: Mixed) -> None:
    assert mixed.real.run("condor_status", "-schedd", "-af", "Name").strip()
    mixed.real.run("condor_off", "-schedd", "-fast")
    wait_for(
        lambda: not mixed.real.run("condor_status", "-schedd", "-af", "Name").strip(), 20, "the end"
    )
    mixed.real.run("condor_on", "-schedd")
    wait_for(
        lambda: bool(mixed.real.run("condor_status", "-schedd", "-af", "Name").strip()),
        20,
        "a start",
    )
