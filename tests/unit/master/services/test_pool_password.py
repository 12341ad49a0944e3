"""Whoever sets the pool password hears what became of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.config import Config
from kettle.errors import StorageError
from kettle.master.services.pool_password import store_pool_password
from kettle.runtime.credentials import remove_pool_password
from kettle.wire.messages.credentials import CredentialAnswer


def config(path: Path) -> Config:
    return Config.from_text(f"SEC_PASSWORD_FILE = {path}\n")


def test_a_password_is_kept_and_deleted(tmp_path: Path) -> None:
    path = tmp_path / "POOL"
    assert store_pool_password(config(path), "x") is CredentialAnswer.OK
    assert path.stat().st_mode & 0o777 == 0o600
    assert store_pool_password(config(path), "") is CredentialAnswer.OK
    assert store_pool_password(config(path), "") is CredentialAnswer.NOT_FOUND
    assert list(tmp_path.iterdir()) == []


def test_one_that_cannot_be_put_in_its_place_is_a_failure_and_leaves_no_copy(
    tmp_path: Path,
) -> None:
    path = tmp_path / "POOL"
    (path / "in the way").mkdir(parents=True)
    assert store_pool_password(config(path), "x") is CredentialAnswer.FAILURE
    assert [each.name for each in tmp_path.iterdir()] == ["POOL"]


def test_one_that_cannot_be_deleted_is_a_failure_and_not_a_password_that_is_not_there(
    tmp_path: Path,
) -> None:
    path = tmp_path / "POOL"
    path.mkdir()
    assert store_pool_password(config(path), "") is CredentialAnswer.FAILURE
    with pytest.raises(StorageError, match=f"cannot remove {path}"):
        remove_pool_password(str(path))
