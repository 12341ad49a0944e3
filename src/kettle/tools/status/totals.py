"""The sums below the tables of condor_status, by platform, activity or name.

A `Totals` gathers rows by key and knows its headings; ads that lack what is summed are counted as
malformed and mentioned. What is grouped and summed in each mode is a table at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat

from kettle.classad import ClassAd
from kettle.structs import Struct
from kettle.tools.printing.times import as_whole

_LABEL_WIDTH = 14

Row = list[float]
# Adds an ad to a row; False if the ad lacks something that is summed.
Adder = Callable[[ClassAd, Row], bool]


class Totals(Struct):
    """What is summed in one mode."""

    heading: str
    columns: int
    key: Callable[[ClassAd], str | None]
    add: Adder
    # Formats a row without its label.
    show: Callable[[Row], str]
    # Rows for each key; without them only the sum of all.
    by_key: bool = True
    # Labels as long as the longest key; else they are cut.
    fits: bool = False
    # How wide labels that fit are at least; 0: as wide as the longest.
    least_width: int = 0
    # Whether an empty line parts the heading from the rows.
    parted: bool = True
    # What follows the last row.
    after: tuple[str, ...] = ()
    # What is looked at, if that is less than the table looks at.
    names: str = ""
    # Whether the sums are nothing but numbers of ads.
    counts: bool = False


def render_totals(
    totals: Totals,
    ads: Iterable[ClassAd],
    *,
    fits: bool = False,
    times: Sequence[int] = (),
    always: bool = False,
) -> list[str]:
    """Return the lines below a table, with the empty ones between; nothing without ads.

    `times` are how often each ad counts: once, if nothing is said. `always`: also without ads.
    """
    rows: dict[str, Row] = {}
    malformed = count = 0
    for ad, each in zip(ads, times or repeat(1), strict=bool(times)):
        count += 1
        key = totals.key(ad)
        if key is None:
            malformed += each
            continue
        complete = _add_times(totals, ad, rows.setdefault(key, [0.0] * totals.columns), each)
        malformed += each * (not complete)
    if not (count or always):
        return []
    whole: Row = [sum(column) for column in zip(*rows.values(), strict=True)]
    whole = whole or [0.0] * totals.columns
    width = _label_width(totals, rows, fits or totals.fits)
    lines = ["", " " * width + totals.heading, *([""] if totals.parted else [])]
    if not totals.by_key:
        lines.append(" " * width)
    elif rows:
        lines += [f"{key[:width]:>{width}}{totals.show(row)}" for key, row in sorted(rows.items())]
        lines.append("")
    lines.append(f"{'Total':>{width}}{totals.show(whole)}")
    if malformed:
        note = f"(Omitted {malformed} malformed ads in computed attribute totals)"
        lines += ["", " " * width + note, ""]
    return [*lines, *totals.after]


def _add_times(totals: Totals, ad: ClassAd, row: Row, times: int) -> bool:
    """Add an ad so many times."""
    if times == 1:
        return totals.add(ad, row)
    added: Row = [0.0] * totals.columns
    complete = totals.add(ad, added)
    row[:] = [before + times * more for before, more in zip(row, added, strict=True)]
    return complete


def _label_width(totals: Totals, rows: dict[str, Row], fits: bool) -> int:
    if not fits:
        return _LABEL_WIDTH
    if not rows or not totals.by_key:
        return max(totals.least_width, len("Total"))
    return max(totals.least_width or len("Total"), *(len(key) for key in rows))


def platform(ad: ClassAd) -> str | None:
    """Group slots by architecture and system."""
    arch, system = ad.string("Arch"), ad.string("OpSys")
    return f"{arch}/{system}" if arch and system else None


def platform_in_short(ad: ClassAd) -> str | None:
    """Group ads by architecture and system, in short; without a system there is no group."""
    from kettle.tools.status.tables import platform as short

    return short(ad)


def activity(ad: ClassAd) -> str | None:
    """Group slots by activity."""
    return ad.string("Activity")


def name(ad: ClassAd) -> str | None:
    """Group ads by their name."""
    return ad.string("Name")


def together(ad: ClassAd) -> str:
    """Group all ads, whether they have names or not."""
    del ad
    return ""


_STATES = ("Owner", "Claimed", "Unclaimed", "Matched", "Preempting", "Drained", "Backfill")
_STATE_ORDER = ("Owner", "Unclaimed", "Claimed", "Preempting", "Matched", "Drained", "Backfill")


def _count_states(states: Sequence[str], first_is_total: bool) -> Adder:
    """Count ads by their state; there are none in the last column.

    Compat: the reference has it for slots that wait in Backfill, and counts them as all others
    there (test_tables_recordings).
    """
    places = {state: place + 1 for place, state in enumerate(states)}

    def add(ad: ClassAd, row: Row) -> bool:
        place = places.get(ad.string("State") or "")
        if place is None:
            return False
        if first_is_total:
            row[0] += 1
        row[place] += 1
        return True

    return add


def _numbers(*widths: int) -> Callable[[Row], str]:
    return lambda row: "".join(
        f"{as_whole(value):{width}d}" for value, width in zip(row, widths, strict=True)
    )


def _add_server(ad: ClassAd, row: Row) -> bool:
    """Sum sizes and speeds.

    Compat: the reference takes the last 32 bits of a number for all of it, here and in the table
    above: a disk of more than 2 TiB may be less than nothing there
    (test_a_disk_of_three_terabytes_is_that_large).
    """
    if ad.string("State") is None:
        return False
    row[0] += 1
    if ad.string("State") in ("Unclaimed", "Claimed"):
        row[1] += 1
    complete = True
    for place, attribute in enumerate(("Memory", "Disk", "Mips", "KFlops"), start=2):
        value = ad.real(attribute)
        complete = complete and value is not None
        row[place] += as_whole(value or 0)
    return complete


def _add_claimed(ad: ClassAd, row: Row) -> bool:
    row[0] += 1
    complete = True
    for place, attribute in enumerate(("Mips", "KFlops", "LoadAvg"), start=1):
        value = ad.real(attribute)
        complete = complete and value is not None
        row[place] += value or 0
    return complete


def _show_claimed(row: Row) -> str:
    count, mips, kflops, load = row
    average = load / count if count else 0.0
    return f"{as_whole(count):9d}{as_whole(mips):13d}{as_whole(kflops):13d}   {average:.3f}"


def _add_jobs(*attributes: str) -> Adder:
    def add(ad: ClassAd, row: Row) -> bool:
        complete = True
        for place, attribute in enumerate(attributes):
            value = ad.real(attribute)
            complete = complete and value is not None
            row[place] += value or 0
        return complete

    return add


# Attributes that are summed below the table of startds, after the number of machines.
_STARTD_SUMS = (
    "TotalSlots",
    "TotalCpus",
    "TotalInUseCpus",
    "TotalBackfillInUseCpus",
    "TotalGPUs",
    "TotalInUseGPUs",
    "TotalBackfillInUseGPUs",
)


def _add_startd(ad: ClassAd, row: Row) -> bool:
    row[0] += 1
    for place, attribute in enumerate(_STARTD_SUMS, start=1):
        row[place] += ad.real(attribute) or 0
    if ad.real("TotalSlots") is None:
        row[1] += ad.real("NumDynamicSlots") or 0
    memory = ad.real("TotalMemory")
    for place, attribute in enumerate(("TotalInUseMemory", "TotalBackfillInUseMemory"), start=8):
        row[place] += (ad.real(attribute) or 0) / memory * 100 if memory else 0
    return memory is not None and ad.real("TotalGPUs") is not None


def _show_startds(row: Row) -> str:
    sums = "".join(f"{as_whole(value):9d}" for value in row[1:8])
    # Memory is the mean of the machines' shares.
    # Compat: of no machine at all that is nothing; the reference divides by none and shows `-nan%`
    # (test_the_memory_of_no_machine_is_nothing).
    shares = "".join(f" {share / row[0] if row[0] else 0:7.2f}%" for share in row[8:])
    return f"{int(row[0]):8d}{sums}{shares}"


def _add_health(ad: ClassAd, row: Row) -> bool:
    row[("Healthy", "Unhealthy", "Broken", "Unknown").index(health(ad))] += 1
    return True


def health(ad: ClassAd) -> str:
    """Tell how a machine or slot says it is."""
    if "BrokenReasons" in ad or "SlotBrokenReason" in ad:
        return "Broken"
    healthy = ad.boolean("Healthy")
    if healthy is None:
        return "Unknown"
    return "Healthy" if healthy else "Unhealthy"


def is_worth_a_look(ad: ClassAd) -> bool:
    """Tell whether `-healthy` shows an ad: one that is broken, not well, or has checks at all."""
    if health(ad) == "Broken":
        return True
    healthy = ad.boolean("Healthy")
    return "HealthExprs" in ad if healthy is None else not healthy


def _add_storage(ad: ClassAd, row: Row) -> bool:
    row[0] += 1
    disk = ad.real("Disk")
    row[1] += disk or 0
    return disk is not None


def _show_storage(row: Row) -> str:
    return f"{int(row[0]):8d}{int(row[1]):12d}"


STARTDS = Totals(
    "Machines    Slots     Cpus BusyCpus   BkCpus     GPUs BusyGPUs   BkGPUs  Memory%   BkMem%",
    10,
    platform_in_short,
    _add_startd,
    _show_startds,
)
HEALTH = Totals(
    "  Healthy Unhealthy    Broken   Unknown",
    4,
    platform_in_short,
    _add_health,
    _numbers(9, 10, 10, 10),
)
CHECKPOINT_SERVERS = Totals(
    " Servers AvailDisk  ",
    2,
    together,
    _add_storage,
    _show_storage,
    by_key=False,
    parted=False,
)
SLOT_STATES = Totals(
    " Total Owner Claimed Unclaimed Matched Preempting  Drain Backfill BkIdle",
    9,
    platform,
    _count_states(_STATES, first_is_total=True),
    _numbers(6, 6, 8, 10, 8, 11, 7, 9, 7),
    names="Activity Arch OpSys State",
    counts=True,
)
ACTIVITIES = Totals(
    " Total Owner Unclaimed Claimed Preempting Matched  Drain Backfill BkIdle",
    9,
    activity,
    _count_states(_STATE_ORDER, first_is_total=False),
    _numbers(6, 6, 10, 8, 11, 8, 7, 9, 7),
)
SERVER = Totals(
    "    Slots Avail  Memory        Disk        MIPS      KFLOPS",
    6,
    platform,
    _add_server,
    _numbers(9, 6, 12, 12, 12, 12),
)
CLAIMED = Totals(
    " Machines         MIPS       KFLOPS   AvgLoadAvg", 4, platform, _add_claimed, _show_claimed
)
SCHEDDS = Totals(
    "  TotalRunningJobs      TotalIdleJobs      TotalHeldJobs",
    3,
    together,
    _add_jobs("TotalRunningJobs", "TotalIdleJobs", "TotalHeldJobs"),
    _numbers(18, 19, 19),
    by_key=False,
)
SUBMITTERS = Totals(
    "RunningJobs   IdleJobs   HeldJobs",
    3,
    name,
    _add_jobs("RunningJobs", "IdleJobs", "HeldJobs"),
    _numbers(11, 11, 11),
    fits=True,
)
