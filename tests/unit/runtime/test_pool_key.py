"""The pool's signing key is made once, whole, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from kettle.config import Config
from kettle.errors import StorageError
from kettle.runtime.credentials import make_pool_key


def config(path: Path) -> Config:
    return Config.from_text(f"SEC_TOKEN_POOL_SIGNING_KEY_FILE = {path}\n", subsystem="MASTER")


def test_a_key_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "POOL"
    assert make_pool_key(config(path))
    key = path.read_bytes()
    assert len(key) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not make_pool_key(config(path))
    assert path.read_bytes() == key
    assert os.listdir(tmp_path) == ["POOL"]


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_disk_that_fails_leaves_no_key_and_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(f"kettle.runtime.credentials.os.{call}", fail)
    with pytest.raises(StorageError, match="No space left"):
        make_pool_key(config(tmp_path / "POOL"))
    assert os.listdir(tmp_path) == []


def test_a_key_that_another_makes_meanwhile_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "POOL"
    monkeypatch.setattr("kettle.runtime.credentials.os.fsync", lambda _: path.write_text("theirs"))
    assert not make_pool_key(config(path))
    assert path.read_text() == "theirs"


def test_a_pool_has_its_key_where_no_file_has_a_second_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "POOL"
    assert make_pool_key(config(path))
    key = path.read_bytes()
    assert not make_pool_key(config(path))
    assert path.read_bytes() == key
    assert os.listdir(tmp_path) == ["POOL"]
