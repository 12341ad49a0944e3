"""Which missing folders are made for what is written, and which are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.runtime.process.aside import ThreadedAside
from kettle.runtime.storage.aside_files import AsideFiles
from kettle.runtime.storage.free_space import Reserve
from kettle.runtime.storage.transfer_files import LocalTarget


def put(files: AsideFiles, path: Path) -> None:
    target = files.open_target(str(path), 0o644)
    assert isinstance(target, LocalTarget)
    target.write(b"x")
    target.close()


def files_for(folder: Path, *, makes_below: bool) -> AsideFiles:
    return AsideFiles(ThreadedAside(), lambda _: False, str(folder), makes_below=makes_below)


@pytest.mark.parametrize("makes_below", [True, False])
def test_a_folder_that_was_moved_away_comes_back(tmp_path: Path, makes_below: bool) -> None:
    folder = tmp_path / "gone" / "iwd"
    put(files_for(folder, makes_below=makes_below), folder / "out")
    assert (folder / "out").read_bytes() == b"x"


def test_folders_below_are_made_only_where_that_is_allowed(tmp_path: Path) -> None:
    folder = tmp_path / "iwd"
    with pytest.raises(FileNotFoundError):
        put(files_for(folder, makes_below=False), folder / "sub" / "out")
    put(files_for(folder, makes_below=True), folder / "sub" / "out")
    assert (folder / "sub" / "out").read_bytes() == b"x"


def test_no_folder_is_made_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        put(files_for(tmp_path / "iwd", makes_below=True), tmp_path / "other" / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_relative_folder_that_is_gone_is_looked_for_no_further_than_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop without an end would keep all jobs of the shadow host."""
    monkeypatch.chdir(tmp_path)
    files = AsideFiles(
        ThreadedAside(), lambda _: False, "gone/iwd", makes_below=True, reserve=Reserve(".", 1)
    )
    put(files, Path("gone/iwd/out"))
    assert (tmp_path / "gone" / "iwd" / "out").read_bytes() == b"x"


def test_folders_that_were_missing_are_their_owners_alone(tmp_path: Path) -> None:
    """Observed of a real shadow, whatever the umask is."""
    folder = tmp_path / "iwd"
    put(files_for(folder, makes_below=True), folder / "one" / "two" / "out")
    made = [folder, folder / "one", folder / "one" / "two"]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700] * 3
