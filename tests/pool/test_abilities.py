"""What a machine's programs can do is in its slot ads: Java, and a server of virtual machines.

The server is a stand-in that answers as `condor_vm-gahp` does when it is tested; Java is a real
one, where one is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import run_tool, submit, wait_until

shows = pytest.mark.shows

SERVER = """#!/bin/sh
echo "$@" >> {folder}/asked
[ -f {folder}/broken ] && {{ echo "no libvirt here" >&2; exit 1; }}
echo 'VM_Type = "kvm"'
echo 'VM_Memory = 512'
echo 'VM_Networking = false'
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    folder.chmod(0o755)
    server = folder / "vm-gahp"
    server.write_text(SERVER.format(folder=folder))
    server.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[PersonalPool]:
    config = f"VM_TYPE = kvm\nVM_GAHP_SERVER = {folder}/vm-gahp\n"
    with personal_pool(tmp_path_factory.mktemp("abilities"), config) as pool:
        yield pool


def show(pool: PersonalPool, *words: str) -> str:
    return run_tool(pool, "condor_status", *words)[1]


def start_log(pool: PersonalPool) -> str:
    return Path(pool.log_folder, "StartLog").read_text(errors="replace")


def needs_java() -> str:
    java = shutil.which("java", path="/usr/bin")
    if java is None:
        pytest.skip("no /usr/bin/java here: install default-jre-headless to run this")
    return java


@shows("R071")
def test_a_machine_with_java_is_listed_with_its_version(pool: PersonalPool) -> None:
    needs_java()
    wait_until(lambda: "true" in show(pool, "-af", "HasJava"), 30, lambda: show(pool, "-l"))
    vendor, version = show(pool, "-java", "-af:t", "JavaVendor", "JavaVersion").strip().split("\t")
    assert vendor
    assert version[0].isdigit()
    heading, _, row, *_ = show(pool, "-java").splitlines()
    assert heading.split()[:3] == ["Name", "JavaVendor", "JavaVersion"]
    assert version[:6] in row
    assert "HasJava" in show(pool, "-af", "StarterAbilityList")


def test_a_java_job_runs_on_it(pool: PersonalPool, work: Path) -> None:
    needs_java()
    # No class is at hand without a compiler; the machine itself can do one thing.
    (work / "Some.class").write_bytes(b"none")
    lines = f"universe = java\nexecutable = {work}/Some.class\narguments = Some\n"
    lines += "java_vm_args = -version\n"
    jobs = submit(pool, work, f"{lines}output = out\nerror = err\nrequest_memory = 10MB\nqueue\n")
    jobs.wait_for(5, 60)
    assert "version" in (work / "err").read_text() + (work / "out").read_text()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="virtual machines need daemons that root started")
@shows("R071", "H004", "H006", "H007", "H008")
def test_a_machine_whose_server_answers_is_listed_with_its_kind(
    pool: PersonalPool, folder: Path
) -> None:
    wait_until(lambda: "true" in show(pool, "-af", "HasVM"), 30, lambda: show(pool, "-l"))
    assert show(pool, "-vm", "-af", "VM_Type", "VM_Memory", "VM_AvailNum") == "kvm 512 10000\n"
    assert (folder / "asked").read_text() == "-f -M 0 vmtype kvm\n"
    assert "kvm" in show(pool, "-vm")
    # Only a startd that starts asks it again.
    (folder / "broken").touch()
    assert run_tool(pool, "condor_restart", "-startd")[0] == 0
    why = "no libvirt here"
    wait_until(lambda: why in start_log(pool), 30)
    wait_until(lambda: show(pool, "-af", "HasVM") == "false\n", 30, lambda: show(pool, "-l"))
    assert show(pool, "-vm") == ""


def test_a_java_that_is_broken_or_slow_is_not_offered_and_holds_nobody_up(
    tmp_path: Path, folder: Path
) -> None:
    slow = folder / "slow-java"
    slow.write_text("#!/bin/sh\nsleep 600\n")
    slow.chmod(0o755)
    began = time.monotonic()
    with personal_pool(tmp_path, f"JAVA = {slow}\n") as pool:
        # It would have waited for its program otherwise.
        assert time.monotonic() - began < 300
        assert show(pool, "-af", "HasJava") == "undefined\n"
        slow.write_text("#!/bin/sh\necho it is broken\nexit 3\n")
        assert run_tool(pool, "condor_reconfig", "-startd")[0] == 0
        wait_until(lambda: "it is broken" in start_log(pool), 30)
        assert show(pool, "-af", "HasJava") == "undefined\n"
        assert show(pool, "-java") == ""


def test_a_starter_says_which_urls_it_can_fetch(tmp_path: Path) -> None:
    config = tmp_path / "condor_config"
    (tmp_path / "there").write_text("here")
    config.write_text(
        f"FILE_TEST_URL = file://{tmp_path}/there\nHTTPS_TEST_URL = https://127.0.0.1:1/gone\n"
    )
    said = subprocess.run(
        [sys.executable, "-m", "kettle.starter", "-classad"],
        env={**os.environ, "CONDOR_CONFIG": str(config)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert 'HasFileTransferPluginMethods = "file,http"' in said.stdout.splitlines()
    assert "HasReconnect = True" in said.stdout.splitlines()
