"""A job of a root pool has /tmp, /var/tmp and /dev/shm for itself (MOUNT_UNDER_SCRATCH)."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.testing.pool_fixture import personal_pool
from pool_jobs import submit, wait_until

pytestmark = [pytest.mark.timeout(60), pytest.mark.root]


@pytest.fixture
def execute() -> Iterator[Path]:
    """An execute folder that does not lie below what jobs get for themselves."""
    folder = Path(tempfile.mkdtemp(prefix="kettle-execute-", dir="/var/lib"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_what_a_job_writes_into_tmp_is_seen_by_nobody_else_and_goes_with_it(
    tmp_path: Path, work: Path, execute: Path
) -> None:
    script = work / "job.sh"
    script.write_text(
        "#!/bin/sh\nls -A /tmp /var/tmp /dev/shm\n"
        "for folder in /tmp /var/tmp /dev/shm; do echo mine >$folder/kettle-mine || exit 1; done\n"
        "cat /tmp/kettle-mine /var/tmp/kettle-mine\n"
    )
    lines = (
        f"executable = {script}\noutput = out\nerror = err\nshould_transfer_files = yes\n"
        "request_memory = 64\nrequest_disk = 1MB\n"
    )
    with personal_pool(tmp_path, f"NUM_CPUS = 1\nEXECUTE = {execute}\n") as pool:
        for name in ("first", "second"):
            jobs = submit(pool, work / name, f"{lines}queue\n")
            jobs.wait_for(5, 20)
            said = (work / name / "out").read_text()
            assert (work / name / "err").read_text() == ""
            assert said == "/dev/shm:\n\n/tmp:\n\n/var/tmp:\nmine\nmine\n"
        for folder in ("/tmp", "/var/tmp", "/dev/shm"):
            assert not os.path.exists(f"{folder}/kettle-mine")
        wait_until(lambda: os.listdir(execute) == [], 10, lambda: str(os.listdir(execute)))


def test_a_claim_s_next_job_finds_nothing_in_shared_memory_and_its_sandbox_goes_in_the_end(
    tmp_path: Path, work: Path, execute: Path
) -> None:
    # The second job has its sandbox, where nothing was left, from the first (decision 0009).
    script = (
        "(stat -c %i .; ls -A /dev/shm) >&2; echo mine >/dev/shm/mine || exit 1; "
        "test $(Process) = 1 || rm /dev/shm/mine"
    )
    lines = (
        "executable = /bin/sh\ntransfer_executable = false\nshould_transfer_files = yes\n"
        f"arguments = \"-c '{script}'\"\nerror = {work}/err.$(Process)\nstream_error = true\n"
        "request_memory = 64\nrequest_disk = 1MB\n"
    )
    with personal_pool(tmp_path, f"NUM_CPUS = 1\nEXECUTE = {execute}\n") as pool:
        submit(pool, work / "jobs", f"{lines}queue 3\n").wait_for(5, 30)
        said = [(work / f"err.{number}").read_text() for number in range(3)]
        # One folder for all, and nothing in the memory, also after the job that left something.
        assert said[0].strip().isdigit()
        assert said == said[:1] * 3
        wait_until(lambda: os.listdir(execute) == [], 10)
