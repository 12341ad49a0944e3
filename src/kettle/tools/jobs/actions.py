"""What condor_rm, _hold, _release, _suspend, _continue and _vacate_job have in common.

One table row a tool: the action, its words, its options. Jobs named one by one go to the schedd in
one request and are answered one by one; a lone cluster, a user, `-constraint` and `-all` are
requests of their own. All texts are the reference's (tests/cli/test_job_actions.py has the
recorded ones).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kettle.attributes.codes import ActionResult, JobAction, JobStatus
from kettle.classad import parse_expression
from kettle.classad.text import equals
from kettle.errors import ClassAdSyntaxError, UsageError
from kettle.structs import Struct, field
from kettle.tools.options import Given, Option, UnknownOptionError, read_options, run_tool
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach

if TYPE_CHECKING:
    from kettle.client.jobs import Acted


class Tool(Struct):
    """How one of the tools speaks.

    `done` completes "Job 1.0 …", `all_done` "All jobs have been …"; `undone` is why a job's status
    did not allow it, `already` that it had been done.
    """

    name: str
    action: JobAction
    verb: str
    done: str
    all_done: str
    undone: str
    already: str
    options: tuple[Option, ...] = ()

    @property
    def capital(self) -> str:
        """The verb as it begins a line of the usage message."""
        return self.verb.capitalize()


REASON = Option("reason", values=1)
# fmt: off
TOOLS = {
    tool.name: tool
    for tool in (
        Tool("condor_rm", JobAction.REMOVE, "remove", "marked for removal", "marked for removal",
             "can not be removed", "already marked for removal",
             (REASON, Option("forcex"), Option("transfer", 3))),
        Tool("condor_hold", JobAction.HOLD, "hold", "held", "held",
             "not in a state to be held", "already held", (REASON, Option("subcode", values=1))),
        Tool("condor_release", JobAction.RELEASE, "release", "released", "released",
             "not held to be released", "already released", (REASON,)),
        Tool("condor_suspend", JobAction.SUSPEND, "suspend", "suspended", "suspended",
             "not running to be suspended", "already suspended"),
        Tool("condor_continue", JobAction.CONTINUE, "continue", "continued", "continued",
             "not running to be continued", "already running"),
        Tool("condor_vacate_job", JobAction.VACATE, "vacate", "vacated", "vacated",
             "not running to be vacated", "already vacated", (Option("fast"),)),
    )
}
# fmt: on
STANDARD = (
    Option("help"),
    Option("version", shortest=1),
    Option("long"),
    Option("totals", shortest=2),
    Option("debug", qualified=True),
    Option("name", values=1),
    Option("pool", values=1),
    Option("addr", values=1),
    Option("constraint", values=1),
    Option("all"),
    Option("held", shortest=3),
)
OPTION_LINES = {
    "reason": "  -reason reason      Use the given {reason}\n",
    "forcex": "  -forcex             Force the immediate local removal of jobs in the X state\n"
    "                      (only affects jobs already being removed)\n",
    "transfer": "  -transfer           Transfer output files before removing\n",
    "subcode": "  -subcode number     Set HoldReasonSubCode\n",
    "fast": "  -fast               Use a fast vacate (hardkill)\n",
}


class Wish(Struct):
    """What the command line asks for."""

    action: JobAction
    jobs: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    everything: bool = False
    held: bool = False
    long: bool = False
    totals: bool = False
    reason: str = ""
    subcode: int | None = None
    reach: dict[str, str] = field(default_factory=dict)


class Target(Struct):
    """One request by constraint, and the words for what it is about."""

    constraint: str
    done: str
    missing: str


def main(argv: Sequence[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Be the tool that `argv[0]` names; 1 if anything could not be done."""
    tool = TOOLS[argv[0]]

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        return Worker(tool, wish, streams, Reach(environment, **wish.reach)).work()

    usage = render_usage(tool)
    return run_tool(
        argv,
        environment,
        streams,
        usage=usage,
        read_wish=lambda words: read_wish(
            tool, list(read_options(words, (*STANDARD, *tool.options)))
        ),
        act=act,
        complain=lambda error: f"{_worded(error)}\n{usage}",
        prefix=f"{tool.name}: ",
    )


def _worded(error: UsageError) -> str:
    """Return the error in the reference's words."""
    if not isinstance(error, UnknownOptionError):
        return str(error)
    hint = f" ({error.hint})" if error.hint else ""
    return f"Unrecognized option: {error.word}{hint}"


def read_wish(tool: Tool, given: Sequence[Given]) -> Wish:
    """Return what the options ask for; raise UsageError."""
    wish = Wish(tool.action)
    for item in given:
        match item.name:
            case "":
                sort_word(wish, item.value)
            case "constraint":
                wish.constraints.append(item.value)
            case "all":
                wish.everything = True
            case "held" | "long" | "totals":
                setattr(wish, item.name, True)
            case "reason":
                wish.reason = item.value
            case "subcode":
                if not item.value.lstrip("-").isdecimal():
                    raise UsageError(f"-subcode needs a number, not {item.value}")
                wish.subcode = int(item.value)
            case "name" | "pool":
                wish.reach[item.name] = item.value
            case "addr":
                wish.reach["address"] = item.value
            case "forcex":
                wish.action = JobAction.REMOVE_X
            case "transfer":
                wish.action = JobAction.TRANSFER_AND_REMOVE
            case "fast":
                wish.action = JobAction.VACATE_FAST
    check_wish(wish)
    return wish


def check_wish(wish: Wish) -> None:
    """Raise UsageError unless it has been said, in one way, which jobs are meant."""
    named = wish.jobs or wish.clusters or wish.users
    if wish.everything and named:
        raise UsageError("-all cannot be used with other constraints")
    if not (named or wish.constraints) and not wish.everything and not wish.held:
        raise UsageError("You did not specify any jobs")


def sort_word(wish: Wish, word: str) -> None:
    """Tell a job, a cluster and a user apart; several may stand in one word with commas."""
    for part in word.split(","):
        if re.fullmatch(r"\d+\.\d+", part):
            wish.jobs.append(part)
        elif re.fullmatch(r"\d+\.?", part):
            wish.clusters.append(part.rstrip("."))
        elif part:
            wish.users.append(part)


def plan_target(tool: Tool, wish: Wish) -> Target | None:
    """Return the one request by constraint that a command line comes to, None if only ids stand.

    Users and clusters add to each other; a constraint, and -held, narrow what they name. With
    -held an id is a condition like any other, so that it, too, is looked at.
    """
    named = _named_conditions(wish)
    parts = [*wish.constraints, *([" || ".join(named)] if named else [])]
    if not parts and not wish.everything and not wish.held:
        return None
    constraint = parts[0] if len(parts) == 1 else " && ".join(f"({part})" for part in parts)
    which = f" matching constraint ({constraint})" if parts else ""
    if parts == named:
        which = _plain_words(wish) or which
    jobs = f"held jobs{which}" if wish.held else f"jobs{which}"
    if wish.held:
        held = f"JobStatus == {int(JobStatus.HELD)}"
        constraint = f"({constraint}) && ({held})" if parts else held
    return Target(
        constraint or "true", f"All {jobs} have been", f"Couldn't find/{tool.verb} all {jobs}"
    )


def _named_conditions(wish: Wish) -> list[str]:
    """Return a condition for each user and cluster named, and for each id that needs one."""
    found = [equals("User" if "@" in user else "Owner", user) for user in wish.users]
    found += [f"ClusterId == {cluster}" for cluster in wish.clusters]
    for job in wish.jobs if wish.held else ():
        cluster, _, proc = job.partition(".")
        found.append(f"(ClusterId == {cluster} && ProcId == {proc})")
    return found


def _plain_words(wish: Wish) -> str:
    """Return the words for a single user or cluster, "" for an id."""
    if wish.users:
        return f' of user "{wish.users[0]}"'
    return f" in cluster {wish.clusters[0]}" if wish.clusters else ""


class Worker:
    """Carries out one wish against one schedd and prints what became of it."""

    def __init__(self, tool: Tool, wish: Wish, streams: Streams, reach: Reach) -> None:
        self._tool = tool
        self._wish = wish
        self._streams = streams
        self._reach = reach
        self._address = reach.schedd().address
        self._failed = False

    def work(self) -> int:
        """Do all of it; 1 if anything could not be done."""
        if self._wish.jobs and not self._wish.held:
            self._work_on_jobs()
        target = plan_target(self._tool, self._wish)
        if target is not None:
            self._work_on(target)
        return 1 if self._failed else 0

    def _ask(self, ids: Sequence[str] = (), constraint: str = "") -> Acted:
        from kettle.client.jobs import act_on_jobs

        wish = self._wish
        acted = act_on_jobs(
            self._reach.connector,
            self._address,
            wish.action,
            ids=ids,
            constraint=constraint,
            reason=wish.reason or default_reason(self._tool, wish.action),
            subcode=wish.subcode,
        )
        if wish.long:
            self._streams.stdout.write("".join(f"{line}\n" for line in acted.lines) + "\n")
        elif wish.totals:
            self._streams.stdout.write(render_totals(acted))
        return acted

    def _work_on_jobs(self) -> None:
        jobs = self._wish.jobs
        results = self._ask(ids=jobs).results
        for job in jobs:
            cluster, proc = map(int, job.split("."))
            result = results.get((cluster, proc), ActionResult.NOT_FOUND)
            sentence = render_result(self._tool, self._wish.action, job, result)
            self._say(sentence, good=result is ActionResult.SUCCESS)

    def _work_on(self, target: Target) -> None:
        try:
            parse_expression(target.constraint, old=True)
        except ClassAdSyntaxError as error:
            # Compat: the reference says only that it cannot insert it; we say where it breaks.
            self._streams.stderr.write(f"the constraint does not parse: {error}")
            self._say(target.missing, good=False)
            return
        acted = self._ask(constraint=target.constraint)
        done = done_words(self._tool, self._wish.action, of_many=True)
        good = acted.succeeded
        self._say(f"{target.done} {done}" if good else target.missing, good=good)

    def _say(self, sentence: str, *, good: bool) -> None:
        if good:
            self._streams.stdout.write(f"{sentence}\n")
        else:
            self._streams.stderr.write(f"\n{sentence}\n")
            self._failed = True


def default_reason(tool: Tool, action: JobAction) -> str:
    """Return the reason that is recorded when the user gave none."""
    return f"via {tool.name}{_SUFFIXES.get(action, '')}"


_SUFFIXES = {JobAction.REMOVE_X: " -forcex", JobAction.TRANSFER_AND_REMOVE: " -transfer"}


def done_words(tool: Tool, action: JobAction, *, of_many: bool) -> str:
    """Return the words for what was done."""
    if action is JobAction.REMOVE_X:
        return "removed locally (remote state unknown)"
    if action is JobAction.VACATE_FAST:
        return "fast-vacated"
    if action is JobAction.TRANSFER_AND_REMOVE:
        return "marked for removal after file transfer"
    return tool.all_done if of_many else tool.done


def render_result(tool: Tool, action: JobAction, job: str, result: ActionResult) -> str:
    """Return the sentence about one job."""
    match result:
        case ActionResult.SUCCESS:
            return f"Job {job} {done_words(tool, action, of_many=False)}"
        case ActionResult.NOT_FOUND:
            return f"Job {job} not found"
        case ActionResult.BAD_STATUS if action is JobAction.REMOVE_X:
            return f"Job {job} not in `X' state to be forcibly removed"
        case ActionResult.BAD_STATUS:
            return f"Job {job} {tool.undone}"
        case ActionResult.ALREADY_DONE:
            return f"Job {job} {tool.already}"
        case ActionResult.PERMISSION_DENIED:
            return f"Permission denied to {tool.verb} job {job}"
        case ActionResult.LIMIT_EXCEEDED:
            return f"Job {job} cannot be released again, has reached SYSTEM_PERIODIC_RELEASES limit"
        case _:
            return f"Couldn't {tool.verb} job {job}"


def render_totals(acted: Acted) -> str:
    """Return the line of `-totals`."""
    words = "Failed", "Succeeded", "Not Found", "Bad Status", "Already Done", "Permission Denied"
    totals = acted.totals or count(acted)
    order = (1, 0, 2, 3, 4, 5)
    return ", ".join(f"{totals.get(ActionResult(i), 0)} {words[i]}" for i in order) + "\n"


def count(acted: Acted) -> dict[ActionResult, int]:
    """Return the totals of an answer that lists its jobs."""
    totals: dict[ActionResult, int] = {}
    for result in acted.results.values():
        totals[result] = totals.get(result, 0) + 1
    return totals


def render_usage(tool: Tool) -> str:
    """Return the usage message."""
    capital = tool.capital
    own = "".join(OPTION_LINES[option.name] for option in tool.options)
    return (
        f"Usage: {tool.name} [options] [constraints]\n"
        " where [options] is zero or more of:\n"
        "  -help               Show this message and end\n"
        "  -version            Show the version and end\n"
        "  -long               Show the schedd's whole answer\n"
        "  -totals             Show how many succeeded and failed\n"
        "  -debug              Say more about what is being done\n"
        "  -name schedd_name   Speak to this schedd\n"
        "  -pool hostname      Ask this pool's collector where daemons are\n"
        '  -addr <ip:port>     Speak to this address ("sinful string")\n'
        f"{own.format(reason=capital + 'Reason')}"
        " and where [constraints] is one of:\n"
        f"  cluster.proc        {capital} this job\n"
        f"  cluster             {capital} this cluster of jobs\n"
        f"  user                {capital} all jobs of this user\n"
        f"  -constraint expr    {capital} all jobs for which the expression is true\n"
        f"  -all                {capital} all jobs (with no other constraint)\n"
        f"  -held               {capital} only held jobs (with any of the above)\n"
    )
