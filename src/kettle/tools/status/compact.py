"""`condor_status -compact`: one line for each machine, its slots rolled up.

A partitionable slot speaks for its parts (Child… attributes); static slots of one machine are
summed. Widths, letters and what counts as free are the reference's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kettle.classad import ClassAd
from kettle.tools.printing.tables import Cell, render_table
from kettle.tools.status.tables import platform
from kettle.tools.status.totals import SLOT_STATES, render_totals

NAMES = (
    "Activity Arch ChildActivity ChildMemory ChildState Cpus DynamicSlot GPUs Machine Memory Name "
    "NumDynamicSlots OpSysAndVer OpSysShortName PartitionableSlot RecentJobStarts State TotalCpus "
    "TotalLoadAvg TotalSlotCpus TotalSlotGPUs TotalSlotMemory"
)

_STATE_LETTERS = {
    "Owner": "O",
    "Unclaimed": "U",
    "Matched": "M",
    "Claimed": "C",
    "Preempting": "P",
    "Backfill": "F",
    "Drained": "D",
}
_ACTIVITY_LETTERS = {
    "Idle": "i",
    "Busy": "b",
    "Retiring": "r",
    "Vacating": "v",
    "Suspended": "s",
    "Benchmarking": "e",
    "Killing": "k",
}
# Static slots in these states add to what is free.
_FREE = frozenset(("Owner", "Unclaimed", "Drained", "Backfill"))

# RecentJobStarts counts the starts of so many minutes.
_RECENT_MINUTES = 20


@dataclass(slots=True)
class Machine:
    """What the slots of one machine add up to; memory in MiB."""

    first: ClassAd
    slots: int = 0
    static: bool = False
    free_cpus: float | None = None
    free_memory: float | None = None
    largest: float | None = None
    states: frozenset[str] = frozenset()
    activities: frozenset[str] = frozenset()

    def add(self, ad: ClassAd) -> None:
        """Count one slot in."""
        self.states |= {ad.string("State") or ""}
        self.activities |= {ad.string("Activity") or ""}
        if ad.boolean("PartitionableSlot"):
            self.slots += ad.integer("NumDynamicSlots") or 0
            self.states |= set(_strings(ad, "ChildState"))
            self.activities |= set(_strings(ad, "ChildActivity"))
            self._add_free(ad)
            memories = [value for value in _list(ad, "ChildMemory") if isinstance(value, int)]
            self.largest = max([self.largest or 0.0, *memories]) if memories else self.largest
            return
        self.slots += 1
        self.static = True
        if (ad.string("State") or "") in _FREE:
            self._add_free(ad)
        else:
            self.free_cpus = self.free_cpus or 0.0
            self.free_memory = self.free_memory or 0.0
        self.largest = max(self.largest or 0.0, ad.real("Memory") or 0.0)

    def _add_free(self, ad: ClassAd) -> None:
        cpus, memory = ad.real("Cpus"), ad.real("Memory")
        if cpus is not None:
            self.free_cpus = (self.free_cpus or 0.0) + cpus
        if memory is not None:
            self.free_memory = (self.free_memory or 0.0) + memory


def _list(ad: ClassAd, name: str) -> list[object]:
    value = ad.evaluate(name)
    return list(value) if isinstance(value, list) else []


def _strings(ad: ClassAd, name: str) -> list[str]:
    return [value for value in _list(ad, name) if isinstance(value, str)]


def roll_up(ads: Iterable[ClassAd]) -> list[Machine]:
    """Return the machines in the order of their first slots; parts of slots do not count again."""
    machines: dict[str, Machine] = {}
    for ad in ads:
        if ad.boolean("DynamicSlot"):
            continue
        name = ad.string("Machine") or ""
        machines.setdefault(name, Machine(ad)).add(ad)
    return list(machines.values())


def _letter(values: frozenset[str], letters: dict[str, str]) -> str:
    return letters.get(next(iter(values)), "?") if len(values) == 1 else "*"


def _gigabytes(mebibytes: float | None) -> str | None:
    return None if mebibytes is None else f"{mebibytes / 1024:.2f}"


def describe(machine: Machine) -> ClassAd:
    """Return a line's texts as an ad, for the table."""
    first = machine.first
    load, cpus = first.real("TotalLoadAvg"), first.real("TotalCpus")
    starts = first.real("RecentJobStarts")
    memory, gpus = first.real("TotalSlotMemory"), first.real("TotalSlotGPUs")
    texts = {
        "Machine": first.string("Machine"),
        "Platform": platform(first),
        "Slots": f"{machine.slots:4d}{'S' if machine.static else ' '}",
        "Cpus": _whole(first.real("TotalSlotCpus")),
        "Gpus": _whole(gpus),
        "TotalGb": _gigabytes(memory),
        "FreCpu": _whole(machine.free_cpus),
        "FreeGb": _gigabytes(machine.free_memory),
        "CpuLoad": f"{load / cpus:.2f}" if load is not None and cpus else None,
        "ST": _letter(machine.states, _STATE_LETTERS)
        + _letter(machine.activities, _ACTIVITY_LETTERS),
        "JobsMin": "_".ljust(8) if starts is None else f"{starts / _RECENT_MINUTES:.2f}",
        "MaxSlotGb": "*".ljust(9) if machine.largest is None else _gigabytes(machine.largest),
    }
    return ClassAd({name: text for name, text in texts.items() if text is not None})


def _whole(value: float | None) -> str | None:
    return None if value is None else str(int(value))


def _cell(heading: str, name: str, width: int, *, left: bool = False, grows: bool = False) -> Cell:
    return Cell(heading, width, lambda ad: ad.string(name), left=left, grows=grows)


CELLS = (
    _cell("Machine", "Machine", 7, left=True, grows=True),
    _cell("Platform", "Platform", 8, left=True, grows=True),
    _cell("Slots", "Slots", 5),
    _cell("Cpus", "Cpus", 4),
    _cell("Gpus", "Gpus", 4),
    _cell(" TotalGb", "TotalGb", 8),
    _cell("FreCpu", "FreCpu", 6),
    _cell(" FreeGb", "FreeGb", 8),
    _cell("CpuLoad", "CpuLoad", 7),
    _cell("ST", "ST", 2, left=True),
    _cell("Jobs/Min", "JobsMin", 8),
    _cell("MaxSlotGb", "MaxSlotGb", 9),
)

TOTALS = replace(SLOT_STATES, key=platform, fits=True)


def render_compact(ads: list[ClassAd]) -> list[str]:
    """Return the table and the sums below it."""
    rows = [describe(machine) for machine in roll_up(ads)]
    return [*render_table(CELLS, rows), *render_totals(TOTALS, ads)]
