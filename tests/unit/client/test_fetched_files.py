"""Output that is fetched to where a file lies already."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kettle.client.spool import FilesInPlace


def test_a_file_is_replaced_when_the_new_one_is_whole(tmp_path: Path) -> None:
    there = tmp_path / ("n" * 250)
    there.write_text("before")
    there.chmod(0o640)
    target = FilesInPlace().open_target(str(there), 0, 5)
    target.write(b"after")
    assert there.read_text() == "before"
    target.close()
    assert there.read_text() == "after"
    assert stat.S_IMODE(there.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [there]


def test_what_did_not_come_whole_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    there = tmp_path / "out"
    there.write_text("before")
    target = FilesInPlace().open_target(str(there), 0o600, 5)
    target.write(b"af")
    target.discard()
    assert there.read_text() == "before"
    assert list(tmp_path.iterdir()) == [there]


def test_a_link_that_somebody_laid_beside_it_is_not_followed(tmp_path: Path) -> None:
    there, victim = tmp_path / "out", tmp_path / "victim"
    there.write_text("before")
    victim.write_text("precious")
    (tmp_path / f".out.{os.getpid()}").symlink_to(victim)
    target = FilesInPlace().open_target(str(there), 0o600, 5)
    target.write(b"after")
    target.close()
    assert (there.read_text(), victim.read_text()) == ("after", "precious")


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_what_root_fetches_for_somebody_stays_theirs(tmp_path: Path) -> None:
    there = tmp_path / "out"
    there.write_text("before")
    os.chown(there, 65534, 65533)
    target = FilesInPlace().open_target(str(there), 0o600, 5)
    target.write(b"after")
    target.close()
    facts = there.stat()
    assert (facts.st_uid, facts.st_gid, stat.S_IMODE(facts.st_mode)) == (65534, 65533, 0o600)
