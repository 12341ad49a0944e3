"""Hold and vacate reasons: under which names they are counted.

The numbers are `kettle.attributes.codes`; here is what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping

from kettle.attributes.codes import HoldReasonCode, VacateReasonCode

# Compat: the manual's name of 1000 is JobPolicyVacate; the reference counts it under that of its
# range (tests/unit/schedd/test_tallies.py).
_NAMES: dict[int, str] = {
    **{int(code): code.name for code in (*HoldReasonCode, *VacateReasonCode)},
    int(VacateReasonCode.JobPolicyVacate): "VacateBase",
}
# A machine refused the job: it never was there.
REFUSALS = frozenset(
    int(code)
    for code in VacateReasonCode
    if code.name.startswith("ActivationRefused") or code is VacateReasonCode.FailedToActivateClaim
)


def reason_label(code: int) -> str:
    """Return the name under which NumHoldsByReason and NumVacatesByReason count a code."""
    return _NAMES.get(code, HoldReasonCode.Unspecified.name)


def counted(counts: Mapping[str, int], label: str) -> dict[str, int]:
    """Return counts by label with one more for `label`."""
    return {**counts, label: counts.get(label, 0) + 1}
