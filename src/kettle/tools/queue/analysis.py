"""Why jobs do not run: `condor_q -better-analyze`.

Gathers jobs, slots and what is known about users, and puts together what is said of each job: its
Requirements clause by clause (`clauses.py`), how many slots would take it (`job_matches.py`), its
state and when it was matched last. Machines and tables are `machine_analysis.py`. The texts are the
reference's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.attributes.codes import JobStatus, JobUniverse
from kettle.classad import ClassAd, Expr, parse_expression, to_expression, unparse
from kettle.classad.references import find_references
from kettle.classad.unparse import render_value
from kettle.errors import ClassAdSyntaxError, KettleError, UsageError
from kettle.policy.attribute_protection import RESTS_UNTIL
from kettle.runtime.storage.texts import LARGEST_ADS, read_text
from kettle.structs import Struct, field
from kettle.tools.printing.ad_filter import AdFilter
from kettle.tools.printing.times import format_long_moment
from kettle.tools.programs import Streams
from kettle.tools.queue.analysis_wish import AnalysisWish, read_analysis
from kettle.tools.queue.batches import job_id
from kettle.tools.queue.clauses import (
    plan_clauses,
    reduce_clauses,
    render_clauses,
    render_counts,
    wrap,
)
from kettle.tools.queue.command_line import read_constraint
from kettle.tools.queue.job_matches import (
    Matches,
    Priorities,
    count_matches,
    read_priorities_text,
    render_advice,
    render_matches,
)
from kettle.tools.queue.machine_analysis import (
    group_alike,
    render_job_table,
    render_machine,
    render_slot_table,
    render_unmatchable,
)
from kettle.tools.queue.sources import ALL_EMPTY, Answer, ask_schedds, read_ads

if TYPE_CHECKING:
    from kettle.tools.queue.wish import Wish

_UNITS = {"requestmemory": " (mb)", "requestdisk": " (kb)"}
_TARGET_UNITS = {"memory": " (mb)", "disk": " (kb)"}
_STATES = {
    JobStatus.RUNNING: "Job is running.",
    JobStatus.REMOVED: "Job is removed.",
    JobStatus.COMPLETED: "Job is completed.",
    JobStatus.TRANSFERRING_OUTPUT: "Job is running.",
    JobStatus.SUSPENDED: "Job is running.",
}


_UNKNOWN = "\nWARNING: Job universe unknown.  Analysis may not be meaningful.\n"
_ON_SLOTS = frozenset({JobUniverse.VANILLA, JobUniverse.JAVA, JobUniverse.PARALLEL, JobUniverse.VM})
_BESIDE = "\nWARNING: Analysis is not complete for Scheduler or Local universe jobs.\n"
# What the slots say of jobs that run elsewhere.
_ELSEWHERE: dict[int, str] = {
    JobUniverse.MPI: "\nWARNING: Analysis is meaningless for MPI universe jobs.\n",
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
_NO_SCHEDD = (
    "WARNING: A schedd ClassAd is needed to do analysis for scheduler or Local universe jobs."
)
_AT_LIMIT = """\
WARNING -- this schedd has hit the MAX_JOBS_RUNNING limit of {}
       to run more concurrent jobs, raise this limit in the config file
       NOTE: the matchmaking analysis does not take the limit into consideration
"""


class Known(Struct):
    """What is known beside a job and the slots."""

    # The schedd's own ad, where a job runs beside it.
    schedd: ClassAd | None = None
    # By autocluster: what the schedd tells of its matches.
    autoclusters: Mapping[int, ClassAd] = field(default_factory=dict)
    priorities: Priorities | None = None
    # The slot or machine that alone is looked at, by its name.
    machine: str = ""


def analyze(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Explain each job, or machine, that is meant; the result is the exit code."""
    _check_words(wish)
    wanted = read_analysis(wish)
    aside = streams.stderr.write if "verbose" in wish.flags else _say_nothing
    slots = find_slots(wish, environment)
    aside(_tell_slots(wish, slots))
    known = Known(machine="" if wish.machine_constraint else wish.machine)
    if wanted.priority:
        known.priorities = find_priorities(wish, environment)
        many = len(known.priorities.by_user)
        aside(f"Fetching user priorities... {many} submitters\n")
    found = False
    for answer in find_jobs(wish, environment):
        found = True
        jobs = sorted(answer.ads, key=job_id)
        if wish.skips_empty and not jobs:
            continue
        aside(_tell_jobs(wish, wanted, jobs))
        known.schedd = None
        if wanted.summary or any(job.integer("JobUniverse") in _START_BESIDE for job in jobs):
            known.schedd = find_schedd(wish, environment, answer.schedd)
        known.autoclusters = read_autoclusters(answer.summary)
        if wanted.tells_autoclusters:
            aside(_tell_autoclusters(known.autoclusters))
        streams.stdout.write(f"\n\n-- {answer.title}\n")
        streams.stdout.write(render_wish(wanted, jobs, slots, known))
    if wish.skips_empty and not found:
        streams.stdout.write(ALL_EMPTY)
    return 0


def _say_nothing(_: str) -> None:
    """Take what only -verbose asks for."""


def _tell_slots(wish: Wish, slots: Sequence[ClassAd]) -> str:
    """Return what is said aside of the slots that came."""
    how = "(excluding dynamic slots)..." if _leaves_out_parts(wish) else ""
    if wish.slot_file:
        how = f"from file with constraint: {' && '.join(_slot_tests(wish))}\n"
    return f"Fetching Slot ads...{how} {len(slots)} ads.\n"


def _tell_jobs(wish: Wish, wanted: AnalysisWish, jobs: Sequence[ClassAd]) -> str:
    """Return what is said aside of the jobs that came, and how many groups they are."""
    end = ".\n\n" if wish.job_file else "\n"
    said = f"Fetching job ads... {len(jobs)} ads{end}"
    if not wanted.tells_autoclusters:
        alone = sum(job.integer("AutoClusterId") is None for job in jobs)
        groups = len(group_alike(jobs)) - alone
        said += f"\nBuilding autocluster map of {len(jobs)} Jobs..."
        said += f"{groups} autoclusters and {alone} Jobs with no autocluster\n"
    return said


def _tell_autoclusters(told: Mapping[int, ClassAd]) -> str:
    if not told:
        return ""
    ads = "".join(
        "\n" + "".join(f"\t{line}\n" for line in sorted(told[number].lines(), key=str.lower))
        for number in sorted(told)
    )
    return f"job query analysis summary ad has autocluster rejection ads:\n{ads}\n"


def _check_words(wish: Wish) -> None:
    """Raise UsageError for a constraint of machines that is none, or a file that is not there."""
    if wish.machine_constraint:
        read_constraint(wish.machine_constraint, "Error:  Could not fetch startd ads")
    if wish.priorities_file and not os.access(wish.priorities_file, os.R_OK):
        raise UsageError(f"Can't open file of user priorities: {wish.priorities_file}")


def render_wish(
    wanted: AnalysisWish, jobs: Sequence[ClassAd], slots: Sequence[ClassAd], known: Known
) -> str:
    """Return what is said about the jobs and slots in the form that is asked for."""
    if wanted.reverse:
        if not slots:
            return ""
        if wanted.summary or not (wanted.detailed or len(slots) == 1):
            return render_slot_table(jobs, slots, verbose=wanted.names)
        return "".join(render_machine(slot, jobs, wanted) for slot in slots)
    if wanted.summary:
        before = _render_limit(known.schedd)
        return before + render_job_table(jobs, slots, known.machine, verbose=wanted.names)
    if wanted.unmatchable:
        return render_unmatchable(jobs, slots)
    return "".join(render_analysis(job, slots, known, wanted) for job in jobs)


def _render_limit(schedd: ClassAd | None) -> str:
    """Return the warning that a schedd runs as many jobs as it may."""
    if schedd is None:
        return ""
    most = schedd.integer("MaxJobsRunning")
    if most is None or most < 0 or most != schedd.integer("TotalRunningJobs"):
        return ""
    return _AT_LIMIT.format(most)


def find_jobs(wish: Wish, environment: Mapping[str, str]) -> Iterator[Answer]:
    """Yield titles and job ads, from a file or from schedds."""
    if wish.job_file:
        chosen = AdFilter(wish.constraint())
        ads = [ad for ad in read_ads(wish.job_file, wish.file_form) if chosen(ad)]
        yield Answer(f"Jobads: {wish.job_file}", ads)
        return
    yield from ask_schedds(wish, environment, [])


def find_schedd(wish: Wish, environment: Mapping[str, str], name: str) -> ClassAd | None:
    """Return the ad of a schedd, None if the collector has none or no schedd was asked.

    Compat: the whole ad, where the reference looks at the few words that it has of its own schedd,
    among which the policy for jobs beside it is not (test_queue_analysis).
    """
    if not name:
        return None
    from kettle.classad.text import equals
    from kettle.client.pool import SCHEDD, make_query
    from kettle.tools.reach import Reach

    reach = Reach(environment, pool=wish.reach.get("pool", ""))
    query = make_query(SCHEDD.ad_type, constraints=[equals("Name", name)])
    return next(iter(reach.pool.query(SCHEDD.query, query)), None)


def read_autoclusters(summary: ClassAd | None) -> dict[int, ClassAd]:
    """Return what a schedd's summary tells of each autocluster; nothing where it does not."""
    told = summary.evaluate("Analyze") if summary is not None else None
    if not isinstance(told, ClassAd):
        return {}
    found = {}
    for name in told.names():
        ad = told.evaluate(name)
        number = ad.integer("AutoClusterId") if isinstance(ad, ClassAd) else None
        if number is not None:
            assert isinstance(ad, ClassAd)
            found[number] = ad
    return found


def find_priorities(wish: Wish, environment: Mapping[str, str]) -> Priorities:
    """Return the users' priorities, from a file or the negotiator, and PREEMPTION_REQUIREMENTS."""
    from kettle.client.pool import NEGOTIATOR
    from kettle.tools.reach import Reach

    reach = Reach(environment, pool=wish.reach.get("pool", ""))
    try:
        requirements = parse_expression(reach.config.get("PREEMPTION_REQUIREMENTS") or "false")
    except ClassAdSyntaxError:
        requirements = None
    if wish.priorities_file:
        text = read_text(wish.priorities_file, limit=LARGEST_ADS)
        return Priorities(read_priorities_text(text), requirements)
    from kettle.client.accounting import read_priorities

    try:
        address = reach.locate(NEGOTIATOR).address
        ad = read_priorities(reach.connector, address)
    except KettleError as error:
        raise UsageError(f"Error: Could not connect to negotiator ({error})") from None
    users = {}
    number = 1
    while (name := ad.string(f"Name{number}")) is not None:
        users[name] = ad.real(f"Priority{number}") or 0.0
        number += 1
    return Priorities(users, requirements)


def find_slots(wish: Wish, environment: Mapping[str, str]) -> list[ClassAd]:
    """Return the slots to look at, from a file or from the collector.

    Of the collector's, what was cut from a partitionable slot counts with the slot it was cut from
    unless it is asked for.
    """
    tests = _slot_tests(wish)
    if wish.slot_file:
        chosen = AdFilter(" && ".join(tests) or "true")
        return [ad for ad in read_ads(wish.slot_file, "auto") if chosen(ad)]
    from kettle.client.pool import STARTD, make_query
    from kettle.tools.reach import Reach

    if _leaves_out_parts(wish):
        tests.append("!(DynamicSlot ?: false)")
    constraint = " && ".join(tests) or "true"
    reach = Reach(environment, pool=wish.reach.get("pool", ""))
    return reach.pool.query(STARTD.query, make_query(STARTD.ad_type, constraints=[constraint]))


def _slot_tests(wish: Wish) -> list[str]:
    tests = [f"({wish.machine_constraint})"] if wish.machine_constraint else []
    if wish.machine:
        name = render_value(wish.machine)
        tests.append(f"(Name == {name} || Machine == {name})")
    return tests


def _leaves_out_parts(wish: Wish) -> bool:
    """Tell whether dynamic slots are left out: neither one nor a kind of slots is asked for."""
    if wish.slot_file or "@" in wish.machine:
        return False
    if not wish.machine_constraint:
        return True
    asked = {name.lower() for name in _names_in(wish.machine_constraint)}
    return not asked & {"partitionableslot", "dynamicslot", "slottype", "dslotid"}


def _names_in(constraint: str) -> set[str]:
    return find_references(parse_expression(constraint), ClassAd())[1]


def render_analysis(
    job: ClassAd,
    slots: Sequence[ClassAd],
    known: Known | None = None,
    wanted: AnalysisWish | None = None,
) -> str:
    """Return what is said about one job.

    In brief, a job that refuses no slot, or is its schedd's, is told the counts alone.
    """
    known, wanted = known or Known(), wanted or AnalysisWish(detailed=True)
    name = f"{job_id(job)[0]:03d}.{job_id(job)[1]:03d}"
    requirements = job.lookup("Requirements")
    if requirements is None:
        return f"\n{name}:  Job has no Requirements expression.\n\n"
    parts = _has_parts_alone(slots)
    found = count_matches(job, slots, drain=not parts, priorities=known.priorities)
    if not parts:
        slots = _without_parts(slots)
    universe = job.integer("JobUniverse") or 0
    beside = universe in _START_BESIDE
    if beside:
        counts, state = _judge_beside(job, name, JobUniverse(universe), known.schedd)
    else:
        counts = render_matches(found, name, names=wanted.names) if found.slots else ""
        state = _state(job)
    body = ""
    if wanted.detailed or (found.refused and not beside):
        matches = Matches() if beside else found
        body = _render_requirements(job, requirements, slots, matches, known, wanted)
    said = f"\n{name}:  {state}\n\n" if state else ""
    return f"{body}{counts}\n{said}{_history_of_matches(job, known.autoclusters)}"


def _has_parts_alone(slots: Sequence[ClassAd]) -> bool:
    """Tell whether dynamic slots are looked at for themselves; else each counts with its whole."""
    if any(slot.boolean("PartitionableSlot") for slot in slots):
        return False
    return sum(bool(slot.boolean("DynamicSlot")) for slot in slots) > 1


def _without_parts(slots: Sequence[ClassAd]) -> Sequence[ClassAd]:
    if len(slots) <= 1:
        return slots
    return [slot for slot in slots if (slot.integer("DSlotID") or 0) <= 0]


def _render_requirements(
    job: ClassAd,
    requirements: Expr,
    slots: Sequence[ClassAd],
    found: Matches,
    known: Known,
    wanted: AnalysisWish,
) -> str:
    """Return the job's Requirements, clause by clause, and what they look at.

    Compat: the reference goes on counting the slots that it drained in thought for the jobs before
    (test_a_job_is_told_what_a_slot_would_do_when_drained).
    """
    short = f"{job_id(job)[0]}.{job_id(job)[1]:03d}"
    clauses = plan_clauses(job, requirements)
    numbered = render_clauses(clauses)
    reduce_clauses(job, clauses, slots, found.drained)
    single = known.machine or len(slots) + len(found.drained) == 1
    counts = render_counts(clauses, "Slot", wanted.details, with_drained=bool(found.drained))
    parts = [
        f"The Requirements expression for job {short} is\n\n    {wrap(unparse(requirements))}\n\n",
        f"{numbered}\n",
        f"Job {short} defines the following attributes:\n\n",
        *_attributes(job, requirements),
        *(_slot_attributes(slots, found, requirements, job) if single else ()),
        f"\nThe Requirements expression for job {short} reduces to these conditions:\n\n",
        f"{counts}{_warning(job)}\n",
    ]
    return "".join(parts)


def _warning(job: ClassAd) -> str:
    universe = job.integer("JobUniverse")
    if universe == JobUniverse.GRID and "$$" in (job.string("GridResource") or ""):
        return ""
    if universe in _ON_SLOTS:
        return ""
    return _ELSEWHERE.get(universe or 0, _UNKNOWN)


def _attributes(job: ClassAd, requirements: Expr) -> Iterator[str]:
    internal, _ = find_references(requirements, job)
    for name in sorted(internal, key=str.lower):
        expression = job.lookup(name)
        if expression is not None:
            unit = _UNITS.get(name.lower(), "")
            yield f"    {name} = {unparse(expression, old=True)}{unit}\n"


def _slot_attributes(
    slots: Sequence[ClassAd], found: Matches, requirements: Expr, job: ClassAd
) -> Iterator[str]:
    """Yield what the only slots say to what the job asks, as they are and drained."""
    _, outside = find_references(requirements, job)
    names = sorted({name.rpartition(".")[2] for name in outside}, key=str.lower)
    drained = {slot.string("Name"): slot for slot in found.drained}
    for slot in slots:
        name = slot.string("Name") or "Target"
        for ad, when in ((slot, ""), (drained.get(slot.string("Name")), " when drained")):
            lines = [] if ad is None else list(_target_lines(ad, names, job))
            if lines:
                yield f"\n{name} has the following attributes{when}:\n\n"
                yield from lines


def _target_lines(slot: ClassAd, names: Sequence[str], job: ClassAd) -> Iterator[str]:
    for name in names:
        if slot.lookup(name) is not None:
            value = unparse(to_expression(slot.evaluate(name, job)), old=True)
            yield f"    TARGET.{name} = {value}{_TARGET_UNITS.get(name.lower(), '')}\n"


def _judge_beside(
    job: ClassAd, name: str, universe: JobUniverse, schedd: ClassAd | None
) -> tuple[str, str]:
    """Return the counts, and whether the job's schedd is willing to run it beside itself."""
    state = _state(job)
    apart = "\n\n" if state else ""
    if schedd is None:
        return "", f"{state}{apart}{_NO_SCHEDD}\n"
    policy = _START_BESIDE[universe]
    expression = schedd.lookup(policy)
    willing = None if expression is None else schedd.evaluate_expression(expression, job)
    if willing in (True, False, 0, 1):
        # The reference's words, its slips included.
        why = f"This schedd's {policy} evalutes to {'true' if willing else 'false'} for this job."
    else:
        why = f"This schedd's {policy} policy failed to evalute for this job."
    lines = [
        f"\n{name}:  Run analysis summary ignoring user priority.  Of 1 slots on 0 machines,\n",
        f"{0:7d} slots are rejected by your job's requirements\n",
        f"{willing in (False, 0):7d} slots reject your job because of their own requirements\n",
        f"{willing in (True, 1):7d} slots match and are willing to run your job\n",
        "" if willing in (True, 1) else render_advice(refused=False),
    ]
    return "".join(lines), f"{state}{apart}{why}\n"


def _history_of_matches(job: ClassAd, autoclusters: Mapping[int, ClassAd]) -> str:
    """Return when the job was matched last, and when and why not, or its autocluster was."""
    matched, rejected = job.integer("LastMatchTime") or 0, job.integer("LastRejMatchTime") or 0
    lines = []
    if matched:
        lines.append(f"Last successful match: {format_long_moment(matched)}\n")
    elif rejected:
        lines.append("No successful match recorded.\n")
    number = job.integer("AutoClusterId")
    told = None if number is None else autoclusters.get(number)
    if rejected > matched:
        lines += _last_failure(job, "", "Reason for last match failure: ")
    elif told is not None:
        if (told.integer("LastRejMatchTime") or 0) > matched:
            lines += _last_failure(told, " for this autocluster", "\tReason: ")
        lines += _successes(told)
    return "".join(lines)


def _last_failure(ad: ClassAd, whose: str, why: str) -> list[str]:
    when = format_long_moment(ad.integer("LastRejMatchTime") or 0)
    where = ad.string("LastRejMatchNegotiator")
    reason = ad.string("LastRejMatchReason")
    return [
        f"Last failed match{whose}: {when}{f' from {where}' if where else ''}\n",
        f"{why}{reason}\n" if reason is not None else "",
    ]


def _successes(told: ClassAd) -> list[str]:
    """Return when the autocluster was matched last, and how many of its jobs run or have run."""
    lines = []
    matched = told.integer("LastMatchTime")
    if matched is not None:
        lines.append(f"Last successful match for this autocluster: {format_long_moment(matched)}\n")
    running, completed = told.integer("NumRunning"), told.integer("NumCompleted")
    if running is not None or completed is not None:
        more = f" and {completed} completed" if completed else ""
        lines.append(f"This autocluster currently has {running or 0} running{more} jobs.\n")
    return lines


def _state(job: ClassAd) -> str:
    status = job.integer("JobStatus")
    if status in _STATES:
        return _STATES[JobStatus(status)]
    if status == JobStatus.HELD:
        reason = job.string("HoldReason")
        return "Job is held." + (f"\n\nHold reason: {reason}" if reason else "")
    now = job.integer("ServerTime") or 0
    if status == JobStatus.IDLE and (job.integer("JobCoolDownExpiration") or 0) > now:
        return "Job is in cool down."
    if status == JobStatus.IDLE and (job.integer(RESTS_UNTIL) or 0) > now:
        return _render_rest(job, now)
    return ""


def _render_rest(job: ClassAd, now: int) -> str:
    """Return why a job that slots would take is not given to one yet.

    Compat: in the reference no job rests so (see `schedd.rests`); what it calls a cool down its
    users ask for (test_a_job_that_rests_after_failed_runs_says_why_and_how_long).
    """
    seconds = (job.integer(RESTS_UNTIL) or 0) - now
    reason = job.string("VacateReason")
    why = f"\n\nVacate reason: {reason}" if reason else ""
    return (
        f"Job is in cool down: its last runs failed at once, it is tried again in {seconds} s.{why}"
    )
