"""Whether a job that PREEMPT drives away is held as well, and with which words (WANT_HOLD)."""

from __future__ import annotations

import math
from typing import Final

from kettle.attributes.codes import VacateReasonCode
from kettle.classad import ClassAd, unparse
from kettle.named_tuples import NamedTuple

# Limit: a code has 32 bits in the queue and the event log.
_HIGHEST_CODE: Final = 2**31 - 1


class HoldWish(NamedTuple):
    """Why the job is held; the code is always that of a hold by the machine."""

    reason: str
    subcode: int


def read_hold_wish(code: int, ad: ClassAd, job: ClassAd | None) -> HoldWish | None:
    """Return how a job that leaves for the reason `code` is held; None if it is not.

    `ad` is the slot's with the owner's expressions. Only a job that PREEMPT drives away is held,
    whatever WANT_HOLD says of others.
    """
    if code != VacateReasonCode.StartdPreemptExpression:
        return None
    wanted = ad.evaluate("WANT_HOLD", job)
    if not isinstance(wanted, (bool, int, float)) or not wanted:
        return None
    reason, subcode = ad.evaluate("WANT_HOLD_REASON", job), ad.evaluate("WANT_HOLD_SUBCODE", job)
    if not isinstance(reason, str) or not reason:
        expression = ad.lookup("WANT_HOLD")
        text = "" if expression is None else f"WANT_HOLD = {unparse(expression)}"
        reason = (
            "The startd put this job on hold.  "
            f"(At preemption time, WANT_HOLD evaluated to true: {text})"
        )
    return HoldWish(reason, _as_code(subcode))


def _as_code(value: object) -> int:
    """Return a number as a code; 0 for what is none, and for infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    code = int(value) if isinstance(value, (bool, int, float)) else 0
    return max(-_HIGHEST_CODE, min(code, _HIGHEST_CODE))
