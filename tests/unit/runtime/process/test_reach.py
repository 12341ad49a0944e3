"""Daemons whose account cannot read what they are made of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kettle.errors import StorageError
from kettle.runtime.process.privileges import Account
from kettle.runtime.process.reach import PLACES, check_reach

ME = Account("me", os.geteuid(), os.getegid(), ())


def test_what_this_process_reads_is_in_its_reach() -> None:
    check_reach(ME, (*PLACES, "/"))


def test_the_folder_that_is_in_the_way_is_named_with_whose_way_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    (closed / "lib").mkdir(parents=True)
    tmp_path.chmod(0o755)
    closed.chmod(0o700)
    stranger = Account("stranger", 54321, 54321, ())

    def refuse(path: str) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    real = os.stat
    monkeypatch.setattr(
        os, "stat", lambda path, **more: refuse(path) if path[-1] == "." else real(path, **more)
    )
    with pytest.raises(StorageError) as caught:
        check_reach(stranger, (str(closed / "lib"),))
    assert "works as the account stranger, to which " in str(caught.value)
    assert " is closed, and Python and Kettle are in there" in str(caught.value)
    assert "CONDOR_IDS" in caught.value.hint
