"""Which slots would take a job, which would not, and why: the counts under `-better-analyze`.

Pure. A partitionable slot that has no room is looked at as if it were empty, too. Whether a slot
that serves another user would be taken from him is only asked where priorities are known. The
words for the counts are the reference's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kettle.classad import ClassAd, Expr, parse_expression
from kettle.classad.text import read_old_string
from kettle.structs import Struct, field

# Limit: so many names of slots stand behind a count, as in the reference.
_MOST_NAMES = 10
# How much worse another user's priority has to be before he loses a slot.
_PRIORITY_DELTA = 0.5
_OUTRANKED = parse_expression(f"MY.RemoteUserPrio > TARGET.SubmitterUserPrio + {_PRIORITY_DELTA}")
_NO_WORSE = parse_expression("MY.Rank >= MY.CurrentRank")


class Priorities(Struct):
    """What is known of the users' priorities, and when a slot is taken from its job."""

    by_user: Mapping[str, float] = field(default_factory=dict)
    requirements: Expr | None = None


class Matches(Struct):
    """How many slots there are for a job; those in lists are named on demand."""

    slots: int = 0
    machines: int = 0
    refused: list[ClassAd] = field(default_factory=list)
    refusing: list[ClassAd] = field(default_factory=list)
    offline: list[ClassAd] = field(default_factory=list)
    # Slots that match and serve the job's own user; or others, whom nobody says can be moved.
    own: int = 0
    others: list[ClassAd] = field(default_factory=list)
    # With priorities: slots of users with a better one, and those that would keep their job.
    better: list[ClassAd] = field(default_factory=list)
    kept: list[ClassAd] = field(default_factory=list)
    free: list[ClassAd] = field(default_factory=list)
    free_when_drained: list[ClassAd] = field(default_factory=list)
    # Slots as they would be if they were drained, where that helps.
    drained: list[ClassAd] = field(default_factory=list)
    matching: int = 0
    # The user and the priority that were looked at.
    user: str = ""
    priority: float | None = None


def sort_slots(slots: Sequence[ClassAd]) -> list[ClassAd]:
    """Return slots by machine, then by number, as the reference goes through them."""

    def key(slot: ClassAd) -> tuple[str, str]:
        number = f"{slot.integer('SlotID') or 0:03d}"
        part = slot.integer("DSlotID")
        return (slot.string("Machine") or "", number if part is None else f"{number}.{part:03d}")

    return sorted(slots, key=key)


def count_matches(
    job: ClassAd,
    slots: Sequence[ClassAd],
    *,
    drain: bool = True,
    priorities: Priorities | None = None,
) -> Matches:
    """Count the slots for a job.

    With `drain` partitionable ones are looked at as if they were empty, too, and what was cut from
    them is not looked at. Priorities count only if the job's user has one.
    """
    found = Matches(user=job.string("User") or "")
    if priorities is not None:
        found.priority = priorities.by_user.get(found.user)
    asking = job
    if found.priority is not None:
        asking = job.copy()
        asking["SubmitterUserPrio"] = found.priority
    slots = sort_slots(slots)
    found.machines = len({slot.string("Machine") or "" for slot in slots})
    if drain:
        slots = [slot for slot in slots if not slot.boolean("DynamicSlot")]
    found.slots = len(slots)
    for slot in slots:
        whole = drained_slot(slot, asking) if drain else None
        if whole is not None:
            found.drained.append(whole)
        _count(found, asking, slot, whole, priorities)
    return found


def _count(
    found: Matches,
    job: ClassAd,
    slot: ClassAd,
    whole: ClassAd | None,
    priorities: Priorities | None,
) -> None:
    offer = slot if whole is None else whole
    if not _meets(job, offer):
        found.refused.append(slot)
        return
    if not _meets(offer, job):
        found.refusing.append(slot)
        return
    found.matching += 1
    if slot.boolean("Offline"):
        found.offline.append(slot)
    room = found.free if whole is None else found.free_when_drained
    holder = slot.string("RemoteUser")
    if holder is None:
        room.append(slot)
    elif holder == found.user:
        found.own += 1
    elif found.priority is None or priorities is None:
        found.others.append(slot)
    elif not _outranked(offer, job, priorities.by_user.get(holder)):
        found.better.append(slot)
    elif offer.satisfies(_NO_WORSE, job) and _keeps_job(offer, job, priorities):
        found.kept.append(slot)
    else:
        room.append(slot)


def _outranked(slot: ClassAd, job: ClassAd, priority: float | None) -> bool:
    if priority is None:
        return slot.satisfies(_OUTRANKED, job)
    held = slot.copy()
    held["RemoteUserPrio"] = priority
    return held.satisfies(_OUTRANKED, job)


def _keeps_job(slot: ClassAd, job: ClassAd, priorities: Priorities) -> bool:
    """Tell whether PREEMPTION_REQUIREMENTS says that the slot's job stays."""
    wish = priorities.requirements
    return wish is not None and slot.evaluate_expression(wish, job) is False


def _meets(ad: ClassAd, other: ClassAd) -> bool:
    wish = ad.lookup("Requirements")
    return wish is not None and ad.satisfies(wish, other)


def drained_slot(slot: ClassAd, job: ClassAd) -> ClassAd | None:
    """Return a partitionable slot as it would be without jobs, None if that would not help."""
    limits = slot.lookup("WithinResourceLimits")
    if limits is None or not slot.boolean("PartitionableSlot"):
        return None
    if not _is_false(slot, limits, job):
        return None
    whole = emptied_slot(slot)
    return None if _is_false(whole, limits, job) else whole


def _is_false(ad: ClassAd, expression: Expr, other: ClassAd) -> bool:
    value = ad.evaluate_expression(expression, other)
    return isinstance(value, (bool, int, float)) and not value


def emptied_slot(slot: ClassAd) -> ClassAd:
    """Return a slot whose resources are all that it has, whoever uses them."""
    whole = slot.copy()
    for name in re.split(r"[,\s]+", slot.string("MachineResources") or "Cpus Memory Disk"):
        if not name:
            continue
        whole.insert_text(name, f"TotalSlot{name}")
        if name.lower() == "gpus":
            _free_gpus(whole, slot)
    return whole


def _free_gpus(whole: ClassAd, slot: ClassAd) -> None:
    """Let all GPUs be available that are not out of service."""
    assigned = slot.string("AssignedGPUs")
    if assigned is None or "AvailableGPUs" not in slot:
        return
    gone = set(re.split(r"[,\s]+", slot.string("OfflineGPUs") or ""))
    names = (
        "GPUs_" + re.sub(r"\W", "_", name)
        for name in re.split(r"[,\s]+", assigned)
        if name and name not in gone
    )
    whole.insert_text("AvailableGPUs", f"{{{', '.join(name for name in names if name in slot)}}}")


def render_matches(found: Matches, name: str, *, names: bool = False) -> str:
    """Return what the counts say of the job called `name`, with the `names` of slots on demand."""

    def line(slots: Sequence[ClassAd] | int, text: str, *, named: bool = True) -> str:
        count = slots if isinstance(slots, int) else len(slots)
        listed = "" if isinstance(slots, int) or not (names and named) else list_names(slots)
        return f"{count:7d} slots {text}{listed}\n"

    whether = "ignoring" if found.priority is None else "considering"
    lines = [
        (
            f"\n{name}:  Run analysis summary {whether} user priority.  "
            f"Of {found.slots} slots on {found.machines} machines,\n"
        ),
        line(found.refused, "are rejected by your job's requirements"),
        line(found.refusing, "reject your job because of their own requirements"),
    ]
    if found.priority is None:
        if found.own:
            lines.append(line(found.own, "match and are already running your jobs"))
        if found.own or found.others:
            lines.append(line(found.others, "match but are serving other users"))
        if found.offline:
            lines.append(line(found.offline, "match but are currently offline"))
    else:
        offline = list_names(found.offline) if names else ""
        lines = [
            f"Submittor {found.user} has a priority of {found.priority:.3f}\n",
            *lines,
            line(found.own, "match and are already running one of your jobs"),
            line(found.better, "match but are serving users with a better priority in the pool"),
            line(found.kept, "match but will not currently preempt their existing job"),
            line(found.offline, "match but are currently offline", named=False),
            f"{offline}\n",
        ]
    lines.append(line(found.free, "match and are willing to run your job"))
    if found.free_when_drained:
        lines.append(line(found.free_when_drained, "would match if drained"))
    if found.slots == len(found.refused):
        lines.append(render_advice(refused=True))
    elif not found.matching:
        lines.append(render_advice(refused=False))
    return "".join(lines)


def render_advice(*, refused: bool) -> str:
    """Return what a job is told that all slots refuse, or that refuses all slots."""
    if refused:
        return "\nWARNING:  Be advised:\n   No machines matched the job's constraints\n"
    return (
        "\nWARNING:  Be advised:\n"
        "   Job did not match any machines' constraints\n"
        "   To see why, pick a machine that you think should match and add\n"
        "     -reverse -machine <name>\n"
        "   to your query.\n"
    )


def list_names(slots: Sequence[ClassAd]) -> str:
    """Return the names of slots behind their count."""
    names = [slot.string("Name") or "" for slot in slots[:_MOST_NAMES]]
    more = ["..."] if len(slots) > _MOST_NAMES else []
    return f": {', '.join([*names, *more])}" if names else ""


def read_priorities_text(text: str) -> dict[str, float]:
    """Return users and priorities of a file that `condor_userprio -l` wrote; other lines pass."""
    names: dict[str, str] = {}
    numbers: dict[str, float] = {}
    for kind, number, value in re.findall(
        r"^\s*(Name|Priority)(\d+)\s*=\s*(.*?)\s*$", text, re.MULTILINE
    ):
        if kind == "Name":
            names[number] = read_old_string(value) or value
        else:
            found = re.match(r"[+-]?\d*\.?\d*(?:[eE][+-]?\d+)?", value)
            try:
                numbers[number] = float(found.group() if found else "")
            except ValueError:
                numbers[number] = 0.0
    return {name: numbers.get(number, 0.0) for number, name in names.items()}
