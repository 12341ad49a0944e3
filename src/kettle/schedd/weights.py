"""What jobs count for in fair share: while they wait, as much as the slot that they ask for.

Pure. Source: SCHEDD_SLOT_WEIGHT, and SLOT_WEIGHT where that is not set.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kettle.classad import ClassAd, Expr
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.store import Config

# What a slot has of the rest for each core that a job asks for, if it does not say.
_MIB_A_CORE = 1024
_KIB_A_CORE = 1024
# Limit: what one job counts for at most, be it infinitely much that it asks for: a thousand times
# what the largest machines have of anything.
MOST_WEIGHT = 1e12


class Weights:
    """How waiting jobs are weighed."""

    def __init__(self, config: Config, report: Callable[[str], object]) -> None:
        """Read how: `report` is told of an expression that is none, and is not used."""
        self._used = config.value(ScheddKnobs.SCHEDD_USE_SLOT_WEIGHT)
        of_job = config.sound_expression(ScheddKnobs.SCHEDD_SLOT_WEIGHT.name, report)
        self._of_job: Expr | None = of_job
        self._of_slot: Expr | None = config.sound_expression("SLOT_WEIGHT", report)

    def weigh(self, job: ClassAd) -> float:
        """Return what a job that waits counts for; 1 or its cores where nothing says better."""
        if not self._used:
            return 1.0
        if self._of_job is not None:
            return _number(job.evaluate_expression(self._of_job), 1.0)
        asked = job.integer("RequestCpus")
        cores = 1 if asked is None else asked
        if self._of_slot is None:
            return _bounded(float(cores))
        memory, disk = job.integer("RequestMemory"), job.integer("RequestDisk")
        slot = ClassAd(
            {
                "Cpus": cores,
                "Memory": cores * _MIB_A_CORE if memory is None else memory,
                "Disk": cores * _KIB_A_CORE if disk is None else disk,
            }
        )
        return _number(slot.evaluate_expression(self._of_slot), float(cores))


def _number(value: object, otherwise: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _bounded(otherwise)
    return otherwise if math.isnan(value) else _bounded(float(value))


def _bounded(weight: float) -> float:
    return min(max(0.0, weight), MOST_WEIGHT)
