"""What is read of the machine that does not change."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from kettle.startd.services.facts import find_whether_it_turns


@pytest.mark.parametrize(("said", "turns"), [("1\n", True), ("0\n", False), (None, None)])
@pytest.mark.parametrize("part", [False, True])
def test_whether_the_scratch_disk_turns_is_its_device_s_word(
    part: bool,
    said: str | None,
    turns: bool | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = tmp_path / "sda"
    device = disk / "sda1" if part else disk
    device.mkdir(parents=True)
    (tmp_path / "8:17").symlink_to(device)
    if said is not None:
        (disk / "queue").mkdir()
        (disk / "queue" / "rotational").write_text(said)
    stat = SimpleNamespace(st_dev=os.makedev(8, 17))
    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", lambda _path: stat)
        found = find_whether_it_turns("/execute", str(tmp_path))
    assert found is turns


def test_what_has_no_device_does_not_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    stat = SimpleNamespace(st_dev=os.makedev(0, 27))
    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", lambda _path: stat)
        assert find_whether_it_turns("/dev/shm/execute") is False


def test_of_a_folder_that_is_not_there_nothing_is_known(tmp_path: Path) -> None:
    assert find_whether_it_turns(str(tmp_path / "none")) is None
