"""Where `kettle token --output` writes, and where it does not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kettle.errors import StorageError
from kettle.tools.front.token import write_token


def test_a_token_takes_the_place_of_a_file_that_others_could_read(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old")
    path.chmod(0o666)
    with path.open() as watching:
        write_token(str(path), "new")
        assert watching.read() == "old"
    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["token"]


def test_a_token_does_not_follow_a_link_that_was_put_in_its_way(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    link = tmp_path / "token"
    link.symlink_to(victim)
    with pytest.raises(StorageError, match="is not a plain file"):
        write_token(str(link), "secret")
    assert victim.read_text() == "mine"
    assert link.is_symlink()


def test_a_folder_without_room_for_a_token_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot write the token to .*nowhere/token"):
        write_token(str(tmp_path / "nowhere" / "token"), "secret")
