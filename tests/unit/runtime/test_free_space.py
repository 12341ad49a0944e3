"""What is received leaves room on the disk, and what is not whole is taken away."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kettle.runtime.storage.free_space import Reserve, read_free_kib
from kettle.runtime.storage.transfer_files import LocalTarget


def test_what_is_received_does_not_touch_the_reserve(tmp_path: Path) -> None:
    free = read_free_kib(str(tmp_path))
    assert free is not None
    path = str(tmp_path / "out")
    target = LocalTarget(path, 0, Reserve(str(tmp_path), 2 * free))
    with pytest.raises(OSError) as caught:
        target.write(b"much")
    assert caught.value.errno == errno.ENOSPC
    target.discard()
    assert not os.path.exists(path)


def test_a_disk_without_a_reserve_takes_what_it_can(tmp_path: Path) -> None:
    for reserve in (None, Reserve(str(tmp_path), 0), Reserve("/proc", 1 << 50)):
        target = LocalTarget(str(tmp_path / "out"), 0, reserve)
        target.write(b"all")
        target.close()
        assert (tmp_path / "out").read_bytes() == b"all"


def test_a_device_is_not_taken_away() -> None:
    target = LocalTarget("/dev/null", 0)
    target.discard()
    assert os.path.exists("/dev/null")
