"""Which pool is meant, and what is said where none can be found."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kettle.errors import NotFoundError, StorageError, UsageError
from kettle.pool.folder import SYSTEM_FOLDER
from kettle.pool.personal import PersonalPool
from kettle.tools.front import down, place


def test_a_configuration_that_cannot_be_read_is_not_called_no_pool(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no pool in"):
        place.pool_environment(str(tmp_path), {})
    # What root cannot read either.
    (tmp_path / "condor_config").mkdir()
    with pytest.raises(StorageError, match="condor_config cannot be read: Is a directory"):
        place.pool_environment(str(tmp_path), {})


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        (["--system"], SYSTEM_FOLDER),
        (["--system", "--dir", "/x"], "/x"),
        (["--dir", "/x", "--system"], "/x"),
        (["--dir=/x"], "/x"),
        ([], None),
    ],
)
def test_the_folder_that_is_named_counts_wherever_system_stands(
    words: list[str], folder: str | None
) -> None:
    parser = argparse.ArgumentParser()
    place.add_folder_option(parser)
    assert parser.parse_args(words).dir == folder


def test_a_pool_that_somebody_else_started_is_not_said_to_be_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = PersonalPool(str(tmp_path))
    monkeypatch.setattr(PersonalPool, "is_up", lambda _: True)
    monkeypatch.setattr(PersonalPool, "master_pid", lambda _: None)
    with pytest.raises(UsageError, match="is up, and not yours to stop"):
        down._check_stoppable(pool)
