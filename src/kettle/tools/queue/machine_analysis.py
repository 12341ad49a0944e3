"""Machines from the jobs' side, and tables of matches: `condor_q -reverse-analyze`, `:summary`.

One machine is explained in full (each condition of its Requirements, and how many groups of jobs
meet it), several in a table. Why a job does not match is `analysis.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd, Expr, to_expression, unparse
from kettle.classad.nodes import AttributeReference, Binary, Parentheses
from kettle.classad.references import find_references
from kettle.matchmaking.explain import emptied, explain
from kettle.tools.queue.batches import job_id
from kettle.tools.queue.conditions import Step, plan_steps, telling_steps, wrap

JOBS_TABLE = """\
               Autocluster    Matches     Machine     Running     Serving            \n\
 JobId        Members/Idle Requirements Rejects Job  Users Job  Other User Available Owner
------------- ------------ ------------ ----------- ----------- ---------- --------- -----
"""
SLOTS_TABLE = """\
                 Slot  Slot's Req    Job's Req     Both   \n\
Name             Type  Matches Job Matches Slot    Match %
---------------- ---- ------------ ------------ ----------
"""


def find_unmatchable(jobs: Sequence[ClassAd], slots: Sequence[ClassAd]) -> list[ClassAd]:
    """Return the jobs that no slot would take, partitionable ones seen as if they were empty.

    Jobs of one autocluster are judged together.
    """
    whole = [emptied(slot) for slot in slots]
    return [
        job
        for members in group_alike(jobs)
        if not any(_meets(members[0], slot) and _meets(slot, members[0]) for slot in whole)
        for job in members
    ]


def group_alike(jobs: Sequence[ClassAd]) -> list[list[ClassAd]]:
    """Return the jobs in their autoclusters; a job without one is by itself."""
    groups: dict[object, list[ClassAd]] = {}
    for job in sorted(jobs, key=job_id):
        number = job.integer("AutoClusterId")
        groups.setdefault(job_id(job) if number is None else number, []).append(job)
    return list(groups.values())


def render_job_table(jobs: Sequence[ClassAd], slots: Sequence[ClassAd], machine: str) -> str:
    """Return a row for each autocluster: how many slots it meets, and who is on them."""
    where = f"{machine}: " if machine else ""
    rows = [f"{where}Analyzing matches for {len(slots)} slots\n", JOBS_TABLE]
    for members in group_alike(jobs):
        job = members[0]
        found = explain(job, slots, user=job.string("User") or "")
        idle = sum(member.integer("JobStatus") == JobStatus.IDLE for member in members)
        running = sum(member.integer("JobStatus") == JobStatus.RUNNING for member in members)
        wanted = len(slots) - found.refused_by_job
        own = f"{running}/{found.held_by_user}" if running or found.held_by_user else "0"
        free = found.matching - found.held_by_user - found.held_by_others
        name = "{}.{}".format(*job_id(job))
        rows.append(
            f"{name:<13} {f'{len(members)}/{idle}':<12} {wanted:>12} {wanted - found.matching:>11} "
            f"{own:>11} {found.held_by_others:>10} {free:>9} {job.string('Owner') or ''}\n"
        )
    return "".join(rows)


def render_slot_table(jobs: Sequence[ClassAd], slots: Sequence[ClassAd]) -> str:
    """Return a row for each slot: how many jobs meet what it wants, and it what they want."""
    what = f"Analyzing matches for {len(jobs)} jobs"
    if len(jobs) == 1:
        what = "{}.{}: Analyzing matches for 1 job".format(*job_id(jobs[0]))
    rows = [f"{what}\n", SLOTS_TABLE]
    for slot in slots:
        welcome, wanted, both = _count_matches(jobs, slot)
        kind = (slot.string("SlotType") or "")[:4]
        share = 100 * both / max(1, len(jobs))
        name = slot.string("Name") or ""
        rows.append(f"{name:<16.16} {kind:<4} {welcome:>12} {wanted:>12} {share:>10.2f}\n")
    return "".join(rows)


def render_machine(slot: ClassAd, jobs: Sequence[ClassAd]) -> str:
    """Return what is said about one slot and the jobs."""
    name = slot.string("Name") or ""
    groups = group_alike(jobs)
    requirements = slot.lookup("Requirements")
    if requirements is None:
        return f"\n-- Slot: {name} has no Requirements expression.\n"
    steps: list[Step] = []
    plan_steps(requirements, steps, _Definitions(slot).find)
    firsts = [members[0] for members in groups]
    tests = "".join(f"    {f'[{i}]':<7}: {step.text}\n" for i, step in enumerate(steps))
    matched = "".join(
        f"{f'[{i}]':<5} {count:>9}  {steps[i].text}\n"
        for i, count in telling_steps(slot, steps, len(steps) - 1, firsts)
        if _asks_job(slot, steps[i].expression) or count < len(firsts)
    )
    parts = [
        (
            f"\n-- Slot: {name} : Analyzing matches for {len(jobs)} Jobs in {len(groups)} "
            "autoclusters\n\n"
        ),
        "The Requirements expression for this slot is\n\n",
        f"{wrap(unparse(requirements))}\n",
        *_render_definitions(slot, requirements),
        f"{tests}\n",
        _render_own(slot, steps, "This slot defines the following attributes:"),
        _render_job(slot, steps, jobs[0]) if len(jobs) == 1 else "",
        "The Requirements expression for this slot reduces to these conditions:\n\n",
        "       Clusters\nStep   Matched  Condition\n----- --------- ---------\n",
        f"{matched}\n",
        _render_counts(slot, jobs),
    ]
    return "".join(parts)


def _count_matches(jobs: Sequence[ClassAd], slot: ClassAd) -> tuple[int, int, int]:
    """Return how many jobs the slot wants, how many want it, and where both agree."""
    welcome = [_meets(slot, job) for job in jobs]
    wanted = [_meets(job, slot) for job in jobs]
    both = sum(one and other for one, other in zip(welcome, wanted, strict=True))
    return sum(welcome), sum(wanted), both


def _meets(ad: ClassAd, other: ClassAd) -> bool:
    return ad.boolean("Requirements", other) is True


class _Definitions:
    """What the slot's own attributes stand for; each is followed once, for they may go round."""

    def __init__(self, slot: ClassAd) -> None:
        self._slot = slot
        self._seen: set[str] = set()

    def find(self, part: Expr) -> Expr | None:
        """Return what a bare attribute stands for, None if that is a plain value."""
        if not isinstance(part, AttributeReference) or part.name.lower() in self._seen:
            return None
        self._seen.add(part.name.lower())
        found = self._slot.lookup(part.name)
        return None if found is None or found.is_literal else found


def _asks_job(slot: ClassAd, expression: Expr) -> bool:
    return bool(find_references(expression, slot)[1])


def _named(expression: Expr) -> Iterator[str]:
    """Yield the attributes that stand by themselves among the conditions."""
    while isinstance(expression, Parentheses):
        expression = expression.inner
    if isinstance(expression, Binary) and expression.operator in ("&&", "||"):
        yield from _named(expression.left)
        yield from _named(expression.right)
    elif isinstance(expression, AttributeReference):
        yield expression.name


def _render_definitions(slot: ClassAd, requirements: Expr) -> Iterator[str]:
    for name in _named(requirements):
        found = slot.lookup(name)
        if found is not None:
            shown = "START" if name.lower() == "start" else name
            yield f"  {shown} is\n{wrap(unparse(found))}\n"


def _render_own(slot: ClassAd, steps: Sequence[Step], title: str) -> str:
    names: set[str] = set()
    for step in steps:
        if not step.operator and not isinstance(step.expression, AttributeReference):
            names |= {name.rpartition(".")[2] for name in find_references(step.expression, slot)[0]}
    lines = [f"    {name} = {slot.text(name)}\n" for name in sorted(names) if name in slot]
    return f"{title}\n\n{''.join(lines)}\n"


def _render_job(slot: ClassAd, steps: Sequence[Step], job: ClassAd) -> str:
    names: set[str] = set()
    for step in steps:
        if not step.operator:
            names |= {name.rpartition(".")[2] for name in find_references(step.expression, slot)[1]}
    lines = []
    for name in sorted(names):
        if name in job:
            value = unparse(to_expression(job.evaluate(name, slot)), old=True)
            lines.append(f"    TARGET.{name} = {value}\n")
    title = "Job {}.{} has the following attributes:".format(*job_id(job))
    return f"{title}\n\n{''.join(lines)}\n"


def _render_counts(slot: ClassAd, jobs: Sequence[ClassAd]) -> str:
    welcome, wanted, both = _count_matches(jobs, slot)
    name = slot.string("Name") or ""
    lines = [
        f"{name}: Run analysis summary of {len(jobs)} jobs.\n",
        (
            f"{both:5d} ({100 * both / max(1, len(jobs)):.2f} %) match both slot and job "
            "requirements.\n"
        ),
        f"{welcome:5d} match the requirements of this slot.\n",
        f"{wanted:5d} have job requirements that match this slot.\n",
    ]
    whole = emptied(slot)
    if whole is not slot and both < len(jobs):
        welcome, wanted, both = _count_matches(jobs, whole)
        lines += [
            f"{both:5d} would match both slot and job requirements if the slot was drained.\n",
            f"{welcome:5d} would match the requirements of this slot when drained.\n",
            f"{wanted:5d} would have job requirements that match this slot when drained\n",
        ]
    return "".join(lines)
