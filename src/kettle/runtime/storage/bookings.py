"""Room on one disk that is promised to those who fill it at the same time.

Each books what it is about to write; what is booked and not written yet is nobody else's to count
on. Who writes more than it booked has what is left over beyond the others' bookings.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from kettle.runtime.storage.free_space import Guard, Reserve, read_free_kib


class Bookings:
    """What is booked of the disk that a folder is on."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._open: list[Booking] = []

    def room_kib(self, kept_kib: int) -> int | None:
        """Return what is free beyond what is kept and booked; None if it cannot be told."""
        free = read_free_kib(self._folder)
        return None if free is None else max(0, free - kept_kib - (self.total() >> 10))

    def total(self, but: Booking | None = None) -> int:
        """Return the bytes that are booked and not written yet, without those of one."""
        return sum(one.left for one in self._open if one is not but)

    @contextlib.contextmanager
    def begin(self, kept_kib: int) -> Iterator[Booking]:
        """Give a booking, of nothing yet, to one who keeps so much of the disk free."""
        booking = Booking(self, self._folder, kept_kib)
        self._open.append(booking)
        try:
            yield booking
        finally:
            self._open.remove(booking)


class Booking(Reserve):
    """The reserve of one who books: what the others have booked is kept free, too."""

    def __init__(self, bookings: Bookings, folder: str, kib: int) -> None:
        super().__init__(folder, kib)
        self._bookings = bookings
        # What is booked and not written yet.
        self.left = 0

    def guard(self, descriptor: int) -> Guard | None:
        """Return what sees, while a file is written, to the reserve and to all bookings."""
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_dev != self._device:
            return super().guard(descriptor)
        return _BookedGuard(descriptor, self)

    def kept(self) -> int:
        """Return the bytes that are kept free just now."""
        return self._bytes + self._bookings.total(self)

    def _kept(self, facts: os.statvfs_result, *, is_ours: bool) -> int:
        return self.kept() if is_ours else super()._kept(facts, is_ours=is_ours)


class _BookedGuard(Guard):
    """Takes what is written off what is booked."""

    __slots__ = ("_booking",)

    def __init__(self, descriptor: int, booking: Booking) -> None:
        super().__init__(descriptor, booking.kept(), 0)
        self._booking = booking

    def check(self, size: int) -> None:
        """See that so many bytes more leave alone what is kept by now; OSError (ENOSPC) if not."""
        self._kept = self._booking.kept()
        super().check(size)
        self._booking.left = max(0, self._booking.left - size)
