"""What a job uses more than its slot has ends in a hold that says so; other jobs go on.

As root the kernel holds the memory limit where it has control groups that can be written; as
anybody else the starter looks from time to time. The disk is looked at in both cases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool.personal import PersonalPool
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import Jobs, ask_queue, submit, wait_until

pytestmark = pytest.mark.timeout(120)
shows = pytest.mark.shows

CONFIG = "NUM_CPUS = 8\nCGROUP_POLLING_INTERVAL = 1\n"
HARD = "JOB_MEMORY_LIMIT_POLICY = hard\nJOB_DISK_LIMIT_POLICY = hard\n"
PYTHON = "executable = /usr/bin/env\ntransfer_executable = false\nshould_transfer_files = yes\n"
HOG = (
    "import time\nheld = []\nwhile True:\n"
    "    held.append(bytearray(b'x') * (8 << 20)); time.sleep(0.05)\n"
)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    with personal_pool(tmp_path_factory.mktemp("limits"), CONFIG + HARD) as made:
        yield made


@pytest.fixture(scope="module")
def soft(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    """A pool as it comes, but for what is a sixteenth of its memory."""
    config = f"{CONFIG}MEMORY = 3200\nBASE_CGROUP =\n"
    with personal_pool(tmp_path_factory.mktemp("soft"), config) as made:
        yield made


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PersonalPool]:
    """A pool that looks at memory, whoever started it."""
    config = f"{CONFIG}{HARD}BASE_CGROUP =\n"
    with personal_pool(tmp_path_factory.mktemp("watched"), config) as made:
        yield made


def python_job(pool: PersonalPool, folder: Path, program: str, lines: str) -> Jobs:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.py").write_text(program)
    text = f'{PYTHON}arguments = "python3 job.py"\ntransfer_input_files = job.py\n{lines}queue\n'
    return submit(pool, folder, text)


def hold_of(jobs: Jobs) -> list[str]:
    names = ("HoldReasonCode", "HoldReasonSubCode", "HoldReason")
    wait_until(lambda: bool(jobs.count_events(12)), 20, lambda: str(jobs.events()))
    return ask_queue(jobs.pool, str(jobs.cluster), *names)[0]


@pytest.mark.parametrize("kind", ["as anybody", pytest.param("as root", marks=pytest.mark.root)])
@shows("E022")
@shows("E025")
def test_a_job_that_fills_memory_is_held_and_others_go_on(
    pool: PersonalPool, work: Path, kind: str
) -> None:
    other = submit(
        pool, work / "other", "executable = /bin/sleep\narguments = 8\nrequest_disk = 1MB\nqueue\n"
    )
    other.wait_for(1, 20)
    jobs = python_job(pool, work / "hog", HOG, "request_memory = 128\nrequest_disk = 10MB\n")
    code, subcode, reason = hold_of(jobs)
    assert (code, subcode) == ("34", "102")
    assert "memory limit of 128 megabytes" in reason
    assert "Consider resubmitting with a higher request_memory." in reason
    assert reason.startswith("Error from slot1_"), kind
    other.wait_for(5, 30)


@pytest.mark.parametrize("kind", ["as anybody", pytest.param("as root", marks=pytest.mark.root)])
@shows("E028")
def test_memory_is_that_of_all_processes_of_a_job(
    pool: PersonalPool, work: Path, kind: str
) -> None:
    program = (
        "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n"
        "        held = bytearray(b'x') * (60 << 20)\n        time.sleep(60)\n"
        "time.sleep(60)\n"
    )
    jobs = python_job(pool, work, program, "request_memory = 128\nrequest_disk = 10MB\n")
    code, subcode, _ = hold_of(jobs)
    assert (code, subcode) == ("34", "102"), kind


@pytest.mark.parametrize("made", ["os.memfd_create('hidden')", "os.open(name, 0o102)"])
def test_memory_in_files_that_nobody_has_mapped_counts(
    watched: PersonalPool, work: Path, made: str
) -> None:
    program = (
        "import os, time\nname = f'/dev/shm/kettle-test-{os.getpid()}'\n"
        f"file = {made}\n"
        "if os.path.exists(name): os.unlink(name)\n"
        "for _ in range(300): os.write(file, b'x' * (1 << 20)); time.sleep(0.02)\n"
        "time.sleep(60)\n"
    )
    jobs = python_job(watched, work, program, "request_memory = 64\n")
    code, subcode, reason = hold_of(jobs)
    assert (code, subcode) == ("34", "102")
    assert "memory limit of" in reason


@pytest.mark.parametrize("kind", ["as anybody", pytest.param("as root", marks=pytest.mark.root)])
@shows("E039")
def test_a_job_that_fills_the_disk_is_held_within_one_look(
    pool: PersonalPool, work: Path, kind: str
) -> None:
    program = (
        "import time\nwith open('big', 'wb') as file:\n    while True:\n"
        "        file.write(bytes(1 << 20)); file.flush(); time.sleep(0.02)\n"
    )
    jobs = python_job(pool, work, program, "request_memory = 128\nrequest_disk = 20MB\n")
    code, subcode, reason = hold_of(jobs)
    assert (code, subcode) == ("34", "104"), kind
    assert "disk limit of 20480 kilobytes" in reason
    used = int(reason.partition("usage: ")[2].split()[0])
    # A second of writing at fifty megabytes a second, on a machine that may be busy.
    assert used < 20480 + 5 * 50 * 1024


def test_a_job_that_fills_the_disk_and_exits_between_two_looks_is_held_all_the_same(
    pool: PersonalPool, work: Path
) -> None:
    program = "with open('big', 'wb') as file:\n    file.write(bytes(40 << 20))\n"
    jobs = python_job(pool, work, program, "request_memory = 128\nrequest_disk = 20MB\n")
    code, subcode, reason = hold_of(jobs)
    assert (code, subcode) == ("34", "104")
    assert "disk limit of 20480 kilobytes" in reason
    # It is not brought back and then complained about.
    assert not (work / "big").exists()


def test_what_a_job_leaves_is_judged_after_its_end_by_what_it_takes(
    pool: PersonalPool, work: Path
) -> None:
    program = "with open('big', 'wb') as file:\n    file.truncate(40 << 20)\n"
    jobs = python_job(pool, work, program, "request_memory = 128\nrequest_disk = 20MB\n")
    jobs.wait_for(5, 20)
    assert (work / "big").stat().st_size == 40 << 20


@shows("A015")
def test_a_job_that_asked_for_too_little_of_what_is_there_runs_through(
    soft: PersonalPool, work: Path
) -> None:
    program = (
        "import time\nheld = bytearray(b'x') * (200 << 20)\n"
        "with open('big', 'wb') as file:\n    file.write(bytes(30 << 20))\ntime.sleep(2)\n"
    )
    jobs = python_job(soft, work, program, "request_memory = 10\nrequest_disk = 1MB\n")
    jobs.wait_for(5, 30)
    assert (work / "big").stat().st_size == 30 << 20


def test_a_job_that_goes_on_and_on_is_held_however_much_there_is(
    soft: PersonalPool, work: Path
) -> None:
    jobs = python_job(soft, work, HOG, "request_memory = 128\nrequest_disk = 10MB\n")
    code, subcode, reason = hold_of(jobs)
    assert (code, subcode) == ("34", "102")
    used = int(reason.partition("usage: ")[2].split()[0])
    assert used > 128 + 200
    assert "memory limit of 128 megabytes" in reason


@pytest.mark.root
@shows("E015")
@shows("E019")
@shows("E029")
def test_a_job_of_a_root_pool_is_in_its_slots_control_group(pool: PersonalPool, work: Path) -> None:
    script = "cat /proc/self/cgroup; sleep 1"
    lines = f"executable = /bin/sh\narguments = \"-c '{script}'\"\noutput = out\n"
    jobs = submit(pool, work, f"{lines}request_memory = 256\nrequest_disk = 1MB\nqueue\n")
    jobs.wait_for(5, 20)
    name = "condor" + f"{pool.folder}/execute".replace("/", "_") + "_slot1_"
    inside = [line for line in (work / "out").read_text().splitlines() if name in line]
    if not inside:
        pytest.skip("this machine has no control groups that root may write")
    assert all(f"/htcondor/{name}" in line for line in inside)
    wait_until(lambda: not leftovers(name), 10, lambda: str(leftovers(name)))


# Starts as many programs with so many MiB each, and goes on when they have it.
HOLDERS = (
    "import os, subprocess\n"
    "own = f\"held = bytearray(b'x') * ({mib} << 20); print(flush=True); input()\"\n"
    "words = ['/usr/bin/env', 'python3', '-c', own]\n"
    "held = [subprocess.Popen(words, stdin=-1, stdout=-1) for _ in range(count)]\n"
    "for each in held: each.stdout.readline()\n"
)
WRITER = (
    "with open('file', 'wb') as file:\n"
    "    for _ in range(300): file.write(b'x' * (1 << 20))\n"
    "os.unlink('file')\n"
    "for each in held: each.communicate(b'\\n')\n"
)


def memory_of(jobs: Jobs) -> float:
    """Return the MiB that a job is said to have used."""
    jobs.wait_for(5, 30)
    record = jobs.record()
    assert record.integer("ExitCode") == 0
    return record.real("MemoryUsage") or 0.0


@pytest.mark.root
@shows("E028")
def test_the_memory_of_a_moment_is_that_of_all_processes_and_not_of_files(
    pool: PersonalPool, work: Path
) -> None:
    program = f"mib, count = 60, 3\n{HOLDERS}{WRITER}"
    jobs = python_job(pool, work, program, "request_memory = 900\nrequest_disk = 1GB\n")
    assert 180 <= memory_of(jobs) < 340


@pytest.mark.parametrize("kind", ["as anybody", pytest.param("as root", marks=pytest.mark.root)])
@shows("E028")
def test_the_memory_of_what_a_job_leaves_running_is_the_job_s(
    pool: PersonalPool, work: Path, kind: str
) -> None:
    program = f"mib, count = 200, 1\n{HOLDERS}os._exit(0)\n"
    jobs = python_job(pool, work, program, "request_memory = 900\nrequest_disk = 10MB\n")
    assert 200 <= memory_of(jobs) < 340, kind


def leftovers(name: str) -> list[str]:
    """Return the folders of control groups whose name begins so."""
    return [
        os.path.join(folder, entry)
        for folder, entries, _ in os.walk("/sys/fs/cgroup")
        for entry in entries
        if entry.startswith(name)
    ]


@pytest.mark.parametrize("kind", ["as anybody", pytest.param("as root", marks=pytest.mark.root)])
def test_a_file_that_a_job_deleted_and_keeps_open_counts(
    pool: PersonalPool, work: Path, kind: str
) -> None:
    program = (
        "import os, time\nfile = open('data', 'wb', buffering=0)\nos.unlink('data')\n"
        "while True:\n    file.write(b'x' * (1 << 20)); time.sleep(0.05)\n"
    )
    jobs = python_job(pool, work, program, "request_memory = 64\nrequest_disk = 10MB\n")
    code, subcode, reason = hold_of(jobs)
    assert (code, subcode) == ("34", "104"), kind
    assert "disk limit of" in reason
