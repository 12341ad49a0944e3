"""Several who fill one disk at the same time: what one has booked is nobody else's."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from kettle.runtime.storage.bookings import Bookings
from kettle.runtime.storage.transfer_files import LocalTarget

MIB = 1 << 20
KEPT_KIB = 4 << 10


class Disk:
    """What the system says of a disk, whatever is written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, free_mib: int) -> None:
        self.free_mib = free_mib
        monkeypatch.setattr(os, "statvfs", self._facts)
        monkeypatch.setattr(os, "fstatvfs", self._facts)

    def _facts(self, _: object) -> os.statvfs_result:
        free = self.free_mib * 256
        return os.statvfs_result((4096, 4096, 100_000, free, free, 4000, 4000, 4000, 0, 255))


def test_what_one_has_booked_is_free_for_nobody_else_until_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch, 20)
    bookings = Bookings(str(tmp_path))
    with bookings.begin(KEPT_KIB) as first, bookings.begin(KEPT_KIB) as second:
        assert bookings.room_kib(KEPT_KIB) == 16 << 10
        first.left = 10 * MIB
        assert bookings.room_kib(KEPT_KIB) == 6 << 10
        with pytest.raises(OSError, match="kept free"):
            LocalTarget(str(tmp_path / "large"), 0, second, 7 * MIB)
        other = LocalTarget(str(tmp_path / "other"), 0, second)
        own = LocalTarget(str(tmp_path / "own"), 0, first, 10 * MIB)
        with pytest.raises(OSError, match="kept free"):
            other.write(bytes(7 * MIB))
        own.write(bytes(8 * MIB))
        disk.free_mib -= 8
        assert (first.left, bookings.room_kib(KEPT_KIB)) == (2 * MIB, 6 << 10)
        other.write(bytes(6 * MIB))
        disk.free_mib -= 6
        own.write(bytes(2 * MIB))
        disk.free_mib -= 2
        for target in (own, other):
            with pytest.raises(OSError, match="kept free"):
                target.write(b"x")
            target.close()


def test_a_booking_is_over_with_who_booked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Disk(monkeypatch, 20)
    bookings = Bookings(str(tmp_path))
    with contextlib.suppress(ZeroDivisionError), bookings.begin(0) as booking:
        booking.left = 5 * MIB
        assert bookings.room_kib(0) == 15 << 10
        raise ZeroDivisionError
    assert bookings.room_kib(0) == 20 << 10
