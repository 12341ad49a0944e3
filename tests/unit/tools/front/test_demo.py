"""What becomes of the demonstration's pool and folder when it fails."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.errors import KettleError, StorageError
from kettle.pool.personal import PersonalPool
from kettle.tools.front import demo
from kettle.tools.programs import Streams


def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Streams:
    """Run it in a folder of the test's own; nothing of this starts a daemon."""
    monkeypatch.setattr(demo.tempfile, "mkdtemp", lambda **_: str(tmp_path / "made"))
    (tmp_path / "made").mkdir(exist_ok=True)
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    with pytest.raises(KettleError, match="the first reason"):
        demo.run(demo.build_parser().parse_args([]), {"PATH": "/bin"}, streams)
    return streams


def test_a_pool_that_cannot_be_made_says_why_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(pool: PersonalPool) -> None:
        (Path(pool.folder) / "begun").write_text("")
        raise StorageError("the first reason")

    monkeypatch.setattr(PersonalPool, "make", make)
    play(tmp_path, monkeypatch)
    assert not (tmp_path / "made").exists()


def test_a_pool_that_cannot_be_removed_does_not_hide_why_it_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_pool: PersonalPool) -> None:
        raise KettleError("the first reason")

    def purge(_pool: PersonalPool) -> None:
        raise StorageError("cannot remove all of it")

    monkeypatch.setattr(PersonalPool, "make", lambda _: None)
    monkeypatch.setattr(PersonalPool, "start", start)
    monkeypatch.setattr(PersonalPool, "exists", lambda _: True)
    monkeypatch.setattr(PersonalPool, "purge", purge)
    assert "cannot remove" in play(tmp_path, monkeypatch).stderr.getvalue()  # type: ignore[attr-defined]
