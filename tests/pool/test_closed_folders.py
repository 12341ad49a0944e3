"""What a job closes to its own account ends nothing, hides nothing, and is not lost unsaid."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, ask_queue, submit, wait_until

pytestmark = pytest.mark.timeout(120)

CONFIG = "NUM_CPUS = 8\nCGROUP_POLLING_INTERVAL = 1\nJOB_DISK_LIMIT_POLICY = hard\n"
SHELL = "executable = /bin/sh\ntransfer_executable = false\nshould_transfer_files = yes\n"
FILL = "dd if=/dev/zero of=f bs=1M count=60 2>/dev/null; sleep 60"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("closed"), CONFIG) as made:
        yield made


def shell_job(pool: PersonalPool, folder: Path, script: str, lines: str) -> Jobs:
    text = f"{SHELL}arguments = \"-c '{script}'\"\nrequest_memory = 100MB\n{lines}queue\n"
    return submit(pool, folder, text)


def hold_of(jobs: Jobs) -> list[str]:
    names = ("HoldReasonCode", "HoldReasonSubCode", "HoldReason")
    wait_until(lambda: bool(jobs.count_events(12)), 30, lambda: str(jobs.events()))
    return ask_queue(jobs.pool, str(jobs.cluster), *names)[0]


def test_a_job_that_leaves_a_closed_folder_ends_as_it_ended(pool: PersonalPool, work: Path) -> None:
    script = "mkdir -p a/x b/y; touch a/x/f; chmod 400 a; chmod 0 b; exit 7"
    jobs = shell_job(pool, work / "job", script, "request_disk = 10MB\n")
    jobs.wait_for(5, 30)
    assert jobs.count_events(1) == {0: 1}
    assert "(return value 7)" in jobs.log.read_text()


def test_no_mode_hides_what_a_job_has_on_disk(pool: PersonalPool, work: Path) -> None:
    ways = {
        "unlisted": "mkdir d; cd d; chmod 300 .",
        "unsearched": "mkdir -p t/x d; chmod 400 t; cd d",
        "sandbox": "mkdir d; cd d; chmod 0 ../..",
    }
    jobs = {
        name: shell_job(pool, work / name, f"{way}; {FILL}", "request_disk = 1MB\n")
        for name, way in ways.items()
    }
    for each in jobs.values():
        assert hold_of(each)[:2] == ["34", "104"]


@pytest.mark.parametrize("mode", [300, 400])
def test_output_that_cannot_be_listed_holds_its_job(
    pool: PersonalPool, work: Path, mode: int
) -> None:
    script = f"mkdir -p out/in; echo data > out/in/f; echo data > out/f; chmod {mode} out/in"
    lines = "transfer_output_files = out\nrequest_disk = 10MB\n"
    jobs = shell_job(pool, work / "job", script, lines)
    code, subcode, reason = hold_of(jobs)
    assert (code, subcode) == ("12", "13")
    assert "first failure: reading from folder" in reason
    assert reason.endswith("/out/in: (errno 13) Permission denied")
    assert (work / "job/out/f").read_text() == "data\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="modes do not bind root, whose own the input is")
def test_input_that_cannot_be_listed_holds_its_job(pool: PersonalPool, work: Path) -> None:
    closed = work / "job/in"
    closed.mkdir(parents=True)
    (closed / "f").touch()
    closed.chmod(0o300)
    lines = "transfer_input_files = in\nrequest_disk = 10MB\n"
    jobs = shell_job(pool, work / "job", "exit 0", lines)
    code, subcode, reason = hold_of(jobs)
    assert (code, subcode) == ("13", "13")
    assert reason.endswith(f"reading from folder {closed}: (errno 13) Permission denied")
    closed.chmod(0o700)
