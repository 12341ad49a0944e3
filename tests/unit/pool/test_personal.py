"""What purging a personal pool's folder leaves alone."""

from __future__ import annotations

from pathlib import Path

from kettle.pool.personal import _open_up


def test_what_a_jobs_link_leads_to_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.write_text("")
    target.chmod(0o640)
    link = tmp_path / "folder" / "link"
    link.parent.mkdir()
    link.symlink_to(target)
    _open_up(None, str(link), None)
    assert not link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
