"""What a job holds on disk under no name: open or mapped, once however many hold it."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kettle.starter.services.unlinked import weigh_unlinked

SIZE = 1 << 20


def device_of(folder: Path) -> set[int]:
    return {os.stat(folder).st_dev}


def test_a_deleted_file_counts_while_it_is_open_and_once_for_all_who_hold_it(
    tmp_path: Path,
) -> None:
    me, devices = os.getpid(), device_of(tmp_path)
    before = weigh_unlinked([me], devices)
    with (tmp_path / "data").open("wb") as file:
        file.write(b"x" * SIZE)
        file.flush()
        os.fsync(file.fileno())
        assert weigh_unlinked([me], devices) == before
        (tmp_path / "data").unlink()
        again = os.dup(file.fileno())
        grown = weigh_unlinked([me, me], devices)
        os.close(again)
        assert grown[0] - before[0] >= SIZE // 1024
        assert grown[1] - before[1] == 1
        assert weigh_unlinked([me], {-1}) == (0, 0)
    assert weigh_unlinked([me], devices) == before


def test_a_deleted_file_counts_while_it_is_mapped_only(tmp_path: Path) -> None:
    devices = device_of(tmp_path)
    path = tmp_path / "data"
    path.write_bytes(b"x" * SIZE)
    program = (
        "import ctypes, os, sys\n"
        "libc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
        f"fd = os.open({str(path)!r}, os.O_RDWR)\n"
        f"libc.mmap(None, {SIZE}, 3, 1, fd, ctypes.c_long(0))\n"
        f"os.close(fd)\nos.unlink({str(path)!r})\nprint('ready', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        kib, files = weigh_unlinked([other.pid], devices)
        other.stdin.close()
    assert (kib >= SIZE // 1024, files) == (True, 1)


@pytest.mark.parametrize("pids", [[], [0], [1 << 30]])
def test_who_is_gone_holds_nothing(pids: list[int], tmp_path: Path) -> None:
    assert weigh_unlinked(pids, device_of(tmp_path)) == (0, 0)


def test_a_deleted_file_that_is_open_and_mapped_counts_what_it_has_and_not_its_reach(
    tmp_path: Path,
) -> None:
    me, devices = os.getpid(), device_of(tmp_path)
    before = weigh_unlinked([me], devices)
    with (tmp_path / "sparse").open("w+b") as file:
        file.truncate(1 << 30)
        (tmp_path / "sparse").unlink()
        with mmap.mmap(file.fileno(), 1 << 30):
            assert weigh_unlinked([me], devices)[0] - before[0] < SIZE // 1024
