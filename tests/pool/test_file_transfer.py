"""Files of real jobs in a real pool: both ways, by URL, missing, and to odd places."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.records.event_log import read_events
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import wait_until

shows = pytest.mark.shows

_ENDED = {5, 9, 12}
_SUBMIT = """
import sys
from kettle.tools.programs import run_program
sys.argv[0] = "condor_submit"
sys.exit(run_program("condor_submit"))
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("transfer"), "PERIODIC_EXPR_INTERVAL = 1\n") as pool:
        yield pool


def run_job(pool: PersonalPool, work: Path, script: str, submit: str) -> list[int]:
    """Run a shell script as a job and return the numbers of its events."""
    (work / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
    (work / "job.sh").chmod(0o755)
    (work / "job.sub").write_text(
        "executable = job.sh\nlog = job.log\nshould_transfer_files = yes\n"
        f"output = out.txt\nerror = err.txt\n{submit}\nqueue\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", _SUBMIT, "job.sub"],
        cwd=work,
        env=pool.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    log = work / "job.log"

    def numbers() -> list[int]:
        return [event.number for event in read_events(log.read_bytes())] if log.exists() else []

    wait_until(lambda: bool(_ENDED & set(numbers())), 60, lambda: f"the job goes on: {numbers()}")
    return numbers()


def hold_reason(work: Path) -> tuple[str, str]:
    """The reason and the code of the job's hold."""
    text = (work / "job.log").read_text()
    found = re.search(r"Job was held\.\n\t(.*)\n\tCode (\d+) Subcode", text)
    assert found is not None, text
    return found.group(1), found.group(2)


def test_a_pipe_among_the_input_files_is_passed_over(pool: PersonalPool, work: Path) -> None:
    (work / "in.txt").write_text("input\n")
    os.mkfifo(work / "pipe")
    script = "test ! -e pipe; echo $?; cat in.txt"
    numbers = run_job(pool, work, script, "transfer_input_files = pipe, in.txt\n")
    assert numbers[-1] == 5
    assert (work / "out.txt").read_text() == "0\ninput\n"


@shows("R057")
def test_files_and_directories_go_there_and_come_back(pool: PersonalPool, work: Path) -> None:
    (work / "in.txt").write_text("input\n")
    (work / "tree/deep").mkdir(parents=True)
    (work / "tree/deep/leaf").write_text("leaf\n")
    script = "cat in.txt tree/deep/leaf > res; mkdir made; echo 1 > made/x; echo said; exit 3"
    numbers = run_job(
        pool,
        work,
        script,
        "transfer_input_files = in.txt, tree\ntransfer_output_files = res, made\n"
        'transfer_output_remaps = "res=renamed"',
    )
    assert numbers == [0, 40, 40, 1, 6, 40, 40, 5]
    assert (work / "renamed").read_text() == "input\nleaf\n"
    assert (work / "made/x").read_text() == "1\n"
    assert (work / "out.txt").read_text() == "said\n"
    assert "(return value 3)" in (work / "job.log").read_text()


@shows("R057")
def test_without_a_list_new_and_changed_files_come_back(pool: PersonalPool, work: Path) -> None:
    (work / "keep").write_text("same")
    (work / "grow").write_text("short")
    os.utime(work / "keep", (1, 1))
    script = "echo more >> grow; echo new > fresh; mkdir d; echo x > d/x"
    run_job(pool, work, script, "transfer_input_files = keep, grow")
    assert (work / "grow").read_text() == "shortmore\n"
    assert (work / "fresh").read_text() == "new\n"
    assert os.stat(work / "keep").st_mtime == 1
    assert not (work / "d").exists()


def test_a_large_file_arrives_whole(pool: PersonalPool, work: Path) -> None:
    data = os.urandom(3_000_001)
    (work / "big").write_bytes(data)
    run_job(pool, work, "cp big copy", "transfer_input_files = big\ntransfer_output_files = copy")
    assert (work / "copy").read_bytes() == data


def test_urls_are_fetched_and_output_is_put_to_them(pool: PersonalPool, work: Path) -> None:
    (work / "web").write_text("from a url\n")
    (work / "web").chmod(0o644)
    (work / "put").mkdir()
    (work / "put").chmod(0o777)
    run_job(
        pool,
        work,
        "cp web res",
        f"transfer_input_files = file://{work}/web\ntransfer_output_files = res\n"
        f'transfer_output_remaps = "res=file://{work}/put/res"',
    )
    assert (work / "put/res").read_text() == "from a url\n"
    assert not (work / "res").exists()


@shows("R057")
def test_a_missing_output_file_holds_the_job_with_code_12(pool: PersonalPool, work: Path) -> None:
    numbers = run_job(pool, work, "true", "transfer_output_files = nothere")
    assert 12 in numbers
    reason, code = hold_reason(work)
    assert code == "12"
    assert "nothere" in reason


def test_an_input_file_that_vanished_holds_the_job_with_code_13(
    pool: PersonalPool, work: Path
) -> None:
    (work / "gone").symlink_to("nowhere")
    numbers = run_job(pool, work, "true", "transfer_input_files = gone\nskip_filechecks = true")
    assert 1 not in numbers
    reason, code = hold_reason(work)
    assert code == "13"
    assert reason.startswith("Transfer input files failure at access point")
    assert "gone" in reason


def test_a_link_to_a_folder_as_program_holds_the_job_before_a_start(
    pool: PersonalPool, work: Path
) -> None:
    (work / "tree").mkdir()
    (work / "bin").symlink_to("tree")
    assert 1 not in run_job(pool, work, "true", f"executable = {work}/bin")
    reason, code = hold_reason(work)
    assert code == "13"
    said = "Is a directory- Transfer of symlinks to directories is not supported."
    assert reason.endswith(f"/bin: (errno 21) {said}")


def test_a_link_to_a_folder_holds_its_job_in_either_direction(
    pool: PersonalPool, work: Path
) -> None:
    (work / "d" / "inner").mkdir(parents=True)
    (work / "d" / "link").symlink_to("inner")
    (work / "d" / "nothing").symlink_to("nowhere")
    said = "(errno 21) Is a directory- Transfer of symlinks to directories is not supported."
    for script, submit, code in (
        ("ls", "transfer_input_files = d", 13),
        ("mkdir out; ln -s /etc out/link", "transfer_output_files = out", 12),
    ):
        (work / "job.log").unlink(missing_ok=True)
        assert run_job(pool, work, script, submit)[-1] == 12
        text = (work / "job.log").read_text()
        assert said in text
        assert f"Code {code} Subcode 21" in text


def test_remaps_take_the_standard_streams_along(pool: PersonalPool, work: Path) -> None:
    remaps = 'transfer_output_remaps = "out.txt=said;_condor_stderr=cried"'
    assert run_job(pool, work, "echo hi; echo oh >&2", remaps)[-1] == 5
    assert (work / "said").read_text() == "hi\n"
    assert (work / "cried").read_text() == "oh\n"
    assert not (work / "out.txt").exists()


def test_output_to_a_place_that_is_none_holds_the_job(pool: PersonalPool, work: Path) -> None:
    (work / "job.sub").touch()
    run_job(
        pool,
        work,
        "echo 1 > res",
        'transfer_output_files = res\ntransfer_output_remaps = "res=/no/such/folder/res"',
    )
    reason, code = hold_reason(work)
    assert code == "12"
    assert "receiving files from execution point" in reason


def test_a_url_that_cannot_be_fetched_holds_the_job(pool: PersonalPool, work: Path) -> None:
    run_job(pool, work, "true", "transfer_input_files = file:///no/such/file")
    reason, code = hold_reason(work)
    assert code == "13"
    assert "/no/such/file" in reason
