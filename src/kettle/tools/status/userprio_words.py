"""What the command line of `condor_userprio` asks for: its options, what each changes or shows."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kettle.digits import MAX_32, MAX_INTEGER, MIN_INTEGER, whole, wrap_32
from kettle.errors import KettleError, UsageError
from kettle.tools.options import MANY, Given, Option, read_options, take_by
from kettle.tools.phrases import Phrases
from kettle.tools.printing.columns import Columns
from kettle.tools.status.userprio_table import ROOT, ColumnGroups

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
