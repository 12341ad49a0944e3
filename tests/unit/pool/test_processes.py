"""Which processes count as a pool's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.pool import processes


@pytest.fixture
def titles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """Processes that all work in `tmp_path`, by pid."""
    found: dict[str, bytes] = {}
    monkeypatch.setattr(os, "listdir", lambda _: [*found, "self"])
    monkeypatch.setattr(os, "readlink", lambda _: os.path.realpath(tmp_path))
    monkeypatch.setattr(processes, "_title", found.__getitem__)
    yield found
    monkeypatch.undo()


def test_who_stands_in_the_log_folder_is_no_daemon(
    titles: dict[str, bytes], tmp_path: Path
) -> None:
    """A start waits for the daemons of the last one, and would wait for a shell till its limit."""
    titles["1234567"] = b"-bash"
    titles["1234568"] = b"tail"
    assert not processes.works_in(str(tmp_path))
    titles["1234569"] = b"condor_schedd: zygote"
    assert processes.works_in(str(tmp_path))


def test_a_master_is_found_by_its_folder_where_its_lock_was_deleted(
    titles: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {1: 1000, 2: 1000, 3: 1001, 4: 1000, 5: 0}
    monkeypatch.setattr(processes, "real_uid_of", owners.__getitem__)
    titles["1"] = b"condor_schedd -f"
    titles["2"] = b"condor_master: zygote"
    titles["3"] = b"condor_master -f"
    assert processes.find_master(str(tmp_path), 1000) is None, "a stranger's"
    titles["4"] = b"condor_master -f"
    assert processes.find_master(str(tmp_path), 1000) == 4
    del titles["4"]
    titles["5"] = b"condor_master"
    assert processes.find_master(str(tmp_path), 1000) == 5
    gone = f"{os.path.realpath(tmp_path)} (deleted)"
    monkeypatch.setattr(os, "readlink", lambda _: gone)
    assert processes.find_master(str(tmp_path), 1000) == 5
