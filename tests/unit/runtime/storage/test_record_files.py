"""Files of records: appended to, rotated when full, read from either end."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.config.knobs.history import HistoryKnobs
from kettle.errors import StorageError
from kettle.records import history
from kettle.records.history import RotationRules
from kettle.runtime.storage.files import Files
from kettle.runtime.storage.history_index import refresh
from kettle.runtime.storage.record_files import RecordFile, read_rotation
from kettle.runtime.storage.unsynced_records import UnsyncedRecords


def record(number: int) -> bytes:
    banner = history.render_banner(
        offset=0, cluster=number, proc=0, owner="joe", completed=number, now=number
    )
    return history.render_record([f"ClusterId = {number}"], banner)


def test_records_are_read_from_either_end_across_a_rotation(tmp_path: Path) -> None:
    file = RecordFile(Files(), str(tmp_path / "history"), RotationRules(3 * len(record(1)), 5))
    for number in range(1, 6):
        file.append(lambda _, number=number: record(number), 1_700_000_000 + number)  # type: ignore[misc]
    assert len(list(tmp_path.iterdir())) == 2
    newest_first = [each.fields["ClusterId"] for each in file.backwards()]
    assert newest_first == ["5", "4", "3", "2", "1"]
    assert [each.fields["ClusterId"] for each in file.forwards()] == newest_first[::-1]


def test_a_file_that_is_not_there_has_no_records(tmp_path: Path) -> None:
    file = RecordFile(Files(), str(tmp_path / "none" / "history"), RotationRules())
    assert list(file.backwards()) == []


def test_a_day_or_month_that_is_over_ends_its_file(tmp_path: Path) -> None:
    for rules, files in (
        (RotationRules(daily=True, rotations=9), 3),
        (RotationRules(monthly=True), 1),
    ):
        folder = tmp_path / str(files)
        folder.mkdir()
        now = 1_700_000_000
        for day in range(3):
            file = RecordFile(Files(), str(folder / "history"), rules)
            for number in range(2):
                file.append(lambda _, number=number: record(number), now + day * 86400)  # type: ignore[misc]
                os.utime(folder / "history", (now + day * 86400,) * 2)
        assert len(list(folder.iterdir())) == files
        assert len(list(file.backwards())) == 6


def test_the_knobs_say_when_files_are_rotated() -> None:
    config = Config.from_text("MAX_HISTORY_LOG = 5000\nROTATE_HISTORY_DAILY = true\n")
    assert read_rotation(config) == RotationRules(5000, 2, daily=True)
    config = Config.from_text("MAX_HISTORY_LOG = 5000\nENABLE_HISTORY_ROTATION = false\n")
    assert read_rotation(config) == RotationRules()


def test_what_counts_of_a_history_that_nothing_is_said_of_is_the_rows() -> None:
    usual = RotationRules(20 << 20, 2)
    for which in ("HISTORY", "EPOCH_HISTORY", "DAEMON_HISTORY"):
        assert read_rotation(Config.from_text(""), which) == usual
        assert read_rotation(Config.from_text("MAX_HISTORY_LOG =\n"), which) == usual
        rules = read_rotation(Config.from_text(f"MAX_{which}_LOG = -5\n"), which)
        assert rules == RotationRules(0, 2)
    assert Config.from_text("")[HistoryKnobs.MAX_HISTORY_LOG] == usual.most_bytes


def test_the_history_of_epochs_has_bounds_of_its_own_or_those_of_the_history() -> None:
    text = "MAX_HISTORY_LOG = 5000\nMAX_HISTORY_ROTATIONS = 4\n"
    config = Config.from_text(text)
    assert read_rotation(config, "EPOCH_HISTORY") == RotationRules(5000, 4)
    config = Config.from_text(text + "MAX_EPOCH_HISTORY_LOG = 7\nMAX_EPOCH_HISTORY_ROTATIONS = 1\n")
    assert read_rotation(config, "EPOCH_HISTORY") == RotationRules(7, 1)
    assert read_rotation(config) == RotationRules(5000, 4)


def small(number: int) -> Callable[[int], bytes]:
    return lambda offset: f"ClusterId = {number}\n*** Offset = {offset} ProcId = 0\n".encode()


def numbers(file: RecordFile) -> list[str]:
    return [each.lines[0] for each in file.forwards()]


def test_records_written_together_are_rotated_where_single_ones_are(tmp_path: Path) -> None:
    rules = RotationRules(most_bytes=130, rotations=9)
    one, many = (RecordFile(Files(), str(tmp_path / name), rules) for name in ("one", "many"))
    for at in range(10):
        one.append(small(at), now=1_000_000)
    assert many.append_all(map(small, range(10)), now=1_000_000) == (10, None)
    assert numbers(many) == numbers(one) == [f"ClusterId = {at}" for at in range(10)]
    parts = [sorted(tmp_path.glob(f"{name}*")) for name in ("one", "many")]
    assert [part.read_bytes() for part in parts[0]] == [part.read_bytes() for part in parts[1]]
    assert len(parts[0]) > 3


def test_what_the_disk_does_not_take_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files()
    file = RecordFile(files, str(tmp_path / "history"), RotationRules(most_bytes=130, rotations=9))
    append, room = files.append, [2]

    def full_after_two(path: str, data: bytes, **_: int) -> None:
        room[0] -= 1
        if room[0] < 0:
            raise StorageError("no space")
        append(path, data)

    monkeypatch.setattr(files, "append", full_after_two)
    written, trouble = file.append_all(map(small, range(10)), now=1_000_000)
    assert isinstance(trouble, StorageError)
    assert len(numbers(file)) == written > 0
    room[0] = 100
    assert file.append_all(map(small, range(written, 10)), now=1_000_001) == (10 - written, None)
    assert numbers(file) == [f"ClusterId = {at}" for at in range(10)]


def test_a_record_that_cannot_be_made_keeps_none_before_it_out(tmp_path: Path) -> None:
    def odd(offset: int) -> bytes:
        raise ValueError("an odd job")

    file = RecordFile(Files(), str(tmp_path / "history"), RotationRules(130, 9))
    written, trouble = file.append_all((small(1), small(2), odd, small(3)), now=1_000_000)
    assert (written, str(trouble)) == (2, "an odd job")
    assert numbers(file) == ["ClusterId = 1", "ClusterId = 2"]


def test_what_a_power_cut_left_of_a_last_record_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "history"
    file = RecordFile(Files(), str(path), RotationRules())
    assert file.cut_unfinished() == 0
    for number in (1, 2):
        file.append(small(number), now=1_000_000)
    whole = path.read_bytes()
    first = len(whole) // 2
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        left = 0 if size < first else first if size < len(whole) else size
        assert file.cut_unfinished() == size - left
        assert path.read_bytes() == whole[:left]
    path.write_bytes(b"#!/bin/sh\nA = 1\n")
    assert file.cut_unfinished() == 0


def test_a_long_record_is_cut_off_whole(tmp_path: Path) -> None:
    path = tmp_path / "history"
    file = RecordFile(Files(), str(path), RotationRules())
    file.append(small(1), now=1_000_000)
    whole = path.read_bytes()
    path.write_bytes(whole + b"A = 1\n" * 20_000)
    assert file.cut_unfinished() == 120_000
    assert path.read_bytes() == whole


def test_what_was_rotated_away_is_synced_too(tmp_path: Path) -> None:
    synced: list[str] = []

    class Watched(Files):
        async def sync(self, path: str) -> None:
            synced.append(os.path.basename(path))
            if len(synced) == 1:
                raise StorageError("not now")

    unsynced = UnsyncedRecords(Watched())
    file = RecordFile(Watched(), str(tmp_path / "history"), RotationRules(130, 2), unsynced)
    file.append_all(map(small, range(10)), now=1_000_000)
    with pytest.raises(StorageError):
        asyncio.run(unsynced.sync())
    synced.clear()
    synced.append("")
    asyncio.run(unsynced.sync())
    assert {*synced} == {"", tmp_path.name, *os.listdir(tmp_path)}
    assert len(os.listdir(tmp_path)) == 3
    synced.clear()
    asyncio.run(unsynced.sync())
    assert synced == []


def test_what_keeps_nothing_counts_as_written_and_is_never_rotated_or_written_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "history"
    path.symlink_to("/dev/null")
    unsynced = UnsyncedRecords(Files())
    file = RecordFile(Files(), str(path), RotationRules(130, 2, daily=True), unsynced)
    for day in range(2):
        assert file.append_all(map(small, range(10)), now=1_000_000 + day * 86400) == (10, None)
        asyncio.run(unsynced.sync())
    # As after a sync that failed: what is not known to be on disk would be given a name anew.
    unsynced.broken = True
    asyncio.run(unsynced.sync())
    assert os.readlink(path) == "/dev/null"
    assert os.listdir(tmp_path) == ["history"]
    assert numbers(file) == list(file.backwards()) == []


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "history")
    asyncio.run(Files().sync(str(tmp_path / "history")))
    file = RecordFile(Files(), str(tmp_path / "history"), RotationRules())
    assert list(file.backwards()) == []


@pytest.mark.parametrize(
    ("folder", "file"), [(0o755, 0o644), (0o750, 0o640), (0o711, 0o600), (0o700, 0o600)]
)
def test_a_history_is_for_those_to_read_who_may_list_its_folder(
    tmp_path: Path, folder: int, file: int
) -> None:
    """Another account that knows the name would read a closed folder's; its index is no other."""
    tmp_path.chmod(folder)
    records = RecordFile(Files(), str(tmp_path / "history"), RotationRules(3 * len(record(1)), 5))
    for number in range(4):
        records.append(lambda _, number=number: record(number), 1_700_000_000)  # type: ignore[misc]
    refresh(records.path, [records.path])
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 3
    assert set(modes.values()) == {file}
