"""Why jobs do not run: `condor_q -better-analyze`.

Gathers jobs and slots, and prints what `matchmaking.explain` finds: each condition of the job's
Requirements with how many slots meet it, and who refuses whom. The texts are the reference's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd, Expr, unparse
from kettle.classad.references import find_references
from kettle.classad.unparse import render_value
from kettle.errors import UsageError
from kettle.matchmaking.explain import Explanation, explain
from kettle.tools.printing.ad_filter import AdFilter
from kettle.tools.printing.times import format_long_moment
from kettle.tools.programs import Streams
from kettle.tools.queue.batches import job_id
from kettle.tools.queue.command_line import read_constraint
from kettle.tools.queue.conditions import Step, plan_steps, telling_steps, wrap
from kettle.tools.queue.machine_analysis import render_job_table, render_machine, render_slot_table
from kettle.tools.queue.sources import ALL_EMPTY, ask_schedds, read_ads

if TYPE_CHECKING:
    from kettle.tools.queue.wish import Wish

_UNITS = {"requestmemory": " (mb)", "requestdisk": " (kb)"}
_ALL_REFUSE = """\
WARNING:  Be advised:
   Job did not match any machines' constraints
   To see why, pick a machine that you think should match and add
     -reverse -machine <name>
   to your query.

"""
_STATES = {
    JobStatus.RUNNING: "Job is running.",
    JobStatus.REMOVED: "Job is removed.",
    JobStatus.COMPLETED: "Job is completed.",
    JobStatus.TRANSFERRING_OUTPUT: "Job is transferring output.",
    JobStatus.SUSPENDED: "Job is suspended.",
}


_BESIDE = "\nWARNING: Analysis is not complete for Scheduler or Local universe jobs.\n"
# What the slots say of jobs that run elsewhere.
_ELSEWHERE = {
    JobUniverse.GRID: (
        "\nWARNING: Analysis is only meaningful for Grid universe jobs using matchmaking.\n"
    ),
    JobUniverse.SCHEDULER: _BESIDE,
    JobUniverse.LOCAL: _BESIDE,
}


def analyze(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Explain each job, or machine, that is meant; the result is the exit code."""
    _check_words(wish)
    slots = find_slots(wish, environment)
    found = False
    for title, jobs in find_jobs(wish, environment):
        found = True
        if wish.skips_empty and not jobs:
            continue
        streams.stdout.write(f"\n\n-- {title}\n")
        streams.stdout.write(render_wish(wish, sorted(jobs, key=job_id), slots))
    if wish.skips_empty and not found:
        streams.stdout.write(ALL_EMPTY)
    return 0


def _check_words(wish: Wish) -> None:
    """Raise UsageError for a constraint of machines that is none, or a file that is not there."""
    if wish.machine_constraint:
        read_constraint(wish.machine_constraint, "Error:  Could not fetch startd ads")
    if wish.priorities_file and not os.access(wish.priorities_file, os.R_OK):
        raise UsageError(f"Can't open file of user priorities: {wish.priorities_file}")


def render_wish(wish: Wish, jobs: Sequence[ClassAd], slots: Sequence[ClassAd]) -> str:
    """Return what is said about the jobs and slots in the form that is asked for."""
    words = wish.analyze_qualifiers.lower().split(",")
    is_summary = "summary" in words
    if wish.analyze == "reverse-analyze" or "reverse" in words:
        if not slots:
            return ""
        if is_summary or len(slots) > 1:
            return render_slot_table(jobs, slots)
        return render_machine(slots[0], jobs)
    if is_summary:
        return render_job_table(jobs, slots, wish.machine)
    in_brief = wish.analyze == "analyze"
    return "".join(render_analysis(job, slots, in_brief=in_brief) for job in jobs)


def find_jobs(wish: Wish, environment: Mapping[str, str]) -> Iterator[tuple[str, list[ClassAd]]]:
    """Yield titles and job ads, from a file or from schedds."""
    if wish.job_file:
        chosen = AdFilter(wish.constraint())
        ads = [ad for ad in read_ads(wish.job_file, wish.file_form) if chosen(ad)]
        yield f"Jobads: {wish.job_file}", ads
        return
    for answer in ask_schedds(wish, environment, []):
        yield answer.title, list(answer.ads)


def find_slots(wish: Wish, environment: Mapping[str, str]) -> list[ClassAd]:
    """Return the slots to look at, from a file or from the collector.

    What was cut from a partitionable slot is counted with the slot it was cut from.
    """
    return [ad for ad in _all_slots(wish, environment) if not ad.boolean("DynamicSlot")]


def _all_slots(wish: Wish, environment: Mapping[str, str]) -> list[ClassAd]:
    tests = [f"({wish.machine_constraint})"] if wish.machine_constraint else []
    if wish.machine:
        name = render_value(wish.machine)
        tests.append(f"(Name == {name} || Machine == {name})")
    constraint = " && ".join(tests) or "true"
    if wish.slot_file:
        chosen = AdFilter(constraint)
        return [ad for ad in read_ads(wish.slot_file, "auto") if chosen(ad)]
    from kettle.client.pool import STARTD, make_query
    from kettle.tools.reach import Reach

    reach = Reach(environment, pool=wish.reach.get("pool", ""))
    return reach.pool.query(STARTD.query, make_query(STARTD.ad_type, constraints=[constraint]))


def render_analysis(job: ClassAd, slots: Sequence[ClassAd], *, in_brief: bool = False) -> str:
    """Return what is said about one job.

    In brief, a job that wants any of the slots is told the counts alone.
    """
    name = f"{job_id(job)[0]:03d}.{job_id(job)[1]:03d}"
    short = f"{job_id(job)[0]}.{job_id(job)[1]:03d}"
    requirements = job.lookup("Requirements")
    if requirements is None:
        return f"\n{name}:  Job has no Requirements expression.\n\n"
    found = explain(job, slots, user=job.string("User") or "")
    if in_brief and found.refused_by_job < len(slots):
        return f"\n{_summary(job, name, slots, found)}"
    steps: list[Step] = []
    plan_steps(requirements, steps)
    tests = "".join(f"    {f'[{i}]':<7}: {step.text}\n" for i, step in enumerate(steps))
    defined = "".join(_attributes(job, requirements))
    matched = "".join(
        f"{f'[{i}]':<5} {count:>9}  {steps[i].text}\n"
        for i, count in telling_steps(job, steps, len(steps) - 1, slots)
    )
    body = [
        f"The Requirements expression for job {short} is\n\n",
        f"{wrap(unparse(requirements, old=True))}\n",
        f"{tests}\n",
        f"Job {short} defines the following attributes:\n\n{defined}\n",
        _slot_attributes(slots[0], requirements, job) if len(slots) == 1 else "",
        f"The Requirements expression for job {short} reduces to these conditions:\n\n",
        "        Slots\nStep   Matched  Condition\n----- --------- ---------\n",
        f"{matched}{_warning(job)}\n\n",
        _summary(job, name, slots, found),
    ]
    return "".join(body)


def _warning(job: ClassAd) -> str:
    universe = job.integer("JobUniverse")
    if universe == JobUniverse.GRID and "$$" in (job.string("GridResource") or ""):
        return ""
    return _ELSEWHERE[JobUniverse(universe)] if universe in _ELSEWHERE else ""


def _attributes(job: ClassAd, requirements: Expr) -> Iterator[str]:
    internal, _ = find_references(requirements, job)
    for name in sorted(internal, key=str.lower):
        expression = job.lookup(name)
        if expression is not None:
            unit = _UNITS.get(name.lower(), "")
            yield f"    {name} = {unparse(expression, old=True)}{unit}\n"


def _slot_attributes(slot: ClassAd, requirements: Expr, job: ClassAd) -> str:
    """Return what the only slot says to what the job asks."""
    _, outside = find_references(requirements, job)
    names = sorted({name.rpartition(".")[2] for name in outside}, key=str.lower)
    lines = [
        f"    TARGET.{name} = {slot.text(name)}{_UNITS.get(f'request{name}'.lower(), '')}\n"
        for name in names
        if slot.text(name) is not None
    ]
    if not lines:
        return ""
    return f"{slot.string('Name')} has the following attributes:\n\n{''.join(lines)}\n"


def _summary(job: ClassAd, name: str, slots: Sequence[ClassAd], found: Explanation) -> str:
    willing = found.matching - found.held_by_user - found.held_by_others
    machines = len({slot.string("Machine") for slot in slots})
    # Who is refused by the job is not asked.
    refusing = len(slots) - found.refused_by_job - found.matching
    lines = [
        f"{name}:  Run analysis summary ignoring user priority.  ",
        f"Of {len(slots)} slots on {machines} machines,\n",
        f"{found.refused_by_job:7d} slots are rejected by your job's requirements\n",
        f"{refusing:7d} slots reject your job because of their own requirements\n",
        f"{found.held_by_user:7d} slots match and are already running your jobs\n"
        if found.held_by_user
        else "",
        f"{found.held_by_others:7d} slots match but are serving other users\n"
        if found.held_by_user or found.held_by_others
        else "",
        f"{willing:7d} slots match and are willing to run your job\n\n",
    ]
    if found.refused_by_job == len(slots):
        lines.append("WARNING:  Be advised:\n   No machines matched the job's constraints\n\n")
    elif not found.matching:
        lines.append(_ALL_REFUSE)
    hints = [part for part in found.job_conditions if part.suggestion and not part.met]
    if hints:
        lines.append("No slot meets these conditions; what would change that:\n\n")
        lines += [f"    {part.text}: {part.suggestion}\n" for part in hints]
        lines.append("\n")
    return "".join([*lines, _state(job, name), _history_of_matches(job)])


def _history_of_matches(job: ClassAd) -> str:
    """Return when the job was matched last, and when and why not."""
    matched, rejected = job.integer("LastMatchTime"), job.integer("LastRejMatchTime")
    if matched is None and rejected is None:
        return ""
    lines = ["No successful match recorded.\n"]
    if matched is not None:
        lines = [f"Last successful match: {format_long_moment(matched)}\n"]
    if rejected is not None and rejected > (matched or 0):
        where = job.string("LastRejMatchNegotiator")
        lines.append(f"Last failed match: {format_long_moment(rejected)}")
        lines.append(f" from {where}\n" if where else "\n")
        reason = job.string("LastRejMatchReason")
        if reason:
            lines.append(f"Reason for last match failure: {reason}\n")
    return "".join(lines)


def _state(job: ClassAd, name: str) -> str:
    status = job.integer("JobStatus")
    if status in _STATES:
        return f"\n{name}:  {_STATES[JobStatus(status)]}\n\n"
    if status == JobStatus.HELD:
        return f"\n{name}:  Job is held.\n\nHold reason: {job.string('HoldReason')}\n\n"
    now = job.integer("ServerTime") or 0
    if status == JobStatus.IDLE and (job.integer("JobCoolDownExpiration") or 0) > now:
        return f"\n{name}:  Job is in cool down.\n\n"
    return ""
