"""Notes of processes: who is still the one that was noted."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from kettle.runtime.process.census import Census, birth_of, read_note, remove_note


def test_who_was_noted_is_found_while_it_lives_and_nobody_in_its_place(tmp_path: Path) -> None:
    path = str(tmp_path / "note")
    with subprocess.Popen(["/bin/sleep", "100"]) as program:
        Census(path).note([os.getpid(), program.pid])
        assert sorted(read_note(path)) == sorted([os.getpid(), program.pid])
        program.kill()
    assert read_note(path) == [os.getpid()]
    Path(path).write_text(f"{os.getpid()} {birth_of(os.getpid()) - 1}\n")
    assert read_note(path) == []


def test_a_note_is_written_when_somebody_comes_or_goes_only(tmp_path: Path) -> None:
    path = tmp_path / "note"
    census = Census(str(path))
    census.note([os.getpid()])
    path.unlink()
    census.note([os.getpid()])
    assert not path.exists()
    census.note([])
    assert path.read_text() == ""


def test_what_is_no_note_names_nobody(tmp_path: Path) -> None:
    path = tmp_path / "note"
    path.write_text(f"1 {birth_of(1)}\n0 0\nwhat is this\n")
    assert read_note(str(path)) == []
    remove_note(str(path))
    assert read_note(str(path)) == []


def test_a_note_that_had_no_room_is_written_at_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note"
    census = Census(str(path))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", full)
        with pytest.raises(OSError, match="no room"):
            census.note([os.getpid()])
    census.note([os.getpid()])
    assert read_note(str(path)) == [os.getpid()]
    census.remove()
    assert list(tmp_path.iterdir()) == []
