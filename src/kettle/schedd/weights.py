"""What jobs count for in fair share: while they wait, as much as the slot that they ask for.

Pure. Source: SCHEDD_SLOT_WEIGHT, and SLOT_WEIGHT where that is not set.
"""

from __future__ import annotations

from kettle.classad import ClassAd, Expr
from kettle.config.knobs.schedd import ScheddKnobs
from kettle.config.store import Config

# What a slot has of the rest for each core that a job asks for, if it does not say.
_MIB_A_CORE = 1024
_KIB_A_CORE = 1024


class Weights:
    """How waiting jobs are weighed."""

    def __init__(self, config: Config) -> None:
        self._used = config[ScheddKnobs.SCHEDD_USE_SLOT_WEIGHT]
        self._of_job: Expr | None = config.expression(ScheddKnobs.SCHEDD_SLOT_WEIGHT.name)
        self._of_slot: Expr | None = config.expression("SLOT_WEIGHT")

    def weigh(self, job: ClassAd) -> float:
        """Return what a job that waits counts for; 1 or its cores where nothing says better."""
        if not self._used:
            return 1.0
        if self._of_job is not None:
            return _number(job.evaluate_expression(self._of_job), 1.0)
        asked = job.integer("RequestCpus")
        cores = 1 if asked is None else asked
        if self._of_slot is None:
            return float(cores)
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
        return otherwise
    return max(0.0, float(value))
