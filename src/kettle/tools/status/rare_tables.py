"""The tables of condor_status that few ask for: what is absent or broken, disks, GPUs.

As in `tables.py` a table is data and the functions in its cells; names, widths and what stands for
a value that is missing are the reference's.
"""

from __future__ import annotations

from kettle.classad import ClassAd, Expr, parse_expression, unparse
from kettle.classad.nodes import AttributeReference, ListNode
from kettle.tools.printing.tables import FILL, Cell
from kettle.tools.printing.times import format_moment, format_span, readable, readable_amount
from kettle.tools.printing.values import Shown
from kettle.tools.status.tables import (
    ARCH,
    FIXED_NAME,
    NAME,
    OPSYS,
    fixed,
    growing_name,
    megabytes,
    member_count,
    moment,
    name_or_machine,
    text,
    whole,
)


def _named(heading: str, width: int | None = None) -> Cell:
    return Cell(heading, width or len(heading), name_or_machine, grows=True)


def _forgotten_at(ad: ClassAd) -> str | None:
    heard, lifetime = ad.integer("LastHeardFrom"), ad.integer("ClassAdLifetime")
    return None if heard is None else format_moment(heard + (lifetime or 0))


def _strings(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _offline_universes(ad: ClassAd) -> str | None:
    value = ad.evaluate("OfflineUniverses")
    return ", ".join(_strings(value)) if isinstance(value, list) else None


ABSENT = (
    NAME,
    OPSYS,
    ARCH,
    Cell("Went Absent", 11, moment("LastHeardFrom"), left=False),
    Cell("Will Forget", 11, _forgotten_at, left=False),
)
OFFLINE = (NAME, Cell("Offline Universes", 42, _offline_universes))


# --- health -----------------------------------------------------------------------------------


def _health_factor(ad: ClassAd) -> str:
    factor = ad.real("HealthFactor")
    return "?".ljust(6) if factor is None else f"{int(factor * 100):5d}%"


def _failed_checks(ad: ClassAd) -> str:
    """Show the conditions that do not hold; without conditions, what is broken."""
    checks = ad.evaluate("HealthExprs")
    if isinstance(checks, list):
        return ", ".join(_failed(ad))
    own = ad.string("SlotBrokenReason")
    if own is not None:
        return own
    reasons = ad.evaluate("BrokenReasons")
    if isinstance(reasons, str):
        return reasons
    return ", ".join(_unique(ad, "BrokenReasons")) if isinstance(reasons, list) else "?"


def _members(ad: ClassAd, name: str) -> list[Expr]:
    expression = ad.lookup(name)
    return list(expression.elements) if isinstance(expression, ListNode) else []


def _failed(ad: ClassAd) -> list[str]:
    return [
        unparse(each, old=True)
        for each in _members(ad, "HealthExprs")
        if isinstance(value := ad.evaluate_expression(each), (bool, int, float)) and not value
    ]


def _unique(ad: ClassAd, name: str) -> list[str]:
    """Return the different members of a list: strings as they are, others as they are written."""
    found = set()
    for member in _members(ad, name):
        written = unparse(member, old=True)
        value = ad.evaluate_expression(member)
        quoted = written.startswith('"')
        found.add(value if isinstance(value, str) and quoted else written)
    return sorted(found)


def _health(name: str, factor: str) -> tuple[Cell, ...]:
    return (
        _named(name),
        Cell(factor, 6, _health_factor, left=False),
        Cell("FAILED_HEALTH_CHECKS", 20, _failed_checks, grows=True),
    )


HEALTH = _health("HOST_NAME", "HEALTH")
SLOT_HEALTH = _health("SLOT_NAME", "Health")
BROKEN = (
    Cell("Name", 4, text("Name"), grows=True),
    Cell("Code", 4, whole("SlotBrokenCode"), left=False),
    Cell("Reason", 6, text("SlotBrokenReason"), grows=True, lines=True),
)

# Where what a machine says of a thing begins, below each other.
_THING_WIDTH = 12


def _broken_things(ad: ClassAd) -> str | None:
    """Show each thing that is broken and why, one below the other, with the job that broke it."""
    name = "BrokenReasons" if "BrokenReasons" in ad else "BrokenSlots"
    if not isinstance(ad.evaluate(name), list):
        return None
    lines: list[str] = []
    for number, member in enumerate(_members(ad, name), start=1):
        reason = ad.evaluate_expression(member)
        if not isinstance(reason, str):
            continue
        thing, more = str(number), list[str]()
        if isinstance(member, AttributeReference) and "BrokenReason" in member.name:
            thing = member.name.partition("BrokenReason")[0]
            context = ad.evaluate(f"{thing}BrokenContext")
            if isinstance(context, ClassAd):
                thing = context.string("Id") or thing
                more = _tell_context(context)
        lines.append(f"{thing[:_THING_WIDTH]:{_THING_WIDTH}} {reason}")
        lines += [f"{'':{_THING_WIDTH}} {line}" for line in more]
    return "\n".join(lines)


# When and after which job something broke, and what was lent to that job; the first two are
# filled up.
_CONTEXT_WIDTHS = (36, 60, 0, 0)
_CONTEXT = (
    'strcat("At time ", formattime(Time))',
    'strcat("After job ", join(" ", JobId, "from", RemoteUser, "on", RemoteScheddName))',
    (
        'strcat("Cpus=", int(Cpus), ", GPUs=", int(GPUs), ", Memory=", Memory, " MB, '
        'Disk=", Disk/1024, " MB")'
    ),
    'strcat("GpuIds=", AssignedGPUs)',
)


def _tell_context(context: ClassAd) -> list[str]:
    values = (context.evaluate_expression(parse_expression(line)) for line in _CONTEXT)
    return [
        value.ljust(width)
        for value, width in zip(values, _CONTEXT_WIDTHS, strict=True)
        if isinstance(value, str)
    ]


STARTD_BROKEN = (
    _named("Machine"),
    Cell("Resource     Reason", 19, _broken_things, grows=True, lines=True),
)

# --- disks ------------------------------------------------------------------------------------


def _provision(ad: ClassAd) -> str:
    return "thin" if ad.boolean("LvmIsThinProvisioning") else "thick"


def _loopback(ad: ClassAd) -> str:
    return "true" if ad.boolean("LvmUsingLoopback") else "false"


def _usable_disk(ad: ClassAd) -> str:
    used = ad.real("LvmNonCondorDiskUsage") or 0.0
    return readable_amount(1)(max(0.0, (ad.real("LvmDetectedDisk") or 0.0) - used))


def _disk_usage(ad: ClassAd) -> str | None:
    disk = ad.real("Disk")
    return f"{(ad.real('DiskUsage') or 0.0) / disk * 100:.2f}%" if disk else None


_PROVISION = Cell("PROVISION", 9, _provision)
LVM = (
    _named("NAME"),
    _PROVISION,
    Cell("ALLOCATED", 9, readable(1024)("Disk"), left=False),
    Cell("  USAGE", 7, _disk_usage, left=False, grows=True),
)
STARTD_LVM = (
    _named("HOST"),
    Cell("DEVICE", 6, text("LvmBackingStore"), missing="undefined", grows=True),
    _PROVISION,
    Cell("    DISK", 9, _usable_disk, left=False),
    Cell("LOOPBACK", 8, _loopback, left=False),
)
# Compat: the last column's format lacks its percent sign in the reference, which prints it
# (widths.json).
STORAGE = (
    FIXED_NAME,
    Cell("AvailDisk", 9, whole("Disk"), missing=FILL),
    Cell("Subnet", 11, lambda _: "-11s"),
)

# --- GPUs -------------------------------------------------------------------------------------


def _of_each_gpu(name: str) -> Shown:
    """Show what the GPUs of a machine say of themselves, each thing once."""

    def show(ad: ClassAd) -> str | None:
        gpus = ad.evaluate("DetectedGPUs")
        if not isinstance(gpus, list):
            return None
        told = {gpu.evaluate(name) for gpu in gpus if isinstance(gpu, ClassAd)}
        return ", ".join(sorted(str(each) for each in told if isinstance(each, (str, int, float))))

    return show


def _offline_gpus(ad: ClassAd) -> str | None:
    value = ad.evaluate("OfflineGPUs")
    if isinstance(value, str):
        return ", ".join(sorted({part.strip() for part in value.split(",")}))
    return ", ".join(_unique(ad, "OfflineGPUs")) if isinstance(value, list) else None


STARTD_GPUS = (
    _named("Name"),
    Cell("Cores", 5, whole("DetectedCpus"), grows=True),
    Cell("  Memory", 10, megabytes("DetectedMemory"), left=False),
    Cell("GPUs", 4, member_count("DetectedGPUs"), left=False),
    Cell("GPU-Memory", 10, _of_each_gpu("GlobalMemoryMB"), grows=True),
    Cell("GPU-Name", 8, _of_each_gpu("DeviceName"), grows=True),
    Cell("Offline-GPUs", 12, _offline_gpus, grows=True),
)

# --- accounting -------------------------------------------------------------------------------


def _last_usage(ad: ClassAd) -> str | None:
    heard = ad.integer("LastHeardFrom")
    return None if heard is None else format_span(heard - (ad.integer("LastUsageTime") or 0))


ACCOUNTING = (
    growing_name(12).changed(grows=False),
    Cell("Priority", 8, fixed("Priority", 2), left=False),
    Cell("PrioFactor", 10, fixed("PriorityFactor", 2), left=False),
    Cell("ResInUse", 8, whole("ResourcesUsed"), left=False),
    Cell("WeightedUsage", 13, fixed("WeightedAccumulatedUsage", 2), left=False),
    Cell("  LastUsage", 12, _last_usage, left=False),
)
