"""Who brings a pool up in a folder, and what is left where nothing comes of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.errors import UsageError
from kettle.pool.turns import turn_in


def test_what_a_refused_turn_has_made_is_gone_again(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"

    def refuse() -> None:
        assert folder.is_dir()
        raise UsageError("no")

    with pytest.raises(UsageError), turn_in(str(folder)):
        refuse()
    assert os.listdir(tmp_path) == []


def test_what_was_there_before_a_turn_or_came_of_it_stays(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with turn_in(str(tmp_path / "a" / "b" / "c")):
        (tmp_path / "a" / "b" / "other").touch()
    assert os.listdir(tmp_path / "a" / "b") == ["other"]
    with turn_in(str(tmp_path / "a" / "d" / "e")):
        # A pool that does not start is discarded, its folder too.
        (tmp_path / "a" / "d" / "e").rmdir()
    assert os.listdir(tmp_path / "a") == ["b"]


def test_what_a_path_with_an_impossible_end_has_made_is_gone_again(tmp_path: Path) -> None:
    with turn_in(str(tmp_path / "a" / ("c" * 300))):
        assert os.listdir(tmp_path) == ["a"]
    assert os.listdir(tmp_path) == []
