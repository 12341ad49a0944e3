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
from kettle.tools.queue.sources import ALL_EMPTY, Answer, ask_schedds, read_ads

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
# The schedd's own policy for jobs that it runs beside itself.
_START_BESIDE = {
    JobUniverse.SCHEDULER: "StartSchedulerUniverse",
    JobUniverse.LOCAL: "StartLocalUniverse",
}
# Limit: so many names of slots stand behind a count, as in the reference.
_MOST_NAMES = 10
_NO_SCHEDD = (
    "WARNING: A schedd ClassAd is needed to do analysis for scheduler or Local universe jobs."
)


def analyze(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Explain each job, or machine, that is meant; the result is the exit code."""
    _check_words(wish)
    slots = find_slots(wish, environment)
    found = False
    for answer in find_jobs(wish, environment):
        found = True
        jobs = sorted(answer.ads, key=job_id)
        if wish.skips_empty and not jobs:
            continue
        schedd = None
        if any(job.integer("JobUniverse") in _START_BESIDE for job in jobs):
            schedd = find_schedd(wish, environment, answer.schedd)
        streams.stdout.write(f"\n\n-- {answer.title}\n")
        streams.stdout.write(render_wish(wish, jobs, slots, schedd))
    if wish.skips_empty and not found:
        streams.stdout.write(ALL_EMPTY)
    return 0


def _check_words(wish: Wish) -> None:
    """Raise UsageError for a constraint of machines that is none, or a file that is not there."""
    if wish.machine_constraint:
        read_constraint(wish.machine_constraint, "Error:  Could not fetch startd ads")
    if wish.priorities_file and not os.access(wish.priorities_file, os.R_OK):
        raise UsageError(f"Can't open file of user priorities: {wish.priorities_file}")


def render_wish(
    wish: Wish,
    jobs: Sequence[ClassAd],
    slots: Sequence[ClassAd],
    schedd: ClassAd | None = None,
) -> str:
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
    names = "verbose" in wish.flags
    return "".join(
        render_analysis(job, slots, schedd, in_brief=in_brief, names=names) for job in jobs
    )


def find_jobs(wish: Wish, environment: Mapping[str, str]) -> Iterator[Answer]:
    """Yield titles and job ads, from a file or from schedds."""
    if wish.job_file:
        chosen = AdFilter(wish.constraint())
        ads = [ad for ad in read_ads(wish.job_file, wish.file_form) if chosen(ad)]
        yield Answer(f"Jobads: {wish.job_file}", ads)
        return
    yield from ask_schedds(wish, environment, [])


def find_schedd(wish: Wish, environment: Mapping[str, str], name: str) -> ClassAd | None:
    """Return the ad of a schedd, None if the collector has none or no schedd was asked."""
    if not name:
        return None
    from kettle.classad.text import equals
    from kettle.client.pool import SCHEDD, make_query
    from kettle.tools.reach import Reach

    reach = Reach(environment, pool=wish.reach.get("pool", ""))
    query = make_query(SCHEDD.ad_type, constraints=[equals("Name", name)])
    return next(iter(reach.pool.query(SCHEDD.query, query)), None)


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


def render_analysis(
    job: ClassAd,
    slots: Sequence[ClassAd],
    schedd: ClassAd | None = None,
    *,
    in_brief: bool = False,
    names: bool = False,
) -> str:
    """Return what is said about one job; with the `names` of slots that refuse it or it refuses.

    In brief, a job that wants any of the slots, or is its schedd's, is told the counts alone.
    """
    name = f"{job_id(job)[0]:03d}.{job_id(job)[1]:03d}"
    short = f"{job_id(job)[0]}.{job_id(job)[1]:03d}"
    requirements = job.lookup("Requirements")
    if requirements is None:
        return f"\n{name}:  Job has no Requirements expression.\n\n"
    found = explain(job, slots, user=job.string("User") or "")
    universe = job.integer("JobUniverse")
    if universe in _START_BESIDE:
        summary = _summary_beside(job, name, JobUniverse(universe), schedd)
    elif slots:
        summary = _summary(job, name, slots, found, names=names) + _end(job, name)
    else:
        summary = _end(job, name)
    if in_brief and (universe in _START_BESIDE or found.refused_by_job < len(slots)):
        return f"\n{summary}"
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
        f"{wrap(unparse(requirements))}\n",
        f"{tests}\n",
        f"Job {short} defines the following attributes:\n\n{defined}\n",
        _slot_attributes(slots[0], requirements, job) if len(slots) == 1 else "",
        f"The Requirements expression for job {short} reduces to these conditions:\n\n",
        "        Slots\nStep   Matched  Condition\n----- --------- ---------\n",
        f"{matched}{_warning(job)}\n\n",
        summary,
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


def _summary_beside(job: ClassAd, name: str, universe: JobUniverse, schedd: ClassAd | None) -> str:
    """Return whether the job's schedd is willing to run it beside itself."""
    state = _state(job, name).removesuffix("\n\n") or f"\n{name}:  "
    apart = "\n\n" if not state.endswith(":  ") else ""
    if schedd is None:
        return f"{state}{apart}{_NO_SCHEDD}\n\n\n"
    policy = _START_BESIDE[universe]
    expression = schedd.lookup(policy)
    willing = None if expression is None else schedd.evaluate_expression(expression, job)
    if willing in (True, False, 0, 1):
        # The reference's words, its slips included.
        why = f"This schedd's {policy} evalutes to {'true' if willing else 'false'} for this job."
    else:
        why = f"This schedd's {policy} policy failed to evalute for this job."
    lines = [
        f"{name}:  Run analysis summary ignoring user priority.  Of 1 slots on 0 machines,\n",
        f"{0:7d} slots are rejected by your job's requirements\n",
        f"{willing in (False, 0):7d} slots reject your job because of their own requirements\n",
        f"{willing in (True, 1):7d} slots match and are willing to run your job\n\n",
        "" if willing in (True, 1) else _ALL_REFUSE,
        f"{state}{apart}{why}\n\n\n",
    ]
    return "".join(lines)


def _list_names(slots: Sequence[ClassAd]) -> str:
    """Return the names of slots behind their count."""
    names = [slot.string("Name") or "" for slot in slots[:_MOST_NAMES]]
    more = ["..."] if len(slots) > _MOST_NAMES else []
    return f": {', '.join([*names, *more])}" if names else ""


def _refusals(job: ClassAd, slots: Sequence[ClassAd]) -> tuple[str, str]:
    """Return the names of the slots that the job refuses, and of those that refuse it."""
    own = job.lookup("Requirements")
    refused = [slot for slot in slots if own is None or not job.satisfies(own, slot)]
    refusing = []
    for slot in slots:
        theirs = slot.lookup("Requirements")
        if slot not in refused and (theirs is None or not slot.satisfies(theirs, job)):
            refusing.append(slot)
    return _list_names(refused), _list_names(refusing)


def _end(job: ClassAd, name: str) -> str:
    return _state(job, name) + _history_of_matches(job)


def _summary(
    job: ClassAd, name: str, slots: Sequence[ClassAd], found: Explanation, *, names: bool
) -> str:
    refused, refusers = _refusals(job, slots) if names else ("", "")
    willing = found.matching - found.held_by_user - found.held_by_others
    machines = len({slot.string("Machine") for slot in slots})
    # Who is refused by the job is not asked.
    refusing = len(slots) - found.refused_by_job - found.matching
    lines = [
        f"{name}:  Run analysis summary ignoring user priority.  ",
        f"Of {len(slots)} slots on {machines} machines,\n",
        f"{found.refused_by_job:7d} slots are rejected by your job's requirements{refused}\n",
        f"{refusing:7d} slots reject your job because of their own requirements{refusers}\n",
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
    return "".join(lines)


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
