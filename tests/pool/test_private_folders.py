"""A job of a root pool has /tmp, /var/tmp and /dev/shm for itself (MOUNT_UNDER_SCRATCH)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.records.event_ends import JobTerminatedEvent
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


# The view of two jobs of a claim, by the second of which the folder is as at first, whatever the
# first did; a word for each look.
_VIEW = """\
import os, sys
from kettle.runtime.process import kernel
from kettle.runtime.process.privileges import Privileges, account_of
from kettle.starter.services.view import JobView

folder = sys.argv[1]
target = f"{folder}/target"
os.mkdir(target)
kernel.unshare_mounts()
kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_SLAVE)
found = JobView(Privileges(account_of(0), can_switch=True), f"{folder}/view")
def prepare():
    found.prepare((target,), account_of(65534), shared_memory=False)
def look():
    with found.entered():
        return [os.listdir(target), oct(os.stat(target).st_mode)]
prepare()
print(found.note_whether_empty(), look())
with found.entered():
    open(f"{target}/left", "w").close()
print(found.note_whether_empty())
prepare()
print(look(), found.note_whether_empty())
# What was started after the look may have left something all the same.
with found.entered():
    open(f"{target}/late", "w").close()
prepare()
print(look())
with found.entered():
    os.chmod(target, 0o500)
print(found.note_whether_empty())
prepare()
print(look(), found.note_whether_empty())
found.close()
"""


def test_a_private_folder_is_emptied_unless_it_was_seen_empty_and_nothing_began_since(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _VIEW, str(tmp_path)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    fresh = "[[], '0o40700']"
    assert done.stdout.splitlines() == [
        f"True {fresh}", "False", f"{fresh} True", fresh, "False", f"{fresh} True",
    ], done.stderr  # fmt: skip


def test_what_a_job_left_in_tmp_is_in_its_disk_usage(
    tmp_path: Path, work: Path, execute: Path
) -> None:
    lines = (
        "executable = /bin/sh\narguments = \"-c 'head -c 3000000 /dev/zero >/tmp/x'\"\n"
        "transfer_executable = false\nshould_transfer_files = yes\nrequest_memory = 64\n"
        "request_disk = 20MB\nqueue\n"
    )
    with personal_pool(tmp_path, f"NUM_CPUS = 1\nEXECUTE = {execute}\n") as pool:
        jobs = submit(pool, work / "job", lines)
        jobs.wait_for(5, 20)
        (ended,) = [event for event in jobs.events() if event.number == 5]
    assert isinstance(ended, JobTerminatedEvent)
    assert ended.usage is not None
    assert 2900 <= ended.usage["DiskUsage"] <= 4000
