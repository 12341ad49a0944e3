"""A file that is written piece by piece: what is on disk when, what is refused, what is left."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kettle.errors import StorageError
from kettle.runtime.storage import growing_file
from kettle.runtime.storage.growing_file import GrowingFile

BOUND = 8


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file wait for its disk after every eight bytes."""
    monkeypatch.setattr(growing_file, "_SYNCED_BYTES", BOUND)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """Return what is synced: how, the name, and how many bytes it has by then."""
    calls: list[tuple[str, str, int]] = []
    for name in ("fsync", "fdatasync"):
        real = getattr(os, name)

        def note(fd: int, name: str = name, real: object = real) -> None:
            path = os.readlink(f"/proc/self/fd/{fd}")
            size = 0 if os.path.isdir(path) else os.fstat(fd).st_size
            calls.append((name, os.path.basename(path), size))
            assert callable(real)
            real(fd)

        monkeypatch.setattr(os, name, note)
    return calls


def plenty() -> int | None:
    return 1 << 20


def begin(folder: Path) -> GrowingFile:
    return GrowingFile(str(folder / "rows"), mode=0o600, room_kib=plenty)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def refused(number: int) -> Iterator[None]:
    with pytest.raises(StorageError) as caught:
        yield
    assert caught.value.errno == number


def test_a_finished_file_is_on_disk_before_its_name(
    tmp_path: Path, synced: list[tuple[str, str, int]]
) -> None:
    file = begin(tmp_path)
    file.write(b"a\n")
    file.write(b"b\n")
    assert synced == []
    assert file.finish() == str(tmp_path / "rows")
    assert synced == [("fsync", "rows", 4), ("fsync", tmp_path.name, 0)]
    assert (tmp_path / "rows").read_bytes() == b"a\nb\n"


def test_the_disk_is_waited_for_after_each_so_many_bytes(
    tmp_path: Path, synced: list[tuple[str, str, int]]
) -> None:
    file = begin(tmp_path)
    for _ in range(7):
        file.write(b"abcd")
    assert synced == [("fdatasync", "rows", size) for size in (8, 16, 24)]
    file.write(b"x" * 30)
    assert synced[3:] == [("fdatasync", "rows", 58)]
    file.drop()


def test_room_is_asked_for_whenever_the_disk_has_what_came(tmp_path: Path) -> None:
    rooms = iter([1, None, 0])
    asked = []

    def room() -> int | None:
        asked.append(1)
        return next(rooms)

    file = GrowingFile(str(tmp_path / "rows"), mode=0o600, room_kib=room)
    file.write(b"abc")
    assert not asked
    # One KiB is room enough, and what cannot be told is no reason to refuse.
    file.write(b"defgh")
    file.write(b"abcdefgh")
    with refused(errno.ENOSPC):
        file.write(b"abcdefgh")
    file.drop()
    assert (len(asked), os.listdir(tmp_path)) == (3, [])


def test_without_another_word_the_room_is_that_of_its_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def read_free_kib(path: str) -> int:
        asked.append(path)
        return 0

    monkeypatch.setattr(growing_file, "read_free_kib", read_free_kib)
    file = GrowingFile(str(tmp_path / "rows"), mode=0o600)
    with refused(errno.ENOSPC):
        file.write(b"abcdefgh")
    file.drop()
    assert asked == [str(tmp_path)]


def test_bytes_that_the_kernel_takes_in_parts_are_all_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:3]))
    file = begin(tmp_path)
    file.write(b"abcdefgh")
    file.finish()
    assert (tmp_path / "rows").read_bytes() == b"abcdefgh"


def test_it_is_its_owners_alone_and_no_childs(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = begin(tmp_path)
        inherited = [
            fd
            for fd in os.listdir("/proc/self/fd")
            if os.path.islink(f"/proc/self/fd/{fd}")
            and os.readlink(f"/proc/self/fd/{fd}") == str(tmp_path / "rows")
            and os.get_inheritable(int(fd))
        ]
    finally:
        os.umask(before)
    assert (stat.S_IMODE((tmp_path / "rows").stat().st_mode), inherited) == (0o600, [])
    file.drop()


def test_it_takes_the_place_of_a_file_that_others_have_open(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"old and longer\n")
    path.chmod(0o666)
    with path.open("rb") as old:
        file = begin(tmp_path)
        file.write(b"new\n")
        file.finish()
        assert old.read() == b"old and longer\n"
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new\n", 0o600)


def test_a_link_in_its_place_goes_and_what_it_names_stays(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"another's\n")
    (tmp_path / "rows").symlink_to(other)
    file = begin(tmp_path)
    file.write(b"new\n")
    file.finish()
    assert other.read_bytes() == b"another's\n"
    assert not (tmp_path / "rows").is_symlink()


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_that_comes_back_at_once_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exists: bool
) -> None:
    other = tmp_path / "other"
    if exists:
        other.write_bytes(b"another's\n")
    real = os.unlink

    def unlink(path: str) -> None:
        real(path)
        os.symlink(other, path)

    (tmp_path / "rows").write_bytes(b"")
    monkeypatch.setattr(os, "unlink", unlink)
    with refused(errno.EEXIST):
        begin(tmp_path)
    assert other.exists() == exists
    assert not exists or other.read_bytes() == b"another's\n"


def test_a_folder_in_its_place_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    with pytest.raises(StorageError, match=f"cannot write {tmp_path}/rows: Is a directory"):
        begin(tmp_path)


@pytest.mark.parametrize("name", ["fsync", "fdatasync", "write"])
def test_what_the_disk_does_not_take_is_an_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def fail(*_arguments: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    before = open_files()
    file = begin(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        with refused(errno.EIO):
            file.write(b"abcdefgh")
            file.finish()
    file.drop()
    assert (os.listdir(tmp_path), open_files()) == ([], before)


def test_a_name_that_is_not_on_disk_is_an_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(fd)

    before = open_files()
    file = begin(tmp_path)
    file.write(b"a\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with refused(errno.EIO):
            file.finish()
    file.drop()
    assert (os.listdir(tmp_path), open_files()) == ([], before)


def test_a_second_drop_touches_neither_a_file_nor_a_descriptor_of_others(tmp_path: Path) -> None:
    file = begin(tmp_path)
    file.write(b"a\n")
    file.drop()
    assert os.listdir(tmp_path) == []
    other = begin(tmp_path)
    file.drop()
    other.write(b"b\n")
    other.finish()
    assert (tmp_path / "rows").read_bytes() == b"b\n"


def test_to_drop_what_is_finished_closes_nothing_of_others(tmp_path: Path) -> None:
    file = begin(tmp_path)
    file.finish()
    # It has the number that the finished one had.
    with (tmp_path / "other").open("wb") as other:
        file.drop()
        other.write(b"x")
    assert os.listdir(tmp_path) == ["other"]


def test_after_a_crash_between_parts_the_next_file_has_nothing_of_the_first(
    tmp_path: Path, synced: list[tuple[str, str, int]]
) -> None:
    crashed = begin(tmp_path)
    crashed.write(b"first row\n")
    crashed.write(b"half")
    # What is left has its name, and no more than what was synced is sure to be in it.
    assert synced == [("fdatasync", "rows", 10)]
    assert (tmp_path / "rows").read_bytes() == b"first row\nhalf"
    again = begin(tmp_path)
    again.write(b"other\n")
    again.finish()
    assert (tmp_path / "rows").read_bytes() == b"other\n"
