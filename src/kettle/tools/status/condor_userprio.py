"""`condor_userprio`: who has which priority, who used how much; and setting both.

Options, what is asked and what is told. The table is `userprio_table.py`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kettle.classad import ClassAd, parse_ads, parse_expression
from kettle.errors import ClassAdSyntaxError, KettleError, NotConnected, UsageError
from kettle.tools.failures import explain_in_line
from kettle.tools.options import MANY, Given, Option, read_options, run_tool
from kettle.tools.phrases import Phrases
from kettle.tools.printing.columns import Columns
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.status.userprio_table import Shown, render_resources, render_table

USAGE = """\
usage: condor_userprio [options] [edit-option | display-options [usernames]]
  -name NAME, -pool HOST        which negotiator
  change
    -setprio USER VALUE         the priority itself
    -setfactor USER VALUE       the factor of the priority, at least 1
    -setaccum USER VALUE        the usage so far
    -setbegin USER SECONDS, -setlast USER SECONDS
    -setceiling USER VALUE, -setfloor USER VALUE
    -resetusage USER, -resetall, -delete USER
  show
    -getreslist USER            the slots that a user holds
    -allusers                   also users who have not used anything of late
    -activefrom MONTH DAY YEAR  users since that day
    -priority, -usage, -quotas, -most, -all
                                which columns
    -flat, -hierarchical, -grouporder, -grouprollup
                                how groups are shown
    -constraint EXPR, -long, -af[:jlhVr,tng] EXPR...
    -collector, -negotiator     whom to ask
    -inputfile FILE             ads of a file, as -long shows them
  -help, -version
"""

# fmt: off
OPTIONS = (
    Option("af", 2, MANY, qualified=True), Option("activefrom", 3, 3), Option("allusers", 4),
    Option("all", 3), Option("autoformat", 5, MANY, qualified=True), Option("collector", 4),
    Option("constraint", 3, 1), Option("debug", 2, qualified=True), Option("delete", 3, 1),
    Option("flat", 2), Option("getreslist", 6, 1), Option("grouporder", 6),
    Option("grouprollup", 6), Option("groupid", 7), Option("help", 1), Option("hierarchical", 2),
    Option("inputfile", 2, 1), Option("legacy", 2), Option("long", 1), Option("modular", 3),
    Option("most", 2),
    Option("name", 1, 1), Option("negotiator", 2), Option("pool", 1, 1), Option("priority", 4),
    Option("quotas", 1), Option("resetall", 6), Option("resetusage", 6, 1),
    Option("setaccum", 4, 2), Option("setbegin", 4, 2), Option("setceiling", 4, 2),
    Option("setfactor", 5, 2), Option("setfloor", 5, 2), Option("setlast", 4, 2),
    Option("setprio", 4, 2), Option("usage", 1), Option("version", 1),
)
# fmt: on

_NO_ATTRIBUTE = (
    "Error: Argument {word} requires at least one attribute parameter\n"
    "\t\te.g. condor_prio {word} Name\n"
)
PHRASES = Phrases(
    unknown="",
    missing="",
    missing_of={
        "constraint": "Error: Argument {word} requires another parameter\n",
        "autoformat": _NO_ATTRIBUTE,
        "af": _NO_ATTRIBUTE,
    },
)
# How long a user may not have used anything and is still shown.
RECENT_SECONDS = 86400


class UnreadableError(KettleError):
    """The file of `-inputfile` cannot be read."""


@dataclass(frozen=True, slots=True)
class Setter:
    """A change that an option makes."""

    command: str
    # What the answer says was set, and how the value is shown.
    done: str
    value_format: str = "%d"
    least: float | None = None
    too_small: str = ""


SETTERS = {
    "setprio": Setter(
        "SET_PRIORITY", "The priority of {user} was set to {value}", "%f", 0.0,
        "User priority must be non-negative\n",
    ),
    "setfactor": Setter(
        "SET_PRIORITYFACTOR", "The priority factor of {user} was set to {value}", "%f", 1.0,
        "Priority factors must be greater than or equal to 1.\n",
    ),
    "setaccum": Setter(
        "SET_ACCUMUSAGE", "The Accumulated Usage of {user} was set to {value}", "%f", 0.0,
        "Usage must be greater than 0 seconds\n",
    ),
    "setbegin": Setter("SET_BEGINTIME", "The Begin Usage Time of {user} was set to {value}"),
    "setlast": Setter("SET_LASTTIME", "The Last Usage Time of {user} was set to {value}"),
    "setceiling": Setter("SET_CEILING", "The ceiling of {user} was set to {value}"),
    "setfloor": Setter("SET_FLOOR", "The floor of {user} was set to {value}"),
}  # fmt: skip


# What the reference calls a command where it tells that it could not be sent.
SPELLINGS = {"setceiling": "SET_ceiling", "setfloor": "SET_floor"}
COMMANDS = {
    **{name: setter.command for name, setter in SETTERS.items()},
    "resetusage": "RESET_USAGE",
    "resetall": "RESET_ALL_USAGE",
    "delete": "DELETE_USER",
}


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    reach: dict[str, str] = field(default_factory=dict)
    change: Given | None = None
    user: str = ""
    shown: Shown = Shown.MOST
    chosen: bool = False
    everybody: bool = False
    since: float | None = None
    from_collector: bool = False
    from_negotiator: bool = False
    rollup: bool = False
    long: bool = False
    legacy: bool = False
    constraint: str = ""
    columns: Columns = field(default_factory=Columns)
    names: list[str] = field(default_factory=list)
    file: str = ""


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_userprio`."""

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        reach = Reach(environment, **wish.reach)
        try:
            if wish.change is not None:
                return change(reach, wish.change, streams)
            text = show(reach, wish)
        except UnreadableError as error:
            streams.stderr.write(f"{error}\n")
            return 1
        except NotConnected as error:
            streams.stderr.write(explain_silence(wish, error))
            return 1
        streams.stdout.write(text)
        return 0

    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=act,
        complain=lambda error: PHRASES.render(error, USAGE),
        prefix="condor_userprio: ",
        after_help=1,
    )


def explain_silence(wish: Wish, error: NotConnected) -> str:
    """Return what is said where nobody answers."""
    name, pool = wish.reach.get("name", "default"), wish.reach.get("pool", "local pool")
    asked = "GET_RESLIST" if wish.user else ""
    if wish.change is not None:
        asked = SPELLINGS.get(wish.change.name) or COMMANDS[wish.change.name]
    if asked:
        what = f"failed to send {asked} command to negotiator\n"
    elif wish.from_negotiator:
        what = "Can't query negotiator for ads: \n"
    else:
        what = f"Can't query collector for ads: {explain_in_line(error)}\n"
    return f"condor_userprio: Can't locate negotiator '{name}' in {pool}\n{what}"


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    for option in read_options(words, OPTIONS):
        name = option.name
        if not name:
            wish.names.append(option.value)
        elif name in SETTERS or name in ("resetusage", "resetall", "delete"):
            if wish.change is not None:
                raise UsageError(f"{option.word} and {wish.change.word} cannot be done at once")
            wish.change = option
        elif name in ("af", "autoformat"):
            wish.columns.add_auto(option.qualifiers, list(option.values))
        else:
            _take(wish, option)
    return wish


def _take(wish: Wish, option: Given) -> None:
    name = option.name
    columns = {"priority": Shown.PRIORITY, "usage": Shown.USAGE, "quotas": Shown.QUOTAS,
               "most": Shown.MOST, "all": Shown.ALL, "groupid": Shown.GROUP_ID}  # fmt: skip
    if name in columns:
        wish.shown = wish.shown | columns[name] if wish.chosen else columns[name]
        wish.chosen = True
    elif name == "allusers":
        wish.everybody = True
    elif name == "activefrom":
        wish.since = _read_day(option.values)
    elif name in ("name", "pool"):
        wish.reach[name] = option.value
    elif name == "getreslist":
        wish.user = option.value
    elif name == "constraint":
        wish.constraint = _checked(option.value)
    elif name in ("long", "legacy"):
        setattr(wish, name, True)
    elif name == "inputfile":
        wish.file = option.value
    elif name == "collector":
        wish.from_collector = True
    elif name == "negotiator":
        wish.from_negotiator = True
    elif name == "grouprollup":
        wish.rollup = True


def _checked(text: str) -> str:
    try:
        parse_expression(text)
    except ClassAdSyntaxError as error:
        raise UsageError(f"{text} is not an expression: {error}") from error
    return text


def _read_day(values: Sequence[str]) -> float:
    month, day, year = values
    try:
        return time.mktime((int(year), int(month), int(day), 0, 0, 0, 0, 0, -1))
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{month} {day} {year} is not a day (MONTH DAY YEAR)") from error


# --- changing -----------------------------------------------------------------------------------


def change(reach: Reach, option: Given, streams: Streams) -> int:
    """Tell the negotiator what to change."""
    from kettle.client import accounting
    from kettle.client.pool import NEGOTIATOR
    from kettle.wire.commands import Command

    user = option.value if option.values else ""
    if option.name != "resetall" and "@" not in user and option.name != "delete":
        streams.stderr.write(
            "condor_userprio: You must specify the full name of the submittor you wish\n"
            "\tto update the priority of (user@uid.domain or user@full.host.name)\n"
        )
        return 1
    setter = SETTERS.get(option.name)
    value = _read_value(option.values[1]) if setter is not None else 0.0
    if setter is not None and setter.least is not None and value < setter.least:
        streams.stderr.write(setter.too_small)
        return 1
    address = reach.locate(NEGOTIATOR).address
    connector = reach.connector
    if setter is not None:
        accounting.set_for_user(connector, address, Command[setter.command], user, value)
        shown = setter.value_format % (value if "f" in setter.value_format else int(value))
        done = setter.done.format(user=user, value=shown)
    elif option.name == "delete":
        accounting.delete_user(connector, address, user)
        done = f"The accountant record named {user} was deleted"
    else:
        accounting.reset_usage(connector, address, user)
        done = "The accumulated usage was reset for all users"
        if user:
            done = f"The accumulated usage of {user} was reset"
    streams.stdout.write(done + "\n")
    return 0


def _read_value(text: str) -> float:
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text):
        raise UsageError(f"{text} is not a number")
    return float(text)


# --- showing ------------------------------------------------------------------------------------


def show(reach: Reach, wish: Wish) -> str:
    """Return what is printed about priorities and usage."""
    from kettle.client import accounting
    from kettle.client.pool import NEGOTIATOR

    if wish.user:
        address = reach.locate(NEGOTIATOR).address
        held = accounting.read_resources(reach.connector, address, wish.user)
        return render_resources(held, time.time())
    if wish.long and wish.legacy:
        address = reach.locate(NEGOTIATOR).address
        ad = accounting.read_priorities(reach.connector, address, rollup=wish.rollup)
        return _render_long([ad])
    ads = _choose(wish, fetch(reach, wish))
    if wish.long:
        return _render_long(ads)
    if wish.columns:
        return _render_columns(wish.columns, ads)
    since = wish.since
    if since is None and not wish.everybody:
        since = time.time() - RECENT_SECONDS
    return render_table(ads, wish.shown, since=since)


def _choose(wish: Wish, ads: list[ClassAd]) -> list[ClassAd]:
    """Return the ads that are meant."""
    if wish.constraint:
        expression = parse_expression(wish.constraint)
        ads = [ad for ad in ads if ad.evaluate_expression(expression) is True]
    if wish.names:
        wanted = set(wish.names)
        ads = [ad for ad in ads if ad.string("Name") in wanted]
    return ads


def _render_columns(columns: Columns, ads: list[ClassAd]) -> str:
    if not columns.headings:
        return "".join(columns.render(ad) for ad in ads)
    columns.measure(ads)
    return columns.render_headings() + "".join(columns.render(ad) for ad in ads)


def fetch(reach: Reach, wish: Wish) -> list[ClassAd]:
    """Return one ad for each user and group: from the negotiator, unless it is not to be asked."""
    if wish.file:
        return _read_ads(wish.file)
    from kettle.client import accounting
    from kettle.client.pool import NEGOTIATOR, make_query
    from kettle.wire.commands import Command

    if not wish.from_collector:
        address = reach.locate(NEGOTIATOR).address
        return accounting.read_accounting_ads(reach.connector, address)
    return reach.pool.query(Command.QUERY_ACCOUNTING_ADS, make_query("Accounting"))


def _read_ads(path: str) -> list[ClassAd]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return list(parse_ads(file.read(), "auto"))
    except OSError:
        raise UnreadableError(f"Can't open file of userprio ads: {path}") from None


def _render_long(ads: list[ClassAd]) -> str:
    from kettle.classad.forms import render_ads

    return render_ads(ads, "long")
