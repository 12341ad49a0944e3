"""What a command line of `condor_config_val` asks for.

The options are a table in the order in which the reference tries them: a short beginning belongs
to the first row that admits it. Unlike other tools' most of them take one dash only, and few a
colon (tests/data/cli/admin/recordings.json).
"""

from __future__ import annotations

import re

from kettle.errors import UsageError
from kettle.named_tuples import NamedTuple


class BriefError(UsageError):
    """A command line that makes no sense, and is not followed by the usage."""


class Row(NamedTuple):
    """One option: how many letters it needs (0: all), what follows it, how it may be written.

    `value` is what the complaint calls a missing word after it, empty if none follows; `colon`
    whether qualifiers may stand after a colon, `dashes` whether two dashes may come before.
    """

    name: str
    shortest: int = 0
    value: str = ""
    colon: bool = False
    dashes: bool = False


# fmt: off
ROWS = (
    Row("name", 1, "name"), Row("address", 1, "address"), Row("pool", 1, "pool"),
    Row("local-name", 2, "local_name"), Row("subsystem", 3, "subsystem"), Row("owner", 1),
    Row("tilde", 1), Row("master", 2), Row("schedd", 2), Row("startd", 2), Row("collector", 3),
    Row("negotiator", 3), Row("set", 2), Row("unset", 3), Row("rset", 3), Row("runset", 5),
    Row("mixedcase", 2), Row("diagnostic", 4), Row("raw", 3), Row("default", 3), Row("config", 2),
    Row("reconfig", 5, "reconfig"), Row("swap", 4), Row("verbose", 1, colon=True), Row("dump", 1),
    Row("trace", 2), Row("stats", 4, colon=True), Row("info", 3, colon=True), Row("expanded", 2),
    Row("macro", 3, colon=True), Row("evaluate", 2), Row("unused", 4), Row("used", 2),
    Row("summary", 3, colon=True), Row("writeconfig", 3, "writeconfig", colon=True),
    Row("root-config", 4, "root-config", dashes=True), Row("debug", 2, colon=True),
    Row("help", 2, dashes=True), Row("version", 3, dashes=True),
    Row("check-if", value="check-if", dashes=True),
)
# fmt: on
# No word of a command line has this letter in it.
TEMPLATE = "\0"
EDITS = ("set", "unset", "rset", "runset")
DAEMONS = ("master", "schedd", "startd", "collector", "negotiator")
_NO_ADDRESS = """\
condor_config_val: invalid address {address}
Address must be of the form "<111.222.333.444:555>
   where 111.222.333.444 is the ip address and 555 is the port
   you wish to connect to (the punctuation is important).
"""
# What cannot be asked for at once, whichever comes first.
_EXCLUDED = {"default": "verbose", "verbose": "default", "summary": "writeconfig"}


class Request:
    """What the command line asks for.

    `names` are the words that are no options; one that follows `use` is a template, and begins with
    TEMPLATE. `edit` is the last of -set, -unset, -rset and -runset, `daemon` the last kind of
    daemon named.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.switches: set[str] = set()
        self.values: dict[str, str] = {}
        self.qualifiers: dict[str, list[str]] = {}
        self.edit = ""
        self.daemon = ""
        self.complaints: list[str] = []

    def has(self, switch: str) -> bool:
        """Tell whether a switch was given."""
        return switch in self.switches

    def filters(self, option: str, **shortest: int) -> set[str]:
        """Return which of the qualifiers of an option, by the letters they need, were given."""
        return {
            name
            for given in self.qualifiers.get(option, ())
            for name, letters in shortest.items()
            if len(given) >= (letters or len(name)) and name.startswith(given)
        }

    @property
    def verbose(self) -> bool:
        """Whether more is told of each value than itself."""
        terse = "terse" in self.filters("verbose", terse=0)
        return self.has("info") or (self.has("verbose") and not terse)

    @property
    def address(self) -> str:
        """What -address names."""
        return self.values.get("address", "")

    @property
    def asks_daemon(self) -> bool:
        """Whether a daemon is meant, not this machine's configuration."""
        return bool(self.edit or self.daemon or self.values.keys() & {"name", "address"})


def find_row(word: str) -> Row | None:
    """Return the option that a word with its dashes names, None if there is none."""
    beginning, colon, _ = word.partition(":")
    two = beginning.startswith("--")
    letters = beginning.lstrip("-") if two else beginning[1:]
    for row in ROWS:
        if colon and not row.colon:
            continue
        if two:
            if row.dashes and letters == row.name:
                return row
        elif len(letters) >= (row.shortest or len(row.name)) and row.name.startswith(letters):
            return row
    return None


def read_request(arguments: list[str]) -> Request:
    """Read the command line up to -help or -version, which then are the only switch.

    Raises UsageError, whose class BriefError means that no usage follows.
    """
    request = Request()
    rest = list(reversed(arguments))
    while rest:
        word = rest.pop()
        if not word.startswith("-"):
            _take_word(request, word, rest)
            continue
        row = find_row(word)
        if row is None:
            raise UsageError(f"{word} is not a valid argument")
        if row.name in ("help", "version"):
            request.switches = {row.name}
            return request
        _take_option(request, row, word, rest)
    return request


def _take_word(request: Request, word: str, rest: list[str]) -> None:
    if word.lower() != "use":
        request.names.append(word)
    elif rest and not rest[-1].startswith("-"):
        request.names.append(f"{TEMPLATE}{rest.pop()}")
    else:
        # Compat: no failure, as in the reference
        # (test_use_of_nothing_is_answered_without_an_error).
        request.complaints.append(
            "use should be followed by a category or category:option argument\n"
        )
        request.names.append(TEMPLATE)


def _check_excluded(request: Request, row: Row, word: str) -> None:
    excluded = _EXCLUDED.get(row.name)
    if excluded and (request.has(excluded) or excluded in request.values):
        shown = f"-{row.name}" if row.name != "summary" else word
        raise UsageError(f"{shown} cannot be used with -{excluded}")
    if row.name == "writeconfig" and request.has("summary"):
        raise UsageError(f"{word} cannot be used with -summary")


def _take_option(request: Request, row: Row, word: str, rest: list[str]) -> None:
    _check_excluded(request, row, word)
    _, colon, qualifiers = word.partition(":")
    if colon or row.name not in request.qualifiers:
        parts = qualifiers.replace(":", ",").split(",")
        request.qualifiers[row.name] = [part.strip() for part in parts if part.strip()]
    if row.value:
        if not rest:
            raise BriefError(f"-{row.value} requires an argument")
        request.values[row.name] = rest.pop()
        if row.name == "address" and not re.fullmatch(r"<[^<>]+:\d+[^<>]*>", request.address):
            request.complaints.append(_NO_ADDRESS.format(address=request.address))
    elif row.name in EDITS:
        request.edit = row.name
    elif row.name in DAEMONS:
        request.daemon = row.name
    else:
        request.switches.add(row.name)
