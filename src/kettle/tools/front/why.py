"""`kettle why`: why a job is idle or held, in a sentence and then condition by condition.

What stands between a job and the slots is counted by `matchmaking.explain`; here the job and the
slots are fetched, one verdict is chosen, and both are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from kettle.attributes.codes import BESIDE_THE_SCHEDD, HoldReasonCode, JobStatus, JobUniverse
from kettle.attributes.match_words import NOT_STARTED
from kettle.classad import ClassAd, unparse
from kettle.classad.text import equals
from kettle.client.jobs import query_history, query_jobs
from kettle.client.pool import make_query
from kettle.errors import NotFoundError, UsageError
from kettle.matchmaking.explain import Condition, Explanation, explain, split_conditions
from kettle.named_tuples import NamedTuple
from kettle.policy.attribute_protection import RESTS_UNTIL
from kettle.runtime.account_names import account_name
from kettle.tools.front import place
from kettle.tools.front.log_trouble import describe_log_trouble
from kettle.tools.front.unmade import describe_unmade
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.commands import Command

# Limit: how many jobs that go first are counted.
MOST_AHEAD = 1000
# What slots of a machine whose EXECUTE is full do not meet.
_ROOM = "MY.Disk > 0"
# Limit: so many machines are named that take no job for a trouble of their own.
_MOST_TROUBLES = 3


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle why`."""
    parser = argparse.ArgumentParser(
        description="Say why a job is idle or held, and how many slots meet each condition."
    )
    place.add_folder_option(parser)
    parser.add_argument("job", metavar="JOB", help="CLUSTER.PROC, or CLUSTER for its first job")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    return parser


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Fetch, explain, show."""
    if not re.fullmatch(r"\d+(\.\d+)?", arguments.job):
        raise UsageError(f"{arguments.job} is no job id", hint="CLUSTER.PROC, such as 12.0")
    reach = place.reach_queue(arguments.dir, environment)
    name, found = _judge_word(reach, arguments.job)
    if arguments.json:
        facts = {
            "job": arguments.job,
            "verdict": found.verdict,
            "explanation": found.explanation and asdict(found.explanation),
        }
        streams.stdout.write(json.dumps(facts, indent=2) + "\n")
        return 0
    streams.stdout.write(f"Job {name}: {found.verdict}\n")
    if found.asks_slots and found.explanation:
        streams.stdout.write(render_conditions(found.explanation))
    return 0


def _judge_word(reach: Reach, word: str) -> tuple[str, Judgement]:
    """Return a job's name and why it is where it is; NotFoundError if it is nowhere."""
    try:
        job, gone = find_job(reach, word)
    except NotFoundError:
        verdict = describe_unmade(reach, word)
        if not verdict:
            raise
        return word, Judgement(verdict, None, asks_slots=False)
    return name_of(job), judge(reach, job, gone=gone)


class Judgement(NamedTuple):
    """Why a job is where it is, and what stands between it and the slots.

    `asks_slots`: it is idle and needs a slot. A job that is not made yet has no `explanation`.
    """

    verdict: str
    explanation: Explanation | None
    asks_slots: bool

    @property
    def is_hopeless(self) -> bool:
        """Whether it waits for a slot and none of those there would take it if it were empty."""
        return (
            self.asks_slots
            and self.explanation is not None
            and bool(self.explanation.slots)
            and not self.explanation.matching_when_empty
        )


def judge(reach: Reach, job: ClassAd, *, gone: bool = False) -> Judgement:
    """Return why a job is where it is, by what the pool says now; `gone`: it has left the queue."""
    waits = not gone and job.integer("JobStatus") == JobStatus.IDLE
    needs_no_slot = job.integer("JobUniverse") in (*BESIDE_THE_SCHEDD, JobUniverse.GRID)
    slots = [] if gone or needs_no_slot else find_slots(reach)
    found = explain(job, slots, user=job.string("User") or "")
    still_there = "" if gone or not waits else describe_last_run(job)
    if gone:
        verdict = "It is not in the queue any more: " + describe_end(job)
    elif still_there:
        return Judgement(still_there, found, asks_slots=False)
    elif waits and needs_no_slot:
        verdict = describe_slotless(job, time.time()) or describe_beside(job, find_schedd(reach))
    else:
        verdict = decide_verdict(job, found, time.time(), ahead=count_ahead(reach, job))
        verdict += describe_trouble(job, slots, found)
    if waits:
        verdict += describe_log_trouble(job, reach.config.get("FULL_HOSTNAME") or "", _looker())
    return Judgement(verdict, found, asks_slots=waits and not needs_no_slot)


def _looker() -> str:
    """Return whose jobs' files we may judge by what we see; empty: everybody's, as root."""
    user = os.geteuid()
    if user == 0:
        return ""
    return account_name(user)


def find_job(reach: Reach, word: str) -> tuple[ClassAd, bool]:
    """Return the job's ad, and whether it has left the queue; NotFoundError if it never was."""
    cluster, _, proc = word.partition(".")
    constraint = f"ClusterId == {cluster}" + (f" && ProcId == {proc}" if proc else "")
    address = reach.schedd().address
    for ad in query_jobs(reach.connector, address, constraint=constraint, limit=1):
        return ad, False
    query = ClassAd({"NumJobMatches": 1})
    query.insert_text("Requirements", constraint)
    for ad in query_history(reach.connector, address, query):
        return ad, True
    raise NotFoundError(f"there is no job {word}, neither in the queue nor in the history")


def find_slots(reach: Reach) -> list[ClassAd]:
    """Return the ads of all slots that jobs can be matched with."""
    query = make_query("Machine", constraints=['SlotType =!= "Dynamic"'])
    return reach.pool.query(Command.QUERY_STARTD_ADS, query)


def find_schedd(reach: Reach) -> ClassAd | None:
    """Return the ad of the schedd that has the job, if the collector knows it."""
    query = make_query("Scheduler", constraints=[equals("Name", reach.schedd().name)])
    return next(iter(reach.pool.query(Command.QUERY_SCHEDD_ADS, query)), None)


def count_ahead(reach: Reach, job: ClassAd) -> int:
    """Return how many idle jobs of the job's user are tried before it, at most MOST_AHEAD."""
    if job.integer("JobStatus") != JobStatus.IDLE:
        return 0
    cluster, proc = job.integer("ClusterId"), job.integer("ProcId")
    priority = job.integer("JobPrio") or 0
    older = f"(ClusterId < {cluster} || (ClusterId == {cluster} && ProcId < {proc}))"
    constraint = (
        f"JobStatus == {int(JobStatus.IDLE)} && {equals('Owner', job.string('Owner') or '')} "
        f"&& (JobPrio > {priority} || (JobPrio == {priority} && {older}))"
    )
    found = query_jobs(
        reach.connector,
        reach.schedd().address,
        constraint=constraint,
        projection=("ClusterId",),
        limit=MOST_AHEAD,
    )
    return sum(1 for _ in found)


def name_of(job: ClassAd) -> str:
    """Return the job's id."""
    return f"{job.integer('ClusterId')}.{job.integer('ProcId')}"


def decide_verdict(job: ClassAd, found: Explanation, now: float, *, ahead: int = 0) -> str:
    """Return what says why the job is where it is; `ahead` jobs of its user are tried before it."""
    status = job.integer("JobStatus")
    if status == JobStatus.HELD:
        return describe_hold(job)
    if status in (JobStatus.RUNNING, JobStatus.TRANSFERRING_OUTPUT):
        since = int(now - (job.integer("JobCurrentStartDate") or now))
        where = job.string("RemoteHost") or "a slot"
        return f"It runs on {where}, for {since} s now."
    if status == JobStatus.SUSPENDED:
        where = job.string("RemoteHost") or "its slot"
        return f"It is suspended on {where}; condor_continue wakes it."
    if status != JobStatus.IDLE:
        return describe_end(job)
    if found.matching and now < (job.integer(RESTS_UNTIL) or 0):
        return describe_rest(job, now)
    return describe_idle(found, rejection_of(job), name=name_of(job)) + describe_turn(ahead, found)


def describe_last_run(job: ClassAd) -> str:
    """Return what keeps an idle job whose last run has not left its machine yet; else nothing.

    Such a one was held and released meanwhile. Where it runs goes from its ad with the run.
    """
    where = job.string("RemoteHost")
    if where is None:
        return ""
    return (
        f"It is idle, but its last run has not left {where} yet, and it starts nowhere before "
        "that. If its program does not heed its signal, it is killed there when the time is over "
        "that it may take: its job_max_vacate_time, or what the machine allows "
        "(MachineMaxVacateTime)."
    )


def describe_rest(job: ClassAd, now: float) -> str:
    """Return why a job that machines would take is not given to one yet."""
    seconds = max(1, round((job.integer(RESTS_UNTIL) or 0) - now))
    why = (job.string("VacateReason") or "no reason was given").rstrip(".")
    again = f"it is tried again in {seconds} s."
    return f"It is idle because its last runs failed at once ({why}); {again}"


def describe_hold(job: ClassAd) -> str:
    """Return why a job is held and what a person can do."""
    reason = job.string("HoldReason") or "no reason was given"
    code = job.integer("HoldReasonCode") or 0
    try:
        meaning = HoldReasonCode(code).doc
    except ValueError:
        meaning = ""
    # Code 0 is of what has none: the reason is all there is.
    more = f": {meaning}" if meaning and code else "."
    return (
        f"It is held: {reason.rstrip('.')}. (Code {code}{more}) "
        f"When that is mended: condor_release {name_of(job)}"
    )


def describe_end(job: ClassAd) -> str:
    """Return how a job ended."""
    if job.integer("JobStatus") == JobStatus.REMOVED:
        return f"it was removed ({job.string('RemoveReason') or 'no reason was given'})."
    if job.boolean("ExitBySignal"):
        return f"it was killed by signal {job.integer('ExitSignal')}."
    return f"it completed with exit code {job.integer('ExitCode')}."


def rejection_of(job: ClassAd) -> str:
    """Return what the negotiator said when it last refused the job, empty if it took it since."""
    refused = job.integer("LastRejMatchTime") or 0
    if refused < (job.integer("LastMatchTime") or 0):
        return ""
    return job.string("LastRejMatchReason") or ""


def describe_idle(found: Explanation, rejection: str = "", *, name: str) -> str:
    """Return why an idle job has no slot; `rejection` is the negotiator's reason, if it had one."""
    if not found.slots:
        return "It is idle because the pool has no slots. condor_status lists them."
    if found.matching and rejection.startswith("concurrency limit"):
        return f"It is idle because other jobs use all of what it needs: {rejection}."
    if found.matching and rejection.startswith(NOT_STARTED):
        return f"It is idle because {rejection}."
    if found.matching and rejection == "insufficient priority":
        return (
            "It is idle because users with a better priority have the slots that suit it; "
            "condor_userprio shows the priorities."
        )
    if found.matching and found.free:
        return (
            f"It is idle, and {found.free} of {say_slots(found.slots)} would take it now; it "
            "should start within moments. If not, NegotiatorLog and SchedLog say more."
        )
    if found.matching and found.matching == found.unavailable:
        return "It is idle because the slots that suit it are offline or take no jobs now."
    if found.matching_when_empty:
        return (
            f"It is idle because other jobs use what it needs: {found.matching_when_empty} of "
            f"{say_slots(found.slots)} would take it if nothing else ran there."
        )
    return describe_mismatch(found, name)


def describe_slotless(job: ClassAd, now: float) -> str:
    """Return what keeps an idle job that needs no slot, whatever its schedd says; else nothing."""
    if job.integer("JobUniverse") == JobUniverse.GRID:
        resource = job.string("GridResource") or "its grid resource"
        return (
            f"It is idle because nothing here hands jobs of the grid universe to {resource}: "
            "no gridmanager runs beside this schedd."
        )
    cools = round((job.integer("JobCoolDownExpiration") or 0) - now)
    if cools <= 0:
        return ""
    how = ""
    if job.boolean("ExitBySignal"):
        how = f" (signal {job.integer('ExitSignal')})"
    elif job.integer("ExitCode") is not None:
        how = f" (exit code {job.integer('ExitCode')})"
    return (
        f"It is idle because its last run failed{how}; it is "
        f"started again in {cools} s (SCHEDULER_UNIVERSE_COOL_DOWN_DURATION)."
    )


def describe_beside(job: ClassAd, schedd: ClassAd | None) -> str:
    """Return why an idle job of the local or scheduler universe does not run: no slot is asked."""
    word = "local" if job.integer("JobUniverse") == JobUniverse.LOCAL else "scheduler"
    lead = f"It is idle. A {word} universe job runs on the machine of its schedd, in no slot"
    start = schedd.lookup(f"Start{word.capitalize()}Universe") if schedd is not None else None
    if schedd is not None and start is not None and not schedd.satisfies(start, job):
        text = unparse(start, old=True)
        return f"{lead}, and the schedd starts none now: START_{word.upper()}_UNIVERSE is {text}."
    rejection = rejection_of(job)
    if rejection.startswith(NOT_STARTED):
        return f"It is idle because {rejection}."
    requirements = job.lookup("Requirements")
    if requirements is None:
        return f"{lead}; it should start within moments."
    machine = _schedd_as_machine(schedd)
    for part in split_conditions(requirements):
        if job.evaluate_expression(part, machine) is False:
            return f"{lead}, and that machine does not meet {unparse(part, old=True)}."
    return (
        f"{lead}; it should start within moments, unless that machine does not meet its "
        f"Requirements: {unparse(requirements, old=True)}."
    )


def _schedd_as_machine(schedd: ClassAd | None) -> ClassAd:
    """Return what a schedd's ad tells of the machine that jobs beside it ask."""
    machine = ClassAd()
    for name, attribute in (("Cpus", "DetectedCpus"), ("Memory", "DetectedMemory")):
        number = schedd.integer(attribute) if schedd is not None else None
        if number is not None:
            machine[name] = number
    return machine


def describe_mismatch(found: Explanation, name: str) -> str:
    """Return why no slot would take the job called `name` even if the pool were empty."""
    of_job = [one for one in found.job_conditions if one.is_hopeless]
    of_slots = [one for one in found.slot_conditions if not one.met and one.asked == found.slots]
    if of_job:
        return f"It is idle because no slot meets {of_job[0].text}.{advise(found, of_job, name)}"
    if of_slots and of_slots[0].text == _ROOM:
        return (
            "It is idle because no machine offers any disk: EXECUTE has no room there beyond "
            "RESERVED_DISK. It is looked for at each POLLING_INTERVAL."
        )
    if of_slots:
        return (
            f"It is idle because no slot meets {of_slots[0].text}, which the slots themselves ask "
            "of a job (START and the rest of their policy)."
        )
    if found.refused_by_job < found.slots:
        return "It is idle because the slots that it accepts do not accept it."
    return "It is idle because no single slot meets all of its conditions together."


def advise(found: Explanation, hopeless: Sequence[Condition], name: str) -> str:
    """Return what would have to be asked for instead of what no slot has, and how; else nothing."""
    if found.is_mendable:
        remedies = [one.remedy for one in hopeless if one.remedy is not None]
        wanted = " and ".join(f"{attribute} <= {number}" for attribute, number in remedies)
        edits = " ".join(f"{attribute}={number}" for attribute, number in remedies)
        most = f"the most that a slot has: condor_qedit {name} {edits}"
        return f" It would match with {wanted}, {most}"
    suggestions = [one.suggestion for one in hopeless if one.suggestion]
    if len(suggestions) == 1 == len(hopeless):
        return f" It would match with {suggestions[0]}."
    if not suggestions:
        return ""
    return f" It would need {' and '.join(suggestions)}, and still match no slot."


def describe_trouble(job: ClassAd, slots: Sequence[ClassAd], found: Explanation) -> str:
    """Return which machines take no job for a trouble of their own, empty if none has any."""
    troubles = {
        slot.string("Machine") or "": slot.string("KettleTrouble")
        for slot in slots
        if slot.string("KettleTrouble")
    }
    if found.matching or job.integer("JobStatus") != JobStatus.IDLE:
        return ""
    said = [f" {machine} takes no jobs: {trouble}." for machine, trouble in troubles.items()]
    return "".join(said[:_MOST_TROUBLES])


def describe_turn(ahead: int, found: Explanation) -> str:
    """Return how many jobs of the same user go first, empty if that is not what it waits for."""
    if not ahead or not found.matching_when_empty:
        return ""
    if ahead == 1:
        return " 1 idle job of its user goes first (by priority, then age)."
    number = f"{ahead} or more" if ahead >= MOST_AHEAD else str(ahead)
    return f" {number} idle jobs of its user go first (by priority, then age)."


def say_slots(number: int) -> str:
    """Return `1 slot`, `2 slots`."""
    return f"{number} slot{'' if number == 1 else 's'}"


def render_conditions(found: Explanation) -> str:
    """Return the conditions of both sides with how many slots meet each, as a table of bars."""
    parts = [render_table("its own Requirements", found.job_conditions)]
    parts.append(
        render_table("the slots' Requirements (START and the rest)", found.slot_conditions)
    )
    return "".join(part for part in parts if part)


def render_table(title: str, conditions: Sequence[Condition]) -> str:
    """Return one side's conditions, a line each."""
    if not conditions:
        return ""
    lines = [f"\n  {title}:\n"]
    for one in conditions:
        mark = "✘" if not one.met else "✔" if one.met == one.asked else "~"
        hint = f"   → {one.suggestion}" if one.suggestion else ""
        lines.append(f"  {mark} {one.met:>5} of {one.asked:<5} {one.text}{hint}\n")
    return "".join(lines)
