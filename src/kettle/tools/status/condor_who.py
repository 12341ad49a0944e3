"""`condor_who`: which jobs run on this machine, asked of its startds directly (R073).

The startds are found by the address files and logs in LOG. The process of a job is found below
its starter in /proc.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError, KettleError, Unreached, UsageError, WireError
from kettle.tools.options import (
    MANY,
    BriefError,
    Given,
    Option,
    UnknownOptionError,
    read_options,
    run_tool,
    take_by,
)
from kettle.tools.phrases import Phrases
from kettle.tools.printing.columns import complain_of_added
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.status.daemon_logs import Traces, render_daemons
from kettle.tools.status.readiness import ask_readiness
from kettle.tools.status.who_tables import Wish, render

if TYPE_CHECKING:
    from kettle.wire.commands import Command

USAGE = """\
Usage: condor_who [options]
  -address HOST       the startd at this address
  -logdir DIR         startds whose address files are in this folder
  -allpids            the startds among the processes of this machine
  -pid PID            the startd that is this process
  -constraint EXPR    only slots that satisfy it
  -startd             the startds themselves instead of the jobs
  -jobs               the jobs as they are known there, with their programs
  -daemons            the daemons instead of the jobs
  -quick              how the master says that its daemons stand
  -wait-for-ready[:SECONDS] EXPR
                      the same, once EXPR holds (IsReady, STARTD_State =?= "Ready")
  -long               whole ads
  -limit N            so many slots of each startd at most
  -ospool             the columns for pilots of the OSPool
  -wide[:N]           nothing is cut, or all at N characters
  -format FORMAT EXPR, -af[:jlhVr,tngTY] EXPR...
  -aaf EXPR...        the usual columns, then these
  -print-format FILE  the columns that FILE describes
  -banner-format FILE what stands above each startd's table
  -verbose, -diagnostic
                      also the daemons of LOG and which startds are asked
  -snapshot, -statistics SET[:N]
                      taken and without effect: slots are always shown as they are now
  -noccv, -timed, -envpid PID
                      the same: nothing is asked of configurations, nothing is scanned
  -help, -version
"""

OPTIONS = (
    Option("aaf", 3, MANY, qualified=True),
    Option("address", 4, 1),
    Option("af", 2, MANY, qualified=True),
    Option("allpids", 2),
    Option("autoformat", 5, MANY, qualified=True),
    Option("banner-format", 3, 1),
    Option("constraint", 3, 1),
    Option("daemons", 3),
    Option("debug", 2, qualified=True),
    Option("diagnostic", 4, qualified=True),
    Option("envpid", 3, 1, ignored=True),
    Option("format", 1, 2),
    Option("help", 1),
    Option("jobs", 3),
    Option("limit", 3, 1),
    Option("logdir", 3, 1),
    Option("long", 1),
    Option("noccv", 3, qualified=True, ignored=True),
    Option("ospool", 3),
    Option("pid", 3, 1),
    Option("print-format", 2, 1),
    Option("quickdaemons", 4),
    Option("snapshot", 4, qualified=True, ignored=True),
    Option("startd", 6),
    Option("statistics", 4, 1, ignored=True),
    Option("timed", 5, ignored=True),
    Option("verbose", 4),
    Option("version", 7),
    Option("wait-for-ready", 4, 1, qualified=True),
    Option("wide", 1, qualified=True),
)
PHRASES = Phrases(
    unknown="Error: {word} is not a valid argument\n",
    missing="Error: Argument {word} requires an argument\n",
    missing_of={
        "address": "Error: Argument {word} requires a host address\n",
        "logdir": "Error: Argument {word} requires a directory\n",
        "envpid": "Error: Argument {word} requires a process id parameter\n",
        "limit": "Error: -limit requires a number argument\n",
        "pid": "Error: Argument {word} requires a process id parameter\n",
        "print-format": "Error: {word} requires a filename argument\n",
        "banner-format": "Error: -banner-format requires a filename argument\n",
        "format": "Error: {word} requires two other arguments\n",
        "autoformat": "Error: Argument {word} requires at least one attribute parameter\n"
        'Use "condor_who -help" for details\n',
        "af": "Error: Argument {word} requires at least one attribute parameter\n"
        'Use "condor_who -help" for details\n',
        "wait-for-ready": "Error: Argument {word} requires a requirements expression\n",
    },
    shows_usage=False,
    missing_shows_usage=False,
)


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_who`."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=show,
        complain=lambda error: PHRASES.render(error, USAGE),
        after_help=1,
    )


def show(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Print what runs here."""
    reach = Reach(environment)
    folder = Path(wish.folder or reach.config.get("LOG") or "")
    if wish.quick:
        answer = ask_readiness(reach, folder, wish.wait_seconds, wish.condition)
        streams.stdout.write(render_readiness(answer, wish))
    if wish.daemons:
        streams.stdout.write(render_daemons(folder, reach.config, short=wish.quick))
    elif not wish.quick:
        if wish.verbose:
            # Compat: not the reference's table of logs (test_who_is_asked_is_said_on_demand).
            streams.stdout.write(render_daemons(folder, reach.config, short=True))
        found = fetch(reach, wish, folder)
        if wish.verbose:
            streams.stdout.writelines(f"querying addr = {address}\n" for address in found)
        shown = render(wish, found)
        for form in wish.formats:
            streams.stderr.writelines(form.complain(at_terminal=streams.stderr.isatty()))
        streams.stdout.write(shown)
    return 0


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    for option in read_options(words, OPTIONS):
        if option.name in ("af", "autoformat"):
            wish.columns.add_auto(option.qualifiers, list(option.values))
        elif option.name == "aaf":
            wrong = complain_of_added(option.qualifiers)
            if wrong:
                raise BriefError(wrong)
            wish.added.add_auto(f"h{option.qualifiers}", list(option.values))
        else:
            _take(wish, option)
    return wish


# Options whose word is kept as it is, and where.
_TEXTS = {
    "address": "address",
    "banner-format": "banner_format",
    "logdir": "folder",
    "print-format": "print_format",
}
_FLAGS = {
    "allpids": "every_process",
    "daemons": "daemons",
    "diagnostic": "verbose",
    "jobs": "jobs",
    "long": "long",
    "ospool": "ospool",
    "quickdaemons": "quick",
    "startd": "startd",
    "verbose": "verbose",
}


def _take_pid(wish: Wish, option: Given) -> None:
    # A word that is no number means no process at all, as in the reference.
    found = re.match(r"[0-9]{1,9}", option.value)
    wish.pid = (int(found[0]) if found else 0) or -1


def _take_limit(wish: Wish, option: Given) -> None:
    # As in the reference what begins with no number is no limit.
    number = re.match(r"\s*\d{1,9}", option.value, re.ASCII)
    wish.limit = int(number[0]) if number else 0


def _take_width(wish: Wish, option: Given) -> None:
    wish.width = int(option.qualifiers) if option.qualifiers.isdecimal() else 0


def _take_wait(wish: Wish, option: Given) -> None:
    wish.quick, wish.condition = True, option.value
    wish.wait_seconds = _read_seconds(option)


def _take_word(_wish: Wish, option: Given) -> None:
    """Pass over a word that belongs to no option; a dash alone is an option that there is not."""
    if option.value == "-":
        raise UnknownOptionError(option.value)


_ACTIONS: dict[str, Callable[[Wish, Given], object]] = {
    "": _take_word,
    "constraint": lambda wish, option: wish.constraints.append(_checked(option.value)),
    "format": lambda wish, option: wish.columns.add_format(*option.values),
    "limit": _take_limit,
    "pid": _take_pid,
    "wait-for-ready": _take_wait,
    "wide": _take_width,
}


def _take(wish: Wish, option: Given) -> None:
    if option.name in _TEXTS:
        setattr(wish, _TEXTS[option.name], option.value)
    elif option.name in _FLAGS:
        setattr(wish, _FLAGS[option.name], True)
    else:
        take_by(_ACTIONS, wish, option)


def _checked(text: str) -> str:
    try:
        parse_expression(text)
    except ClassAdSyntaxError as error:
        raise UsageError(f"Error: invalid constraint {text}: {error}") from error
    return text


def _read_seconds(option: Given) -> int:
    """Return the seconds of `-wait:SECONDS`."""
    if not option.qualifiers:
        return 0
    if not option.qualifiers.isdecimal():
        raise UsageError(f"-wait-for-ready:{option.qualifiers} EXPR: the time is whole seconds")
    return int(option.qualifiers)


def render_readiness(answer: ClassAd | Traces | None, wish: Wish) -> str:
    """Return the master's answer in the chosen form, or how it ended."""
    if answer is None:
        return ""
    if isinstance(answer, Traces):
        ended = "" if answer.exit_code is None else answer.exit_code
        where = answer.address or "NULL"
        return f"\nMaster {where} pid={answer.pid} Exited with code={ended}\n"
    if not wish.columns:
        return "".join(f"{line}\n" for line in sorted(answer.lines(), key=str.lower)) + "\n"
    if wish.columns.headings:
        wish.columns.measure([answer])
    heading = wish.columns.render_headings() if wish.columns.headings else ""
    return heading + wish.columns.render(answer) + "\n"


def fetch(reach: Reach, wish: Wish, folder: Path) -> dict[str, list[ClassAd]]:
    """Return what each startd of this machine answers: slots that run jobs, jobs or itself.

    Compat: where there is none, nothing is shown, and that is no failure
    (test_a_machine_without_a_startd_runs_nothing).
    """
    from kettle.client.pool import query_ads
    from kettle.wire.sinful import Sinful

    command, query = question_of(wish)
    found = {}
    for text in _whom_to_ask(wish, folder):
        address = Sinful.parse(text)
        try:
            ads = query_ads(reach.connector, address, command, query)
        except WireError as error:
            if wish.every_process:
                # Somebody else's, as far as can be seen: it keeps nobody from seeing the others.
                continue
            if isinstance(error, Unreached):
                raise UnreachableError(text) from None
            raise
        found[text] = ads if wish.startd or wish.jobs else [ad for ad in ads if ad.string("JobId")]
    return found


def _whom_to_ask(wish: Wish, folder: Path) -> list[str]:
    """Return the startds' addresses; which processes these are is kept in the wish."""
    if wish.address:
        return [wish.address]
    pids = [wish.pid] if wish.pid else startd_processes() if wish.every_process else []
    for pid in pids:
        # Which of its sockets is for commands only asking would tell; the first one is.
        wish.pids.update(dict.fromkeys(listening_addresses(pid)[:1], pid))
    return list(wish.pids) if wish.pids or wish.pid else find_startds(folder)


def startd_processes() -> list[int]:
    """Return the processes of this machine that are startds."""
    import psutil  # for -allpids alone

    processes = (each.info for each in psutil.process_iter(["name", "pid", "status"]))
    return [
        each["pid"]
        for each in processes
        if each["name"] == "condor_startd" and each["status"] != "zombie"
    ]


def question_of(wish: Wish) -> tuple[Command, ClassAd]:
    """Return what each startd is asked: for its slots with jobs, or for its own ad."""
    from kettle.client.pool import make_query
    from kettle.wire.commands import Command

    if wish.jobs:
        query = make_query("Slot.Claim", constraints=wish.constraints, limit=wish.limit)
        # What a startd would not show of its own accord.
        query["Snapshot"] = True
        return Command.QUERY_MULTIPLE_ADS, query
    if wish.startd:
        query = make_query("StartD", constraints=wish.constraints)
        if wish.limit:
            query["LimitResults"] = wish.limit
        return Command.QUERY_MULTIPLE_ADS, query
    constraints = ["JobId =!= undefined", *wish.constraints]
    query = make_query("Machine", constraints=constraints, limit=wish.limit)
    return Command.QUERY_STARTD_ADS, query


class UnreachableError(KettleError):
    """A startd that does not answer, in the reference's words."""

    def __init__(self, address: str) -> None:
        said = f"CEDAR:6001:Failed to connect to {address}"
        super().__init__(f"Error: communication error\n{said}")


def listening_addresses(pid: int) -> list[str]:
    """Return where a process listens: the addresses of the startd that it is.

    Compat: of a process that is none the reference shows an empty row
    (test_a_process_that_is_no_startd_runs_nothing).
    """
    import psutil  # for -pid alone

    try:
        found = psutil.Process(pid).net_connections("tcp")
    except (psutil.Error, ValueError):
        return []
    places = [one.laddr for one in found if one.status == psutil.CONN_LISTEN and one.laddr]
    return [f"<{place.ip}:{place.port}>" for place in places if ":" not in place.ip]


def find_startds(folder: Path) -> list[str]:
    """Return the addresses in the address files of a folder."""
    found = []
    for path in sorted(folder.glob(".startd*_address")):
        with contextlib.suppress(OSError):
            line = path.read_text(encoding="utf-8", errors="replace").split("\n")[0].strip()
            if line:
                found.append(line)
    return found
