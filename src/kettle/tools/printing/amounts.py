"""Amounts of bytes in the unit that fits them: READABLE_BYTES, READABLE_KB and READABLE_MB.

Pure. From recorded output of condor_q and condor_status.
"""

from __future__ import annotations

from collections.abc import Callable

from kettle.classad import ClassAd
from kettle.tools.printing.masks import Shown

_UNITS = ("B ", "KB", "MB", "GB")


def readable(units: float, *, keeps_whole_mb: bool = False) -> Callable[[str], Shown]:
    """Return ways to show an amount of `units` bytes; 1024 MB stay so with `keeps_whole_mb`."""

    def choose(attribute: str) -> Shown:
        def show(ad: ClassAd) -> str | None:
            amount = ad.real(attribute)
            if amount is None:
                return None
            amount *= units
            for unit in _UNITS:
                if amount < 1024 or (keeps_whole_mb and unit == "MB" and amount == 1024):
                    return f"{amount:.1f} {unit}"
                amount /= 1024
            return f"{amount:.1f} TB"

        return show

    return choose
