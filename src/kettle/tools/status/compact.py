"""`condor_status -compact`: one line for each type of slots of a machine, rolled up.

A partitionable slot speaks for its parts (Child… attributes); static slots of one type are
summed. Widths, letters and what counts as free are the reference's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kettle.classad import ClassAd, unparse
from kettle.classad.nodes import ListNode
from kettle.structs import Struct
from kettle.tools.printing.columns import Columns
from kettle.tools.printing.tables import Cell, LineWidth, render_table
from kettle.tools.printing.times import as_whole
from kettle.tools.status.tables import (
    OF_PARTS,
    SEVERAL,
    activity_letter,
    count_devices,
    gpus,
    platform,
    slot_tag,
    state_letter,
)
from kettle.tools.status.totals import (
    ACTIVITIES,
    CLAIMED,
    SERVER,
    SLOT_STATES,
    Totals,
    render_totals,
)
from kettle.tools.status.totals import platform as long_platform

NAMES = (
    "Activity Arch ChildActivity ChildMemory ChildState Cpus DynamicSlot GPUs Machine Memory Name "
    "AssignedGPUs AvailableGPUs ChildRemoteUser KFlops Mips NumDynamicSlots OfflineGPUs OpSys "
    "OpSysAndVer OpSysShortName PartitionableSlot RecentJobStarts SlotType SlotTypeID State "
    "TotalCpus TotalLoadAvg TotalSlotCpus TotalSlotGPUs TotalSlotMemory"
)

_ANY_WIDTH = LineWidth()
# Where slots that do not say their machine are counted.
NO_MACHINE = "undefined"

# Before the name of a slot whose line is a further one of its machine.
_INDENT = "   "

# Static slots in these states add nothing to what is free.
_TAKEN = frozenset(("Matched", "Claimed", "Preempting"))

# A state, or an activity, of which a slot says nothing.
_UNKNOWN = "?"

# What a line's texts are called by, so that they are no attributes of a slot.
_IN_LINE = "line."

# RecentJobStarts counts the starts of so many minutes.
_RECENT_MINUTES = 20


class Machine(Struct):
    """What the slots of one machine and type add up to; memory in MiB."""

    first: ClassAd
    # What the line is called: the machine, or the first slot of a further type.
    label: str = NO_MACHINE
    # None where the only slot is one that was split and does not say into how many.
    slots: int | None = None
    starts: float | None = None
    free_cpus: float | None = None
    free_memory: float | None = None
    largest: float | None = None
    # Empty as long as no slot shows any; `*` or `#` stand for several.
    state: str = ""
    activity: str = ""

    def add(self, ad: ClassAd) -> None:
        """Count one slot in; a part of a slot is there only where GPUs are looked at.

        What the first slot does not say stays unknown.
        """
        split = bool(ad.boolean("PartitionableSlot"))
        number = ad.integer("NumDynamicSlots") if split else 1
        starts = ad.real("RecentJobStarts")
        if ad is self.first:
            self.slots, self.starts = number, starts
        else:
            self.slots = (1 if self.slots is None else self.slots) + (number or 0)
            self.starts = _plus(self.starts, starts)
        if ad.boolean("DynamicSlot"):
            return
        if split:
            self._add_split(ad)
        else:
            self._show(ad.string("State") or _UNKNOWN, ad.string("Activity") or _UNKNOWN)
            self._add_static(ad)

    def _show(self, state: str, activity: str) -> None:
        self.state = state if self.state in {"", state} else SEVERAL
        self.activity = activity if self.activity in {"", activity} else SEVERAL

    def _add_split(self, ad: ClassAd) -> None:
        state, activity = _own_state(ad)
        self._show(
            _merge(state, _strings(ad, "ChildState")),
            _merge(activity, _strings(ad, "ChildActivity")),
        )
        memories = [value for value in _list(ad, "ChildMemory") if isinstance(value, int)]
        largest = float(max(memories)) if memories else None
        # Compat: of a second one its largest part is added (test_tables_recordings).
        free = ad.real("Memory") if ad is self.first else largest
        self._add_sizes(ad, ad.real("Cpus"), free, largest)

    def _add_static(self, ad: ClassAd) -> None:
        cpus, memory = ad.real("Cpus"), ad.real("Memory")
        largest = memory or 0.0
        if ad.string("State") in _TAKEN:
            # Nothing of it is free.
            cpus, memory = _nothing_of(cpus), _nothing_of(memory)
        self._add_sizes(ad, cpus, memory, largest)

    def _add_sizes(
        self, ad: ClassAd, cpus: float | None, memory: float | None, largest: float | None
    ) -> None:
        if ad is self.first:
            self.free_cpus, self.free_memory, self.largest = cpus, memory, largest
            return
        self.free_cpus = _plus(self.free_cpus, cpus)
        self.free_memory = _plus(self.free_memory, memory)
        if self.largest is not None:
            self.largest = max(self.largest, largest or 0.0)


def _has_cpus(ad: ClassAd) -> bool:
    """Tell whether a slot that may be split has a processor left, or does not say so."""
    cpus = ad.real("Cpus")
    return cpus is None or cpus > 0


def _own_state(ad: ClassAd) -> tuple[str, str]:
    """Return state and activity of a slot that may be split; none where it gave all that it had."""
    state, activity = ad.string("State") or _UNKNOWN, ad.string("Activity") or _UNKNOWN
    if (state, activity) == ("Unclaimed", "Idle") and not _has_cpus(ad):
        return "", ""
    return state, activity


def _merge(own: str, parts: Sequence[str]) -> str:
    """Return which state a slot and its parts show, or which activity; `own` is the slot's.

    A part that is preempted or vacated speaks for those before it, and for those behind it unless
    it is the first; one that is claimed does so where the slot itself is drained.
    Source: observed of condor_status 25.14.1.
    """
    found = own
    for number, state in enumerate(parts):
        if state == found:
            continue
        if state in {"Preempting", "Vacating"}:
            found = state
            if number:
                break
        elif not found or (found == "Drained" and state == "Claimed"):
            found = state
        else:
            found = SEVERAL if own else OF_PARTS
    return found


def _plus(known: float | None, more: float | None) -> float | None:
    return None if known is None else known + (more or 0.0)


def _nothing_of(size: float | None) -> float | None:
    return None if size is None else 0.0


def _list(ad: ClassAd, name: str) -> list[object]:
    value = ad.evaluate(name)
    return list(value) if isinstance(value, list) else []


def _strings(ad: ClassAd, name: str) -> list[str]:
    return [value for value in _list(ad, name) if isinstance(value, str)]


def roll_up(ads: Iterable[ClassAd]) -> list[Machine]:
    """Return the machines in the order of their first slots, a line for each type of slots.

    Those of no machine are taken together, under the name that the reference has for it.
    """
    machines: dict[str, dict[int | None, Machine]] = {}
    count = 0
    for count, ad in enumerate(ads, 1):  # noqa: B007 - of use behind the loop
        types = machines.setdefault(ad.string("Machine") or NO_MACHINE, {})
        kind = ad.integer("SlotTypeID")
        types.setdefault(kind if kind is None else abs(kind), Machine(ad)).add(ad)
    found = [line for name, types in machines.items() for line in _lines(name, types)]
    if count == 1 and not found[0].first.boolean("PartitionableSlot"):
        return [_show_alone(found[0])]
    return found


def _lines(name: str, types: dict[int | None, Machine]) -> Iterator[Machine]:
    """Yield the lines of a machine, by the number of the type; a further one has its slot's name.

    Slots that do not say their type stand first, and make none a further one.
    """
    is_further = False
    for kind in sorted(types, key=lambda kind: -1 if kind is None else kind):
        line = types[kind]
        slot = (line.first.string("Name") or "").partition("@")[0]
        yield line.changed(label=_INDENT + slot if is_further else name)
        is_further = kind is not None


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
    return state_letter(machine.state) + activity_letter(machine.activity)


def describe(machine: Machine) -> ClassAd:
    """Return a line's texts as an ad, for the table; the rest is as the first slot has it."""
    first = machine.first
    load, cpus = first.real("TotalLoadAvg"), first.real("TotalCpus")
    memory, gpus = first.real("TotalSlotMemory"), first.real("TotalSlotGPUs")
    texts = {
        "Machine": machine.label,
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
        "TotGPUs": count_devices(first),
        "FreGPU": _whole(first.real("GPUs")),
        "Mips": _whole(first.real("Mips")) or "-".ljust(7),
        "KFlops": _whole(first.real("KFlops")) or "-".ljust(9),
        "MaxSlotGb": "*".ljust(9) if machine.largest is None else _gigabytes(machine.largest),
    }
    line = {_IN_LINE + name: text for name, text in texts.items() if text is not None}
    return ClassAd(line, parent=first)


def _slots(machine: Machine) -> str:
    number = "" if machine.slots is None else str(machine.slots)
    return f"{number:>4}{slot_tag(machine.first)}"


def _whole(value: float | None) -> str | None:
    return None if value is None else str(as_whole(value))


def _users(ad: ClassAd) -> str | None:
    """Return whose jobs run in a slot's parts; a line has those of its first slot."""
    return ", ".join(sorted(set(_strings(ad, "ChildRemoteUser")))) or None


def _cell(heading: str, name: str, width: int, *, left: bool = False, grows: bool = False) -> Cell:
    return Cell(heading, width, lambda ad: ad.string(_IN_LINE + name), left=left, grows=grows)


# What stands at the left of every line, and the rest for each choice of slots.
_MACHINE = (
    _cell("Machine", "Machine", 7, left=True, grows=True),
    Cell("Platform", 8, platform, grows=True),
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


def _gpu_key(gpu: ClassAd) -> str | None:
    """Group GPUs by what they are; one that does not say its capability is in no group."""
    capability, memory = gpu.real("Capability"), gpu.real("GlobalMemoryMb")
    if capability is None:
        return None
    parts = [f"Capability {capability:.1f}"]
    parts += [] if memory is None else [f"{memory / 1024:.1f} GB"]
    name = gpu.string("DeviceName")
    parts += [] if name is None else [name.removeprefix("NVIDIA ")]
    return ", ".join(parts)


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
        (*_MACHINE, Cell("Users", 5, _users, grows=True)),
        CLAIMED.changed(key=_group, fits=True, least_width=14),
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
        ACTIVITIES.changed(key=_gpu_key, fits=True, least_width=14),
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
    mode: str,
    ads: list[ClassAd],
    *,
    wide: bool = False,
    within: LineWidth = _ANY_WIDTH,
    added: Columns | None = None,
) -> list[str]:
    """Return the table and the sums below it; `added` columns are of each machine's first slot."""
    cells, totals = COMPACT[mode]
    machines = roll_up(ads)
    rows = [describe(machine) for machine in machines]
    if any(line.label.startswith(_INDENT) for line in machines):
        cells = (_machine_cell(cells[0], machines), *cells[1:])
    if added is not None:
        # Their room is that of all slots, also of those that have no line.
        added.align()
        added.measure(ads)
    if mode == "gpus":
        counted = [(gpu, 1) for gpu in _count_gpus(ads)]
    else:
        counted = [each for ad in ads for each in _counted(mode, totals, ad)]
    if wide:
        totals = totals.changed(least_width=0)
    if mode == "gpus":
        totals = gpu_totals(totals, ads)
    sums = render_totals(
        totals,
        [ad for ad, _ in counted],
        times=[times for _, times in counted],
        fits=wide,
        always=bool(ads),
    )
    # Columns of attributes have the room of all slots, also of those that have no line.
    return [*render_table(cells, rows, added, widths_of=ads, within=within), *sums]


def _machine_cell(cell: Cell, machines: Iterable[Machine]) -> Cell:
    """Return the column of machines as wide as their names are: those of slots widen it later."""
    names = [line.label for line in machines if not line.label.startswith(_INDENT)]
    return cell.changed(width=max(cell.width, *map(len, names)), grows=False, widens=True)


def gpu_totals(totals: Totals, ads: Iterable[ClassAd]) -> Totals:
    """Return the sums below a table of GPUs: an empty line follows where a slot has one to give."""
    return totals.changed(after=("",)) if any(map(gpus, ads)) else totals


def _counted(mode: str, totals: Totals, ad: ClassAd) -> Iterator[tuple[ClassAd, int]]:
    """Yield what the sums count for a slot, and how often; what counts 0 times has its row.

    Compat: a slot that was split counts its parts by their states, with its own activity, and
    itself if it has a processor left; where machines or their sizes are summed it counts once more
    (output/cases.json).
    """
    split = bool(ad.boolean("PartitionableSlot"))
    alone = not ad.boolean("DynamicSlot") and (_has_cpus(ad) or not split)
    again = split and (mode in {"server", "claimed"} or totals.key(ad) is None)
    yield ad, alone + again
    if split and not again:
        for state in _strings(ad, "ChildState"):
            yield ClassAd({"State": state}, parent=ad), 1


def _count_gpus(ads: Iterable[ClassAd]) -> Iterator[ClassAd]:
    """Yield what the sums count for the GPUs that slots have to give: each once, by its state.

    A GPU is known by its name, in whatever slots it is.
    """
    seen: set[str] = set()
    for ad in ads:
        listed = ad.lookup("AvailableGPUs")
        for member in listed.elements if isinstance(listed, ListNode) else ():
            gpu = ad.evaluate_expression(member)
            name = unparse(member).lower()
            if isinstance(gpu, ClassAd) and _gpu_key(gpu) is not None and name not in seen:
                seen.add(name)
                yield ClassAd({"State": ad.string("State") or ""}, parent=gpu)
