"""The tables of condor_status: for each mode its cells. Pure data and the functions in the cells.

What a mode asks the collector for is in `condor_status.py`, the sums below a table are in
`totals.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kettle.classad import ClassAd, parse_expression, unparse
from kettle.classad.nodes import ListNode, Literal
from kettle.patterns import late_pattern
from kettle.tools.printing.tables import FILL, Cell, Shown
from kettle.tools.printing.times import format_moment, format_span

NAME_WIDTH = 34


def text(name: str) -> Shown:
    """Show a string attribute."""
    return lambda ad: ad.string(name)


def whole(name: str) -> Shown:
    """Show a number without fraction."""

    def shown(ad: ClassAd) -> str | None:
        value = ad.real(name)
        return None if value is None else str(int(value))

    return shown


def fixed(name: str, digits: int) -> Shown:
    """Show a number with so many decimals."""

    def shown(ad: ClassAd) -> str | None:
        value = ad.real(name)
        return None if value is None else f"{value:.{digits}f}"

    return shown


def span(since: str, until: Sequence[str]) -> Shown:
    """Show the time from one attribute to the first of others that is there."""

    def shown(ad: ClassAd) -> str | None:
        start = ad.integer(since)
        end = next((value for name in until if (value := ad.integer(name)) is not None), None)
        return None if start is None or end is None else format_span(end - start)

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
    """Show who an ad is about."""
    return ad.string("Name") or ad.string("Machine")


_VERSION = late_pattern(r"\$CondorVersion:\s*(\S+)(?:.*?(?:BuildID|PackageID):\s*(\S+))?")


def version(ad: ClassAd) -> str | None:
    """Show a version as numbers and build: `25.14.1.1`."""
    found = _VERSION.match(ad.string("CondorVersion") or "")
    if found is None:
        return None
    build = (found[2] or "").split("-")[0]
    # A package's number repeats the version.
    if build.startswith(found[1]):
        return build
    return f"{found[1]}.{build}" if build else found[1]


_ARCHITECTURES = {"X86_64": "x64", "INTEL": "INTEL"}


def platform(ad: ClassAd) -> str | None:
    """Show architecture and system in short: `x64/Debian13`."""
    arch, system = ad.string("Arch") or "", ad.string("OpSysAndVer") or ad.string("OpSys")
    if not system:
        return None
    if system.startswith("WINDOWS"):
        system = ad.string("OpSysShortName") or system
    return f"{_ARCHITECTURES.get(arch, arch)}/{system}"


def gigabytes(name: str) -> Shown:
    """Show an amount given in MiB as `32.0 GB`."""

    def shown(ad: ClassAd) -> str | None:
        value = ad.real(name)
        return None if value is None else f"{value / 1024:.1f} GB"

    return shown


def _mytype(ad: ClassAd) -> str:
    return ad.string("MyType") or "None"


def _target(ad: ClassAd) -> str:
    return ad.string("TargetType") or "None"


def _cycle_seconds(ad: ClassAd) -> str | None:
    value = ad.integer("LastNegotiationCycleDuration0")
    return None if value is None else str(value)


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
    "Cleaning": "c",
}


def state_letters(states: Collection[str], activities: Collection[str]) -> str:
    """Return a letter for the state and one for the activity; `*` where there are several."""
    return _letter(states, _STATE_LETTERS) + _letter(activities, _ACTIVITY_LETTERS)


def _letter(values: Collection[str], letters: Mapping[str, str]) -> str:
    return letters.get(next(iter(values)), "?") if len(values) == 1 else "*"


def state_code(ad: ClassAd) -> str:
    """Show state and activity in two letters."""
    return state_letters([ad.string("State") or ""], [ad.string("Activity") or ""])


def member_count(name: str) -> Shown:
    """Show how many members a list has, or a string that holds one."""

    def shown(ad: ClassAd) -> str | None:
        value = ad.evaluate(name)
        if isinstance(value, str):
            return str(len([part for part in value.split(",") if part.strip()]))
        return str(len(value)) if isinstance(value, list) else None

    return shown


def readable_mebibytes(name: str) -> Shown:
    """Show an amount given in MiB in the unit that fits it."""

    def shown(ad: ClassAd) -> str | None:
        amount = ad.real(name)
        if amount is None:
            return None
        for unit in ("MB", "GB"):
            if amount < 1024:
                return f"{amount:.1f} {unit}"
            amount /= 1024
        return f"{amount:.1f} TB"

    return shown


def device_names(ad: ClassAd) -> str | None:
    """Show the names of a slot's GPUs."""
    name = ad.string("GPUs_DeviceName")
    if name is not None:
        return name
    names = [text for gpu in gpus(ad) if (text := gpu.string("DeviceName")) is not None]
    return ",".join(names) or ad.string("CUDADeviceName")


def gpus(ad: ClassAd) -> list[ClassAd]:
    """Return the ads of the GPUs that a slot has to give."""
    listed = ad.evaluate("AvailableGPUs")
    return [gpu for gpu in listed if isinstance(gpu, ClassAd)] if isinstance(listed, list) else []


def _health_factor(ad: ClassAd) -> str:
    factor = ad.real("HealthFactor")
    return "?".ljust(6) if factor is None else f"{int(factor * 100):5d}%"


def _failed_checks(ad: ClassAd) -> str:
    own = ad.string("SlotBrokenReason")
    if own is not None:
        return own
    for name in ("BrokenReasons", "HealthExprs"):
        value = ad.evaluate(name)
        if isinstance(value, str) and name == "BrokenReasons":
            return value
        if isinstance(value, list):
            if name == "BrokenReasons":
                return ", ".join(sorted(text for text in value if isinstance(text, str)))
            return ", ".join(_expressions(ad, name))
    return "?"


def _expressions(ad: ClassAd, name: str) -> list[str]:
    """Return the members of a list that are no plain strings, as they are written."""
    expression = ad.lookup(name)
    if not isinstance(expression, ListNode):
        return []
    members = [each for each in expression.elements if not isinstance(each, Literal)]
    return [unparse(each, old=True) for each in members]


_LOAD = Cell("LoadAv", 6, fixed("CondorLoadAvg", 3), left=False, missing=FILL)
_NAME = Cell("Name", NAME_WIDTH, name_or_machine)


def _growing_name(width: int) -> Cell:
    return Cell("Name", width, name_or_machine, grows=True)


_GROWING_NAME = _growing_name(15)
_OPSYS = Cell("OpSys", 10, text("OpSys"))
_ARCH = Cell("Arch", 8, text("Arch"))
_STATE = Cell("State", 5, text("State"), grows=True, missing="undefined")
_ACTIVITY = Cell("Activity", 8, text("Activity"), missing="??")
_MEMORY = Cell("Mem", 6, whole("Memory"), left=False, missing=FILL)
_ACTIVITY_TIME = Cell(
    "  ActvtyTime",
    12,
    span("EnteredCurrentActivity", ("MyCurrentTime", "LastHeardFrom")),
    left=False,
    missing="-",
    gap="",
)
_WIDE_ACTIVITY_TIME = Cell(
    "ActivityTime",
    12,
    span("EnteredCurrentActivity", ("MyCurrentTime", "LastHeardFrom")),
    left=False,
)


def _uptime(ad: ClassAd) -> str | None:
    """Show how long a daemon has been up; one that does not say since when, since 1970."""
    heard = ad.integer("LastHeardFrom")
    return None if heard is None else format_span(heard - (ad.integer("DaemonStartTime") or 0))


_UPTIME = _uptime


def _sum(heading: str, name: str, width: int) -> Cell:
    return Cell(heading, width, whole(name), left=False, heading_left=False)


SLOTS = (_NAME, _OPSYS, _ARCH, _STATE, _ACTIVITY, _LOAD, _MEMORY, _ACTIVITY_TIME)
WIDE_SLOTS = (
    _NAME,
    _OPSYS,
    _ARCH,
    _STATE,
    _ACTIVITY,
    _LOAD,
    Cell("Mem", 6, whole("Memory"), left=False, missing=FILL),
    _WIDE_ACTIVITY_TIME,
)
JAVA = (
    _NAME,
    Cell("JavaVendor", 10, text("JavaVendor")),
    Cell("JavaVersion", 6, text("JavaVersion")),
    _STATE,
    _ACTIVITY,
    _LOAD,
    _MEMORY,
    _ACTIVITY_TIME,
)
VM = (
    _NAME,
    Cell("VmType", 6, text("VM_Type")),
    Cell("Network", 9, text("VM_Networking_Types")),
    _STATE,
    _ACTIVITY,
    _LOAD,
    Cell("VMMem", 5, whole("VM_Memory"), left=False, missing=FILL),
    _ACTIVITY_TIME,
)
CLAIMED = (
    _NAME,
    _OPSYS,
    _ARCH,
    _LOAD,
    Cell("RemoteUser", 20, text("RemoteUser")),
    Cell("ClientMachine", 16, text("ClientMachine")),
)
SERVER = (
    _NAME,
    _OPSYS,
    _ARCH,
    _LOAD,
    Cell("Memory", 8, whole("Memory"), left=False, missing=FILL),
    Cell("Disk", 9, whole("Disk"), left=False, missing=FILL),
    Cell("Mips", 7, whole("Mips"), left=False, missing=FILL),
    Cell("KFlops", 9, whole("KFlops"), left=False, missing=FILL),
)
STATE = (
    _NAME,
    Cell("Cpu", 3, whole("Cpus"), missing="undefined"),
    Cell(" Mem ", 5, lambda _: None, left=False),
    _LOAD,
    Cell("  KbdIdle", 12, lasting("KeyboardIdle"), left=False, missing=FILL),
    Cell("State", 7, text("State")),
    Cell(
        "  StateTime",
        12,
        span("EnteredCurrentState", ("LastHeardFrom",)),
        left=False,
        missing=FILL,
    ),
    Cell("Activ", 5, text("Activity"), missing="undefined", grows=True),
    Cell(
        "  ActvtyTime",
        12,
        span("EnteredCurrentActivity", ("LastHeardFrom",)),
        left=False,
        missing="-",
    ),
)
ABSENT = (
    _NAME,
    _OPSYS,
    _ARCH,
    Cell("Went Absent", 11, moment("LastHeardFrom"), left=False),
    Cell(
        "Will Forget",
        11,
        lambda ad: _forgotten_at(ad),
        left=False,
    ),
)
SCHEDDS = (
    _GROWING_NAME,
    Cell("Machine", 12, text("Machine"), missing="undefined", grows=True),
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
    Cell("Machine", 12, text("Machine"), missing="undefined", grows=True),
    _sum("RunningJobs", "RunningJobs", 11),
    _sum("IdleJobs", "IdleJobs", 10),
    _sum("HeldJobs", "HeldJobs", 10),
)
COLLECTORS = (
    _growing_name(4),
    Cell("Machine", 18, text("Machine"), missing="undefined", grows=True),
    _sum("RunningJobs", "RunningJobs", 11),
    _sum("IdleJobs", "IdleJobs", 10),
    _sum("HostsTotal", "HostsTotal", 10),
)
NEGOTIATORS = (
    _growing_name(12),
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
    _growing_name(12),
    Cell("Version", 14, version, grows=True),
    Cell("Cpus", 4, whole("DetectedCpus"), left=False, missing=FILL),
    Cell("  Memory", 10, gigabytes("DetectedMemory"), left=False),
    Cell("   Uptime", 13, _UPTIME, left=False),
)
STARTDS = (
    _growing_name(4),
    Cell("Platform", 8, platform, grows=True),
    Cell("Version", 7, version, grows=True),
    Cell("Cpus", 4, whole("DetectedCpus"), left=False, missing=FILL),
    Cell("  Memory", 10, gigabytes("DetectedMemory"), left=False),
    Cell("GPUs", 5, member_count("DetectedGPUs"), left=False),
    Cell("   Uptime", 13, _UPTIME, left=False),
)
DEFRAG = (
    _growing_name(12),
    _sum("Draining", "MachinesDraining", 8),
    _sum("Peak", "MachinesDrainingPeak", 8),
    _sum("TotalDrained", "DrainedMachines", 12),
)
GRID = (
    _NAME,
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
    Cell("Name", 41, name_or_machine),
)
GPUS = (
    Cell("Name", 4, name_or_machine, grows=True),
    Cell("ST", 2, state_code),
    Cell("User", 4, text("RemoteUser"), missing="_", grows=True),
    Cell("GPUs", 4, whole("GPUs"), left=False),
    Cell("GPU-Memory", 10, readable_mebibytes("GPUs_GlobalMemoryMB"), grows=True),
    Cell("GPU-Name", 8, device_names, grows=True),
)
HEALTH = (
    Cell("HOST_NAME", 9, text("Name"), grows=True),
    Cell("HEALTH", 6, _health_factor, left=False),
    Cell("FAILED_HEALTH_CHECKS", 20, _failed_checks, grows=True),
)
BROKEN = (
    Cell("Name", 4, text("Name"), grows=True),
    Cell("Code", 4, whole("SlotBrokenCode"), left=False),
    Cell("Reason", 6, text("SlotBrokenReason"), grows=True),
)
# Compat: the last column's format lacks its percent sign in the reference, which prints it.
STORAGE = (
    _NAME,
    Cell("AvailDisk", 9, whole("Disk"), missing=FILL),
    Cell("Subnet", 11, lambda _: "-11s"),
)


def _number(heading: str, expression: str, width: int, digits: int = 0) -> Cell:
    parsed = parse_expression(expression)

    def shown(ad: ClassAd) -> str | None:
        value = ad.evaluate_expression(parsed)
        if not isinstance(value, (bool, int, float)):
            return None
        return f"{value:.{digits}f}" if digits else str(int(value))

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


def _forgotten_at(ad: ClassAd) -> str | None:
    heard, lifetime = ad.integer("LastHeardFrom"), ad.integer("ClassAdLifetime")
    return None if heard is None else format_moment(heard + (lifetime or 0))
