"""`condor_who`: which jobs run on this machine, asked of its startds directly (R073).

The startds are found by the address files and logs in LOG. The process of a job is found below
its starter in /proc.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kettle.classad import ClassAd, parse_expression
from kettle.errors import ClassAdSyntaxError, KettleError, NotConnected, UsageError
from kettle.tools.options import MANY, Given, Option, UnknownOptionError, read_options, run_tool
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.printing.columns import Columns
from kettle.tools.printing.tables import Cell, render_table
from kettle.tools.printing.times import format_span
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.status.daemon_logs import Traces, render_daemons
from kettle.tools.status.ospool import banner, startd_name
from kettle.tools.status.ospool import cells as ospool_cells
from kettle.tools.status.readiness import ask_readiness

if TYPE_CHECKING:
    from kettle.wire.commands import Command

USAGE = """\
Usage: condor_who [options]
  -address HOST       the startd at this address
  -logdir DIR         startds whose address files are in this folder
  -allpids            all startds of this machine (those of LOG)
  -pid PID            the startd that is this process
  -constraint EXPR    only slots that satisfy it
  -startd             the startds themselves instead of the jobs
  -daemons            the daemons instead of the jobs
  -quick              how the master says that its daemons stand
  -wait-for-ready[:SECONDS] EXPR
                      the same, once EXPR holds (IsReady, STARTD_State =?= "Ready")
  -long               whole ads
  -limit N            so many slots of each startd at most
  -ospool             the columns for pilots of the OSPool
  -wide               nothing is cut
  -format FORMAT EXPR, -af[:jlhVr,tngTY] EXPR...
  -aaf EXPR...        the usual columns, then these
  -print-format FILE  the columns that FILE describes
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
    Option("constraint", 3, 1),
    Option("daemons", 3),
    Option("debug", 2, qualified=True),
    Option("diagnostic", 4),
    Option("envpid", 3, 1),
    Option("format", 1, 2),
    Option("help", 1),
    Option("limit", 3, 1),
    Option("logdir", 3, 1),
    Option("long", 1),
    Option("noccv", 3, qualified=True),
    Option("ospool", 3),
    Option("pid", 3, 1),
    Option("print-format", 2, 1),
    Option("quickdaemons", 4),
    Option("snapshot", 4),
    Option("startd", 6),
    Option("statistics", 4, 1),
    Option("timed", 5),
    Option("verbose", 4),
    Option("version", 7),
    Option("wait-for-ready", 4, 1, qualified=True),
    Option("wide", 1),
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


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    address: str = ""
    folder: str = ""
    daemons: bool = False
    startd: bool = False
    quick: bool = False
    wait_seconds: int = 0
    condition: str = ""
    limit: int = 0
    ospool: bool = False
    long: bool = False
    pid: int = 0
    constraints: list[str] = field(default_factory=list)
    added: Columns = field(default_factory=Columns)
    print_format: str = ""
    columns: Columns = field(default_factory=Columns)


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
        streams.stdout.write(render(wish, fetch(reach, wish, folder)))
    return 0


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    for option in read_options(words, OPTIONS):
        if option.name in ("af", "autoformat"):
            wish.columns.add_auto(option.qualifiers, list(option.values))
        elif option.name == "aaf":
            wish.added.add_auto(f"h{option.qualifiers}", list(option.values))
        else:
            _take(wish, option)
    return wish


# Options whose word is kept as it is, and where.
_TEXTS = {"address": "address", "logdir": "folder", "print-format": "print_format"}


def _take(wish: Wish, option: Given) -> None:
    name = option.name
    if name in _TEXTS:
        setattr(wish, _TEXTS[name], option.value)
    elif name == "pid":
        # A word that is no number means no process at all, as in the reference.
        found = re.match(r"[0-9]{1,9}", option.value)
        wish.pid = (int(found[0]) if found else 0) or -1
    elif name == "constraint":
        wish.constraints.append(_checked(option.value))
    elif name == "limit":
        # As in the reference what begins with no number is no limit.
        number = re.match(r"\s*\d{1,9}", option.value, re.ASCII)
        wish.limit = int(number[0]) if number else 0
    elif name in ("daemons", "long", "ospool", "startd"):
        setattr(wish, name, True)
    elif name == "quickdaemons":
        wish.quick = True
    elif name == "wait-for-ready":
        wish.quick, wish.condition = True, option.value
        wish.wait_seconds = _read_seconds(option)
    elif name == "format":
        wish.columns.add_format(*option.values)
    elif not name and option.value == "-":
        raise UnknownOptionError(option.value)


def _checked(text: str) -> str:
    try:
        parse_expression(text)
    except ClassAdSyntaxError as error:
        raise UsageError(f"Error: invalid constraint {text}: {error}") from None
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


def fetch(reach: Reach, wish: Wish, folder: Path) -> list[ClassAd]:
    """Return the ads of slots that run jobs, or of the startds themselves, of this machine.

    Compat: where there is none, nothing is shown, and that is no failure
    (test_a_machine_without_a_startd_runs_nothing).
    """
    from kettle.client.pool import query_ads
    from kettle.wire.sinful import Sinful

    addresses = [wish.address] if wish.address else find_startds(folder)
    if wish.pid:
        # Which of its sockets is for commands only asking would tell; the first one is.
        addresses = listening_addresses(wish.pid)[:1]
    ads = []
    command, query = question_of(wish)
    for text in addresses:
        address = Sinful.parse(text)
        try:
            ads += query_ads(reach.connector, address, command, query)
        except NotConnected:
            raise UnreachableError(text) from None
    return ads if wish.startd else [ad for ad in ads if ad.string("JobId")]


def question_of(wish: Wish) -> tuple[Command, ClassAd]:
    """Return what each startd is asked: for its slots with jobs, or for its own ad."""
    from kettle.client.pool import make_query
    from kettle.wire.commands import Command

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


def render(wish: Wish, ads: list[ClassAd]) -> str:
    """Return what is printed about the jobs, startd after startd."""
    if wish.long:
        from kettle.classad.forms import render_ads

        return render_ads(ads, "long")
    ads = sorted(ads, key=lambda ad: (ad.string("Machine") or "", _slot_number(ad)))
    if wish.columns and not wish.columns.headings:
        return "".join(wish.columns.render(ad) for ad in ads)
    show = _table_of(wish)
    if wish.startd:
        parts = [line for ad in ads for line in ("", *show([ad]), "")]
    else:
        parts = _by_machine(wish, ads, show)
    return "".join(f"{line}\n" for line in parts)


def _by_machine(
    wish: Wish, ads: list[ClassAd], show: Callable[[list[ClassAd]], list[str]]
) -> list[str]:
    parts: list[str] = []
    for machine in dict.fromkeys(ad.string("Machine") or "" for ad in ads):
        own = [ad for ad in ads if (ad.string("Machine") or "") == machine]
        head, name = "--Startd", machine
        above: list[str] = []
        if wish.ospool:
            above, head, name = banner(own[0]), "Startd", startd_name(own[0], machine)
        who = f"{name} PID {wish.pid}" if wish.pid else name
        parts += ["", *above, f"{head} : {who} has {len(own)} job(s) running:", *show(own), ""]
    return parts


def _table_of(wish: Wish) -> Callable[[list[ClassAd]], list[str]]:
    """Return what lays out the heading and rows of one machine's slots."""
    if wish.print_format:
        from kettle.tools.printing.print_format import read_print_format

        try:
            mask = read_print_format(wish.print_format, {}, {}).mask
        except UsageError as error:
            raise SaidError(str(error)) from None

        def by_mask(ads: list[ClassAd]) -> list[str]:
            mask.measure(ads)
            return [line.rstrip("\n") for line in (mask.render_headings(), *map(mask.render, ads))]

        return by_mask
    if wish.columns:

        def by_columns(ads: list[ClassAd]) -> list[str]:
            wish.columns.measure(ads)
            lines = (wish.columns.render_headings(), *map(wish.columns.render, ads))
            return [line.rstrip("\n") for line in lines]

        return by_columns

    cells: tuple[Cell, ...] = STARTD_CELLS if wish.startd else CELLS
    if wish.ospool and not wish.startd:
        cells = ospool_cells(_RUNTIME, _process)

    def by_cells(ads: list[ClassAd]) -> list[str]:
        heading, _, *rows = render_table(cells, ads, wish.added or None)
        return [heading, *rows]

    return by_cells


def _slot_number(ad: ClassAd) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", _slot(ad) or ""))


def _slot(ad: ClassAd) -> str | None:
    """Return the number of a slot: `1_2` of slot1_2@host."""
    name = (ad.string("Name") or "").partition("@")[0]
    return name.removeprefix("slot") or None


def _runtime(ad: ClassAd) -> str | None:
    seconds = ad.integer("TotalJobRunTime")
    if seconds is None:
        start, now = ad.integer("JobStart"), ad.integer("MyCurrentTime")
        if start is None or now is None:
            return None
        seconds = max(0, now - start)
    return format_span(seconds).strip().rjust(12)


def job_process(ad: ClassAd) -> int | None:
    """Return the process of a slot's job: what its ad says, else the starter's first child."""
    told = ad.integer("JobPid")
    if told is not None:
        return told
    starter = ad.integer("StarterPid")
    if starter is None:
        return None
    try:
        text = Path(f"/proc/{starter}/task/{starter}/children").read_text(encoding="ascii")
    except OSError:
        return None
    words = text.split()
    return int(words[0]) if words else None


def _process(ad: ClassAd) -> str | None:
    pid = job_process(ad)
    return None if pid is None else str(pid)


def _folder(ad: ClassAd) -> str | None:
    pid = job_process(ad)
    try:
        return None if pid is None else os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None


_RUNTIME = Cell("  RUNTIME", 12, _runtime, grows=True)
CELLS = (
    Cell("OWNER", 5, lambda ad: ad.string("RemoteOwner"), grows=True),
    Cell("CLIENT", 6, lambda ad: ad.string("ClientMachine"), grows=True),
    Cell("SLOT", 4, _slot, grows=True),
    Cell("JOB", 3, lambda ad: ad.string("JobId"), grows=True),
    _RUNTIME,
    Cell("PID", 3, _process, grows=True),
    Cell("JOB_DIR", 7, _folder, grows=True),
)
# What there is of each startd.
STARTD_CELLS = (
    Cell("NAME", 4, lambda ad: ad.string("Name"), grows=True),
    Cell("ADDRESS", 7, lambda ad: ad.string("MyAddress"), grows=True),
)
