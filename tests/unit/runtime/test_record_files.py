"""Files of records: appended to, rotated when full, read from either end."""

from __future__ import annotations

import os
from pathlib import Path

from kettle.config import Config
from kettle.records import history
from kettle.records.history import RotationRules
from kettle.runtime.files import Files
from kettle.runtime.record_files import RecordFile, read_rotation


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
