"""Trees go whole, and nothing outside them is touched."""

from __future__ import annotations

import os
from pathlib import Path

from kettle.runtime.storage.removal import remove_tree
from kettle.runtime.storage.trees import walk_tree

# Deeper than Python's stack, with a path longer than the system takes.
DEEP, NAME = 1010, "longish"


def test_folders_that_a_job_closed_go_too_and_what_a_link_leads_to_keeps_its_mode(
    tmp_path: Path,
) -> None:
    target = tmp_path / "mine"
    target.mkdir(mode=0o750)
    (target / "kept").write_text("")
    root = tmp_path / "folder"
    inner = root / "closed" / "closed-too"
    inner.mkdir(parents=True)
    (inner / "link").symlink_to(target)
    (inner / "file").write_text("")
    inner.chmod(0)
    inner.parent.chmod(0)
    assert remove_tree(str(root))
    assert not os.path.lexists(root)
    assert target.stat().st_mode & 0o777 == 0o750
    assert (target / "kept").exists()


def test_a_tree_that_is_not_there_is_gone(tmp_path: Path) -> None:
    assert remove_tree(str(tmp_path / "nothing"))


def nest(folder: Path, depth: int) -> None:
    """Make folders in folders, and a file in the last one; the path of that may be too long."""
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir(NAME, dir_fd=here)
        below = os.open(NAME, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_a_link_in_the_place_of_a_tree_stays_and_so_does_what_it_leads_to(tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.mkdir()
    (target / "kept").write_text("")
    link = tmp_path / "link"
    link.symlink_to(target)
    assert not remove_tree(str(link))
    assert (target / "kept").exists()


def test_folders_nested_deeper_than_any_path_or_stack_are_seen_once_and_removed(
    tmp_path: Path,
) -> None:
    nest(tmp_path, DEEP)
    (tmp_path / "beside" / "more").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "beside" / "small").write_text("12345")
    seen = [
        (entry.name, entry.stat(follow_symlinks=False).st_size)
        for _, entry in walk_tree(str(tmp_path))
        if entry.name != NAME
    ]
    assert sorted(name for name, _ in seen) == ["beside", "file", "link", "more", "small"]
    assert ("small", 5) in seen
    assert remove_tree(str(tmp_path / NAME))
    assert sorted(os.listdir(tmp_path)) == ["beside", "link"]


def test_a_walk_of_a_folder_that_is_not_there_sees_nothing(tmp_path: Path) -> None:
    assert list(walk_tree(str(tmp_path / "nothing"))) == []


def test_a_walk_that_is_given_up_leaves_no_folder_open(tmp_path: Path) -> None:
    nest(tmp_path, 3)
    before = len(os.listdir("/proc/self/fd"))
    walk = walk_tree(str(tmp_path))
    next(walk)
    next(walk)
    walk.close()
    assert len(os.listdir("/proc/self/fd")) == before
