"""Why jobs do not run: `condor_q -better-analyze`.

Gathers jobs and slots, and prints what `matchmaking.explain` finds: each condition of the job's
Requirements with how many slots meet it, and who refuses whom. The texts are the reference's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobStatus
from kettle.classad import ClassAd, Expr, unparse
from kettle.classad.unparse import render_value
from kettle.matchmaking.explain import Explanation, explain, split_conditions
from kettle.tools.printing.ad_filter import AdFilter
from kettle.tools.programs import Streams
from kettle.tools.queue.batches import job_id

if TYPE_CHECKING:
    from kettle.tools.queue.wish import Wish

_UNITS = {"requestmemory": " (mb)", "requestdisk": " (kb)"}
_STATES = {
    JobStatus.RUNNING: "Job is running.",
    JobStatus.REMOVED: "Job is removed.",
    JobStatus.COMPLETED: "Job is completed.",
    JobStatus.TRANSFERRING_OUTPUT: "Job is transferring output.",
    JobStatus.SUSPENDED: "Job is suspended.",
}


def analyze(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Explain each job that is meant; the result is the exit code."""
    # What was cut from a partitionable slot is counted with the slot it was cut from.
    slots = [ad for ad in find_slots(wish, environment) if not ad.boolean("DynamicSlot")]
    for title, jobs in find_jobs(wish, environment):
        streams.stdout.write(f"\n\n-- {title}\n")
        for job in sorted(jobs, key=job_id):
            streams.stdout.write(render_analysis(job, slots))
    return 0


def find_jobs(wish: Wish, environment: Mapping[str, str]) -> Iterator[tuple[str, list[ClassAd]]]:
    """Yield titles and job ads, from a file or from schedds."""
    if wish.job_file:
        from kettle.tools.queue.condor_q import read_ads

        chosen = AdFilter(wish.constraint())
        ads = [ad for ad in read_ads(wish.job_file, wish.file_form) if chosen(ad)]
        yield f"Jobads: {wish.job_file}", ads
        return
    from kettle.tools.queue.sources import ask_schedds

    for answer in ask_schedds(wish, environment, []):
        yield answer.title, list(answer.ads)


def find_slots(wish: Wish, environment: Mapping[str, str]) -> list[ClassAd]:
    """Return the slots to look at, from a file or from the collector."""
    tests = [f"({wish.machine_constraint})"] if wish.machine_constraint else []
    if wish.machine:
        name = render_value(wish.machine)
        tests.append(f"(Name == {name} || Machine == {name})")
    constraint = " && ".join(tests) or "true"
    if wish.slot_file:
        from kettle.tools.queue.condor_q import read_ads

        chosen = AdFilter(constraint)
        return [ad for ad in read_ads(wish.slot_file, "auto") if chosen(ad)]
    from kettle.client.pool import STARTD, make_query
    from kettle.tools.reach import Reach

    reach = Reach(environment, pool=wish.reach.get("pool", ""))
    return reach.pool.query(STARTD.query, make_query(STARTD.ad_type, constraints=[constraint]))


def render_analysis(job: ClassAd, slots: Sequence[ClassAd]) -> str:
    """Return what is said about one job."""
    name = f"{job_id(job)[0]:03d}.{job_id(job)[1]:03d}"
    requirements = job.lookup("Requirements")
    if requirements is None:
        return f"\n{name}:  Job has no Requirements expression.\n\n"
    found = explain(job, slots, user=job.string("User") or "")
    steps = list(plan_steps(list(split_conditions(requirements))))
    tests = "".join(f"    {f'[{i}]':<7}: {text}\n" for i, (text, _) in enumerate(steps))
    defined = "".join(_attributes(job, requirements))
    matched = "".join(
        f"{f'[{i}]':<5} {_count(job, parts, slots):>9}  {text}\n"
        for i, (text, parts) in enumerate(steps)
    )
    body = [
        f"The Requirements expression for job {name} is\n\n",
        f"    {unparse(requirements, old=True)}\n\n",
        f"{tests}\n",
        f"Job {name} defines the following attributes:\n\n{defined}\n" if defined else "",
        f"The Requirements expression for job {name} reduces to these conditions:\n\n",
        "        Slots\nStep   Matched  Condition\n----- --------- ---------\n",
        f"{matched}\n\n",
        _summary(job, name, slots, found),
    ]
    return "".join(body)


def plan_steps(conditions: list[Expr]) -> Iterator[tuple[str, list[Expr]]]:
    """Yield each step's text and the conditions it stands for: the parts, and them together."""
    together: list[Expr] = []
    last = number = 0
    for condition in conditions:
        yield unparse(condition, old=True), [condition]
        together = [*together, condition]
        if len(together) > 1:
            yield f"[{last}] && [{number}]", together
            number += 1
            last = number
        number += 1


def _count(job: ClassAd, parts: list[Expr], slots: Sequence[ClassAd]) -> int:
    return sum(
        all(job.evaluate_expression(part, slot) in (True, 1) for part in parts) for slot in slots
    )


def _attributes(job: ClassAd, requirements: Expr) -> Iterator[str]:
    internal, _ = requirements.references(job)
    for name in sorted(internal, key=str.lower):
        expression = job.lookup(name)
        if expression is not None:
            unit = _UNITS.get(name.lower(), "")
            yield f"    {name} = {unparse(expression, old=True)}{unit}\n"


def _summary(job: ClassAd, name: str, slots: Sequence[ClassAd], found: Explanation) -> str:
    willing = found.matching - found.held_by_user - found.held_by_others
    machines = len({slot.string("Machine") for slot in slots})
    lines = [
        f"{name}:  Run analysis summary ignoring user priority.  ",
        f"Of {len(slots)} slots on {machines} machines,\n",
        f"{found.refused_by_job:7d} slots are rejected by your job's requirements\n",
        f"{found.refusing_job:7d} slots reject your job because of their own requirements\n",
        f"{found.held_by_user:7d} slots match and are already running your jobs\n"
        if found.held_by_user
        else "",
        f"{found.held_by_others:7d} slots match but are serving other users\n",
        f"{willing:7d} slots match and are willing to run your job\n\n",
    ]
    hints = [part for part in found.job_conditions if part.suggestion and not part.met]
    if hints:
        lines.append("No slot meets these conditions; what would change that:\n\n")
        lines += [f"    {part.text}: {part.suggestion}\n" for part in hints]
        lines.append("\n")
    return "".join([*lines, _state(job, name)])


def _state(job: ClassAd, name: str) -> str:
    status = job.integer("JobStatus")
    if status in _STATES:
        return f"\n{name}:  {_STATES[JobStatus(status)]}\n\n"
    if status == JobStatus.HELD:
        return f"\n{name}:  Job is held.\n\nHold reason: {job.string('HoldReason')}\n\n"
    return ""
