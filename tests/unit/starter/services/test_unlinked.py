"""What a job holds on disk under no name: open or mapped, once however many hold it."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.starter.services import unlinked
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


def test_a_look_ends_at_so_many_mapped_files_and_sees_what_others_have_open_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    def mapped(pid: int) -> Iterator[tuple[int, int, int]]:
        for number in range(30):
            looked.append(pid)
            yield 1, 1000 * pid + number, 1

    monkeypatch.setattr(unlinked, "_MOST_DESCRIPTORS", 7 * unlinked._OF_A_MAPPED_FILE + 1)
    monkeypatch.setattr(unlinked, "_mapped", mapped)
    monkeypatch.setattr(unlinked, "_descriptors", lambda pid: ["5"] if pid == 9 else [])
    monkeypatch.setattr(
        unlinked, "_held", lambda path: iter([(1, 5, 100)] if "/9/" in path else [])
    )
    assert weigh_unlinked([1, 2, 9], {1}) == (107, 8)
    assert looked == [1] * 7
    looked.clear()
    monkeypatch.setattr(unlinked, "_MOST_DESCRIPTORS", 33 * unlinked._OF_A_MAPPED_FILE)
    assert weigh_unlinked([1, 2, 3], {1}) == (33, 33)
    assert looked == [1] * 30 + [2] * 3


def test_a_deleted_file_that_is_mapped_in_many_pieces_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [
        f"{4096 * n:x}-{4096 * n + 4096:x} rw-s 0 fe:00 {7 + n % 2} /a (deleted)\n".encode()
        for n in range(1000)
    ]
    asked: list[str] = []
    monkeypatch.setattr(unlinked, "read_small", lambda _: b"".join(lines))

    def held(path: str) -> Iterator[tuple[int, int, int]]:
        asked.append(path)
        return iter(())

    monkeypatch.setattr(unlinked, "_held", held)
    found = list(unlinked._mapped(1))
    assert [inode for _, inode, _ in found] == [7, 8]
    assert len(asked) == 2


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
