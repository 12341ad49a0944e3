"""Machines from the jobs' side, and tables of matches: `condor_q -reverse-analyze`, `:summary`.

One machine is explained in full (each condition of its Requirements, and how many groups of jobs
meet it), several in a table. Why a job does not match is `analysis.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kettle.attributes.codes import BESIDE_THE_SCHEDD, JobStatus
from kettle.classad import ClassAd, Expr, to_expression, unparse
from kettle.classad.references import find_references
from kettle.tools.queue.analysis_wish import AnalysisWish
from kettle.tools.queue.batches import job_id
from kettle.tools.queue.clauses import (
    plan_clauses,
    reduce_clauses,
    render_clauses,
    render_counts,
    wrap,
)
from kettle.tools.queue.job_matches import Matches, count_matches, emptied_slot

JOBS_TABLE = """\
               Autocluster    Matches     Machine     Running     Serving            \n\
 JobId        Members/Idle Requirements Rejects Job  Users Job  Other User Available Owner
------------- ------------ ------------ ----------- ----------- ---------- --------- -----
"""
# How wide the name of a slot is at least, and beside the name of its machine.
_NAME_WIDTH, _SLOT_WIDTH = 16, 7
_RUNNING = (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT, JobStatus.SUSPENDED)
# What is looked into where a slot's Requirements name it.
_INLINE = ("start", "withinresourcelimits")


def find_unmatchable(jobs: Sequence[ClassAd], slots: Sequence[ClassAd]) -> list[ClassAd]:
    """Return the jobs that no slot would take, partitionable ones seen as if they were empty.

    Jobs of one autocluster are judged together.
    """
    return [
        job
        for members in group_alike(jobs)
        if not count_matches(members[0], slots).matching
        for job in members
    ]


def render_unmatchable(jobs: Sequence[ClassAd], slots: Sequence[ClassAd]) -> str:
    """Return a line for each autocluster that no slot takes, with its jobs.

    Compat: of jobs without an autocluster each is named, where the reference names the first such
    job once for each (test_a_job_without_an_autocluster_is_named_itself).
    """
    lines = []
    for members in group_alike(jobs):
        beside = members[0].integer("JobUniverse") in BESIDE_THE_SCHEDD
        found = Matches(slots=1) if beside else count_matches(members[0], slots)
        if found.matching:
            continue
        who = "All slots reject" if found.slots > len(found.refused) else "No slots match"
        number = members[0].integer("AutoClusterId")
        ids = "".join(" {}.{}".format(*job_id(job)) for job in members)
        lines.append(f"{who} autocluster {-1 if number is None else number}, jobs :{ids}\n")
    return "".join(lines)


def group_alike(jobs: Sequence[ClassAd]) -> list[list[ClassAd]]:
    """Return the jobs in their autoclusters, by number; a job without one is by itself, before."""
    groups: dict[tuple[int, tuple[int, int]], list[ClassAd]] = {}
    for job in sorted(jobs, key=job_id):
        number = job.integer("AutoClusterId")
        key = (-1, job_id(job)) if number is None else (number, (0, 0))
        groups.setdefault(key, []).append(job)
    return [groups[key] for key in sorted(groups)]


def render_job_table(
    jobs: Sequence[ClassAd], slots: Sequence[ClassAd], machine: str, *, verbose: bool = False
) -> str:
    """Return a row for each autocluster: how many slots it meets, and who is on them."""
    where = f"{machine}: " if machine else ""
    rows = [f"{where}Analyzing matches for {len(slots)} slots\n", JOBS_TABLE]
    for members in group_alike(jobs):
        job = members[0]
        # What runs beside its schedd has nothing to do with slots.
        beside = job.integer("JobUniverse") in BESIDE_THE_SCHEDD
        found = Matches() if beside else count_matches(job, slots, drain=False)
        idle = sum(member.integer("JobStatus") == JobStatus.IDLE for member in members)
        running = sum(member.integer("JobStatus") in _RUNNING for member in members)
        number = job.integer("AutoClusterId")
        # The reference counts who runs by autocluster.
        own = f"{running}/{found.own}" if running and number is not None else str(found.own)
        name = "{}.{}".format(*job_id(job))
        group = "" if number is None else f"{len(members)}/{idle}"
        if verbose and group:
            group = f"{number}:{group}"
        rows.append(
            f"{name:<13} {group:<12} {found.slots - len(found.refused):>12} "
            f"{len(found.refusing):>11} {own:>11} {len(found.others):>10} {len(found.free):>9} "
            f"{job.string('Owner') or ''}\n"
        )
    return "".join(rows)


def render_slot_table(
    jobs: Sequence[ClassAd], slots: Sequence[ClassAd], *, verbose: bool = False
) -> str:
    """Return a row for each slot: how many jobs meet what it wants, and it what they want."""
    what = f"Analyzing matches for {len(jobs)} jobs\n" if jobs else ""
    if len(jobs) == 1:
        what = "{}.{}: Analyzing matches for 1 job\n".format(*job_id(jobs[0]))
    elif verbose and jobs:
        what = f"Analyzing {len(jobs)} jobs in {len(group_alike(jobs))} autoclusters\n"
    widths = [_NAME_WIDTH]
    widths += [len(slot.string("Machine") or "") + _SLOT_WIDTH for slot in slots]
    width = max([*widths, *(len(slot.string("Name") or "") for slot in slots)])
    rows = [
        what,
        f"{'':<{width}} Slot  Slot's Req    Job's Req  {'Both   ':>10}\n",
        f"{'Name':<{width}} Type  Matches Job Matches Slot    Match %\n",
        f"{'-' * min(width, 24):<{width}} ---- ------------ ------------ ----------\n",
    ]
    for slot in slots:
        name = slot.string("Name") or ""
        if slot.boolean("Offline"):
            rows.append(f"{name:<24.24}  is offline\n")
            continue
        welcome, wanted, both = _count_matches(jobs, slot)
        share = 100 * both / max(1, len(jobs))
        kind = _slot_kind(slot)
        rows.append(f"{name:<{width}} {kind:<4} {welcome:>12} {wanted:>12} {share:>10.2f}\n")
    return "".join(rows)


def _slot_kind(slot: ClassAd) -> str:
    if slot.boolean("DynamicSlot"):
        return "Dyn"
    return "Part" if slot.boolean("PartitionableSlot") else "Stat"


def render_machine(
    slot: ClassAd, jobs: Sequence[ClassAd], wanted: AnalysisWish | None = None
) -> str:
    """Return what is said about one slot and the jobs."""
    name = slot.string("Name") or ""
    if slot.boolean("Offline"):
        return f"{name:<24.24}  is offline\n"
    groups = group_alike(jobs)
    requirements = slot.lookup("Requirements")
    if requirements is None:
        return f"\n-- Slot: {name} has no Requirements expression.\n"
    firsts = [members[0] for members in groups]
    whole = _drained(slot, firsts)
    clauses = plan_clauses(slot, requirements, _INLINE)
    numbered = render_clauses(clauses)
    reduce_clauses(slot, clauses, firsts)
    parts = [
        (
            f"\n-- Slot: {name} : Analyzing matches for {len(jobs)} Jobs in {len(groups)} "
            "autoclusters\n"
        ),
        f"\nThe Requirements expression for this slot is\n\n    {_pretty(slot, requirements)}\n\n",
        f"{numbered}\n",
        "This slot defines the following attributes:\n\n",
        *_own_lines(slot, requirements, evaluated=False),
        *(
            ()
            if whole is None
            else (
                "When drained, this slot has the following attributes:\n\n",
                *_own_lines(whole, requirements, evaluated=True),
            )
        ),
        *(_render_job(slot, requirements, firsts[0]) if len(firsts) == 1 else ()),
        "\nThe Requirements expression for this slot reduces to these conditions:\n\n",
        render_counts(clauses, "Cluster", wanted.details if wanted is not None else 0),
        _render_counts(slot, jobs, whole),
    ]
    return "".join(parts)


def _drained(slot: ClassAd, jobs: Sequence[ClassAd]) -> ClassAd | None:
    """Return a partitionable slot without its jobs, if one of these does not fit it as it is."""
    limits = slot.lookup("WithinResourceLimits")
    if limits is None or not slot.boolean("PartitionableSlot"):
        return None
    for job in jobs:
        value = slot.evaluate_expression(limits, job)
        if not _meets(slot, job) and isinstance(value, (bool, int, float)) and not value:
            return emptied_slot(slot)
    return None


def _pretty(slot: ClassAd, requirements: Expr) -> str:
    said = wrap(unparse(requirements))
    for shown in ("START", "WithinResourceLimits"):
        found = slot.lookup(shown)
        if found is not None:
            said = wrap(unparse(found), f"{said}\n\n  {shown} is\n    ")
    return said


def _count_matches(jobs: Sequence[ClassAd], slot: ClassAd) -> tuple[int, int, int]:
    """Return how many jobs the slot wants, how many want it, and where both agree."""
    welcome = [_meets(slot, job) for job in jobs]
    wanted = [_meets(job, slot) for job in jobs]
    both = sum(one and other for one, other in zip(welcome, wanted, strict=True))
    return sum(welcome), sum(wanted), both


def _meets(ad: ClassAd, other: ClassAd) -> bool:
    return ad.boolean("Requirements", other) is True


def _own_lines(slot: ClassAd, requirements: Expr, *, evaluated: bool) -> Iterator[str]:
    """Yield what the slot says of itself where its conditions look."""
    names, _ = find_references(requirements, slot)
    for name in sorted(names, key=str.lower):
        if name.lower() in _INLINE or name not in slot:
            continue
        value = slot.text(name)
        if evaluated:
            value = unparse(to_expression(slot.evaluate(name)), old=True)
        yield f"    {name} = {value}\n"


def _render_job(slot: ClassAd, requirements: Expr, job: ClassAd) -> Iterator[str]:
    _, outside = find_references(requirements, slot)
    names = sorted({name.rpartition(".")[2] for name in outside}, key=str.lower)
    lines = []
    for name in names:
        if name in job:
            value = unparse(to_expression(job.evaluate(name, slot)), old=True)
            lines.append(f"    TARGET.{name} = {value}\n")
    if lines:
        yield "\nJob {}.{} has the following attributes:\n\n".format(*job_id(job))
        yield from lines


def _render_counts(slot: ClassAd, jobs: Sequence[ClassAd], whole: ClassAd | None) -> str:
    """Return how many jobs and the slot agree, as it is and drained.

    Compat: all jobs are tried with the drained slot, in the reference those alone that come behind
    the first that it would be drained for (test_all_jobs_are_tried_with_a_drained_slot).
    """
    welcome, wanted, both = _count_matches(jobs, slot)
    name = slot.string("Name") or ""
    lines = [
        f"\n{name}: Run analysis summary of {len(jobs)} jobs.\n",
        (
            f"{both:5d} ({100 * both / max(1, len(jobs)):.2f} %) match both slot and job "
            "requirements.\n"
        ),
        f"{welcome:5d} match the requirements of this slot.\n",
        f"{wanted:5d} have job requirements that match this slot.\n",
    ]
    if whole is not None:
        welcome, wanted, both = _count_matches(jobs, whole)
        lines += [
            # The reference's words, its slip included.
            f"{both:5d} would match both slot and job requirments if the slot was drained.\n",
            f"{welcome:5d} would match the requirements of this slot when drained.\n",
            f"{wanted:5d} would have job requirements that match this slot when drained\n",
        ]
    return "".join(lines)
