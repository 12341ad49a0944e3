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
from kettle.errors import (
    ClassAdSyntaxError,
    NotFoundError,
    UnknownHostError,
    Unreached,
    UsageError,
)
from kettle.structs import Struct, field
from kettle.tools.options import (
    BriefError,
    Given,
    MissingValueError,
    Option,
    UnknownOptionError,
    check_address,
    read_options,
    run_tool,
    tell_more,
)
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
    # Of its options, those that are not everybody's.
    own: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that its usage has."""
        others = {"hold", *OPTION_LINES} - {*self.own}
        return tuple(option for option in options_of(self) if option.name not in others)

    @property
    def capital(self) -> str:
        """The verb as it begins a line of the usage message."""
        return self.verb.capitalize()


# fmt: off
TOOLS = {
    tool.name: tool
    for tool in (
        Tool("condor_rm", JobAction.REMOVE, "remove", "marked for removal", "marked for removal",
             "can not be removed", "already marked for removal", ("reason", "forcex", "transfer")),
        Tool("condor_hold", JobAction.HOLD, "hold", "held", "held",
             "not in a state to be held", "already held", ("reason", "subcode")),
        Tool("condor_release", JobAction.RELEASE, "release", "released", "released",
             "not held to be released", "already released", ("reason",)),
        Tool("condor_suspend", JobAction.SUSPEND, "suspend", "suspended", "suspended",
             "not running to be suspended", "already suspended"),
        Tool("condor_continue", JobAction.CONTINUE, "continue", "continued", "continued",
             "not running to be continued", "already running"),
        Tool("condor_vacate_job", JobAction.VACATE, "vacate", "vacated", "vacated",
             "not running to be vacated", "already vacated", ("fast",)),
    )
}
# fmt: on
# The only tool that has an action.
_ONLY_OF = {"forcex": "condor_rm", "transfer": "condor_rm", "fast": "condor_vacate_job"}


def options_of(tool: Tool) -> tuple[Option, ...]:
    """Return the options of a tool, in the order in which a beginning is looked for.

    All of them are known to all tools, as in the reference, where -reason and -subcode mean nothing
    to some, and some are refused by name.
    """
    return (
        Option("debug", qualified=True),
        Option("long"),
        Option("totals", 3),
        Option("constraint", values=1),
        Option("all"),
        Option("held", 3),
        Option("hold", 3),
        Option("addr", 2, 1),
        Option("reason", values=1),
        Option("subcode", values=1),
        Option("forcex", 1 if "forcex" in tool.own else 2),
        Option("transfer", 2),
        Option("fast", 1 if "fast" in tool.own else 2),
        Option("name", values=1),
        Option("pool", values=1),
        Option("version"),
        Option("help"),
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
    # What the two ask for, in the order of the command line.
    conditions: list[str] = field(default_factory=list)
    # Words that are numbers of no cluster.
    invalid: list[str] = field(default_factory=list)
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
        streams.stderr.writelines(f"Invalid cluster # from {word}.\n" for word in wish.invalid)
        return Worker(tool, wish, streams, find_way(wish, environment)).work()

    usage = render_usage(tool)
    return run_tool(
        argv,
        environment,
        streams,
        usage=usage,
        read_wish=lambda words: read_words(tool, words),
        act=act,
        prefix=f"{tool.name}: ",
    )


def read_words(tool: Tool, words: Sequence[str]) -> Wish:
    """Return what a command line asks for; raise UsageError in the reference's words."""
    try:
        return read_wish(tool, list(read_options(words, options_of(tool))))
    except UnknownOptionError as error:
        raise UsageError(f"Unrecognized option: {error.word}") from None
    except MissingValueError as error:
        raise BriefError(f"{tool.name}: -{error.option.name} requires another argument") from None


def find_way(wish: Wish, environment: Mapping[str, str]) -> Reach:
    """Return the way to the schedd; BriefError for one that the collector does not know.

    -pool alone changes nothing: this host's schedd is asked, as in the reference.
    """
    from kettle.client.pool import SCHEDD

    reach = Reach(environment, **wish.reach)
    if not wish.reach.get("name"):
        return reach.without_pool()
    if "pool" in wish.reach or "address" in wish.reach:
        return reach
    try:
        # Of a named one the collector is asked, also if it is this host's.
        found = reach.pool.locate(SCHEDD, reach.name, far=True)
    except UnknownHostError:
        raise
    except (NotFoundError, Unreached):
        host = wish.reach["name"].rpartition("@")[2]
        raise BriefError(f"Error: cannot get address of schedd {host}") from None
    return Reach(environment, address=str(found.address))


def read_wish(tool: Tool, given: Sequence[Given]) -> Wish:
    """Return what the options ask for; raise UsageError."""
    wish = Wish(tool.action)
    for item in given:
        match item.name:
            case "":
                sort_word(wish, item.value)
            case "constraint":
                _check_value(tool, item)
                wish.constraints.append(item.value)
            case "all":
                _take_all(tool, wish)
            case "hold":
                wish.held = True
            case "held" | "long" | "totals":
                setattr(wish, item.name, True)
            case "reason":
                wish.reason = item.value
            case "subcode":
                wish.subcode = _read_subcode(item.value)
            case "name" | "pool" | "addr":
                _take_place(tool, wish, item)
            case "forcex" | "transfer" | "fast":
                if item.name not in tool.own:
                    raise UsageError(f"-{item.name} is only valid with {_ONLY_OF[item.name]}")
                wish.action = _ACTIONS[item.name]
    check_wish(wish)
    return wish


_ACTIONS = {
    "forcex": JobAction.REMOVE_X,
    "transfer": JobAction.TRANSFER_AND_REMOVE,
    "fast": JobAction.VACATE_FAST,
}


def _read_subcode(text: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,18}", text):
        raise BriefError(f"Invalid -subcode {text}!")
    return int(text)


def _take_all(tool: Tool, wish: Wish) -> None:
    if wish.constraints or wish.clusters or wish.users:
        raise BriefError(f"{tool.name}: can't mix -all with other constraints")
    wish.everything = True


def _check_value(tool: Tool, item: Given) -> None:
    """Raise BriefError where the next option stands in the place of a value."""
    if item.value.startswith("-"):
        raise BriefError(f"{tool.name}: -{item.name} requires another argument")


def _take_place(tool: Tool, wish: Wish, item: Given) -> None:
    """Take an option that says which schedd is meant."""
    if item.name != "addr":
        wish.reach[item.name] = item.value
        return
    _check_value(tool, item)
    wish.reach["address"] = check_address(tool.name, item.value)


def check_wish(wish: Wish) -> None:
    """Raise UsageError unless it has been said, in one way, which jobs are meant."""
    named = wish.jobs or wish.clusters or wish.users
    if wish.everything and named:
        # Compat: the reference says only its usage (test_job_actions).
        raise UsageError("-all cannot be used with other constraints")
    if not (named or wish.constraints) and not wish.everything and not wish.held:
        invalid = "".join(f"Invalid cluster # from {word}.\n" for word in wish.invalid)
        raise UsageError(f"{invalid}You did not specify any jobs")


def sort_word(wish: Wish, word: str) -> None:
    """Tell a job, a cluster and a user apart.

    What is not wholly an id is a user's name, be it `103.` of a script whose $PROC was empty:
    nothing is done to a whole cluster then.
    """
    if re.fullmatch(r"(0+(\.[0-9]+)?)?", word):
        wish.invalid.append(word)
    elif re.fullmatch(r"[0-9]+\.[0-9]+", word):
        wish.jobs.append(word)
    elif re.fullmatch(r"[0-9]+", word):
        wish.clusters.append(word)
        wish.conditions.append(f"ClusterId == {word}")
    else:
        wish.users.append(word)
        wish.conditions.append(equals("User" if "@" in word else "Owner", word))


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
    if not parts:
        constraint = "true"
    which = f" matching constraint ({constraint})" if parts else ""
    if parts == named:
        which = _plain_words(wish) or which
    jobs = f"held jobs{which}" if wish.held else f"jobs{which}"
    if wish.held:
        held = f"JobStatus == {int(JobStatus.HELD)}"
        constraint = f"({constraint}) && ({held})" if parts else held
    verb = "fast-vacate" if wish.action is JobAction.VACATE_FAST else tool.verb
    return Target(constraint, f"All {jobs} have been", f"Couldn't find/{verb} all {jobs}")


def _named_conditions(wish: Wish) -> list[str]:
    """Return a condition for each user and cluster named, and for each id that needs one."""
    found = list(wish.conditions)
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
        self._failed = bool(wish.invalid)

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
            of_each=bool(ids) or (wish.long and not wish.totals),
        )
        if wish.long:
            self._streams.stdout.write("".join(f"{line}\n" for line in acted.lines) + "\n")
        elif wish.totals:
            self._streams.stdout.write(render_totals(acted))
        return acted

    def _work_on_jobs(self) -> None:
        jobs = self._wish.jobs
        if self._wish.constraints:
            self._streams.stderr.write(
                "Warning, -constraint is ignored for fully qualified job ids\n"
            )
        try:
            acted = self._ask(ids=jobs)
        except Unreached as error:
            missing = "\n".join(f"No result found for job {job}" for job in jobs)
            self._tell_silence(error)
            self._say(missing, good=False)
            return
        results = acted.results
        # As in the reference, it is a failure only if nothing at all was done, and then an empty
        # line stands before what went wrong.
        if not acted.succeeded:
            self._failed = True
            self._streams.stderr.write("\n")
        for job in jobs:
            cluster, proc = map(int, job.split("."))
            result = results.get((cluster, proc), ActionResult.NOT_FOUND)
            sentence = render_result(self._tool, self._wish.action, job, result)
            good = result is ActionResult.SUCCESS
            (self._streams.stdout if good else self._streams.stderr).write(f"{sentence}\n")

    def _tell_silence(self, error: Unreached) -> None:
        from kettle.tools.failures import explain_silence  # for the few that fail

        self._streams.stderr.write(explain_silence(error, "actOnJobs"))

    def _work_on(self, target: Target) -> None:
        try:
            parse_expression(target.constraint, old=True)
        except ClassAdSyntaxError as error:
            said = "DCSchedd::actOnJobs:1:Can't insert constraint into ClassAd"
            self._streams.stderr.write(said)
            self._say(target.missing, good=False)
            tell_more(error, self._streams.stderr)
            return
        try:
            acted = self._ask(constraint=target.constraint)
        except Unreached as error:
            self._tell_silence(error)
            self._say(target.missing, good=False)
            return
        done = done_words(self._tool, self._wish.action, of_many=True)
        if acted.queue_is_empty:
            # As in the reference, that is no failure.
            self._streams.stderr.write(f"{self._tool.name}:0:There are no jobs in the queue\n")
            if self._failed:
                self._streams.stderr.write(f"{target.missing}\n")
            return
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
        case ActionResult.BAD_STATUS if action is JobAction.VACATE_FAST:
            return f"Job {job} not running to be fast-vacated"
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
    own = "".join(OPTION_LINES[name] for name in tool.own)
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
