"""What comes back of jobs whose output is not all there, is elsewhere, or is too much."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, ask_queue, run_tool, submit_script, wait_until

pytestmark = pytest.mark.timeout(120)

SMALL = "request_memory = 10MB\nrequest_disk = 9MB\nshould_transfer_files = yes\n"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("lost"), "PERIODIC_EXPR_INTERVAL = 1\n") as pool:
        yield pool


def shell(pool: PersonalPool, work: Path, script: str, lines: str = "") -> Jobs:
    """Queue a shell script as a small job whose output is `out` and `err`."""
    return submit_script(pool, work, script, SMALL + lines)


def held(jobs: Jobs) -> tuple[str, int, int]:
    """Wait for a hold and return its reason, code and subcode."""
    jobs.wait_for(12, 20)
    text = jobs.log.read_text()
    found = re.search(r"Job was held\.\n\t(.*)\n\tCode (\d+) Subcode (\d+)", text)
    assert found is not None, text
    run_tool(jobs.pool, "condor_rm", str(jobs.cluster))
    return found[1], int(found[2]), int(found[3])


@pytest.mark.parametrize(
    ("script", "lines", "left"),
    [
        ("echo hi > res; rm -f *", "", set()),
        ("echo hi > res; echo said; rm -f _condor_stderr", "", {"out", "res"}),
        ('echo hi > res; rm -rf "$_CONDOR_SCRATCH_DIR"', "", set()),
        ("echo hi; rm -f *", "stream_output = true\n", {"out"}),
        # What is there under the stream's name is no file.
        ("rm _condor_stdout; mkdir _condor_stdout", "", {"err"}),
        ("rm _condor_stdout; ln -s nowhere _condor_stdout", "", {"err"}),
    ],
)
def test_a_job_may_take_its_own_output_away(
    pool: PersonalPool, work: Path, script: str, lines: str, left: set[str]
) -> None:
    """As with a real 25.14.1: it ends as it ended, and what is not there does not come back."""
    jobs = shell(pool, work, f"{script}; exit 3", lines)
    jobs.wait_for(5, 20)
    assert "(return value 3)" in jobs.log.read_text()
    assert jobs.count_events(1) == {0: 1}
    assert {path.name for path in work.iterdir()} - {"job.sh", "job.sub", "job.log"} == left


@pytest.mark.parametrize("names", ["res", '""'])
def test_where_a_list_names_the_output_the_streams_have_to_be_there(
    pool: PersonalPool, work: Path, names: str
) -> None:
    script = "echo hi > res; rm -f _condor_std*"
    jobs = shell(pool, work, script, f"transfer_output_files = {names}\n")
    reason, code, subcode = held(jobs)
    assert (code, subcode) == (12, 2)
    assert "2 total failures: first failure: reading from file /" in reason
    assert reason.endswith("/scratch/_condor_stdout: (errno 2) No such file or directory")


def test_a_spooled_job_may_take_its_own_output_away(pool: PersonalPool, work: Path) -> None:
    (work / "job.sub").write_text(
        f"executable = /bin/sh\ntransfer_executable = false\noutput = {work}/out\n{SMALL}"
        "arguments = \"-c 'echo hi > res; rm -f _condor_std*; exit 3'\"\n"
        f"initialdir = {work}\nqueue\n"
    )
    code, said, complaint = run_tool(pool, "condor_submit", "-terse", "-spool", f"{work}/job.sub")
    assert code == 0, complaint
    cluster = said.split(".")[0]
    wait_until(lambda: ask_queue(pool, cluster, "JobStatus", "ExitCode") == [["4", "3"]], 20)
    assert run_tool(pool, "condor_transfer_data", cluster)[0] == 0
    assert (work / "res").read_text() == "hi\n"
    assert not (work / "out").exists()


@pytest.mark.parametrize("wanted", ["yes", "if_needed", "no"])
def test_a_program_that_was_spooled_without_its_execute_bits_gets_them_there(
    pool: PersonalPool, work: Path, wanted: str
) -> None:
    """Where nothing travels further, it is executed in the spool itself."""
    (work / "s.sh").write_text("#!/bin/sh\necho ran\n")
    (work / "s.sh").chmod(0o644)
    (work / "kept").write_text("data\n")
    (work / "kept").chmod(0o640)
    inputs = "" if wanted == "no" else "transfer_input_files = kept\n"
    # Root's spool is no folder for those as whom its jobs run.
    runs = wanted == "yes" or os.getuid() != 0
    (work / "job.sub").write_text(
        f"executable = {work}/s.sh\ninitialdir = {work}\noutput = out\nrequest_memory = 10MB\n"
        f"request_disk = 1MB\n{inputs}should_transfer_files = {wanted}\n"
        f"requirements = {str(runs).lower()}\nqueue\n"
    )
    words = ("-terse", "-spool", f"{work}/job.sub")
    code, said, complaint = run_tool(pool, "condor_submit", *words)
    assert code == 0, complaint
    cluster = said.split(".")[0]
    spool = Path(ask_queue(pool, cluster, "Iwd")[0][0])
    assert (spool / "s.sh").stat().st_mode & 0o777 == 0o755
    # Only the program: data keep the mode that they came with.
    assert not inputs or (spool / "kept").stat().st_mode & 0o777 == 0o640
    if runs:
        wait_until(lambda: ask_queue(pool, cluster, "JobStatus")[0][0] in {"4", "5"}, 20)
        assert ask_queue(pool, cluster, "HoldReason") == [["undefined"]]
        assert run_tool(pool, "condor_transfer_data", cluster)[0] == 0
        assert (work / "out").read_text() == "ran\n"


def test_output_beside_the_sandbox_comes_back_under_its_last_part(
    pool: PersonalPool, work: Path
) -> None:
    script = "echo said; echo x > ../x; mkdir d; echo y > y"
    shell(pool, work, script, "transfer_output_files = ../x, d/../y\n").wait_for(5, 20)
    assert (work / "x").read_text() == "x\n"
    assert (work / "y").read_text() == "y\n"
    assert (work / "out").read_text() == "said\n"


@pytest.mark.parametrize(
    ("lines", "subcode", "why"),
    [
        ("transfer_output_files = ../x, y\n", 2, "/../x: (errno 2) No such file or directory"),
        (
            "transfer_output_files = ../x, y\npreserve_relative_paths = true\n",
            1,
            "the file name '../x' points outside of the sandbox",
        ),
    ],
)
def test_what_can_be_sent_comes_back_beside_what_cannot(
    pool: PersonalPool, work: Path, lines: str, subcode: int, why: str
) -> None:
    reason, *codes = held(shell(pool, work, "echo said; echo y > y", lines))
    assert codes == [12, subcode]
    assert "Details: 1 total failures: first failure: " in reason
    assert reason.endswith(why)
    assert (work / "out").read_text() == "said\n"
    assert (work / "y").read_text() == "y\n"


def test_the_streams_come_back_where_the_rest_is_too_much(pool: PersonalPool, work: Path) -> None:
    script = "echo said; echo worse >&2; head -c 3000000 /dev/zero > big"
    reason, code, subcode = held(shell(pool, work, script, "max_transfer_output_mb = 1\n"))
    assert (code, subcode) == (33, 0)
    assert "|Error: 1 total failures: first failure: sending file /" in reason
    assert (work / "out").read_text() == "said\n"
    assert (work / "err").read_text() == "worse\n"
