"""The tables of condor_status: for each mode its cells. Pure data and the functions in the cells.

What a mode asks the collector for is in `condor_status.py`, the sums below a table are in
`totals.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kettle.classad import ClassAd
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


_VERSION = re.compile(r"\$CondorVersion:\s*(\S+)(?:.*?(?:BuildID|PackageID):\s*(\S+))?")


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
    arch, system = ad.string("Arch"), ad.string("OpSysAndVer") or ad.string("OpSys")
    if not arch or not system:
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


_LOAD = Cell("LoadAv", 6, fixed("CondorLoadAvg", 3), left=False)
_NAME = Cell("Name", NAME_WIDTH, name_or_machine)
_GROWING_NAME = Cell("Name", 15, name_or_machine, grows=True)
_OPSYS = Cell("OpSys", 10, text("OpSys"))
_ARCH = Cell("Arch", 8, text("Arch"))
_STATE = Cell("State", 5, text("State"), grows=True)
_ACTIVITY = Cell("Activity", 8, text("Activity"))
_MEMORY = Cell("Mem", 6, whole("Memory"), left=False, missing=FILL)
_ACTIVITY_TIME = Cell(
    "  ActvtyTime",
    12,
    span("EnteredCurrentActivity", ("MyCurrentTime", "LastHeardFrom")),
    left=False,
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
    Cell("Cpu", 3, whole("Cpus")),
    Cell(" Mem ", 5, lambda _: None, left=False),
    _LOAD,
    Cell("  KbdIdle", 12, lasting("KeyboardIdle"), left=False, missing=FILL),
    Cell("State", 7, text("State")),
    Cell("  StateTime", 12, span("EnteredCurrentState", ("LastHeardFrom",)), left=False),
    Cell("Activ", 5, text("Activity"), grows=True),
    Cell("  ActvtyTime", 12, span("EnteredCurrentActivity", ("LastHeardFrom",)), left=False),
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
SUBMITTERS = (
    _GROWING_NAME,
    Cell("Machine", 12, text("Machine"), missing="undefined", grows=True),
    _sum("RunningJobs", "RunningJobs", 11),
    _sum("IdleJobs", "IdleJobs", 10),
    _sum("HeldJobs", "HeldJobs", 10),
)
COLLECTORS = (
    _GROWING_NAME,
    Cell("Machine", 18, text("Machine"), missing="undefined", grows=True),
    _sum("RunningJobs", "RunningJobs", 11),
    _sum("IdleJobs", "IdleJobs", 10),
    _sum("HostsTotal", "HostsTotal", 10),
)
NEGOTIATORS = (
    _GROWING_NAME,
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
    _GROWING_NAME,
    Cell("Version", 14, version, grows=True),
    Cell("Cpus", 4, whole("DetectedCpus"), left=False, missing=FILL),
    Cell("  Memory", 10, gigabytes("DetectedMemory"), left=False),
    Cell("   Uptime", 13, _UPTIME, left=False),
)
STARTDS = (
    _GROWING_NAME,
    Cell("Platform", 8, platform, grows=True),
    Cell("Version", 13, version, grows=True),
    Cell("Cpus", 4, whole("DetectedCpus"), left=False, missing=FILL),
    Cell("  Memory", 10, gigabytes("DetectedMemory"), left=False),
    Cell("GPUs", 5, whole("DetectedGPUs"), left=False),
    Cell("   Uptime", 13, _UPTIME, left=False),
)
DEFRAG = (
    _GROWING_NAME,
    _sum("Draining", "MachinesDraining", 8),
    _sum("Peak", "MachinesDrainingPeak", 8),
    _sum("TotalDrained", "MachinesDrained", 12),
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


def _forgotten_at(ad: ClassAd) -> str | None:
    heard, lifetime = ad.integer("LastHeardFrom"), ad.integer("ClassAdLifetime")
    return None if heard is None else format_moment(heard + (lifetime or 0))
