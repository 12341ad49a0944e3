"""The index of a history: made in a child, used by it and by condor_history, never needed."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

import pytest

from kettle.classad import ClassAd, parse_expression
from kettle.records import history_query
from kettle.records.history import RotationRules
from kettle.records.job_clauses import Alternative, read_alternatives
from kettle.runtime.storage import history_index
from kettle.runtime.storage.files import Files
from kettle.runtime.storage.record_files import RecordFile
from kettle.tools.programs import Streams
from kettle.tools.queue import condor_history


def fill(path: Path, records: int, *, rules: RotationRules | None = None) -> RecordFile:
    """Write a history with two jobs a cluster."""
    file = RecordFile(Files(), str(path), rules or RotationRules())
    for at in range(records):
        text = (
            f'ClusterId = {at // 2}\nCompletionDate = {1000 + at}\nFiller = "{"x" * 3000}"\n'
            f'Owner = "u{at % 7}"\nProcId = {at % 2}\n*** Offset = 0 ClusterId = {at // 2}\n'
        )
        file.append(lambda _, text=text: text.encode(), 1_000_000)  # type: ignore[misc]
    return file


def wanted(text: str) -> list[Alternative]:
    """Return what an expression has looked up."""
    found = read_alternatives(parse_expression(text), history_index.INDEXED)
    assert found is not None
    return found


@pytest.fixture
def bytes_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How much was read of the files."""
    read: list[int] = []
    pread = os.pread

    def counted(fd: int, length: int, at: int) -> bytes:
        data = pread(fd, length, at)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)
    return read


def test_a_query_for_one_cluster_reads_its_records_and_no_others(
    tmp_path: Path, bytes_read: list[int]
) -> None:
    file = fill(tmp_path / "history", 1000)
    file.refresh_index()
    bytes_read.clear()
    asked = wanted("ClusterId == 77")
    found = list(file.find(asked, forwards=False))
    assert [record.lines[-1] for record in found] == ["ProcId = 1", "ProcId = 0"]
    assert sum(bytes_read) < 10_000
    bytes_read.clear()
    for text, count in (('Owner == "U3"', 143), ("CompletionDate > 1990", 9)):
        assert len(list(file.find(wanted(text), forwards=True))) == count
    assert sum(bytes_read) < 600_000


def test_what_came_after_the_index_is_read_and_rotated_files_are_found_again(
    tmp_path: Path, bytes_read: list[int]
) -> None:
    rules = RotationRules(most_bytes=2_000_000, rotations=3)
    file = fill(tmp_path / "history", 500, rules=rules)
    file.refresh_index()
    os.rename(tmp_path / "history", tmp_path / "history.20200101T000000")
    file = fill(tmp_path / "history", 50, rules=rules)
    bytes_read.clear()
    asked = wanted("ClusterId == 7")
    assert sum("ClusterId = 7" in each.lines for each in file.find(asked, forwards=False)) == 4
    assert sum(bytes_read) < 200_000
    (tmp_path / "history.20200101T000000").unlink()
    history_index.refresh(file.path, [file.path])
    assert len(list(file.find(asked, forwards=False))) == 2


def test_a_short_history_has_no_index(tmp_path: Path) -> None:
    fill(tmp_path / "history", 10).refresh_index()
    assert [each.name for each in tmp_path.iterdir()] == ["history"]


def test_an_index_of_somebody_else_is_not_believed(
    tmp_path: Path, bytes_read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = fill(tmp_path / "history", 400)
    file.refresh_index()
    stat = os.stat

    def others(path: str) -> os.stat_result:
        facts = stat(path)
        if path.endswith("-index"):
            return os.stat_result((*facts[:4], facts.st_uid + 1, *facts[5:10]))
        return facts

    monkeypatch.setattr(os, "stat", others)
    bytes_read.clear()
    asked = wanted("ClusterId == 7")
    list(file.find(asked, forwards=False))
    assert sum(bytes_read) > 1_000_000


def test_condor_history_uses_the_index_and_says_the_same_without_it(
    tmp_path: Path, bytes_read: list[int]
) -> None:
    file = fill(tmp_path / "history", 600)
    file.refresh_index()

    def say(*words: str) -> str:
        out = StringIO()
        argv = [
            "condor_history",
            *words,
            "-file",
            str(tmp_path / "history"),
            "-af",
            "ClusterId",
            "ProcId",
        ]
        streams = Streams(StringIO(), out, StringIO())
        assert condor_history.main(argv, {}, streams) == 0
        return out.getvalue()

    bytes_read.clear()
    words = (("77",), ("77.1",), ("u3", "-limit", "2"), ("-constraint", "CompletionDate > 1590"))
    indexed = [say(*each) for each in words]
    assert 0 < sum(bytes_read) < 60_000
    Path(history_index.index_path(str(tmp_path / "history"))).unlink()
    assert [say(*each) for each in words] == indexed
    assert indexed[0] == "77 1\n77 0\n"


def test_a_search_that_ends_somewhere_reads_what_it_comes_past() -> None:
    for ends in ({"Since": "5.0"}, {"ScanLimit": 10}):
        asked = history_query.parse(ClassAd({"Requirements": True, **ends}))
        assert history_query.alternatives(asked, history_index.INDEXED) is None
