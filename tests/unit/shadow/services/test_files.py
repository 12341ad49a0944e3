"""Calls on files of the access point, as chirp and streams make them."""

from __future__ import annotations

import asyncio
import errno
import os
import pwd
from pathlib import Path

import pytest

from kettle.runtime.process.aside import InlineAside
from kettle.runtime.storage.access_limits import AccessLimits
from kettle.runtime.storage.free_space import Reserve
from kettle.shadow.services import file_facts
from kettle.shadow.services import files as service_files
from kettle.shadow.services.files import (
    FILE_CALLS,
    MAX_OPEN,
    RemoteFiles,
    decode_open_flags,
    put_data,
    remove_all,
)
from kettle.wire.messages import syscalls as calls
from kettle.wire.messages.rpc import Call, Reply

WRITE_NEW = 0x0001 | 0x0100 | 0x0200


@pytest.fixture
def files(tmp_path: Path) -> RemoteFiles:
    return RemoteFiles(str(tmp_path))


def do(files: RemoteFiles, call: Call) -> Reply:
    return FILE_CALLS[type(call)](files, call)


def put(files: RemoteFiles, call: calls.PutFile, data: bytes) -> Reply:
    """Put a file as the connection does: opened, answered, and what comes then."""
    opened = do(files, call)
    return put_data(files, call, opened.value, data) if opened.value >= 0 and data else opened


def test_flags_have_a_numbering_of_their_own_on_the_wire() -> None:
    assert decode_open_flags(0) == os.O_RDONLY
    assert decode_open_flags(0x0001 | 0x0100 | 0x1000) == os.O_WRONLY | os.O_CREAT | os.O_APPEND


def test_a_file_is_written_read_and_measured(files: RemoteFiles, tmp_path: Path) -> None:
    number = do(files, calls.Open(WRITE_NEW, 0o600, "f")).value
    assert do(files, calls.Write(number, b"hello")).value == 5
    assert do(files, calls.Pwrite(number, 1, b"E")).value == 1
    assert do(files, calls.Fsync(number)).value == 0
    assert do(files, calls.Close(number)).value == 0
    assert (tmp_path / "f").read_bytes() == b"hEllo"
    number = do(files, calls.Open(0, 0, "f")).value
    assert do(files, calls.Read(number, 2)).result == b"hE"
    assert do(files, calls.Lseek(number, -1, os.SEEK_END)).value == 4
    assert do(files, calls.Pread(number, 3, 1)).result == b"Ell"
    line = do(files, calls.Fstat(number)).result
    assert len(line.split()) == 13
    assert line.split()[7] == "5"
    files.close()


def test_strides_take_every_so_many_bytes(files: RemoteFiles, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0123456789")
    number = do(files, calls.Open(0x0002, 0, "f")).value
    assert do(files, calls.Sread(number, 6, 1, 2, 4)).result == b"12569"
    assert do(files, calls.Swrite(number, 0, 1, 3, b"abc")).value == 3
    assert (tmp_path / "f").read_bytes() == b"a12b45c789"
    files.close()


def test_names_are_made_changed_and_removed(files: RemoteFiles, tmp_path: Path) -> None:
    assert do(files, calls.Mkdir("d", 0o755)).value == 0
    assert put(files, calls.PutFile("d/f", 0o644, 3), b"abc").value == 3
    assert do(files, calls.GetFile("d/f")).result == b"abc"
    assert do(files, calls.Rename("d/f", "d/g")).value == 0
    assert do(files, calls.Symlink("g", "d/l")).value == 0
    assert do(files, calls.Readlink("d/l", 100)).result == b"g"
    assert do(files, calls.Link("d/g", "d/h")).value == 0
    assert do(files, calls.GetDir("d")).result == "g\nh\nl\n\n"
    assert do(files, calls.GetLongDir("d")).result.count("\n") == 7
    assert do(files, calls.Truncate("d/g", 1)).value == 0
    assert do(files, calls.Chmod("d/g", 0o600)).value == 0
    assert do(files, calls.Utime("d/g", 10, 20)).value == 0
    facts = do(files, calls.Stat("d/g")).result.split()
    assert (facts[7], facts[10], facts[11]) == ("1", "10", "20")
    assert do(files, calls.Lstat("d/l")).value == 0
    assert do(files, calls.Statfs("d")).value == 0
    assert do(files, calls.Unlink("d/h")).value == 0
    assert do(files, calls.Rmdir("d")).errno == errno.ENOTEMPTY
    assert asyncio.run(remove_all(files, calls.Rmall("d"), InlineAside())).value == 0
    assert list(tmp_path.iterdir()) == []


def test_failures_are_answers_with_their_errno(files: RemoteFiles) -> None:
    assert do(files, calls.Open(0, 0, "nope")).errno == errno.ENOENT
    assert do(files, calls.Open(0, 0, "")).errno == errno.ENOENT
    assert do(files, calls.Read(99, 10)).errno == errno.EBADF
    assert do(files, calls.Access("nope", 0)).errno == errno.ENOENT
    assert do(files, calls.Stat("a\0b")).errno == errno.ENOENT


def test_a_read_beyond_all_bounds_is_refused(files: RemoteFiles, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    number = do(files, calls.Open(0, 0, "f")).value
    assert do(files, calls.Read(number, 1 << 40)).errno == errno.EINVAL
    assert do(files, calls.Read(number, -1)).errno == errno.EINVAL
    files.close()


def test_open_files_are_bounded_and_closed_with_the_job(files: RemoteFiles, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    for _ in range(MAX_OPEN):
        assert do(files, calls.Open(0, 0, "f")).value >= 3
    assert do(files, calls.Open(0, 0, "f")).errno == errno.EMFILE
    files.close()
    assert do(files, calls.Close(3)).errno == errno.EBADF


def test_the_user_is_named(files: RemoteFiles) -> None:
    assert do(files, calls.WhoAmI(100)).result == pwd.getpwuid(os.geteuid()).pw_name.encode()
    assert do(files, calls.WhoAmI(1)).errno == errno.ENOSPC
    assert do(files, calls.WhoAreYou("somewhere", 7)).result == b"UNKNOWN"
    assert do(files, calls.WhoAreYou("somewhere", 6)).errno == errno.ENOSPC


def test_a_listing_is_counted_with_the_line_that_closes_it(
    files: RemoteFiles, tmp_path: Path
) -> None:
    (tmp_path / "d").mkdir()
    for call in (calls.GetDir("d"), calls.GetLongDir("d")):
        reply = do(files, call)
        assert (reply.value, reply.result) == (1, "\n")
    (tmp_path / "d/ä").write_bytes(b"x")
    reply = do(files, calls.GetDir("d"))
    assert (reply.value, reply.result) == (4, "ä\n\n")
    reply = do(files, calls.GetLongDir("d"))
    assert reply.result == f"ä\n{do(files, calls.Stat('d/ä')).result}\n"
    assert reply.value == len(reply.result.encode())


def test_a_link_that_leads_nowhere_does_not_hide_its_folder(
    files: RemoteFiles, tmp_path: Path
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/one").write_bytes(b"four")
    (tmp_path / "d/way").symlink_to("one")
    (tmp_path / "d/lost").symlink_to("nowhere")
    lines = do(files, calls.GetLongDir("d")).result.splitlines()
    sizes = dict(zip(lines[::2], [line.split()[7] for line in lines[1::2] if line], strict=False))
    assert sizes == {"lost": "7", "one": "4", "way": "4"}


def test_a_file_system_is_told_with_its_type(files: RemoteFiles, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    number = do(files, calls.Open(0, 0, "f")).value
    lines = [do(files, call).result.split() for call in (calls.Statfs("f"), calls.Fstatfs(number))]
    files.close()
    expected = os.statvfs(tmp_path)
    for line in lines:
        assert len(line) == 7
        assert int(line[0]) > 0
        assert [int(line[1]), int(line[2]), int(line[5])] == [
            expected.f_bsize, expected.f_blocks, expected.f_files,
        ]  # fmt: skip
    assert do(files, calls.Statfs("nope")).errno == errno.ENOENT


def test_an_empty_file_is_fetched_and_put(files: RemoteFiles, tmp_path: Path) -> None:
    assert put(files, calls.PutFile("f", 0o600, 0), b"").value >= 0
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600
    reply = do(files, calls.GetFile("f"))
    assert (reply.value, reply.result) == (0, b"")


def test_what_is_put_is_opened_before_it_comes_and_closed_after(
    files: RemoteFiles, tmp_path: Path
) -> None:
    (tmp_path / "f").write_bytes(b"older and longer")
    call = calls.PutFile("f", 0o600, 3)
    opened = do(files, call)
    assert opened.value >= 0
    assert (tmp_path / "f").read_bytes() == b""
    assert put_data(files, call, opened.value, b"abcd").value == 3
    assert (tmp_path / "f").read_bytes() == b"abc"
    assert do(files, calls.Close(opened.value)).errno == errno.EBADF
    assert do(files, calls.PutFile("d/f", 0o600, 3)).errno == errno.ENOENT
    assert do(files, calls.PutFile("f", 0o600, 1 << 40)).errno == errno.EFBIG


def test_strides_of_no_length_are_refused(files: RemoteFiles, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"0123456789")
    number = do(files, calls.Open(0x0002, 0, "f")).value
    assert do(files, calls.Sread(number, 6, 0, 0, 2)).errno == errno.EINVAL
    assert do(files, calls.Swrite(number, 0, 0, 2, b"ab")).errno == errno.EINVAL
    assert do(files, calls.Sread(number, 6, 1, 2, 0)).result == b"121212"
    files.close()


def test_a_pipe_is_refused_and_holds_nobody_up(files: RemoteFiles, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert do(files, calls.GetFile("pipe")).errno == errno.EINVAL
    assert put(files, calls.PutFile("pipe", 0o644, 1), b"x").errno == errno.ENXIO


def test_strides_cost_a_bounded_number_of_system_calls(
    files: RemoteFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_files, "MAX_PIECES", 3)
    (tmp_path / "f").write_bytes(b"0123456789")
    number = do(files, calls.Open(0x0002, 0, "f")).value
    assert do(files, calls.Sread(number, 9, 0, 1, 1)).result == b"012"
    assert do(files, calls.Swrite(number, 0, 1, 2, b"abcd")).errno == errno.EINVAL
    files.close()


def test_a_long_listing_ends_with_a_whole_entry(
    files: RemoteFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_facts, "MAX_LISTING", 300)
    for number in range(50):
        (tmp_path / f"file{number:02}").touch()
    lines = do(files, calls.GetLongDir(".")).result.splitlines()[:-1]
    assert lines[::2] == [f"file{number:02}" for number in range(len(lines) // 2)]
    assert len(lines[-1].split()) == 13


def test_a_job_reaches_nothing_outside_of_what_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "secret").write_text("x")
    files = RemoteFiles(str(tmp_path / "box"), AccessLimits([str(tmp_path / "box")]))
    assert do(files, calls.Open(WRITE_NEW, 0o600, "mine")).value > 0
    for name in ("../secret", str(tmp_path / "secret")):
        reply = do(files, calls.Open(0, 0, name))
        assert (reply.value, reply.errno) == (-1, errno.EACCES)
    assert do(files, calls.Symlink("../secret", "link")).value == 0
    assert do(files, calls.Open(0, 0, "link")).errno == errno.EACCES


def test_what_is_no_file_is_not_fetched_and_does_not_stay_open(
    files: RemoteFiles, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = os.listdir("/proc/self/fd")
    for name, number in (("folder", errno.EISDIR), ("pipe", errno.EINVAL), ("no", errno.ENOENT)):
        assert do(files, calls.GetFile(name)).errno == number
    assert os.listdir("/proc/self/fd") == before


def test_a_call_that_comes_late_opens_nothing_any_more(files: RemoteFiles, tmp_path: Path) -> None:
    """Beside the loop it may have waited for its turn when its job ended."""
    (tmp_path / "f").touch()
    before = os.listdir("/proc/self/fd")
    files.close()
    assert do(files, calls.Open(0, 0, "f")).errno == errno.EMFILE
    assert os.listdir("/proc/self/fd") == before


def test_a_file_whose_disk_does_not_answer_does_not_stay_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> os.statvfs_result:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    files = RemoteFiles(str(tmp_path), reserve=Reserve(str(tmp_path), 40))
    before = os.listdir("/proc/self/fd")
    monkeypatch.setattr(os, "fstatvfs", fail)
    for call in (calls.Open(WRITE_NEW, 0o600, "f"), calls.PutFile("g", 0o600, 5)):
        assert do(files, call).errno == errno.EIO
    assert os.listdir("/proc/self/fd") == before


def test_a_job_that_writes_here_leaves_the_reserve_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = RemoteFiles(str(tmp_path), reserve=Reserve(str(tmp_path), 40))
    number = do(files, calls.Open(WRITE_NEW, 0o600, "f")).value
    monkeypatch.setattr(os, "fstatvfs", lambda _: disk_with(11))
    monkeypatch.setattr(os, "statvfs", lambda _: disk_with(11))
    assert do(files, calls.Write(number, bytes(4096))).value == 4096
    for call in (
        calls.Write(number, bytes(4097)),
        calls.Pwrite(number, 1 << 30, bytes(4097)),
        calls.Swrite(number, 0, 1, 3, bytes(4097)),
        calls.PutFile("put", 0o600, 4097),
    ):
        answer = do(files, call)
        assert (answer.value, answer.errno) == (-1, errno.ENOSPC)
    monkeypatch.setattr(os, "statvfs", lambda _: disk_with(11, inodes=1))
    for call in (calls.Open(WRITE_NEW, 0o600, "new"), calls.Mkdir("folder", 0o700)):
        assert do(files, call).errno == errno.ENOSPC
    assert os.listdir(tmp_path) == ["f"]
    assert do(files, calls.Open(WRITE_NEW, 0o600, "f")).value > 0
    files.close()


def disk_with(free: int, inodes: int = 500) -> os.statvfs_result:
    return os.statvfs_result((4096, 4096, 100_000, free, free, 1000, inodes, inodes, 0, 255))


def test_a_job_that_has_many_files_removed_is_not_in_its_neighbours_way(
    files: RemoteFiles, tmp_path: Path
) -> None:
    (tmp_path / "d").mkdir()
    for number in range(500):
        (tmp_path / "d" / f"{number}").touch()

    async def remove() -> tuple[int, Reply]:
        turns = 0

        async def neighbour() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        other = asyncio.ensure_future(neighbour())
        reply = await remove_all(files, calls.Rmall("d"), InlineAside())
        other.cancel()
        return turns, reply

    turns, reply = asyncio.run(remove())
    assert reply.value == 0
    assert turns >= 500 // 64
    assert list(tmp_path.iterdir()) == []
    gone = asyncio.run(remove_all(files, calls.Rmall("d"), InlineAside()))
    assert gone.errno == errno.ENOENT
