"""A walk sees all that can be seen, whatever modes forbid, and leaves modes as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.runtime.storage.trees import opened_up, walk_tree

bound = pytest.mark.skipif(os.geteuid() == 0, reason="modes do not bind root")


@pytest.fixture
def top(tmp_path: Path) -> Iterator[Path]:
    """A folder that can be removed whatever becomes of it."""
    made = tmp_path / "top"
    made.mkdir()
    before = open_descriptors()
    yield made
    assert open_descriptors() == before
    made.chmod(0o700)
    for folder, folders, _ in os.walk(made):
        for name in folders:
            Path(folder, name).chmod(0o700)


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def fill(top: Path, *names: str) -> None:
    """Make files, with the folders that they are in."""
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * len(name))


def seen(top: Path) -> dict[str, int]:
    """Return the files that a walk sees, with their sizes; nothing is missed by it."""
    missed: list[OSError] = []
    files = {
        entry.name: entry.stat(follow_symlinks=False).st_size
        for _, entry in walk_tree(str(top), missed.append)
        if not entry.is_dir(follow_symlinks=False)
    }
    assert missed == []
    return files


@pytest.mark.parametrize("mode", [0o000, 0o100, 0o200, 0o300, 0o400, 0o600, 0o2300, 0o044])
@pytest.mark.parametrize("where", [".", "a", "a/x", "a/x/deep"])
def test_what_is_closed_to_its_owner_is_seen_and_keeps_its_mode(
    top: Path, where: str, mode: int
) -> None:
    fill(top, "a/x/deep/1", "a/x/22", "a/333", "b/4444", "c/55555", "666666")
    sizes = seen(top)
    assert sizes == {"1": 10, "22": 6, "333": 5, "4444": 6, "55555": 7, "666666": 6}
    closed = top / where
    closed.chmod(mode)
    mode = mode_of(closed)
    assert seen(top) == sizes
    assert mode_of(closed) == mode


def test_folders_that_are_closed_in_one_another_are_seen(top: Path) -> None:
    fill(top, "a/b/c/d/file", "e/file2")
    folders = [top, top / "a", top / "a/b", top / "a/b/c", top / "a/b/c/d"]
    for folder in reversed(folders):
        folder.chmod(0)
    assert set(seen(top)) == {"file", "file2"}
    assert mode_of(top) == 0
    top.chmod(0o700)
    for folder in folders[1:]:
        assert mode_of(folder) == 0
        folder.chmod(0o700)


@pytest.mark.parametrize("mode", [0o000, 0o400])
def test_a_folder_that_is_closed_while_it_is_looked_at_keeps_nobody_in_it(
    top: Path, mode: int
) -> None:
    fill(top, "a/x/one", "b/y/two", "c/z/three")
    found = set()
    for _, entry in walk_tree(str(top)):
        found.add(entry.name)
        if entry.name in {"one", "two", "three"}:
            for folder in (entry.name, *"xyzabc"):
                for path in top.glob(f"*/{folder}"):
                    if path.is_dir():
                        path.chmod(mode)
    assert found == {*"abcxyz", "one", "two", "three"}


def test_a_folder_that_is_moved_away_under_a_walk_loses_nothing_of_what_was_beside_it(
    top: Path,
) -> None:
    fill(top, "a/b/c/d/one", "a/b/e/two", "a/f/three", "g/four")
    (top / "away").mkdir()
    found = set()
    for _, entry in walk_tree(str(top)):
        found.add(entry.name)
        if entry.name == "one":
            (top / "a/b/c/d").rename(top / "away/d")
        if entry.name == "two":
            (top / "a/b/e").rename(top / "away/e")
    assert {"one", "two", "three", "four"} <= found


def test_a_whole_branch_that_is_moved_away_under_a_walk_does_not_end_it(top: Path) -> None:
    fill(top, "a/b/c/one", "z/two")
    outside = top.parent / "outside"
    found = set()
    for _, entry in walk_tree(str(top)):
        found.add(entry.name)
        if entry.name == "one":
            (top / "a").rename(outside)
            (top / "a").mkdir()
    assert {"one", "two"} <= found
    outside.rename(top / "outside")


@bound
def test_a_walk_that_is_given_up_in_closed_folders_leaves_them_closed(top: Path) -> None:
    fill(top, "a/b/c/file")
    folders = [top / "a", top / "a/b", top / "a/b/c"]
    for folder in reversed(folders):
        folder.chmod(0o300)
    walk = walk_tree(str(top))
    assert [next(walk)[1].name for _ in range(4)] == ["a", "b", "c", "file"]
    assert [mode_of(folder) for folder in folders] == [0o700] * 3
    walk.close()
    assert [mode_of(folder) for folder in folders] == [0o300] * 3


@bound
def test_what_its_owner_does_to_a_mode_meanwhile_stays(top: Path) -> None:
    fill(top, "a/file")
    (top / "a").chmod(0o300)
    os.utime(top / "a", (1, 1))
    for _, entry in walk_tree(str(top)):
        if entry.name == "file":
            moved_on(top / "a")
            (top / "a").chmod(0o700)
    assert mode_of(top / "a") == 0o700


def moved_on(folder: Path) -> None:
    """Return once the file system's clock is ahead of the last change of a folder."""
    probe, last = folder.parent / "probe", folder.stat().st_ctime_ns
    probe.touch()
    while probe.stat().st_ctime_ns <= last:
        os.utime(probe)


@bound
def test_a_link_in_the_place_of_a_closed_folder_opens_nothing_up(top: Path) -> None:
    target = top.parent / "target"
    target.mkdir(mode=0o300)
    (top / "link").symlink_to(target)
    assert list(seen(top)) == ["link"]
    assert list(walk_tree(str(top / "link"))) == []
    assert mode_of(target) == 0o300


@bound
def test_a_closed_folder_of_somebody_else_s_is_told_of(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(top, "a/x/one", "b/two")
    (top / "a").chmod(0)
    (top / "b").chmod(0o400)
    missed: list[OSError] = []
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert {entry.name for _, entry in walk_tree(str(top), missed.append)} == {"a", "b", "two"}
    assert [(type(error), error.filename) for error in missed] == [(PermissionError, "a")]
    assert (mode_of(top / "a"), mode_of(top / "b")) == (0, 0o400)


def test_a_folder_is_open_for_a_moment(top: Path) -> None:
    fill(top, "a/b/file")
    (top / "a").chmod(0)
    with opened_up(str(top / "a")):
        assert os.listdir(top / "a/b") == ["file"]
    assert mode_of(top / "a") == 0
