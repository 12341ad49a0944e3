"""A job's files are touched with its owner's rights, where a process can switch."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kettle.runtime.process.privileges import Privileges, account_of, find_account
from kettle.runtime.storage.owned_files import OwnedFiles


def test_without_the_right_to_switch_every_file_is_our_own(tmp_path: Path) -> None:
    privileges = Privileges(account_of(os.getuid()), can_switch=False)
    files = OwnedFiles(privileges, privileges.daemon)
    files.open_target(str(tmp_path / "f"), 0o600).close()
    files.give(str(tmp_path / "f"))
    assert os.stat(tmp_path / "f").st_uid == os.getuid()
    assert files.names(str(tmp_path)) == ["f"]


def test_what_arrived_is_dated_before_the_second_of_its_end(tmp_path: Path) -> None:
    privileges = Privileges(account_of(os.getuid()), can_switch=False)
    files = OwnedFiles(privileges, privileges.daemon)
    (tmp_path / "d").mkdir()
    for name in ("d/new", "old"):
        (tmp_path / name).touch()
    os.utime(tmp_path / "old", (7, 7))
    (tmp_path / "link").symlink_to("/")
    assert list(files.date_back(str(tmp_path), 100)) == [None]
    times = {name: os.lstat(tmp_path / name).st_mtime for name in ("d", "d/new", "link", "old")}
    assert times.pop("old") == 7
    assert all(99 <= when < 100 for when in times.values()), times


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="only root can switch")
def test_what_is_made_is_the_owner_s_and_what_he_may_not_see_is_not_seen(tmp_path: Path) -> None:
    privileges = Privileges(account_of(0), can_switch=True)
    for folder in [tmp_path, *list(tmp_path.parents)[:3]]:
        if stat.S_IMODE(os.stat(folder).st_mode) & 0o011 == 0:
            folder.chmod(0o711)
    nobody = find_account("nobody")
    (tmp_path / "home").mkdir()
    (tmp_path / "secret").write_text("s")
    (tmp_path / "secret").chmod(0o600)
    files = OwnedFiles(privileges, nobody)
    files.give(str(tmp_path / "home"))
    files.make_directory(str(tmp_path / "home/d"), 0o755)
    files.open_target(str(tmp_path / "home/d/f"), 0o644).close()
    assert os.stat(tmp_path / "home/d/f").st_uid == nobody.uid
    with pytest.raises(PermissionError):
        files.open_source(str(tmp_path / "secret"))
    assert os.geteuid() == 0
