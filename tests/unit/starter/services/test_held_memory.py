"""What a job has of the machine's memory in files that no process has mapped."""

from __future__ import annotations

import mmap
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from kettle.starter.services import held_memory
from kettle.starter.services.held_memory import MemoryFiles

SIZE = 1 << 20
SHARED = "/dev/shm"

needs_shared = pytest.mark.skipif(not os.path.ismount(SHARED), reason="no /dev/shm of its own")


def weighed() -> int:
    return MemoryFiles().weigh([os.getpid(), os.getpid()])


def test_what_was_written_to_a_memfd_counts_once_while_it_is_open() -> None:
    before = weighed()
    descriptor = os.memfd_create("hidden")
    os.write(descriptor, b"x" * SIZE)
    again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
    grown = weighed()
    os.close(descriptor)
    reading = weighed()
    os.close(again)
    assert (grown - before, reading - before, weighed()) == (SIZE, SIZE, before)


@needs_shared
def test_a_named_file_in_memory_counts_while_it_is_written_and_a_nameless_one_always() -> None:
    before = weighed()
    writing, name = tempfile.mkstemp(dir=SHARED)
    try:
        os.write(writing, b"x" * SIZE)
        reading = os.open(name, os.O_RDONLY)
        assert weighed() - before == SIZE
        # What is only read may be anybody's.
        os.close(writing)
        assert weighed() == before
    finally:
        os.unlink(name)
    assert weighed() - before == SIZE
    os.close(reading)
    assert weighed() == before


def test_files_on_a_disk_are_no_memory(tmp_path: Path) -> None:
    before = MemoryFiles(str(tmp_path)).weigh([os.getpid()])
    with (tmp_path / "data").open("wb", buffering=0) as file:
        file.write(b"x" * SIZE)
        assert MemoryFiles(str(tmp_path)).weigh([os.getpid()]) == before


@needs_shared
def test_a_sandbox_in_memory_counts_as_disk() -> None:
    apart = MemoryFiles(SHARED)
    before = apart.weigh([os.getpid()])
    with tempfile.TemporaryFile(dir=SHARED, buffering=0) as file:
        file.write(b"x" * SIZE)
        assert apart.weigh([os.getpid()]) == before


@pytest.mark.root
@needs_shared
def test_a_job_s_own_shared_memory_counts_whole() -> None:
    program = (
        "mount -t tmpfs mine /dev/shm && head -c 1048576 /dev/zero >/dev/shm/closed"
        " && echo ready && read answer"
    )
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        found = MemoryFiles().weigh([other.pid, other.pid])
        other.stdin.close()
    assert found == SIZE


def test_what_is_mapped_of_it_is_told_so_that_it_counts_once() -> None:
    files = MemoryFiles(seconds=lambda: 0.0)
    descriptor = os.memfd_create("mapped")
    os.ftruncate(descriptor, 2 * SIZE)
    with mmap.mmap(descriptor, 2 * SIZE) as view:
        before = files.mapped([os.getpid()])
        view[:SIZE] = b"x" * SIZE
        files.weigh([os.getpid()])
        assert (before, files.mapped([os.getpid()])) == (0, SIZE)
    os.close(descriptor)


def test_long_looks_are_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    looks = 0

    def look(_: object, _pids: object) -> dict[tuple[int, int], int]:
        nonlocal now, looks
        now += 1.0
        looks += 1
        return {(1, looks): looks}

    monkeypatch.setattr(held_memory.MemoryFiles, "_look", look)
    files = MemoryFiles(seconds=lambda: now)
    assert files.weigh([]) == 1
    now += 19
    assert files.weigh([]) == 1
    now += 2
    assert files.weigh([]) == 2


@pytest.mark.parametrize("pids", [[], [0], [1 << 30]])
def test_who_is_gone_has_nothing(pids: list[int]) -> None:
    files = MemoryFiles()
    assert (files.weigh(pids), files.mapped(pids)) == (0, 0)
