"""Trees go whole, and nothing outside them is touched."""

from __future__ import annotations

import os
from pathlib import Path

from kettle.runtime.storage.removal import remove_tree


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
