"""`condor_status -compact`: one line for each machine, its slots rolled up.

A partitionable slot speaks for its parts (Child… attributes); static slots of one machine are
summed. Widths, letters and what counts as free are the reference's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kettle.classad import ClassAd
from kettle.structs import Struct
from kettle.tools.printing.tables import Cell, LineWidth, render_table
from kettle.tools.printing.times import as_whole
from kettle.tools.status.tables import (
    activity_letter,
    gpus,
    platform,
    readable_mebibytes,
    state_letters,
)
from kettle.tools.status.totals import (
    ACTIVITIES,
    CLAIMED,
    GPUS,
    SERVER,
    SLOT_STATES,
    Totals,
    render_totals,
)
from kettle.tools.status.totals import platform as long_platform

NAMES = (
    "Activity Arch ChildActivity ChildMemory ChildState Cpus DynamicSlot GPUs Machine Memory Name "
    "AssignedGPUs AvailableGPUs ChildRemoteUser KFlops Mips NumDynamicSlots OpSys OpSysAndVer "
    "OpSysShortName PartitionableSlot RecentJobStarts State TotalCpus "
    "TotalLoadAvg TotalSlotCpus TotalSlotGPUs TotalSlotMemory"
)

_ANY_WIDTH = LineWidth()
# Where slots that do not say their machine are counted.
NO_MACHINE = "undefined"

# Static slots in these states add to what is free.
_FREE = frozenset(("Owner", "Unclaimed", "Drained", "Backfill"))

# RecentJobStarts counts the starts of so many minutes.
_RECENT_MINUTES = 20


class Machine(Struct):
    """What the slots of one machine add up to; memory in MiB."""

    first: ClassAd
    # None where the only slot is one that was split and does not say into how many.
    slots: int | None = None
    starts: float | None = None
    static: bool = False
    free_cpus: float | None = None
    free_memory: float | None = None
    largest: float | None = None
    states: frozenset[str] = frozenset()
    activities: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()

    def add(self, ad: ClassAd) -> None:
        """Count one slot in; a part of a slot is there only where GPUs are looked at."""
        split = bool(ad.boolean("PartitionableSlot"))
        number = ad.integer("NumDynamicSlots") if split else 1
        starts = ad.real("RecentJobStarts")
        if ad is self.first:
            self.slots, self.starts = number, starts
        else:
            self.slots = (1 if self.slots is None else self.slots) + (number or 0)
            self.starts = None if self.starts is None else self.starts + (starts or 0.0)
        if ad.boolean("DynamicSlot"):
            return
        self.states |= {ad.string("State") or ""}
        self.activities |= {ad.string("Activity") or ""}
        if split:
            self._add_split(ad)
        else:
            self._add_static(ad)

    def _add_split(self, ad: ClassAd) -> None:
        self.states |= set(_strings(ad, "ChildState"))
        self.activities |= set(_strings(ad, "ChildActivity"))
        self.users |= set(_strings(ad, "ChildRemoteUser"))
        memories = [value for value in _list(ad, "ChildMemory") if isinstance(value, int)]
        # Compat: of a second one its largest part is added (test_tables_recordings).
        memory = ad.real("Memory") if ad is self.first else max(memories, default=0)
        self._add_free(ad, memory)
        self.largest = max([self.largest or 0.0, *memories]) if memories else self.largest

    def _add_static(self, ad: ClassAd) -> None:
        # Ads of startds that are too old to say so have no mark (condor_status 25.14.1).
        self.static |= "SlotType" in ad
        if (ad.string("State") or "") in _FREE:
            self._add_free(ad, ad.real("Memory"))
        else:
            # Nothing of it is free; what it does not say stays unknown.
            if ad.real("Cpus") is not None:
                self.free_cpus = self.free_cpus or 0.0
            if ad.real("Memory") is not None:
                self.free_memory = self.free_memory or 0.0
        self.largest = max(self.largest or 0.0, ad.real("Memory") or 0.0)

    def _add_free(self, ad: ClassAd, memory: float | None) -> None:
        cpus = ad.real("Cpus")
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
    """Return the machines in the order of their first slots.

    Those of no machine are taken together, under the name that the reference has for it.
    """
    machines: dict[str, Machine] = {}
    count = 0
    for count, ad in enumerate(ads, 1):  # noqa: B007 - of use behind the loop
        name = ad.string("Machine") or NO_MACHINE
        machines.setdefault(name, Machine(ad)).add(ad)
    found = list(machines.values())
    if count == 1 and not found[0].first.boolean("PartitionableSlot"):
        return [_show_alone(found[0])]
    return found


def _show_alone(machine: Machine) -> Machine:
    """Return what is shown of a slot that is the only one of all.

    Compat: the reference adds up nothing then, a static slot as little as what is free
    (test_tables_recordings).
    """
    ad = machine.first
    free = {"free_cpus": ad.real("Cpus"), "free_memory": ad.real("Memory")}
    return machine.changed(slots=None, largest=None, **free)


def _gigabytes(mebibytes: float | None) -> str | None:
    return None if mebibytes is None else f"{mebibytes / 1024:.2f}"


def _letters(machine: Machine) -> str:
    """Return the letters of state and activity; none where the first slot's activity is unknown."""
    if activity_letter(machine.first.string("Activity") or "") == " ":
        return ""
    return state_letters(machine.states, machine.activities)


def describe(machine: Machine) -> ClassAd:
    """Return a line's texts as an ad, for the table."""
    first = machine.first
    load, cpus = first.real("TotalLoadAvg"), first.real("TotalCpus")
    memory, gpus = first.real("TotalSlotMemory"), first.real("TotalSlotGPUs")
    texts = {
        "Machine": first.string("Machine") or NO_MACHINE,
        "Platform": platform(first),
        "Slots": _slots(machine),
        "Cpus": _whole(first.real("TotalSlotCpus")),
        "Gpus": _whole(gpus),
        "TotalGb": _gigabytes(memory),
        "FreCpu": _whole(machine.free_cpus),
        "FreeGb": _gigabytes(machine.free_memory),
        "CpuLoad": f"{load / cpus:.2f}" if load is not None and cpus else None,
        "ST": _letters(machine),
        "JobsMin": "_".ljust(8)
        if machine.starts is None
        else f"{machine.starts / _RECENT_MINUTES:.2f}",
        "Users": ", ".join(sorted(machine.users)) or None,
        "TotGPUs": f"{as_whole(first.real('TotalSlotGPUs') or first.real('GPUs') or 0):4d}",
        "FreGPU": _whole(first.real("GPUs")),
        "Mips": _whole(first.real("Mips")) or "-".ljust(7),
        "KFlops": _whole(first.real("KFlops")) or "-".ljust(9),
        "MaxSlotGb": "*".ljust(9) if machine.largest is None else _gigabytes(machine.largest),
    }
    return ClassAd({name: text for name, text in texts.items() if text is not None})


def _slots(machine: Machine) -> str:
    number = "" if machine.slots is None else str(machine.slots)
    return f"{number:>4}{'S' if machine.static else ' '}"


def _whole(value: float | None) -> str | None:
    return None if value is None else str(as_whole(value))


def _cell(heading: str, name: str, width: int, *, left: bool = False, grows: bool = False) -> Cell:
    return Cell(heading, width, lambda ad: ad.string(name), left=left, grows=grows)


# What stands at the left of every line, and the rest for each choice of slots.
_MACHINE = (
    _cell("Machine", "Machine", 7, left=True, grows=True),
    _cell("Platform", "Platform", 8, left=True, grows=True),
    _cell("Slots", "Slots", 5),
)
_SIZE = (
    _cell("Cpus", "Cpus", 4),
    _cell("Gpus", "Gpus", 4),
    _cell(" TotalGb", "TotalGb", 8),
)
_LOAD = (
    _cell("CpuLoad", "CpuLoad", 7),
    _cell("ST", "ST", 2, left=True),
    _cell("Jobs/Min", "JobsMin", 8),
)
_SLOTS = (
    _MACHINE[0].changed(width=12),
    *_MACHINE[1:],
    *_SIZE,
    _cell("FreCpu", "FreCpu", 6),
    _cell(" FreeGb", "FreeGb", 8),
    *_LOAD,
    _cell("MaxSlotGb", "MaxSlotGb", 9),
)


def _gpu_key(ad: ClassAd) -> str | None:
    """Group slots by the first GPU that they have to give."""
    first = next(iter(gpus(ad)), None)
    if first is None:
        return None
    capability = first.real("Capability")
    parts = [f"Capability {capability:.1f}"] if capability is not None else []
    parts += [readable_mebibytes("GlobalMemoryMb")(first) or ""]
    parts += [(first.string("DeviceName") or "").removeprefix("NVIDIA ")]
    return ", ".join(part for part in parts if part)


def _group(ad: ClassAd) -> str | None:
    """Group slots by their platform in short, or else at length."""
    return platform(ad) or long_platform(ad)


_BY_PLATFORM = SLOT_STATES.changed(key=_group, fits=True, least_width=14)
# For each choice of slots: the cells of a line and the sums below.
COMPACT: dict[str, tuple[Sequence[Cell], Totals]] = {
    "slot": (_SLOTS, _BY_PLATFORM),
    "avail": (_SLOTS, _BY_PLATFORM),
    "state": ((*_MACHINE, *_SIZE, *_LOAD), ACTIVITIES),
    "server": (
        (
            *_MACHINE,
            *_SIZE,
            _cell(" Mips  ", "Mips", 7),
            _cell(" KFlops  ", "KFlops", 9),
            *_LOAD,
        ),
        SERVER.changed(key=_group, fits=True, least_width=14),
    ),
    "claimed": (
        (*_MACHINE, _cell("Users", "Users", 5, left=True, grows=True)),
        CLAIMED.changed(key=_group),
    ),
    "gpus": (
        (
            *_MACHINE,
            _cell("FreGPU", "FreGPU", 6),
            _cell("TotGPUs", "TotGPUs", 7, left=True),
            *(
                _cell(heading, "", width, left=True)
                for heading, width in (("Capability", 10), ("GPUsMemory", 10), ("DeviceNames", 11))
            ),
        ),
        GPUS.changed(key=_gpu_key, fits=True, least_width=14),
    ),
}


_NO_PARTS = "PartitionableSlot =?= true || DynamicSlot =!= true"
# What a slot has to satisfy to have a line, beside what its choice asks for; or instead of it.
CONDITIONS = {
    "claimed": (
        '(State == "Claimed" && DynamicSlot =!= true) || '
        "(NumDynamicSlots =!= undefined && NumDynamicSlots > 0)"
    ),
    "gpus": (
        "AvailableGPUs =!= undefined && (size(AvailableGPUs) > 0 || "
        "(PartitionableSlot && AssignedGPUs =!= undefined))"
    ),
}


def condition(mode: str, own: str) -> str:
    """Return what the slots of a choice satisfy that have a line."""
    if mode in CONDITIONS:
        return CONDITIONS[mode]
    return f"({own}) && ({_NO_PARTS})" if own else _NO_PARTS


def render_compact(
    mode: str, ads: list[ClassAd], *, wide: bool = False, within: LineWidth = _ANY_WIDTH
) -> list[str]:
    """Return the table and the sums below it."""
    cells, totals = COMPACT[mode]
    rows = [describe(machine) for machine in roll_up(ads)]
    counted = [each for ad in ads for each in _counted(mode, ad)]
    if wide:
        totals = totals.changed(least_width=0)
    return [*render_table(cells, rows, within=within), *render_totals(totals, counted, fits=wide)]


def _counted(mode: str, ad: ClassAd) -> Iterator[ClassAd]:
    """Yield what the sums count for a slot that has a line.

    Compat: a slot that was split counts its parts by their states, with its own activity; where
    machines or their sizes are summed it counts twice (output/cases.json).
    """
    if not ad.boolean("DynamicSlot"):
        yield ad
    if not ad.boolean("PartitionableSlot"):
        return
    if mode in {"server", "claimed"}:
        yield ad
    elif mode != "gpus":
        for state in _strings(ad, "ChildState"):
            yield ClassAd({"State": state}, parent=ad)
