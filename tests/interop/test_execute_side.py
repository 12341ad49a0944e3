"""Our startd and starter serve the real collector, negotiator, schedd and shadow.

Known by: CLAIMTOBE, and the claims' sessions.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interop.real_pool import RealPool, real_pool

pytestmark = pytest.mark.interop

STARTD = """\
LOCAL_DIR={folder}
LOG=$(LOCAL_DIR)/log
EXECUTE=$(LOCAL_DIR)/execute
SPOOL=$(LOCAL_DIR)/spool
NETWORK_INTERFACE=127.0.0.1
COLLECTOR_HOST={collector}
ALLOW_READ=*
ALLOW_WRITE=*
ALLOW_DAEMON=*
ALLOW_ADMINISTRATOR=*
SEC_DEFAULT_AUTHENTICATION_METHODS=FS,CLAIMTOBE
SEC_CLIENT_AUTHENTICATION_METHODS=CLAIMTOBE
NUM_CPUS=4
MEMORY=4096
UPDATE_INTERVAL=5
STARTD_NAME=kettle
"""


@contextmanager
def our_startd(pool: RealPool, folder: Path) -> Iterator[Path]:
    for name in ("log", "execute", "spool"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "execute").chmod(0o1777)
    config = folder / "condor_config"
    address = f"{pool.collector.host}:{pool.collector.port}"
    config.write_text(STARTD.format(folder=folder, collector=address))
    environment = {
        "PATH": os.environ["PATH"],
        "CONDOR_CONFIG": str(config),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "kettle.startd", "-f"],
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        yield folder
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPool]:
    extra = "DAEMON_LIST = MASTER, COLLECTOR, NEGOTIATOR, SCHEDD\nALLOW_ADVERTISE_STARTD=*\n"
    folder = Path("/tmp") / f"kettle-execute-{os.getpid()}"
    with real_pool("executeside", extra) as pool:
        user = pool.folder / "user"
        # What an earlier run left belongs to somebody else by now.
        shutil.rmtree(user, ignore_errors=True)
        user.mkdir()
        user.chmod(0o777)
        with our_startd(pool, folder):
            wait_for(lambda: "slot1@kettle" in pool.run("condor_status", "-af", "Name"), 20)
            yield pool
    shutil.rmtree(folder, ignore_errors=True)


def wait_for(done: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.2)


def submit(pool: RealPool, name: str, text: str) -> Path:
    """Submit one job; return its event log."""
    folder = pool.folder / "user"
    log = folder / f"{name}.log"
    log.unlink(missing_ok=True)
    common = f"log = {name}.log\nrequest_memory = 10\nshould_transfer_files = yes\n"
    (folder / f"{name}.sub").write_text(f"{common}{text}\nqueue\n")
    pool.run_as_tester("condor_submit", f"{name}.sub")
    return log


def events(log: Path) -> list[str]:
    return [line[:3] for line in log.read_text().splitlines() if line[:3].isdigit()]


def script(pool: RealPool, name: str, text: str) -> None:
    path = pool.folder / "user" / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def queue(pool: RealPool, attribute: str) -> list[str]:
    ads = json.loads(pool.run("condor_q", "-allusers", "-json", "-attributes", attribute) or "[]")
    return [str(ad.get(attribute)) for ad in ads]


def test_a_job_brings_input_and_output_and_its_exit_code(pool: RealPool) -> None:
    folder = pool.folder / "user"
    script(pool, "a.sh", "cat in.txt; echo done > res.txt; mkdir d; echo y > d/y; exit 3\n")
    (folder / "in.txt").write_text("input\n")
    log = submit(
        pool,
        "a",
        "executable = a.sh\noutput = a.out\ntransfer_input_files = in.txt\n"
        "transfer_output_files = res.txt, d",
    )
    wait_for(lambda: log.exists() and "005" in events(log), 40)
    assert "(1) Normal termination (return value 3)" in log.read_text()
    assert "SlotName: slot1_1@kettle" in log.read_text()
    assert (folder / "a.out").read_text() == "input\n"
    assert (folder / "res.txt").read_text() == "done\n"
    assert (folder / "d/y").read_text() == "y\n"


def test_a_program_that_cannot_be_executed_holds_the_job(pool: RealPool) -> None:
    path = pool.folder / "user/bad.sh"
    path.write_text("#!/no/such/interpreter\n")
    path.chmod(0o755)
    log = submit(pool, "bad", "executable = bad.sh")
    wait_for(lambda: log.exists() and "012" in events(log), 40)
    assert "Code 6 Subcode 2" in log.read_text()
    pool.run("condor_rm", "-all")


def test_a_missing_output_file_holds_the_job(pool: RealPool) -> None:
    log = submit(
        pool,
        "missing",
        "executable = /bin/true\ntransfer_executable = false\ntransfer_output_files = nowhere",
    )
    wait_for(lambda: log.exists() and "012" in events(log), 40)
    assert "Code 12 Subcode 2" in log.read_text()
    pool.run("condor_rm", "-all")


def test_a_running_job_is_suspended_continued_vacated_and_removed(pool: RealPool) -> None:
    log = submit(
        pool, "long", "executable = /bin/sleep\ntransfer_executable = false\narguments = 300"
    )
    wait_for(lambda: log.exists() and "001" in events(log), 40)
    pool.run("condor_suspend", "-all")
    wait_for(lambda: "010" in events(log), 20)
    pool.run("condor_continue", "-all")
    wait_for(lambda: "011" in events(log), 20)
    pool.run("condor_vacate_job", "-all")
    wait_for(lambda: "004" in events(log), 20)
    wait_for(lambda: events(log).count("001") == 2, 60)
    pool.run("condor_rm", "-all")
    wait_for(lambda: "009" in events(log), 20)


def test_a_signal_is_told_as_one(pool: RealPool) -> None:
    script(pool, "kill.sh", "kill -SEGV $$\n")
    log = submit(pool, "kill", "executable = kill.sh")
    wait_for(lambda: log.exists() and "005" in events(log), 40)
    assert "(0) Abnormal termination (signal 11)" in log.read_text()


@pytest.mark.shows("A011")
def test_the_same_claim_runs_one_job_after_another(pool: RealPool) -> None:
    folder = pool.folder / "user"
    (folder / "many.sub").write_text(
        "executable = /bin/true\ntransfer_executable = false\nlog = many.log\n"
        "request_memory = 10\nrequest_cpus = 4\nshould_transfer_files = yes\nqueue 4\n"
    )
    log = folder / "many.log"
    log.unlink(missing_ok=True)
    pool.run_as_tester("condor_submit", "many.sub")
    wait_for(lambda: log.exists() and events(log).count("005") == 4, 60)
    assert log.read_text().count("SlotName: slot1_1@kettle") == 4


def test_the_owner_sees_the_end_of_a_running_jobs_output(pool: RealPool) -> None:
    script(pool, "talk.sh", "echo first line; echo second line; sleep 60\n")
    log = submit(pool, "talk", "executable = talk.sh\noutput = talk.out")
    wait_for(lambda: log.exists() and "001" in events(log), 40)
    cluster = log.read_text().split("(")[1].split(".")[0].lstrip("0")
    seen = pool.run_as_tester("condor_tail", f"{cluster}.0")
    pool.run("condor_rm", "-all")
    assert seen == "first line\nsecond line\n"
