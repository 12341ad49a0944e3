"""What a client makes to prove who it is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from kettle.config import Config
from kettle.runtime.credentials import SystemClientCredentials


def test_the_directory_that_proves_an_account_has_its_mode_whatever_the_umask(
    tmp_path: Path,
) -> None:
    path = tmp_path / "FS_1"
    before = os.umask(0o777)
    try:
        SystemClientCredentials(Config.from_text("")).make_directory(str(path))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
