"""Which signing keys there are, whatever a stranger names."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.config import Config
from kettle.runtime.credentials import SigningKeys


def keys(folder: Path) -> SigningKeys:
    return SigningKeys(Config.from_text(f"SEC_PASSWORD_DIRECTORY = {folder}\n", subsystem="SCHEDD"))


def test_a_key_is_known_by_its_files_name(tmp_path: Path) -> None:
    path = tmp_path / "site key@2026"
    path.write_bytes(b"\x01\x02\x03\x04")
    path.chmod(0o600)
    assert keys(tmp_path).content("site key@2026") == b"\x01\x02\x03\x04"


@pytest.mark.parametrize("key_id", ["a\0b", "\ud800", "a\nb", "x" * 5000, "", ".", "..", "../POOL"])
def test_an_id_that_is_no_files_name_is_an_unknown_key(tmp_path: Path, key_id: str) -> None:
    assert keys(tmp_path).key(key_id) is None


def test_no_id_leads_out_of_the_folder_of_keys(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    folder.mkdir()
    for path in (tmp_path / "secret", folder / ".hidden"):
        path.write_bytes(b"\x01\x02\x03\x04")
        path.chmod(0o600)
    for key_id in ("../secret", "./../secret", str(tmp_path / "secret"), ".hidden"):
        assert keys(folder).content(key_id) is None
