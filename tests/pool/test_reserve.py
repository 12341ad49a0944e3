"""A disk that fills: what RESERVED_DISK keeps free stays free, and the pool goes on."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kettle.runtime.storage.free_space import read_free_kib, read_inodes
from kettle.testing.pool_fixture import personal_pool
from pool_jobs import ask_queue, run_tool, submit, submit_as, wait_until
from small_disks import small_disk

pytestmark = [pytest.mark.root, pytest.mark.timeout(300)]

DISK_MIB, RESERVED_MIB = 160, 40
INODES = 4000
# Writes so many MiB at once, then a few KiB at a time until it is let go.
WRITER = """\
import os, sys, time
first, piece, go = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
with open("data", "wb", buffering=0) as file:
    file.write(b"x" * (first << 20))
    while not os.path.exists(go):
        file.write(b"x" * (piece << 10))
        time.sleep(0.2)
"""
# Makes a file at a time, or as many as it can; whether it has made them is of no interest to it.
MAKER = """\
import os, sys, time
pause, go, number = float(sys.argv[1]), sys.argv[2], 0
while not os.path.exists(go):
    try:
        open(str(number), "x").close()
        number += 1
    except OSError:
        time.sleep(0.1)
    time.sleep(pause)
"""
HEAD = (
    "executable = /usr/bin/env\ntransfer_executable = false\nshould_transfer_files = yes\n"
    "request_disk = 50MB\nrequest_memory = 20MB\n"
)
SUBMIT = (
    "import sys; from kettle.tools.programs import run_program; "
    "raise SystemExit(run_program(sys.argv.pop(1)))"
)
HOLD = ("HoldReasonCode", "HoldReasonSubCode", "HoldReason")


@pytest.fixture
def disk() -> Iterator[Path]:
    """A small file system, for sandboxes and for the spool."""
    place = Path(tempfile.mkdtemp(prefix="kettle-disk-"))
    try:
        with small_disk(place, f"{DISK_MIB}m", inodes=INODES):
            for name in ("execute", "spool"):
                (place / name).mkdir()
            yield place
    finally:
        place.rmdir()


def settings(disk: Path) -> str:
    return (
        f"EXECUTE = {disk}/execute\nSPOOL = {disk}/spool\nRESERVED_DISK = {RESERVED_MIB}\n"
        "NUM_CPUS = 4\nCGROUP_POLLING_INTERVAL = 1\n"
    )


def fill(disk: Path, mib: int) -> Path:
    path = disk / "somebody else's"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, mib << 20)
    return path


def test_the_job_that_eats_most_of_the_reserve_is_held_and_the_other_goes_on(
    tmp_path: Path, work: Path, disk: Path
) -> None:
    with personal_pool(tmp_path, settings(disk)) as pool:
        (work / "writer.py").write_text(WRITER)
        head = f"{HEAD}transfer_input_files = {work}/writer.py\ntransfer_output_files =\n"

        def words(*numbers: int) -> str:
            told = " ".join(map(str, numbers))
            return f"{head}arguments = python3 writer.py {told} {work}/go\nqueue\n"

        small = submit(pool, work / "small", words(2, 4))
        large = submit(pool, work / "large", words(44, 4))
        small.wait_for(1, 20)
        large.wait_for(1, 20)
        wait_until(lambda: (read_free_kib(str(disk)) or 0) < (DISK_MIB - 46) * 1024, 20)
        fill(disk, DISK_MIB - RESERVED_MIB - 45)
        large.wait_for(12, 40)
        code, subcode, reason = large.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("34", "104")
        assert "kept free" in reason
        (work / "go").touch()
        small.wait_for(5, 40)
        assert small.count_events(12) == {}
        free = read_free_kib(str(disk))
        assert free is not None
        assert free >= RESERVED_MIB * 1024


def test_a_job_that_eats_of_the_reserve_with_a_file_that_it_deleted_is_held(
    tmp_path: Path, work: Path, disk: Path
) -> None:
    with personal_pool(tmp_path, settings(disk)) as pool:
        deleting = 'as file:\n    os.unlink("data")\n'
        (work / "writer.py").write_text(WRITER.replace("as file:\n", deleting))
        jobs = submit(
            pool,
            work / "one",
            f"{HEAD}transfer_input_files = {work}/writer.py\ntransfer_output_files =\n"
            f"arguments = python3 writer.py 20 64 {work}/go\nqueue\n",
        )
        jobs.wait_for(1, 20)
        fill(disk, DISK_MIB - RESERVED_MIB - 25)
        jobs.wait_for(12, 40)
        code, subcode, reason = jobs.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("34", "104")
        assert "kept free" in reason
        free = read_free_kib(str(disk))
        assert free is not None
        assert free >= RESERVED_MIB * 1024


def test_a_spool_without_room_takes_no_input_and_the_pool_goes_on(
    tmp_path: Path, work: Path, disk: Path
) -> None:
    with personal_pool(tmp_path, settings(disk)) as pool:
        (work / "input").write_bytes(b"x" * (2 << 20))
        text = (
            "executable = /bin/true\ntransfer_executable = false\nrequest_disk = 10MB\n"
            f"transfer_input_files = {work}/input\nqueue\n"
        )
        sub = work / "spooled.sub"
        sub.write_text(text)
        filler = fill(disk, DISK_MIB - RESERVED_MIB - 1)
        code, said, complaint = run_tool(pool, "condor_submit", "-spool", str(sub))
        assert code != 0, said + complaint
        left = [path for path in (disk / "spool").rglob("input*") if path.is_file()]
        assert left == []
        free = read_free_kib(str(disk))
        assert free is not None
        assert free >= RESERVED_MIB * 1024
        # The queue log still has its room.
        waiting = submit(
            pool, work / "plain", "executable = /bin/true\nrequest_disk = 1MB\nqueue\n"
        )
        assert ask_queue(pool, str(waiting.cluster), "JobStatus")
        filler.unlink()
        code, _, complaint = run_tool(pool, "condor_submit", "-spool", str(sub))
        assert code == 0, complaint
        waiting.wait_for(5, 40)
        wait_until(lambda: ["4"] in ask_queue(pool, "-all", "JobStatus"), 20)


def test_of_two_whose_files_arrive_together_the_first_has_the_room_and_the_reserve_stays(
    tmp_path: Path, work: Path, disk: Path
) -> None:
    with personal_pool(tmp_path, settings(disk)) as pool:
        # For one of them there is room, for half of each, too.
        with (work / "input").open("wb") as file:
            file.truncate((DISK_MIB - RESERVED_MIB) * 6 // 10 << 20)
        sub = work / "spooled.sub"
        sub.write_text(
            "executable = /bin/true\ntransfer_executable = false\nrequest_disk = 100MB\n"
            f"transfer_input_files = {work}/input\nrequirements = false\nqueue\n"
        )
        words = [sys.executable, "-c", SUBMIT, "condor_submit", "-spool", str(sub)]
        both = [
            subprocess.Popen(
                words, env={**os.environ, **pool.environment()}, stderr=subprocess.PIPE, text=True
            )
            for _ in range(2)
        ]
        least = DISK_MIB << 10
        while any(tool.poll() is None for tool in both):
            least = min(least, read_free_kib(str(disk)) or 0)
            time.sleep(0.01)
        said = [tool.communicate()[1] for tool in both]
        assert sorted(tool.returncode != 0 for tool in both) == [False, True], said
        assert "the spool has room for" in "".join(said)
        assert least >= RESERVED_MIB * 1024


def test_the_job_that_makes_most_of_the_files_is_held_and_the_other_goes_on(
    tmp_path: Path, work: Path, disk: Path
) -> None:
    with personal_pool(tmp_path, settings(disk)) as pool:
        (work / "maker.py").write_text(MAKER)
        head = f"{HEAD}transfer_input_files = {work}/maker.py\ntransfer_output_files =\n"
        few, many = (
            submit(
                pool,
                work / pause,
                f"{head}arguments = python3 maker.py {pause} {work}/go\nqueue\n",
            )
            for pause in ("0.5", "0")
        )
        code, subcode, reason = many.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("34", "104")
        assert "inodes" in reason

        def room() -> int:
            inodes = read_inodes(str(disk))
            return -1 if inodes is None else inodes.room

        wait_until(lambda: room() > INODES // 2, 20)
        (work / "go").touch()
        few.wait_for(5, 40)
        assert few.count_events(12) == {}


def test_output_leaves_the_spool_its_room_and_others_submit(
    tmp_path: Path,
    work: Path,
    disk: Path,
    make_account: Callable[[str], pwd.struct_passwd],
) -> None:
    home = disk / "home"
    stranger = make_account("room")
    with personal_pool(tmp_path, f"{settings(disk)}ALLOW_WRITE = *\n") as pool:
        # It has no blocks where it is made; where it comes to, it has, and there is room for them
        # if the reserve goes.
        sparse = submit(
            pool,
            home,
            f"{HEAD}arguments = truncate -s {DISK_MIB - RESERVED_MIB + 10}M out\n"
            "transfer_output_files = out\nqueue\n",
        )
        code, subcode, reason = sparse.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("12", "28")
        assert f"{RESERVED_MIB << 10} KiB are kept free" in reason
        assert not (home / "out").exists()
        free = read_free_kib(str(disk))
        assert free is not None
        assert free >= RESERVED_MIB * 1024
        true = "executable = /bin/true\ntransfer_executable = false\nrequest_disk = 1MB\nqueue\n"
        log = submit_as(pool, stranger, work / "other", true)
        wait_until(lambda: "\n005 " in log.read_text(), 40)


def test_a_checkpoint_without_room_in_the_spool_is_refused_before_a_byte_of_it_travels(
    tmp_path: Path, work: Path, disk: Path
) -> None:
    # It has no blocks where it is made. There is room for it on the disk, but not now.
    size = 60
    script = (
        f"[ -e state ] && exit 0; truncate -s {size}M state; echo >> {work}/runs\n"
        f"while [ ! -e {work}/go ]; do sleep 0.1; done; exit 85"
    )
    (work / "job.sh").write_text(f"#!/bin/sh\n{script}\n")
    (work / "job.sh").chmod(0o755)
    text = (
        f"executable = {work}/job.sh\ncheckpoint_exit_code = 85\n"
        "transfer_checkpoint_files = state\n"
        "transfer_output_files =\nshould_transfer_files = yes\nrequest_disk = 1MB\n"
        'transfer_output_remaps = "state=elsewhere"\nqueue\n'
    )
    with personal_pool(tmp_path, settings(disk)) as pool:
        jobs = submit(pool, work / "one", text)
        wait_until((work / "runs").exists, 30)
        filler = fill(disk, DISK_MIB - RESERVED_MIB - size + 10)
        (work / "go").touch()
        code, subcode, reason = jobs.wait_for_status(5, *HOLD)
        assert (code, subcode) == ("36", "-1")
        # The whole of it was objected to; a single file is told of with its own path.
        assert f"{size << 20} bytes do not fit into {disk}/spool/" in reason
        assert f"{RESERVED_MIB << 10} KiB are kept free" in reason
        assert not [path for path in (disk / "spool").rglob("state*") if path.is_file()]
        # With room it goes on: the next run's checkpoint is taken, and the one after has it.
        filler.unlink()
        assert run_tool(pool, "condor_release", str(jobs.cluster))[0] == 0
        jobs.wait_for(5, 60)
        assert (work / "runs").read_text() == "\n\n"


def test_a_users_own_disk_keeps_room_for_the_next_one_and_what_is_there_of_before(
    tmp_path: Path, work: Path, disk: Path
) -> None:
    head = f"{HEAD}transfer_output_files = out\n"
    with (
        small_disk(work / "home", "64m", 0o777) as home,
        personal_pool(tmp_path, settings(disk)) as pool,
    ):
        (home / "out").write_bytes(b"of before")
        filler = home / "filler"
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, 32 << 20)
        # More than is free; more than there ever can be; all that is left but a little.
        for size, said in (
            ("40M", "kept free"),
            ("1T", "do not fit into"),
            ("32700K", "kept free"),
        ):
            arguments = f"arguments = truncate -s {size} out\ninitialdir = {home}\n"
            large = submit(pool, work / size, f"{head}{arguments}queue\n")
            code, subcode, reason = large.wait_for_status(5, *HOLD)
            assert (code, subcode) == ("12", "28")
            assert "No space left on device" in reason
            assert said in reason
            assert (home / "out").read_bytes() == b"of before"
        arguments = f"arguments = truncate -s 1M out\ninitialdir = {home}\n"
        submit(pool, work / "small", f"{head}{arguments}queue\n").wait_for(5, 40)
        assert (home / "out").stat().st_size == 1 << 20
        filler.unlink()
        assert run_tool(pool, "condor_release", str(large.cluster))[0] == 0
        large.wait_for(5, 40)
        assert (home / "out").stat().st_size == 32700 << 10
