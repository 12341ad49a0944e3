"""What is received leaves room on the disk, and what is not whole is taken away."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kettle.runtime.process.aside import InlineAside
from kettle.runtime.storage.aside_files import AsideFiles
from kettle.runtime.storage.free_space import Inodes, Reserve, read_free_kib, read_inodes
from kettle.runtime.storage.transfer_files import LocalTarget


def test_what_is_received_does_not_touch_the_reserve(tmp_path: Path) -> None:
    free = read_free_kib(str(tmp_path))
    assert free is not None
    path = str(tmp_path / "out")
    target = LocalTarget(path, 0, Reserve(str(tmp_path), 2 * free))
    with pytest.raises(OSError) as caught:
        target.write(b"much")
    assert caught.value.errno == errno.ENOSPC
    target.discard()
    assert not os.path.exists(path)


def test_a_file_that_cannot_fit_is_not_begun_and_leaves_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"of before")
    reserve = Reserve(str(tmp_path), 1)
    with pytest.raises(OSError, match="1 KiB are kept free") as caught:
        LocalTarget(str(tmp_path / "out"), 0, reserve, 1 << 60)
    assert caught.value.errno == errno.ENOSPC
    assert (tmp_path / "out").read_bytes() == b"of before"
    with pytest.raises(OSError, match="kept free"):
        reserve.check_disk(str(tmp_path), 1 << 60)
    reserve.check_disk(str(tmp_path), 1 << 20)


def test_what_a_file_takes_the_place_of_counts_as_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").write_bytes(bytes(1 << 20))
    (tmp_path / "linked").write_bytes(bytes(1 << 20))
    os.link(tmp_path / "linked", tmp_path / "elsewhere")
    full = os.statvfs_result((4096, 4096, 100_000, 256, 256, 4000, 4000, 4000, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    reserve = Reserve(str(tmp_path), 512)
    reserve.check_new(str(tmp_path / "new"), 512 << 10)
    reserve.check_new(str(tmp_path / "out"), 1 << 20)
    for name in ("new", "linked"):
        with pytest.raises(OSError, match="No space"):
            reserve.check_new(str(tmp_path / name), 1 << 20)


def test_into_an_empty_folder_comes_no_more_than_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = os.statvfs_result((4096, 4096, 100_000, 512, 512, 4000, 4000, 4000, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: facts)
    reserve = Reserve(str(tmp_path), 1024)
    empty = tmp_path / "arriving"
    empty.mkdir()
    reserve.check_disk(str(empty), 1 << 20)
    with pytest.raises(OSError, match="1024 KiB are kept free") as caught:
        reserve.check_disk(str(empty), (1 << 20) + 1)
    assert caught.value.errno == errno.ENOSPC
    # What is in a folder may be replaced.
    reserve.check_disk(str(tmp_path), 4 << 20)


def test_of_a_disk_of_somebody_elses_a_hundredth_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [1200]
    monkeypatch.setattr(
        os,
        "fstatvfs",
        lambda _: os.statvfs_result((4096, 4096, 100_000, free[0], free[0], 9, 9, 9, 0, 255)),
    )
    target = LocalTarget(str(tmp_path / "out"), 0, Reserve("/proc", 1 << 50))
    target.write(bytes(100 * 4096))
    free[0] = 1000
    # What was granted before is used up first: a look for each write would be dear on a server.
    target.write(bytes(100))
    free[0] = 999
    LocalTarget(str(tmp_path / "small"), 0, Reserve("/proc", 4)).write(b"4 KiB are less than that")
    with pytest.raises(OSError, match="4000 KiB are kept free"):
        LocalTarget(str(tmp_path / "other"), 0, Reserve("/proc", 1 << 50)).write(b"much")


def test_a_disk_without_a_reserve_takes_what_it_can(tmp_path: Path) -> None:
    for reserve in (None, Reserve(str(tmp_path), 0)):
        target = LocalTarget(str(tmp_path / "out"), 0, reserve)
        target.write(b"all")
        target.close()
        assert (tmp_path / "out").read_bytes() == b"all"


def test_a_device_has_no_reserve_and_is_not_taken_away() -> None:
    target = LocalTarget("/dev/null", 0, Reserve("/dev", 1 << 50), 1 << 60)
    target.write(b"nowhere")
    target.discard()
    assert os.path.exists("/dev/null")


def disk_with(free_inodes: int) -> os.statvfs_result:
    return os.statvfs_result((4096, 4096, 1000, 900, 900, 4000, free_inodes, free_inodes, 0, 255))


def test_no_empty_file_and_no_folder_uses_the_inodes_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [41]
    monkeypatch.setattr(os, "statvfs", lambda _: disk_with(left[0]))
    files = AsideFiles(
        InlineAside(),
        lambda _: False,
        str(tmp_path),
        reserve=Reserve(str(tmp_path), 1),
        makes_below=True,
    )
    LocalTarget(str(tmp_path / "last"), 0, Reserve(str(tmp_path), 1)).close()
    files.make_directory(str(tmp_path / "folder"), 0)
    left[0] = 40
    for name in ("next", "folder/next", "missing/next"):
        for make in (files.open_target, files.make_directory):
            with pytest.raises(OSError, match="No space"):
                make(str(tmp_path / name), 0)
    # What is there takes none.
    files.make_directory(str(tmp_path / "folder"), 0)
    assert sorted(os.listdir(tmp_path)) == ["folder", "last"]
    assert os.listdir(tmp_path / "folder") == []


def test_inodes_are_counted_where_a_disk_has_so_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: disk_with(30))
    assert read_inodes(str(tmp_path)) == Inodes(used=3970, room=-10)
    endless = os.statvfs_result((4096, 4096, 1000, 900, 900, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: endless)
    assert read_inodes(str(tmp_path)) is None
