"""URL plug-ins that are missing, mute or slow, and what is recorded of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.records import history
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, submit, wait_until

pytestmark = pytest.mark.timeout(120)

SMALL = "request_cpus = 1\nrequest_memory = 10MB\nrequest_disk = 1MB\nshould_transfer_files = yes\n"
PLUGIN = """#!/bin/sh
if [ "$1" = -classad ]; then
  echo 'PluginType = "FileTransfer"'
  echo 'SupportedMethods = "odd"'
  echo 'MultipleFileSupport = true'
  exit 0
fi
url=$(sed -n 's/.*Url = "\\([^"]*\\)".*/\\1/p' "$2")
case $url in
  *slow*) sleep 60 ;;
  *mute*) exit 0 ;;
  *loud*) echo "I print $url" ;;
  *sorry*)
    echo "[ TransferUrl = \\"$url\\"; TransferSuccess = false; TransferError = \\"so\\" ]" > "$4"
    exit 0 ;;
esac
echo "[ TransferUrl = \\"$url\\"; TransferSuccess = true; Spam = 1; TransferFileBytes = 3 ]" > "$4"
"""


@pytest.fixture(scope="module")
def pool(work_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    plugin = work_folder / "odd.sh"
    plugin.write_text(PLUGIN)
    plugin.chmod(0o755)
    runs = work_folder / "runs"
    runs.mkdir()
    text = (
        f"FILETRANSFER_PLUGINS = {plugin}\nMAX_FILE_TRANSFER_PLUGIN_LIFETIME = 2\n"
        "LOG_FILETRANSFER_PLUGIN_STDOUT_ON_SUCCESS = D_TEST\n"
        "MY_POPEN_KEEPALIVE_INTERVAL = 1\nSTARTER_DEBUG = D_FULLDEBUG D_TEST\n"
        f"INPUT_JOB_ATTRS = JobUniverse\nJOB_EPOCH_HISTORY_DIR = {runs}\n"
    )
    with personal_pool(tmp_path_factory.mktemp("rules"), text) as pool:
        yield pool


def fetch(pool: PersonalPool, work: Path, lines: str) -> Jobs:
    return submit(
        pool, work, f"executable = /bin/true\ntransfer_executable = false\n{SMALL}{lines}\nqueue\n"
    )


def records(pool: PersonalPool, jobs: Jobs, kind: str) -> list[dict[str, str]]:
    """Return the lines of the epoch history's records of a kind, by name."""
    data = Path(pool.folder, "spool", "epoch_history").read_bytes()
    found = []
    for record in history.read_forwards(data):
        if record.kind == kind and record.fields["ClusterId"] == str(jobs.cluster):
            pairs = (line.partition(" = ") for line in record.lines)
            found.append({name: value for name, _, value in pairs})
    return found


@pytest.mark.parametrize(("url", "subcode"), [("nobody://x", "-1001"), ("odd://mute", "-1004")])
def test_a_machine_without_a_plug_in_that_works_sends_the_job_back_into_the_queue(
    pool: PersonalPool, work: Path, url: str, subcode: str
) -> None:
    wish = f'+TransferInput = NumShadowStarts > 1 ? "" : "{url}"'
    jobs = fetch(pool, work, f"{wish}\nrequirements = true || TARGET.HasFileTransferPluginMethods")
    jobs.wait_for(5, 30)
    text = jobs.log.read_text()
    assert "012 (" not in text
    # As in the reference, where the machine says what failed and where the job goes on from there.
    assert re.search(rf"FILETRANSFER:1:\|Error: .*\n\tCode 12 Subcode {subcode}\n", text), text
    assert f"Job was evicted. Code 13 Subcode {subcode}\n" in text


def test_a_plug_in_that_takes_too_long_is_killed_and_holds_the_job(
    pool: PersonalPool, work: Path
) -> None:
    jobs = fetch(pool, work, "transfer_input_files = odd://slow")
    jobs.wait_for(12, 30)
    text = jobs.log.read_text()
    assert "timed out after 2 seconds" in text
    assert "\tCode 13 Subcode 62\n" in text
    [log] = Path(pool.folder, "log").glob("StarterLog.slot1_1")
    wait_until(lambda: "wait_for_output() callback (multi)" in log.read_text(), 10)


@pytest.mark.parametrize(("way", "code"), [("input", 13), ("output", 12)])
def test_a_file_that_a_plug_in_calls_a_failure_holds_the_job_though_it_ends_well(
    pool: PersonalPool, tmp_path: Path, way: str, code: int
) -> None:
    lines = "transfer_input_files = odd://sorry"
    if way == "output":
        lines = 'transfer_output_files = got\ntransfer_output_remaps = "got=odd://sorry"'
    text = f"executable = /bin/sh\narguments = \"-c 'echo > got'\"\n{SMALL}{lines}\nqueue\n"
    jobs = submit(pool, tmp_path, f"transfer_executable = false\n{text}")
    jobs.wait_for(12, 30)
    held = jobs.log.read_text().partition("\n012 (")[2]
    reason = "using protocol odd. Details: so ( URL file = odd://sorry )|"
    assert re.search(rf"\tTransfer {way} files failure at execution point slot1_\d@\S+ ", held), (
        held
    )
    assert f"{reason}\n\tCode {code} Subcode 1\n" in held


def test_what_a_plug_in_prints_is_in_the_log_where_that_is_wanted(
    pool: PersonalPool, work: Path
) -> None:
    fetch(pool, work, "transfer_input_files = odd://loud").wait_for(5, 30)
    [log] = Path(pool.folder, "log").glob("StarterLog.slot1_1")
    assert re.search(
        r"FILETRANSFER: plugin \S+/odd.sh exit=0 stdout: I print odd://loud", log.read_text()
    )


def test_what_plug_ins_did_is_in_the_epoch_history(
    pool: PersonalPool, work: Path, work_folder: Path
) -> None:
    jobs = fetch(pool, work, "transfer_input_files = odd://good")
    jobs.wait_for(5, 30)
    [record] = records(pool, jobs, "INPUT")
    assert record["TransferClass"] == '"INPUT"'
    assert record["JobUniverse"] == "5"
    assert "NumShadowStarts" not in record
    assert 'TransferUrl = "odd://good"' in record["InputPluginResultList"]
    assert "Spam" not in record["InputPluginResultList"]
    # So it is in the job's own file of JOB_EPOCH_HISTORY_DIR.
    own = work_folder / "runs" / f"job.runs.{jobs.cluster}.0.ads"
    wait_until(
        lambda: (
            [one.kind for one in history.read_forwards(own.read_bytes())]
            == ["SPAWN", "INPUT", "EPOCH"]
        ),
        15,
    )
    runs = record["InputPluginInvocations"]
    assert 'PluginBasename = "odd.sh"' in runs
    assert 'Schemes = "odd"' in runs
    assert "ExitCode = 0" in runs


def test_the_machine_keeps_what_plug_ins_did(pool: PersonalPool, tmp_path: Path) -> None:
    text = f"executable = /bin/true\n{SMALL}transfer_input_files = odd://b/file\nqueue\n"
    jobs = submit(pool, tmp_path, text)
    jobs.wait_for(5, 30)
    records = Path(pool.log_folder, "transfer_history").read_text().split("***\n")
    [own] = [record for record in records if f"JobClusterId = {jobs.cluster}\n" in record]
    assert 'TransferUrl = "odd://b/file"' in own
    assert "TransferSuccess = true" in own
    assert "JobProcId = 0" in own
    assert "JobOwner = " in own
    assert own.splitlines() == sorted(own.splitlines(), key=str.lower)


def test_an_absolute_output_file_comes_back_under_its_last_part(
    pool: PersonalPool, work: Path
) -> None:
    jobs = fetch(pool, work, "transfer_output_files = /etc/hostname")
    jobs.wait_for(5, 30)
    assert (work / "hostname").read_text() == Path("/etc/hostname").read_text()
