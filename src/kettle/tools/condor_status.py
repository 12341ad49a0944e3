"""`condor_status`: the ads of a pool's machines and daemons, as tables, columns or whole ads.

Here are the options, what is asked of the collector and in which order ads are shown. The tables
are `status_tables.py`, the sums `status_totals.py`, user-chosen columns `printing/columns.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kettle.classad import ClassAd, Expr, parse_ads, parse_expression
from kettle.errors import ClassAdSyntaxError, KettleError, UsageError
from kettle.tools import status_tables as tables
from kettle.tools import status_totals as totals
from kettle.tools.condor_version import version_text
from kettle.tools.options import Given, Option, read_options
from kettle.tools.printing.columns import Columns
from kettle.tools.printing.tables import Cell, render_table
from kettle.tools.programs import Streams
from kettle.tools.status_compact import NAMES as COMPACT_NAMES
from kettle.tools.status_compact import render_compact
from kettle.tools.status_totals import Totals, render_totals

USAGE = """\
Usage: condor_status [options] [NAME...]
  what to show (slots unless said otherwise)
    -absent, -avail, -claimed, -java, -run, -server, -slot, -state, -vm
    -any, -collector, -defrag, -generic, -grid, -master, -negotiator, -schedd, -startd,
    -submitters, -subsystem TYPE
  from where
    -pool HOST[:PORT]       this pool's collector
    -direct HOST            the machine itself
    -ads[:FORM] FILE        a file in the form long, new, json, xml or auto
  which of them
    NAME...                 of these machines or slots
    -constraint EXPR        for which this is true; several must all be
    -limit N                no more than N
  how
    -sort EXPR              in this order; `no` leaves the order alone
    -compact                one line for each machine
    -totals                 the sums only
    -wide                   without abbreviations
    -long[:FORM], -xml, -json
    -attributes A,B...      of whole ads only these attributes
    -format FORMAT EXPR
    -af[:jlhVr,tngTY] EXPR...
    -aaf[:VrTY] EXPR...     columns at the right of the table
  -diagnose                 show the query instead of asking
  -help, -version
"""

# What the reference asks for in every projection.
_ALWAYS = ("Machine", "Name", "OCU")
_FORMS = ("long", "new", "json", "xml", "auto")


@dataclass(frozen=True, slots=True)
class Mode:
    """What one choice of ads asks for and how it is shown."""

    # Number of the query, type it names, and a condition of its own.
    command: int
    ad_type: str
    cells: Sequence[Cell]
    totals: Totals | None = None
    condition: str = ""
    # What the table and its sums look at.
    names: str = ""


_SLOT_NAMES = (
    "Activity Arch CondorLoadAvg EnteredCurrentActivity LastHeardFrom Memory MyCurrentTime "
    "OpSys State"
)
_JOB_COUNTS = "RunningJobs IdleJobs HeldJobs"

# fmt: off
MODES = {
    "slot": Mode(5, "Machine", tables.SLOTS, totals.SLOT_STATES, names=_SLOT_NAMES),
    "avail": Mode(5, "Machine", tables.SLOTS, totals.SLOT_STATES,
                  'State == "Unclaimed" && Cpus > 0 && Memory > 0', _SLOT_NAMES + " Cpus"),
    "java": Mode(5, "Machine", tables.JAVA, totals.SLOT_STATES, "HasJava",
                 _SLOT_NAMES + " JavaVendor JavaVersion"),
    "vm": Mode(5, "Machine", tables.SLOTS, totals.SLOT_STATES, "HasVM", _SLOT_NAMES),
    "absent": Mode(5, "Machine", tables.ABSENT, totals.SLOT_STATES, "Absent",
                   _SLOT_NAMES + " ClassAdLifetime"),
    "claimed": Mode(5, "Machine", tables.CLAIMED, totals.CLAIMED, 'State == "Claimed"',
                    "Arch ClientMachine CondorLoadAvg KFlops LoadAvg Mips OpSys RemoteUser State"),
    "server": Mode(5, "Machine", tables.SERVER, totals.SERVER,
                   names="Arch CondorLoadAvg Disk KFlops Memory Mips OpSys State"),
    "state": Mode(5, "Machine", tables.STATE, totals.ACTIVITIES,
                  names=_SLOT_NAMES + " Cpus EnteredCurrentState KeyboardIdle"),
    "startd": Mode(53, "StartD", tables.STARTDS,
                   names="Arch CondorVersion DaemonStartTime DetectedCpus DetectedGPUs "
                         "DetectedMemory LastHeardFrom OpSysAndVer OpSysShortName"),
    "schedd": Mode(6, "Scheduler", tables.SCHEDDS, totals.SCHEDDS,
                   names="TotalRunningJobs TotalIdleJobs TotalHeldJobs"),
    "run": Mode(6, "Scheduler", tables.SCHEDDS, totals.SCHEDDS,
                "(ShadowsRunning + TotalSchedulerJobsRunning) > 0",
                "TotalRunningJobs TotalIdleJobs TotalHeldJobs"),
    "submitters": Mode(12, "Submitter", tables.SUBMITTERS, totals.SUBMITTERS, names=_JOB_COUNTS),
    "master": Mode(7, "DaemonMaster", tables.MASTERS,
                   names="CondorVersion DaemonStartTime DetectedCpus DetectedMemory LastHeardFrom"),
    "collector": Mode(20, "Collector", tables.COLLECTORS, names="RunningJobs IdleJobs HostsTotal"),
    "negotiator": Mode(50, "Negotiator", tables.NEGOTIATORS,
                       names=" ".join(f"LastNegotiationCycle{part}0" for part in (
                           "End", "Duration", "CandidateSlots", "ActiveSubmitterCount",
                           "NumSchedulers", "NumIdleJobs", "Matches", "Rejections"))),
    "defrag": Mode(74, "Defrag", tables.DEFRAG,
                   names="MachinesDraining MachinesDrainingPeak MachinesDrained"),
    "grid": Mode(71, "Grid", tables.GRID,
                 names="NumJobs SubmitsAllowed SubmitsWanted RunningJobs IdleJobs"),
    "generic": Mode(74, "Generic", tables.ANY, names="MyType TargetType"),
    "any": Mode(48, "Any", tables.ANY, names="MyType TargetType"),
}
OPTIONS = (
    Option("absent", 3), Option("ads", 2, 1, qualified=True), Option("af", 2, qualified=True),
    Option("autoformat", 5, qualified=True), Option("aaf", 3, qualified=True),
    Option("attributes", 2, 1), Option("any", 3), Option("avail", 3),
    Option("claimed", 2), Option("collector", 4), Option("compact", 3),
    Option("constraint", 3, 1),
    Option("debug", 3, qualified=True), Option("defrag", 4), Option("diagnose", 4),
    Option("direct", 3, 1), Option("expert", 1), Option("format", 1, 2), Option("generic", 3),
    Option("grid", 4), Option("help", 1), Option("java", 1), Option("json", 2),
    Option("long", 1, qualified=True), Option("limit", 3, 1), Option("master", 1),
    Option("natural", 3, qualified=True), Option("negotiator", 2), Option("pool", 1, 1),
    Option("run", 1), Option("schedd", 2), Option("server", 2), Option("slot", 2),
    Option("sort", 3, 1), Option("startd", 5), Option("state", 4),
    Option("statistics", 5, 1), Option("submitters", 5), Option("subsystem", 5, 1),
    Option("total", 1), Option("totals", 1), Option("version", 1), Option("vm", 2),
    Option("wide", 3, qualified=True), Option("xml", 1),
)
# fmt: on


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    mode: str = "slot"
    # The option that chose the mode, to name it when another contradicts.
    chosen: Given | None = None
    ad_type: str = ""
    pool: str = ""
    direct: str = ""
    file: str = ""
    file_form: str = "long"
    constraints: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    limit: int = 0
    sort: list[str] = field(default_factory=list)
    totals_only: bool = False
    compact: Given | None = None
    wide: bool = False
    diagnose: bool = False
    form: str = ""
    attributes: list[str] = field(default_factory=list)
    columns: Columns = field(default_factory=Columns)
    added: Columns = field(default_factory=Columns)
    information: str = ""


class _ContradictionError(UsageError):
    """Two options that choose different ads; shown without the usage."""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_status`."""
    try:
        wish = read_wish(argv[1:])
    except _ContradictionError as error:
        streams.stderr.write(f"Error:  {error}\n")
        return 1
    except UsageError as error:
        streams.stderr.write(_complaint(error))
        return 1
    if wish.information:
        streams.stdout.write(wish.information)
        return 0
    if wish.compact is not None and wish.totals_only:
        streams.stderr.write(
            "Warning: ignoring -compact option because -total option is also set\n"
        )
    for constraint in wish.constraints:
        try:
            parse_expression(constraint)
        except ClassAdSyntaxError:
            streams.stderr.write(f"Invalid constraint expression : ( ({constraint}) )\n")
            return 0 if wish.file else 1
    try:
        ads = read_file(wish) if wish.file else ask(wish, environment, streams)
    except OSError:
        # Compat: the reference goes on with no ads at all and exits with 0 (vectors `output`).
        streams.stderr.write(f"Can't open file of ClassAds: {wish.file}\n")
        return 0
    except KettleError as error:
        streams.stderr.write(f"Error: {error}\n")
        return 1
    streams.stdout.write(render(wish, arrange(wish, ads)))
    return 0


def _complaint(error: UsageError) -> str:
    message = error.message
    if message.startswith("unknown option"):
        hint = f" ({error.hint})" if error.hint else ""
        return f"Error:  Unknown option {message.split()[-1]}{hint}\n{USAGE}\n"
    return f'{message}\nUse "condor_status -help" for details\n'


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    skipped: set[int] = set()
    try:
        given = list(read_options(words, OPTIONS))
    except UsageError as error:
        raise _worded(error) from error
    for option in given:
        if option.index in skipped:
            continue
        _take(wish, option, words, skipped)
        if wish.information:
            break
    if wish.compact is not None and MODES[wish.mode].command != MODES["slot"].command:
        assert wish.chosen is not None
        raise _ContradictionError(
            f"arg ({wish.compact.word}) contradicts arg {wish.chosen.index + 1} "
            f"({wish.chosen.word}) "
        )
    return wish


def _worded(error: UsageError) -> UsageError:
    """Say in the reference's words that an option lacks its argument."""
    if not error.message.startswith("option "):
        return error
    word = error.message.split()[1]
    if word.startswith("-ads"):
        return UsageError("condor_status: -ads requires a filename argument")
    if "2 arguments" in error.message:
        return UsageError(f"condor_status: {word} requires two other arguments")
    return UsageError(f"condor_status: {word} requires another argument")


def _take(wish: Wish, option: Given, words: Sequence[str], skipped: set[int]) -> None:
    name = option.name
    if not name:
        wish.names.append(option.value)
    elif name in MODES:
        _choose(wish, option)
    elif name in ("af", "autoformat", "aaf"):
        texts = _until_option(words, option.index + 1, skipped)
        if not texts:
            raise UsageError(
                f"Error: Argument {option.word} requires at least one attribute parameter"
            )
        (wish.added if name == "aaf" else wish.columns).add_auto(option.qualifiers, texts)
    elif name == "format":
        wish.columns.add_format(*option.values)
    elif name == "subsystem":
        _choose_subsystem(wish, option)
    elif name in ("long", "xml", "json"):
        wish.form = option.qualifiers or name
        if wish.form not in _FORMS[:-1]:
            raise UsageError(f"condor_status: {option.word} is not a form of ads")
    elif name == "ads":
        wish.file, wish.file_form = option.value, option.qualifiers or "auto"
        if wish.file_form not in _FORMS:
            raise UsageError(f"condor_status: {option.word} is not a form of ads")
    else:
        _take_plain(wish, option)


def _take_plain(wish: Wish, option: Given) -> None:
    name = option.name
    if name == "constraint":
        wish.constraints.append(option.value)
    elif name == "attributes":
        wish.attributes += [each for each in re.split(r"[\s,]+", option.value) if each]
    elif name == "limit":
        if not option.value.lstrip("-").isdigit():
            raise UsageError(f"condor_status: invalid limit {option.value}")
        # Compat: 0 means no limit here, other than in condor_q (vectors `output`).
        wish.limit = max(0, int(option.value))
    elif name == "sort":
        wish.sort.append(option.value)
    elif name in ("total", "totals"):
        wish.totals_only = True
    elif name == "wide":
        wish.wide = True
    elif name == "compact":
        wish.compact = option
    elif name == "diagnose":
        wish.diagnose = True
    elif name in ("pool", "direct"):
        setattr(wish, name, option.value)
    elif name == "help":
        wish.information = USAGE
    elif name == "version":
        wish.information = version_text()


def _choose(wish: Wish, option: Given) -> None:
    # -run narrows what -schedd chose.
    if option.name == "run" and wish.mode == "schedd":
        wish.mode = "run"
        return
    if wish.chosen is not None and wish.chosen.name != option.name:
        raise _ContradictionError(
            f"arg {option.index + 1} ({option.word}) contradicts "
            f"arg {wish.chosen.index + 1} ({wish.chosen.word})"
        )
    wish.mode, wish.chosen = option.name, option


def _choose_subsystem(wish: Wish, option: Given) -> None:
    known = {
        "startd": "startd",
        "schedd": "schedd",
        "master": "master",
        "negotiator": "negotiator",
        "collector": "collector",
    }
    wish.mode = known.get(option.value.lower(), "generic")
    wish.chosen = option
    if wish.mode == "generic":
        wish.ad_type = option.value


def _until_option(words: Sequence[str], start: int, skipped: set[int]) -> list[str]:
    """Return the words up to the next option, and note that they are no names."""
    found = []
    for index in range(start, len(words)):
        if words[index].startswith("-") and len(words[index]) > 1:
            break
        found.append(words[index])
        skipped.add(index)
    return found


# --- which ads --------------------------------------------------------------------------------


def conditions(wish: Wish) -> list[str]:
    """Return what every ad shown has to satisfy."""
    from kettle.client.pool import quoted

    found = []
    own = MODES[wish.mode].condition
    if own:
        found.append(f"({own})")
    found += [f"({constraint})" for constraint in wish.constraints]
    if wish.names:
        found.append(
            " || ".join(
                f"Name == {quoted(name)} || Machine == {quoted(name)}" for name in wish.names
            )
        )
    return found


def read_file(wish: Wish) -> list[ClassAd]:
    """Return the wanted ads of a file; OSError if it cannot be read."""
    with open(wish.file, encoding="utf-8", errors="surrogateescape") as file:
        ads: Iterable[ClassAd] = parse_ads(file.read(), wish.file_form)
        for condition in conditions(wish):
            expression = parse_expression(condition)
            ads = [ad for ad in ads if _holds(ad, expression)]
        return list(ads)


def ask(wish: Wish, environment: Mapping[str, str], streams: Streams) -> list[ClassAd]:
    """Ask the collector, or with -direct the daemon itself."""
    from kettle.client.pool import STARTD, make_query, query_ads
    from kettle.tools.reach import Reach
    from kettle.wire.commands import Command

    mode = MODES[wish.mode]
    query = make_query(
        wish.ad_type or mode.ad_type,
        constraints=conditions(wish),
        projection=projection(wish),
        limit=wish.limit,
    )
    if wish.diagnose:
        streams.stdout.write("\n".join(query.lines()) + "\n")
        return []
    reach = Reach(environment, pool=wish.pool, name=wish.direct)
    # The table of commands is addressed by number only here.
    command = next(each for each in Command if each == mode.command)
    if wish.direct:
        located = reach.locate(STARTD)
        return query_ads(reach.connector, located.address, Command.QUERY_STARTD_ADS, query)
    return reach.pool.query(command, query)


def projection(wish: Wish) -> list[str]:
    """Return the attributes to fetch; nothing means whole ads."""
    if wish.form or wish.diagnose:
        names = set(wish.attributes)
        return sorted(names) if names else []
    if wish.columns:
        names = wish.columns.names()
    else:
        names = set(MODES[wish.mode].names.split()) | wish.added.names()
        if wish.compact is not None:
            names |= set(COMPACT_NAMES.split())
    for text in wish.sort:
        if text != "no":
            names.add(text.lstrip("-"))
    return sorted({*names, *_ALWAYS}, key=str.lower)


def _holds(ad: ClassAd, expression: Expr) -> bool:
    value = ad.evaluate_expression(expression)
    return isinstance(value, (bool, int, float)) and bool(value)


# --- in which order -----------------------------------------------------------------------------


def arrange(wish: Wish, ads: list[ClassAd]) -> list[ClassAd]:
    """Sort and cut; an ad that lacks what is sorted by is left out, as the reference does."""
    if wish.sort and wish.sort != ["no"]:
        # `-sort -X` is `-sort X` to the reference.
        expressions = [parse_expression(text.lstrip("-")) for text in wish.sort if text != "no"]
        keyed = [(_sort_key(ad, expressions), ad) for ad in ads]
        found = [(key, ad) for key, ad in keyed if key is not None]
        ads = [ad for _, ad in sorted(found, key=lambda pair: pair[0])]
    elif not wish.sort:
        ads = sorted(ads, key=_natural_key)
    return ads[: wish.limit] if wish.limit else ads


def _sort_key(
    ad: ClassAd, expressions: Sequence[Expr]
) -> tuple[tuple[int, float, str], ...] | None:
    keys = []
    for expression in expressions:
        value = ad.evaluate_expression(expression)
        if isinstance(value, str):
            keys.append((1, 0.0, value))
        elif isinstance(value, (bool, int, float)):
            keys.append((0, float(value), ""))
        else:
            return None
    return tuple(keys)


_DIGITS = re.compile(r"(\d+)")


def _natural_key(ad: ClassAd) -> tuple[bool, str, list[tuple[int, int, str]]]:
    """Order by machine, then by name with numbers as numbers: slot2 before slot10."""
    machine = ad.string("Machine")
    parts = [
        (1, int(part), "") if part.isdigit() else (0, 0, part)
        for part in _DIGITS.split(ad.string("Name") or "")
        if part
    ]
    return (machine is None, machine or "", parts)


# --- how ------------------------------------------------------------------------------------


def render(wish: Wish, ads: list[ClassAd]) -> str:
    """Return what is printed."""
    if wish.diagnose:
        return ""
    if wish.columns:
        if wish.columns.headings:
            wish.columns.measure(ads)
        heading = wish.columns.render_headings() if wish.columns.headings and ads else ""
        return heading + "".join(wish.columns.render(ad) for ad in ads)
    if wish.form:
        return _render_ads(wish, ads)
    if not ads:
        return ""
    if wish.compact is not None and not wish.totals_only:
        return "".join(f"{line}\n" for line in render_compact(ads))
    if wish.compact is not None:
        # The sums alone are of the slots that have a line, which parts of slots have not.
        ads = [ad for ad in ads if not ad.boolean("DynamicSlot")]
    mode = MODES[wish.mode]
    cells = tables.WIDE_SLOTS if wish.wide and mode.cells is tables.SLOTS else mode.cells
    lines = []
    if not wish.totals_only:
        lines += render_table(cells, ads, wish.added or None)
    if mode.totals is not None:
        lines += render_totals(mode.totals, ads, fits=bool(wish.added) or wish.wide)
    return "".join(f"{line}\n" for line in lines)


def _render_ads(wish: Wish, ads: list[ClassAd]) -> str:
    from kettle.classad.forms import render_ads

    if wish.attributes:
        wanted = {name.lower() for name in wish.attributes}
        chosen = []
        for ad in ads:
            part = ClassAd()
            for name in ad.names():
                expression = ad.lookup(name)
                if name.lower() in wanted and expression is not None:
                    part.insert(name, expression)
            chosen.append(part)
        ads = chosen
    return render_ads(ads, wish.form)
