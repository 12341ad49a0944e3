"""Files of records: appended to, rotated when full, read from either end."""

from __future__ import annotations

from pathlib import Path

from kettle.records import history
from kettle.runtime.files import Files
from kettle.runtime.record_files import RecordFile


def record(number: int) -> bytes:
    banner = history.render_banner(
        offset=0, cluster=number, proc=0, owner="joe", completed=number, now=number
    )
    return history.render_record([f"ClusterId = {number}"], banner)


def test_records_are_read_from_either_end_across_a_rotation(tmp_path: Path) -> None:
    file = RecordFile(Files(), str(tmp_path / "history"), 3 * len(record(1)), 5)
    for number in range(1, 6):
        file.append(lambda _, number=number: record(number), 1_700_000_000 + number)  # type: ignore[misc]
    assert len(list(tmp_path.iterdir())) == 2
    newest_first = [each.fields["ClusterId"] for each in file.backwards()]
    assert newest_first == ["5", "4", "3", "2", "1"]
    assert [each.fields["ClusterId"] for each in file.forwards()] == newest_first[::-1]


def test_a_file_that_is_not_there_has_no_records(tmp_path: Path) -> None:
    file = RecordFile(Files(), str(tmp_path / "none" / "history"), 0, 0)
    assert list(file.backwards()) == []
