"""Hold reasons: under which names they are counted.

The numbers are `kettle.attributes.codes`; here is what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.codes import HoldReasonCode

_HOLDS = {int(code): code.name for code in HoldReasonCode}


def hold_label(code: int) -> str:
    """Return the name under which NumHoldsByReason counts a code."""
    return _HOLDS.get(code, HoldReasonCode.Unspecified.name)


def counted(counts: Mapping[str, int], label: str) -> dict[str, int]:
    """Return counts by label with one more for `label`."""
    return {**counts, label: counts.get(label, 0) + 1}
