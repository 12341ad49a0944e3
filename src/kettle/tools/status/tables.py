"""The tables of condor_status: for each mode its cells. Pure data and the functions in the cells.

What a mode asks the collector for is in `wish.py`, the sums below a table are in `totals.py`, the
tables that few ask for in `rare_tables.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kettle.classad import ClassAd, Value, parse_expression
from kettle.classad.values import ExprList
from kettle.patterns import late_pattern
from kettle.tools.printing.tables import FILL, Cell
from kettle.tools.printing.times import as_whole, format_moment, format_span, readable
from kettle.tools.printing.values import Shown

NAME_WIDTH = 34
# The way to show an amount of MiB.
megabytes = readable(1024 * 1024)


def text(name: str) -> Shown:
    """Show a string attribute."""
    return lambda ad: ad.string(name)


def whole(name: str) -> Shown:
    """Show a number without fraction."""

    def shown(ad: ClassAd) -> str | None:
        value = ad.real(name)
        return None if value is None else str(as_whole(value))

    return shown


def fixed(name: str, digits: int) -> Shown:
    """Show a number with so many decimals."""

    def shown(ad: ClassAd) -> str | None:
        value = ad.real(name)
        return None if value is None else f"{value:.{digits}f}"

    return shown


def span(since: str, until: Sequence[str]) -> Shown:
    """Show the time from one attribute to the first of others that is there.

    Compat: what has no beginning has begun in 1970, as in the reference
    (test_tables_that_few_ask_for_are_the_references).
    """

    def shown(ad: ClassAd) -> str | None:
        end = next((value for name in until if (value := ad.integer(name)) is not None), None)
        return None if end is None else format_span(end - (ad.integer(since) or 0))

    return shown


def lasting(name: str) -> Shown:
    """Show a number of seconds as a span, as much of it as fits."""

    def shown(ad: ClassAd) -> str | None:
        value = ad.integer(name)
        return None if value is None else format_span(value)[:12]

    return shown


def moment(name: str) -> Shown:
    """Show a moment in local time."""

    def shown(ad: ClassAd) -> str | None:
        value = ad.integer(name)
        return None if value is None else format_moment(value)

    return shown


def name_or_machine(ad: ClassAd) -> str | None:
    """Show who an ad is about.

    Compat: its machine where it has no name, of which the reference shows `undefined`, question
    marks or nothing (test_an_ad_without_a_name_is_shown_by_its_machine).
    """
    return ad.string("Name") or ad.string("Machine")


# What the date of a release looks like, where it is one word.
_DATE = late_pattern(r"[^-]{4}-[^-]{2}-")


def version(ad: ClassAd) -> str | None:
    """Show the version that an ad says, with its build."""
    text = ad.string("CondorVersion")
    return None if text is None else version_text(text)


def version_text(text: str, *, with_build: bool = True) -> str | None:
    """Return the numbers of a version and its build: `25.14.1.839`; None if there is no word.

    The second word is the numbers. The build stands behind the date, which is one word or three,
    and behind its own heading; where the text ends before it, the dot stays, as in the reference.
    """
    words = [word for word in text.split(" ") if word]
    if not words:
        return None
    number, rest = "".join(words[1:2]), words[2:]
    rest = rest[1:] if rest and _DATE.match(rest[0]) else rest[3:]
    if rest and rest[0].startswith("B"):
        rest = rest[1:]
    if (rest and rest[0].startswith("$")) or not with_build:
        return number
    return f"{number}.{rest[0].partition('-')[0] if rest else ''}"


_ARCHITECTURES = {"X86_64": "x64", "X86": "x86"}


def platform(ad: ClassAd) -> str | None:
    """Show architecture and system in short: `x64/Debian13`.

    The system's kind stands for an architecture that is not known, as in the reference.
    """
    kind = ad.string("OpSys")
    system = ad.string("OpSysShortName" if kind == "WINDOWS" else "OpSysAndVer")
    arch = ad.string("Arch") or kind or ""
    return None if system is None else f"{_ARCHITECTURES.get(arch, arch)}/{system}"


def _mytype(ad: ClassAd) -> str:
    return ad.string("MyType") or "None"


def _target(ad: ClassAd) -> str:
    return ad.string("TargetType") or "None"


def _cycle_seconds(ad: ClassAd) -> str | None:
    value = ad.integer("LastNegotiationCycleDuration0")
    return None if value is None else str(value)


# What stands for several states or activities: also a slot's own, or those of its parts alone.
SEVERAL, OF_PARTS = "*", "#"
_STATE_LETTERS = {
    "Shutdown": "S",
    "Delete": "X",
    "Owner": "O",
    "Unclaimed": "U",
    "Matched": "M",
    "Claimed": "C",
    "Preempting": "P",
    "Backfill": "F",
    "Drained": "D",
    SEVERAL: SEVERAL,
    OF_PARTS: OF_PARTS,
}
_ACTIVITY_LETTERS = {
    "Idle": "i",
    "Busy": "b",
    "Retiring": "r",
    "Vacating": "v",
    "Suspended": "s",
    "Benchmarking": "e",
    "Killing": "k",
    "Cleaning": "c",
    SEVERAL: SEVERAL,
    OF_PARTS: OF_PARTS,
}


def state_letter(state: str) -> str:
    """Return the letter of a state; a blank for none."""
    return _STATE_LETTERS.get(state, " ")


def activity_letter(activity: str) -> str:
    """Return the letter of an activity; a blank for none."""
    return _ACTIVITY_LETTERS.get(activity, " ")


def state_code(ad: ClassAd) -> str:
    """Show state and activity in two letters; nothing if the activity is not known."""
    letter = activity_letter(ad.string("Activity") or "")
    return "" if letter == " " else state_letter(ad.string("State") or "") + letter


def count_members(value: Value) -> int | None:
    """Return how many members a list has, or a string that holds one; None for anything else."""
    if isinstance(value, str):
        return len(members_of(value))
    return len(value) if isinstance(value, (list, ExprList)) else None


def member_count(name: str) -> Shown:
    """Show how many members a list has, or a string that holds one."""

    def shown(ad: ClassAd) -> str | None:
        count = count_members(ad.evaluate(name))
        return None if count is None else str(count)

    return shown


_SEPARATORS = late_pattern(r"[,\s]+")


def members_of(text: str) -> list[str]:
    """Return the members of a list that is a string."""
    return [part for part in _SEPARATORS.split(text) if part]


def count_devices(ad: ClassAd) -> str | None:
    """Show how many GPUs a slot has, and how many of them are not used: `   4-1`."""
    assigned = ad.string("AssignedGPUs")
    if assigned is None:
        return None
    devices = members_of(assigned.lower())
    offline = sum(each in devices for each in members_of((ad.string("OfflineGPUs") or "").lower()))
    return f"{len(devices):4d}" + (f"-{offline}" if offline else "")


def slot_tag(ad: ClassAd) -> str:
    """Show the letter of a slot's type; a blank for one that may be split, or of no type."""
    return tag_of_type(ad.string("SlotType") or "") or " "


def tag_of_type(kind: str) -> str:
    """Return the letter of a type of slot; a blank for one that may be split, empty for none."""
    return " " if kind == "Partitionable" else kind[:1]


def device_names(ad: ClassAd) -> str | None:
    """Show the names of a slot's GPUs."""
    name = ad.string("GPUs_DeviceName")
    if name is not None:
        return name
    listed = ad.evaluate("AvailableGPUs")
    if not isinstance(listed, list):
        return ad.string("CUDADeviceName")
    names = [text for gpu in gpus(ad) if (text := gpu.string("DeviceName")) is not None]
    return ",".join(names) if names or not listed else None


def gpus(ad: ClassAd) -> list[ClassAd]:
    """Return the ads of the GPUs that a slot has to give."""
    listed = ad.evaluate("AvailableGPUs")
    return [gpu for gpu in listed if isinstance(gpu, ClassAd)] if isinstance(listed, list) else []


def growing_name(width: int) -> Cell:
    """Return the column of a name, which is as wide as the longest."""
    # Where there is no room, no fewer than twelve characters of a name are left.
    return Cell("Name", width, name_or_machine, grows=True, shrinks_to=12)


def _machine(width: int, *, grows: bool = True) -> Cell:
    return Cell("Machine", width, text("Machine"), missing="undefined", grows=grows, shrinks_to=7)


_LOAD = Cell("LoadAv", 6, fixed("CondorLoadAvg", 3), left=False, missing=FILL, cut=True)
NAME = growing_name(NAME_WIDTH)
FIXED_NAME = NAME.changed(grows=False)


_GROWING_NAME = growing_name(15)


def is_unused_unit(ad: ClassAd) -> bool:
    """Tell whether a slot is a user's own unit that nobody uses."""
    return ad.string("Activity") == "Idle" and bool(ad.boolean("OCU"))


def seconds_since(moment: int, ad: ClassAd) -> int | None:
    """Return how long ago a moment was when an ad was made; what begins later begins now."""
    now = ad.integer("MyCurrentTime")
    now = ad.integer("LastHeardFrom") if now is None else now
    return None if now is None else max(0, now - moment)


def _activity(ad: ClassAd) -> str | None:
    """Show a slot's activity; of a user's own unit that nobody uses, that it is one."""
    return "OCU" if is_unused_unit(ad) else ad.string("Activity")


def _activity_time(ad: ClassAd) -> str | None:
    """Show since when the activity is what it is."""
    seconds = seconds_since(ad.integer("EnteredCurrentActivity") or 0, ad)
    return None if seconds is None else format_span(seconds)


OPSYS = Cell("OpSys", 10, text("OpSys"))
ARCH = Cell("Arch", 8, text("Arch"))
_STATE = Cell("State", 5, text("State"), grows=True, missing="undefined")
_ACTIVITY = Cell("Activity", 8, _activity, missing="??")
_MEMORY = Cell("Mem", 6, whole("Memory"), left=False, missing=FILL)
_ACTIVITY_TIME = Cell(
    "  ActvtyTime",
    12,
    _activity_time,
    left=False,
    missing="-",
    gap="",
    cut=True,
)
_WIDE_ACTIVITY_TIME = Cell(
    "ActivityTime", 12, _activity_time, left=False, missing="-", missing_left=True, grows=True
)


def _uptime(ad: ClassAd) -> str | None:
    """Show how long a daemon has been up; one that does not say since when, since 1970."""
    heard = ad.integer("LastHeardFrom")
    return None if heard is None else format_span(heard - (ad.integer("DaemonStartTime") or 0))


def _sum(heading: str, name: str, width: int) -> Cell:
    return Cell(heading, width, whole(name), left=False, heading_left=False)


SLOTS = (NAME, OPSYS, ARCH, _STATE, _ACTIVITY, _LOAD, _MEMORY, _ACTIVITY_TIME)
_JAVA_CELLS = (
    Cell("JavaVendor", 10, text("JavaVendor")),
    Cell("JavaVersion", 6, text("JavaVersion")),
)
JAVA = (
    NAME,
    *_JAVA_CELLS,
    _STATE,
    _ACTIVITY,
    _LOAD,
    _MEMORY,
    _ACTIVITY_TIME,
)
VM = (
    NAME,
    Cell("VmType", 6, text("VM_Type")),
    Cell("Network", 9, text("VM_Networking_Types")),
    _STATE,
    _ACTIVITY,
    _LOAD,
    Cell("VMMem", 5, whole("VM_Memory"), left=False, missing=FILL),
    _ACTIVITY_TIME,
)
_CLAIMED_CELLS = (
    _LOAD,
    Cell("RemoteUser", 20, text("RemoteUser")),
    Cell("ClientMachine", 16, text("ClientMachine")),
)
CLAIMED = (NAME, OPSYS, ARCH, *_CLAIMED_CELLS)
JAVA_CLAIMED = (NAME, *_JAVA_CELLS, *_CLAIMED_CELLS)
SERVER = (
    NAME,
    OPSYS,
    ARCH,
    _LOAD,
    Cell("Memory", 8, whole("Memory"), left=False, missing=FILL),
    Cell("Disk", 9, whole("Disk"), left=False, missing=FILL),
    Cell("Mips", 7, whole("Mips"), left=False, missing=FILL),
    Cell("KFlops", 9, whole("KFlops"), left=False, missing=FILL),
)
STATE = (
    NAME,
    Cell("Cpu", 3, whole("Cpus"), missing="undefined", grows=True),
    Cell(" Mem ", 5, lambda _: None, left=False),
    _LOAD,
    Cell("  KbdIdle", 12, lasting("KeyboardIdle"), left=False, missing=FILL, cut=True),
    Cell("State", 7, text("State")),
    Cell(
        "  StateTime",
        12,
        span("EnteredCurrentState", ("LastHeardFrom",)),
        left=False,
        missing=FILL,
        cut=True,
    ),
    Cell("Activ", 5, text("Activity"), missing="undefined", grows=True),
    Cell(
        "  ActvtyTime",
        12,
        span("EnteredCurrentActivity", ("LastHeardFrom",)),
        left=False,
        missing="-",
        cut=True,
    ),
)
SCHEDDS = (
    _GROWING_NAME,
    _machine(12),
    _sum("RunningJobs", "TotalRunningJobs", 11),
    _sum("IdleJobs", "TotalIdleJobs", 10),
    _sum("HeldJobs", "TotalHeldJobs", 10),
)
RUNNING_SCHEDDS = (
    _GROWING_NAME,
    _sum("TotalJobs", "TotalJobAds", 9),
    _sum("Shadows", "ShadowsRunning", 7),
    _sum("ActiveDAGs", "TotalSchedulerJobsRunning", 10),
    _sum("IdleDAGs", "TotalSchedulerJobsIdle", 8),
    _sum("RcntDone", "RecentJobsCompleted", 8),
    _sum("RcntStart", "RecentJobsStarted", 9),
)
SUBMITTERS = (
    _GROWING_NAME,
    _machine(12),
    _sum("RunningJobs", "RunningJobs", 11),
    _sum("IdleJobs", "IdleJobs", 10),
    _sum("HeldJobs", "HeldJobs", 10),
)
COLLECTORS = (
    growing_name(4),
    _machine(18, grows=False),
    _sum("RunningJobs", "RunningJobs", 11),
    _sum("IdleJobs", "IdleJobs", 10),
    _sum("HostsTotal", "HostsTotal", 10),
)
NEGOTIATORS = (
    growing_name(12),
    Cell("LastCycleEnd", 12, moment("LastNegotiationCycleEnd0"), left=False),
    Cell("(Sec)", 5, _cycle_seconds, left=False),
    _sum("Slots", "LastNegotiationCycleCandidateSlots0", 7),
    _sum("Submitrs", "LastNegotiationCycleActiveSubmitterCount0", 8),
    _sum("Schedds", "LastNegotiationCycleNumSchedulers0", 7),
    _sum("Jobs", "LastNegotiationCycleNumIdleJobs0", 7),
    _sum("Matches", "LastNegotiationCycleMatches0", 7),
    _sum("Rejections", "LastNegotiationCycleRejections0", 10),
)
MASTERS = (
    growing_name(12),
    Cell("Version", 14, version, grows=True),
    Cell("Cpus", 4, whole("DetectedCpus"), left=False, missing=FILL),
    Cell("  Memory", 10, megabytes("DetectedMemory"), left=False),
    Cell("   Uptime", 13, _uptime, left=False),
)
STARTDS = (
    growing_name(4),
    Cell("Platform", 8, platform, grows=True),
    Cell("Version", 7, version, grows=True),
    Cell("Cpus", 4, whole("DetectedCpus"), left=False, missing=FILL),
    Cell("  Memory", 10, megabytes("DetectedMemory"), left=False),
    Cell("GPUs", 5, member_count("DetectedGPUs"), left=False),
    Cell("   Uptime", 13, _uptime, left=False),
)


def fitted_collectors(width: int) -> Sequence[Cell]:
    """Return the cells of the table of collectors for a line that is so long."""
    more = width - 79
    for_machines = min(30, more - min(20, more * 2 // 3))
    cells = list(COLLECTORS)
    cells[1] = cells[1].changed(width=cells[1].width + for_machines)
    return cells


def with_wide_names(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells of a table in which no name stands out of its column."""
    return [cell if cell.shrinks_to is None else cell.changed(grows=True) for cell in cells]


def with_wide_time(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells of a table of slots for a line that is long."""
    return [_WIDE_ACTIVITY_TIME if cell is _ACTIVITY_TIME else cell for cell in cells]


DEFRAG = (
    growing_name(12),
    _sum("Draining", "MachinesDraining", 8),
    _sum("Peak", "MachinesDrainingPeak", 8),
    _sum("TotalDrained", "DrainedMachines", 12),
)
GRID = (
    FIXED_NAME,
    *(
        Cell(heading, width, whole(name), left=False, heading_left=False, missing=FILL)
        for heading, name, width in (
            ("NumJobs", "NumJobs", 7),
            ("Allowed", "SubmitsAllowed", 7),
            ("Wanted", "SubmitsWanted", 7),
            ("RunningJobs", "RunningJobs", 11),
            ("IdleJobs", "IdleJobs", 8),
        )
    ),
)
ANY = (
    Cell("MyType", 18, _mytype),
    Cell("TargetType", 18, _target),
    growing_name(41).changed(grows=False),
)
GPUS = (
    Cell("Name", 4, name_or_machine, grows=True),
    Cell("ST", 2, state_code),
    Cell("User", 4, text("RemoteUser"), missing="_", grows=True),
    Cell("GPUs", 4, whole("GPUs"), left=False),
    Cell("GPU-Memory", 10, megabytes("GPUs_GlobalMemoryMB"), grows=True),
    Cell("GPU-Name", 8, device_names, missing="*", grows=True),
)


def _number(heading: str, expression: str, width: int, digits: int = 0) -> Cell:
    parsed = parse_expression(expression)

    def shown(ad: ClassAd) -> str | None:
        value = ad.evaluate_expression(parsed)
        if not isinstance(value, (bool, int, float)):
            return None
        return f"{value:.{digits}f}" if digits else str(as_whole(value))

    return Cell(heading, width, shown, left=False)


DATA = (
    _GROWING_NAME,
    _number("Download", "TransferQueueNumDownloading", 8),
    _number("KB/sec(5m)", "FileTransferDownloadBytesPerSecond_5m/1024.0", 10, 2),
    _number("Waiting", "TransferQueueNumWaitingToDownload", 7),
    _number("WaitingMB", "FileTransferMBWaitingToDownload", 9, 2),
    _number("      Upload", "TransferQueueNumUploading", 12),
    _number("KB/sec(5m)", "FileTransferUploadBytesPerSecond_5m/1024.0", 10, 2),
    _number("Waiting", "TransferQueueNumWaitingToUpload", 7),
    _number("WaitingMB", "FileTransferMBWaitingToUpload", 9, 2),
)
