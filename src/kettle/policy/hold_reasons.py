"""Hold and vacate reasons: which codes are which, and how a change of hands is worded.

The numbers are `kettle.attributes.codes`; here is what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.codes import HoldReasonCode, VacateReasonCode

_HOLDS = {int(code): code.name for code in HoldReasonCode}
_VACATES = {int(code): code.name for code in VacateReasonCode}

# Codes from here on say why a job left its machine, smaller ones why it is on hold.
FIRST_VACATE_CODE = 1000


def is_hold_code(code: int) -> bool:
    """Tell whether a starter's or shadow's code means that the job goes on hold.

    Zero says nothing, and vacate codes only end the run.
    """
    return 0 < code < FIRST_VACATE_CODE


def hold_label(code: int) -> str:
    """Return the name under which NumHoldsByReason counts a code."""
    return _HOLDS.get(code, HoldReasonCode.Unspecified.name)


def vacate_label(code: int) -> str:
    """Return the name under which NumVacatesByReason counts a code."""
    return _VACATES.get(code, _HOLDS.get(code, HoldReasonCode.Unspecified.name))


def counted(counts: Mapping[str, int], label: str) -> dict[str, int]:
    """Return counts by label with one more for `label`."""
    return {**counts, label: counts.get(label, 0) + 1}
