"""What one folder holds comes on top of another's, whoever dies in the middle of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from kettle.runtime.storage.folder_merge import merge_by_steps
from kettle.steps import take_all

INTO = {
    "same": "old", "kept": "old", "deep/same": "old", "deep/kept": "old", "was/folder": "old",
    "was": None, "log": "events", "is": "old",
}  # fmt: skip
SOURCE = {
    "same": "new", "new": "new", "deep/same": "new", "deep/new": "new", "was": "new",
    "fresh/deep/new": "new", "log": "forged", "is/a": "new", "older/here": "new",
}  # fmt: skip
OLDER = {"same": "left", "alone": "left", "older/here": "left", "older/stays": "left"}


def make(folder: Path, files: dict[str, str | None]) -> Path:
    """Make a folder of files; those that are none are folders that others make."""
    folder.mkdir()
    for name, text in files.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return folder


def files_in(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str, str]:
    source = make(tmp_path / "source", dict(SOURCE))
    into = make(tmp_path / "into", dict(INTO))
    return str(source), str(into), str(make(tmp_path / "older", dict(OLDER)))


MERGED = {
    "alone": None, "deep/kept": "old", "deep/new": "new", "deep/same": "new",
    "fresh/deep/new": "new", "is/a": "new", "kept": "old", "log": "events", "new": "new",
    "older/here": "new", "same": "new", "was": "new",
}  # fmt: skip
STEPS = 40


@pytest.mark.parametrize("steps", range(STEPS))
def test_who_dies_in_the_middle_is_followed_by_who_does_the_rest(
    folders: tuple[str, str, str], steps: int
) -> None:
    first: Iterator[None] = merge_by_steps(*folders, spared=["log"])
    taken = len(list(islice(first, steps)))
    if steps == STEPS - 1:
        assert taken < steps
    take_all(merge_by_steps(*folders, spared=["log"]))
    assert files_in(Path(folders[1])) == {name: text for name, text in MERGED.items() if text}
    assert files_in(Path(folders[2])) == {"alone": "left", "older/stays": "left"}
    assert files_in(Path(folders[0])) == {"log": "forged"}


def test_the_folders_whose_names_changed_are_told(folders: tuple[str, str, str]) -> None:
    changed = take_all(merge_by_steps(*folders))
    names = {str(Path(each).relative_to(folders[1])) for each in changed}
    assert names == {".", "deep", "older"}


def test_no_link_is_followed_out_of_the_folders(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", {"file": "outside"})
    source, into = make(tmp_path / "source", {"deep/file": "new"}), tmp_path / "into"
    into.mkdir()
    (into / "deep").symlink_to(outside)
    take_all(merge_by_steps(str(source), str(into), str(tmp_path / "none")))
    assert files_in(into) == {"deep/file": "new"}
    assert files_in(outside) == {"file": "outside"}
