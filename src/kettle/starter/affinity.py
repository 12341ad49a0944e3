"""Which cores a job's processes may run on. Pure.

The startd says which cores are the slot's (`startd/cores.py`); a job is bound to them if
ASSIGN_CPU_AFFINITY is true for its ad. Else ENFORCE_CPU_AFFINITY binds every job of slot n to the
cores that SLOTn_CPU_AFFINITY lists, without one to core n - 1. Source: the reference's startd and
starter; both knobs are in the manual's chapter of the starter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError

_SLOT = re.compile(r"slot(\d+)", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,6}")


@dataclass(frozen=True)
class AffinityRules:
    """The knobs: the expression for jobs, whether all are bound, and the lists by slot number."""

    assigns: str = ""
    enforces: bool = False
    lists: Mapping[int, str] = field(default_factory=dict)


def choose_affinity(
    rules: AffinityRules,
    job: ClassAd,
    slot_name: str,
    assigned: Sequence[int],
    present: Sequence[int],
) -> frozenset[int] | None:
    """Return the cores that a job may run on; None where nothing binds it.

    `assigned` are the slot's, counted from 0; `present` those that we have ourselves, by number.
    """
    if assigned and rules.assigns and _is_true(rules.assigns, job):
        return frozenset(present[core] for core in assigned if core < len(present)) or None
    found = _SLOT.match(slot_name)
    if not rules.enforces or found is None or not int(found[1]):
        return None
    listed = rules.lists.get(int(found[1]))
    if listed is None:
        return frozenset((int(found[1]) - 1,))
    return frozenset(int(word) for word in _NUMBER.findall(listed)) or None


def _is_true(expression: str, job: ClassAd) -> bool:
    try:
        value = job.evaluate_expression(parse_expression(expression))
    except ClassAdSyntaxError:
        return False
    return value is True or (isinstance(value, int | float) and value != 0)
