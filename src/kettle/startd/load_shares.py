"""Whose the load is that no job makes: LoadAvg of a slot is its share of it and its job's load.

TotalLoadAvg is the system's. As the reference deals it out (test_load.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from kettle.startd.machine import SlotRecord

# What is less is no load that would be moved to a slot cut from another.
_NOTHING = 0.05


def deal_out(slots: Iterable[SlotRecord], owner_load: float) -> None:
    """Give each slot its share of what is not the jobs' load, at most its cores.

    First to slots of the owner's, then to unclaimed ones, then to the others. A slot cut from
    another gets what is more than the cores that are left of that.
    """
    left = max(0.0, owner_load)
    slots = list(slots)
    for state in ("Owner", "Unclaimed"):
        for record in slots:
            if record.parent is None and record.slot.phase.state == state:
                left -= _give(record, left)
    for record in slots:
        if record.parent is not None:
            _move_down(record.parent, record)
        elif record.slot.phase.state not in {"Owner", "Unclaimed"}:
            left -= _give(record, left)


def _give(record: SlotRecord, load: float) -> float:
    total = record.pool.total if record.pool is not None else record.total
    record.load.of_owner = min(load, float(total.amount("Cpus")))
    return record.load.of_owner


def _move_down(parent: SlotRecord, record: SlotRecord) -> None:
    more = parent.load.of_owner - float(parent.available.amount("Cpus"))
    record.load.of_owner = 0.0
    if more > _NOTHING:
        record.load.of_owner = min(more, float(record.total.amount("Cpus")))
        parent.load.of_owner -= record.load.of_owner
