"""`condor_userprio`: who has which priority, who used how much; and setting both.

Options, what is asked and what is told. The table is `userprio_table.py`.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kettle.classad import ClassAd, parse_ads, parse_expression
from kettle.digits import MAX_32, MAX_INTEGER, MIN_INTEGER, whole, wrap_32
from kettle.errors import (
    ClassAdSyntaxError,
    KettleError,
    NotConnected,
    NotFoundError,
    RefusedError,
    Unreached,
    UsageError,
)
from kettle.runtime.storage.texts import LARGEST_ADS, read_text
from kettle.tools.failures import explain_in_line
from kettle.tools.options import MANY, Given, Option, read_options, run_tool, take_by
from kettle.tools.phrases import Phrases
from kettle.tools.printing.columns import Columns
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.status.userprio_table import ROOT, ColumnGroups, render_resources, render_table

if TYPE_CHECKING:
    from kettle.client.connector import Connector
    from kettle.wire.sinful import Sinful

USAGE = """\
usage: condor_userprio [options] [edit-option | display-options [usernames]]
  -name NAME, -pool HOST        which negotiator
  change
    -setprio USER VALUE         the priority itself
    -setfactor USER VALUE       the factor of the priority, at least 1
    -setaccum USER VALUE        the usage so far
    -setbegin USER SECONDS, -setlast USER SECONDS
    -setceiling USER VALUE, -setfloor USER VALUE
    -duration SECONDS           give back what was before -setfactor, -setceiling or -setfloor
    -cancelfactorlease USER, -cancelceilinglease USER, -cancelfloorlease USER
                                give it back now
    -resetusage USER, -resetall, -delete USER
  show
    -getreslist USER            the slots that a user holds
    -allusers                   also users who have not used anything of late
    -activefrom MONTH DAY YEAR  users since that day
    -priority, -usage, -quotas, -most, -all, -groupid, -order, -sortkey, -surplus
                                which columns
    -flat, -hierarchical, -grouporder, -grouprollup
                                how groups are shown
    -constraint EXPR, -long, -af[:jlhVr,tng] EXPR...
    -collector, -negotiator     whom to ask
    -inputfile FILE             ads of a file, as -long shows them
  -help, -version
"""

# In the reference's order: the first that admits a short beginning has it.
# fmt: off
OPTIONS = (
    Option("setprio", 1, 2), Option("setfactor", 1, 2), Option("setfloor", 1, 2),
    Option("setceiling", 1, 2), Option("duration", 1, 1), Option("cancelceilinglease", 1, 1),
    Option("cancelfloorlease", 1, 1), Option("cancelfactorlease", 1, 1),
    Option("setbegin", 1, 2), Option("setaccum", 1, 2),
    Option("setlast", 1, 2), Option("resetusage", 1, 1), Option("delete", 3, 1),
    Option("resetall", 1), Option("long", 1), Option("constraint", 1, 1), Option("legacy", 3),
    Option("modular", 3), Option("af", 2, MANY, qualified=True),
    Option("autoformat", 5, MANY, qualified=True), Option("debug", 1, qualified=True),
    Option("hierarchical", 2), Option("flat", 2), Option("grouprollup", 1),
    Option("grouporder", 1), Option("quotas", 1), Option("surplus", 1), Option("sortkey", 2),
    Option("all", 1), Option("most", 2), Option("groupid", 1), Option("order", 1),
    Option("activefrom", 1, 3), Option("allusers", 1), Option("usage", 2), Option("priority", 4),
    Option("getreslist", 6, 1), Option("inputfile", 2, 1), Option("pool", 1, 1),
    Option("name", 1, 1), Option("collector", 3), Option("negotiator", 3), Option("help", 1),
    Option("version", 1),
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
    """The file of `-inputfile` or the constraint cannot be read."""


def _read_real(text: str) -> float:
    """Return the number at a text's beginning, 0 if there is none."""
    found = re.match(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text)
    return float(found[0]) if found else 0.0


def _read_long(text: str) -> float:
    found = re.match(r"\s*([-+]?\d+)", text)
    return max(MIN_INTEGER, min(MAX_INTEGER, whole(found[1]))) if found else 0


def _read_int(text: str) -> float:
    """Return what is left of a number in 32 bits."""
    return wrap_32(int(_read_long(text)))


@dataclass(frozen=True, slots=True)
class Setter:
    """A change that an option makes."""

    command: str
    # What the answer says was set, and how the value is shown.
    done: str
    read: Callable[[str], float] = _read_real
    value_format: str = "%f"
    least: float | None = None
    too_small: str = ""
    # What of a user is set, as the refusal of a name without a domain says.
    what: str = "priority"
    names_word: bool = False
    # What the change is for as long as `-duration` says, and its command.
    lease: str = ""
    lease_command: str = ""


_TOO_EARLY = "Time must be greater than 0 seconds\n"
# In the order in which the reference looks for them: one command line makes one change.
SETTERS = {
    "setprio": Setter("SET_PRIORITY", "The priority of {user} was set to {value}"),
    "setfactor": Setter(
        "SET_PRIORITYFACTOR", "The priority factor of {user} was set to {value}", least=1,
        too_small="Priority factors must be greater than or equal to 1.\n",
        lease="priority-factor", lease_command="MANAGE_PRIORITY_FACTOR",
    ),
    "setfloor": Setter(
        "SET_FLOOR", "The floor of {user} was set to {value}", _read_long, "%d", 0,
        "floor must be greater than or equal to 0.\n", what="floor", names_word=True,
        lease="floor", lease_command="MANAGE_FLOOR",
    ),
    "setceiling": Setter(
        "SET_CEILING", "The ceiling of {user} was set to {value}", _read_long, "%d", -1,
        "ceiling must be greater than or equal to -1.\n", what="ceiling", names_word=True,
        lease="ceiling", lease_command="MANAGE_CEILING",
    ),
    "setaccum": Setter(
        "SET_ACCUMUSAGE", "The Accumulated Usage of {user} was set to {value}", least=0,
        too_small="Usage must be greater than 0 seconds\n",
    ),
    "setbegin": Setter(
        "SET_BEGINTIME", "The Begin Usage Time of {user} was set to {value}", _read_int, "%d", 0,
        _TOO_EARLY,
    ),
    "setlast": Setter(
        "SET_LASTTIME", "The Last Usage Time of {user} was set to {value}", _read_int, "%d", 0,
        _TOO_EARLY,
    ),
}  # fmt: skip


# What the reference calls a command where it tells that it could not be sent.
SPELLINGS = {"setceiling": "SET_ceiling", "setfloor": "SET_floor"}
# Which setter's lease an option ends.
CANCELS = {
    "cancelceilinglease": "setceiling",
    "cancelfloorlease": "setfloor",
    "cancelfactorlease": "setfactor",
}
_EARLY = ("setprio", "setfactor", "setfloor", "setceiling")
COMMANDS = {
    **{name: SETTERS[name].command for name in _EARLY},
    **{name: SETTERS[setter].lease_command for name, setter in CANCELS.items()},
    **{name: setter.command for name, setter in SETTERS.items() if name not in _EARLY},
    "resetusage": "RESET_USAGE",
    "delete": "DELETE_USER",
    "resetall": "RESET_ALL_USAGE",
    "getreslist": "GET_RESLIST",
}


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    reach: dict[str, str] = field(default_factory=dict)
    # What is to be changed or asked, each by its option's name; the last of each.
    changes: dict[str, Given] = field(default_factory=dict)
    shown: ColumnGroups = ColumnGroups.MOST
    chosen: bool = False
    duration: int = 0
    everybody: bool = False
    since: float | None = None
    from_collector: bool = False
    from_negotiator: bool = False
    rollup: bool = False
    hierarchical: bool | None = None
    groups_first: bool = False
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
            if wish.changes:
                chosen = min(wish.changes, key=list(COMMANDS).index)
                return change(reach, wish, wish.changes[chosen], streams)
            streams.stdout.write(show(reach, wish, streams))
        except UnreadableError as error:
            streams.stderr.write(f"{error}\n")
            return 1
        except Unreached as error:
            # It was said where it is, and does not answer.
            streams.stderr.write(explain_silence(wish, error))
            return 1
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


def explain_silence(wish: Wish, error: Unreached) -> str:
    """Return what is said where nobody answers."""
    for name in sorted(wish.changes, key=list(COMMANDS).index):
        return _describe_unsent(wish, name)
    if wish.from_negotiator and wish.rollup and not wish.names:
        return "failed to send GET_PRIORITY_ROLLUP command to negotiator\n"
    if wish.from_negotiator:
        return "Can't query negotiator for ads: \n"
    return f"Can't query collector for ads: {explain_in_line(error)}\n"


def _describe_unsent(wish: Wish, name: str) -> str:
    if name in CANCELS:
        lease = SETTERS[CANCELS[name]].lease
        return f"failed to start {lease} lease cancel command to negotiator\n"
    if name == "setfactor" and wish.duration:
        return "failed to start MANAGE_PRIORITY_FACTOR command to negotiator\n"
    return f"failed to send {SPELLINGS.get(name) or COMMANDS[name]} command to negotiator\n"


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    for option in read_options(words, OPTIONS):
        name = option.name
        if not name:
            if not (option.value[:1].isalpha() or option.value == ROOT):
                raise UsageError(f"{option.value} is not the name of a user")
            wish.names.append(option.value)
        elif name in COMMANDS:
            wish.changes[name] = option
        elif name in ("af", "autoformat"):
            wish.columns.add_auto(option.qualifiers, list(option.values))
        else:
            _take(wish, option)
    return wish


_SHOWN = {
    "priority": ColumnGroups.PRIORITY,
    "usage": ColumnGroups.USAGE,
    "quotas": ColumnGroups.QUOTAS,
    "most": ColumnGroups.MOST,
    "all": ColumnGroups.ALL,
    "groupid": ColumnGroups.GROUP_ID,
    "order": ColumnGroups.ORDER,
    "sortkey": ColumnGroups.SORT_KEY,
    "surplus": ColumnGroups.SURPLUS,
}
# Who is asked: where nothing is said the collector, and after it perhaps the negotiator.
_ASKED = {"collector": "collector", "negotiator": "negotiator", "allusers": "negotiator",
          "grouprollup": "negotiator"}  # fmt: skip


def _take(wish: Wish, option: Given) -> None:
    name = option.name
    if name in _ASKED:
        wish.from_collector = _ASKED[name] == "collector"
        wish.from_negotiator = not wish.from_collector
    if name in _SHOWN:
        wish.shown = wish.shown | _SHOWN[name] if wish.chosen else _SHOWN[name]
        wish.chosen = True
    else:
        take_by(_ACTIONS, wish, option)


def _take_everybody(wish: Wish, _option: Given) -> None:
    wish.everybody, wish.since = True, None


def _take_day(wish: Wish, option: Given) -> None:
    wish.everybody, wish.since = False, _read_day(option.values)


def _take_constraint(wish: Wish, option: Given) -> None:
    wish.constraint = f"{wish.constraint} && ({option.value})".removeprefix(" && ")


def _take_place(wish: Wish, option: Given) -> None:
    wish.reach[option.name] = option.value


def _take_order(wish: Wish, option: Given) -> None:
    wish.hierarchical = option.name == "hierarchical"
    wish.groups_first = wish.groups_first or option.name == "grouporder"


# What is done for an option that neither changes anything nor chooses columns.
_ACTIONS: dict[str, Callable[[Wish, Given], object]] = {
    "activefrom": _take_day,
    "allusers": _take_everybody,
    "collector": lambda _wish, _option: None,
    "constraint": _take_constraint,
    "duration": lambda wish, option: setattr(wish, "duration", _read_duration(option.value)),
    "flat": _take_order,
    "grouporder": _take_order,
    "grouprollup": lambda wish, _: setattr(wish, "rollup", True),
    "hierarchical": _take_order,
    "inputfile": lambda wish, option: setattr(wish, "file", option.value),
    "legacy": lambda wish, _: setattr(wish, "legacy", True),
    "long": lambda wish, _: setattr(wish, "long", True),
    "modular": lambda wish, _: setattr(wish, "legacy", False),
    "name": _take_place,
    "negotiator": lambda _wish, _option: None,
    "pool": _take_place,
}


def _read_duration(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text) or not 0 < int(text) < MAX_32:
        raise UnreadableError("-duration requires a positive integer number of seconds")
    return int(text)


def _read_day(values: Sequence[str]) -> float:
    month, day, year = (int(_read_int(value)) for value in values)
    # Years count from 1900; two digits below 50 mean this century.
    year += 100 * (year < 50)
    year -= 1900 * (year > 1900)
    try:
        return time.mktime((year + 1900, month, day, 0, 0, 0, 0, 0, -1))
    except (ValueError, OverflowError):
        return -1.0


# --- changing -----------------------------------------------------------------------------------


def tell_silence(wish: Wish, streams: Streams) -> None:
    """Say that the negotiator is nowhere to be found."""
    name, pool = wish.reach.get("name", "default"), wish.reach.get("pool", "local pool")
    streams.stderr.write(f"condor_userprio: Can't locate negotiator '{name}' in {pool}\n")


def locate(reach: Reach, wish: Wish, streams: Streams) -> Sinful | None:
    """Return the negotiator's address; None, with a sentence, if it is nowhere."""
    from kettle.client.pool import NEGOTIATOR

    try:
        return reach.locate(NEGOTIATOR, to_command=True).address
    except (Unreached, NotFoundError):
        tell_silence(wish, streams)
        return None


def find_fault(option: Given) -> str:
    """Return what is wrong with a change, or with asking for what a user holds; else nothing."""
    setter = SETTERS.get(option.name)
    user = option.value if option.values else ""
    if option.name in CANCELS and "@" not in user:
        return f"condor_userprio: -{option.name} requires a full submitter name (user@domain)\n"
    if option.name != "resetall" and "@" not in user:
        which, aim = "submittor", f"update the {setter.what if setter else 'priority'} of"
        if option.name == "delete":
            which, aim = "record", "delete"
        given = f" (not {user})" if setter is not None and setter.names_word else ""
        return (
            f"condor_userprio: You must specify the full name of the {which} you wish\n"
            f"\tto {aim} (user@uid.domain or user@full.host.name){given}\n"
        )
    if setter is not None and setter.least is not None:
        return setter.too_small if setter.read(option.values[1]) < setter.least else ""
    return ""


def change(reach: Reach, wish: Wish, option: Given, streams: Streams) -> int:
    """Tell the negotiator what to change, or ask it what a user holds.

    Where the negotiator is comes first: that it is nowhere is said before what is wrong with the
    words, as in the reference.
    """
    from kettle.client import accounting
    from kettle.wire.commands import Command

    address = locate(reach, wish, streams)
    fault = find_fault(option)
    if not fault and address is None:
        fault = _describe_unsent(wish, option.name)
    if fault or address is None:
        streams.stderr.write(fault)
        return 1
    connector = reach.connector
    user = option.value if option.values else ""
    setter = SETTERS.get(option.name)
    if option.name in CANCELS or (wish.duration and setter is not None and setter.lease):
        return change_lease(connector, address, wish, option, streams)
    if setter is not None:
        value = setter.read(option.values[1])
        accounting.set_for_user(connector, address, Command[setter.command], user, value)
        done = setter.done.format(user=user, value=setter.value_format % value)
    elif option.name == "getreslist":
        held = accounting.read_resources(connector, address, user)
        done = _render_long([held]) if wish.long else render_resources(held, time.time())
        done = done.removesuffix("\n")
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


def change_lease(
    connector: Connector, address: Sinful, wish: Wish, option: Given, streams: Streams
) -> int:
    """Have the negotiator change something for a while, or end such a change."""
    from kettle.client import accounting
    from kettle.wire.commands import Command

    cancelled = option.name in CANCELS
    setter = SETTERS[CANCELS.get(option.name, option.name)]
    command, user = Command[setter.lease_command], option.value
    try:
        if cancelled:
            accounting.cancel_lease(connector, address, command, user)
            done = f"Cancelled {setter.lease} lease for {user}"
        else:
            value = setter.read(option.values[1])
            accounting.lease_for_user(connector, address, command, user, value, wish.duration)
            shown = setter.value_format % value
            done = f"Set {setter.lease} lease on {user} to {shown} for {wish.duration} seconds"
    except RefusedError as error:
        what = "cancel" if cancelled else f"{setter.lease} lease"
        streams.stderr.write(f"negotiator rejected {what}: {error.args[0]}\n")
        return 1
    streams.stdout.write(done + "\n")
    return 0


# --- showing ------------------------------------------------------------------------------------


def show(reach: Reach, wish: Wish, streams: Streams) -> str:
    """Return what is printed about priorities and usage."""
    from kettle.client import accounting

    if wish.file:
        ads = _read_ads(wish.file)
    else:
        address = locate(reach, wish, streams)
        if not _is_expression(wish.constraint):
            whom = "negotiator" if wish.from_negotiator else "collector"
            raise UnreadableError(f"Can't query {whom} for ads: ")
        rolled_up = wish.rollup and wish.from_negotiator and not wish.names
        if rolled_up:
            if address is None:
                raise NotConnected("the negotiator is nowhere")
            one = accounting.read_priorities(reach.connector, address, rollup=True)
            if wish.long and wish.legacy:
                return _render_long([one])
            ads = _split(one)
        else:
            ads = fetch(reach, wish, address, streams)
    ads = _choose(wish, ads)
    if wish.long:
        return _render_long(ads)
    if wish.columns:
        return _render_columns(wish.columns, ads)
    since = wish.since
    if wish.names or wish.everybody:
        since = None
    elif since is None:
        since = time.time() - RECENT_SECONDS
    return render_table(
        ads,
        wish.shown,
        since=since,
        hierarchical=wish.hierarchical,
        groups_first=wish.groups_first,
    )


def _split(one: ClassAd) -> list[ClassAd]:
    """Return an ad for each user and group of the ad in which their attributes are numbered."""
    ads = []
    for number in range(1, (one.integer("NumSubmittors") or 0) + 1):
        own = re.compile(rf"(.*\D){number}")
        named = {name: own.fullmatch(name) for name in one.names()}
        ads.append(ClassAd({found[1]: one[name] for name, found in named.items() if found}))
        ads[-1]["LastUpdate"] = one.integer("LastUpdate") or 0
    return ads


def _is_expression(text: str) -> bool:
    try:
        parse_expression(text or "true")
    except ClassAdSyntaxError:
        return False
    return True


def _choose(wish: Wish, ads: list[ClassAd]) -> list[ClassAd]:
    """Return the ads that are meant; a name without a domain means a user of any."""
    if wish.constraint:
        expression = parse_expression(wish.constraint)
        ads = [ad for ad in ads if ad.evaluate_expression(expression) is True]
    if "name" in wish.reach:
        # What a negotiator says of itself has no such attribute; the collector's ads have.
        of, meant = "NegotiatorName", wish.reach["name"].lower()
        ads = [ad for ad in ads if (ad.string(of) or meant).lower() == meant]
    if wish.names:
        ads = [ad for ad in ads if _is_named(ad.string("Name") or "", wish.names)]
    return ads


def _is_named(name: str, wanted: Sequence[str]) -> bool:
    return name in wanted or name.partition("@")[0] in wanted


def _render_columns(columns: Columns, ads: list[ClassAd]) -> str:
    if not columns.headings:
        return "".join(columns.render(ad) for ad in ads)
    columns.measure(ads)
    return columns.render_headings() + "".join(columns.render(ad) for ad in ads)


def fetch(reach: Reach, wish: Wish, address: Sinful | None, streams: Streams) -> list[ClassAd]:
    """Return one ad for each user and group.

    Of named users the collector is asked, and the negotiator if it does not know enough of them;
    where ads are shown whole, what the collector adds to them is, too.
    Compat: where nobody is named and nothing is said, the reference asks the collector also for the
    table; ours the negotiator, which sends its ads less often. Shown by
    test_condor_userprio_shows_and_sets_priorities.
    """
    from kettle.client import accounting
    from kettle.client.pool import make_query
    from kettle.wire.commands import Command

    nothing_said = not (wish.from_negotiator or wish.from_collector or wish.names)
    if nothing_said and not wish.long:
        with contextlib.suppress(Unreached):
            if address is not None:
                return accounting.read_accounting_ads(reach.connector, address)
    if not wish.from_negotiator:
        ads = reach.pool.query(Command.QUERY_ACCOUNTING_ADS, make_query("Accounting"))
        if wish.from_collector or len(_choose(wish, ads)) >= len(wish.names):
            return ads
        streams.stderr.write("Not all user(s) found in collector, querying negotiator...\n")
    if address is None:
        wish.from_negotiator = True
        raise NotConnected("the negotiator is nowhere")
    return accounting.read_accounting_ads(reach.connector, address)


def _read_ads(path: str) -> list[ClassAd]:
    try:
        text = read_text(path, limit=LARGEST_ADS)
    except OSError:
        raise UnreadableError(f"Can't open file of userprio ads: {path}") from None
    try:
        ads = [ad for ad in parse_ads(text, "auto") if len(ad)]
    except ClassAdSyntaxError:
        ads = []
    if not ads and text.strip():
        raise UnreadableError("Error -1 reading userprio ads")
    return ads


def _render_long(ads: list[ClassAd]) -> str:
    from kettle.classad.forms import render_ads

    return render_ads(ads, "long")
