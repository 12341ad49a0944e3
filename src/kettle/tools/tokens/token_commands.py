"""What the condor_token_* tools share: options, where a token goes, which daemon is asked.

A token is printed, or written with mode 0600 into the folder that the tools look in. The daemon's
side is every daemon's generic commands; what a token means is `wire.security.tokens`'.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from kettle.client.pool import COLLECTOR, KINDS, Kind
from kettle.digits import MAX_INTEGER, MIN_INTEGER, whole
from kettle.errors import KettleError, NotConnected, NotFoundError, RefusedError, UnknownHostError
from kettle.octets import AS_IS
from kettle.tools.failures import explain_in_line
from kettle.tools.options import Given, Option, UnknownOptionError, read_options, run_tool
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.wire.sinful import Sinful

# Compat: the reference's token tools know no -version; ours tell it, as every tool does (R075;
# test_it_says_its_version).
STANDARD = (
    Option("help"),
    Option("debug", qualified=True),
    Option("version", shortest=7),
)
DAEMON = (
    Option("pool", values=1),
    Option("name", values=1),
    Option("type", values=1),
)
TOKEN = (
    Option("authz", values=1),
    Option("lifetime", values=1),
    Option("token", values=1),
    Option("file", values=1),
)
BEGIN_LISTING = "Failed to start command for listing token requests"
_PLACES = ("token", "file")
# What the reference knows for a type of daemon, and no pool of ours has.
_ELSEWHERE = (
    "any", "cluster_server", "credd", "dagman", "generic", "gridmanager", "had", "kbdd",
    "lease_manager", "placementd", "shadow", "starter", "view_collector",
)  # fmt: skip
MISSING = {
    "authz": "{tool}: -authz requires an authorization name argument\n",
    "lifetime": "{tool}: -lifetime requires an integer in seconds.\n",
    "identity": "{tool}: -identity requires an argument.\n",
    "key": "{tool}: -key requires a key name argument.\n",
    "token": "{tool}: -token requires a file name argument.\n",
    "file": "{tool}: -file requires a file name argument.\n",
    "pool": "{tool}: -pool requires a pool name argument.\n",
    "name": "{tool}: -name requires a daemon name argument.\n",
    "type": "{tool}: -type requires a daemon type argument.\n",
    "reqid": "{tool}: -reqid requires a request ID argument.\n",
}


@dataclass
class Wish:
    """What the command line asks for; `values` has the option of each name as it was given."""

    values: dict[str, str] = field(default_factory=dict)
    levels: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)

    def get(self, name: str) -> str:
        """Return an option's value, empty if it was not given."""
        return self.values.get(name, "")

    @property
    def scope(self) -> str:
        """The levels asked for, as the wire has them."""
        return ",".join(self.levels)

    @property
    def lifetime(self) -> int:
        """The seconds asked for; none, and a negative number, is no limit."""
        return int(self.get("lifetime") or -1)


Work = Callable[[Wish, Reach, Streams], int]


def run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    streams: Streams,
    options: Sequence[Option],
    usage: str,
    work: Work,
    *,
    after_help: int = 1,
    phrases: Phrases | None = None,
    takes_words: bool = False,
) -> int:
    """Read the options and do the work; errors are a sentence on stderr and exit code 1.

    `after_help` is the exit code after -help, 1 for most of these tools; `phrases` are how wrong
    options are complained of; without `takes_words` nothing but options may stand in the line.
    """
    tool = argv[0]
    phrases = phrases or Phrases(
        unknown=f"{tool}: Invalid command line argument: {{word}}\n",
        missing="",
        missing_of={name: text.replace("{tool}", tool) for name, text in MISSING.items()},
        missing_shows_usage=False,
    )

    def act(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
        reach = Reach(environment, pool=wish.get("pool"), name=wish.get("name"))
        return work(wish, reach, streams)

    return run_tool(
        argv,
        environment,
        streams,
        usage=usage,
        read_wish=lambda words: read_wish(
            read_options(words, (*STANDARD, *options)), tool, takes_words=takes_words
        ),
        act=act,
        complain=lambda error: phrases.render(error, usage),
        prefix=f"{tool}: ",
        after_help=after_help,
    )


def read_wish(given: Iterable[Given], tool: str, *, takes_words: bool = False) -> Wish:
    """Return what the options say; UnknownOptionError at a word that is none of them.

    A lifetime is what its digits at the beginning say, as in the reference (`5x` is 5); without
    any, or as a number of more than 64 bits, it raises SaidError. Of -token and -file the last one
    counts.
    """
    wish = Wish()
    for item in given:
        if not item.name:
            if not takes_words:
                raise UnknownOptionError(item.word)
            wish.words.append(item.value)
            continue
        if item.name == "type" and item.value.lower() not in (*KINDS, *_ELSEWHERE):
            raise SaidError(f"ERROR: unrecognized daemon type: {item.value}", with_usage=True)
        if item.name == "authz":
            # One level is one word as it is, as in the reference: A,B is the name of no level.
            wish.levels.append(item.value)
        elif item.name == "lifetime":
            number = re.match(r"\s*([+-]?\d+)", item.value, re.ASCII)
            if number is None or not MIN_INTEGER <= whole(number[1]) <= MAX_INTEGER:
                raise SaidError(f"{tool}: Invalid argument for -lifetime: {item.value}.")
            wish.values["lifetime"] = str(whole(number[1]))
        elif item.values:
            if item.name in _PLACES:
                for place in _PLACES:
                    wish.values.pop(place, None)
            wish.values[item.name] = item.value
        else:
            wish.flags.add(item.name)
    return wish


def choose_daemon(wish: Wish, reach: Reach, default: Kind = COLLECTOR) -> Sinful:
    """Return the address of the daemon that is meant; SaidError if it is nowhere."""
    word = wish.get("type").lower()
    kind = KINDS.get(word) if word else default
    try:
        if wish.get("pool"):
            reach.pool.collectors()
            if not wish.get("name") and kind is not COLLECTOR:
                # As the reference: of this machine's daemons no collector is asked.
                reach = reach.without_pool()
    except UnknownHostError as error:
        raise SaidError(f"ERROR: {error}") from None
    try:
        if kind is None:
            raise NotFoundError(f"there is no {word}")
        return reach.locate(kind).address
    except KettleError:
        name = wish.get("name")
        whom = f"daemon {name}!" if name else "default daemon type."
        raise SaidError(f"ERROR: couldn't locate {whom}") from None


@contextmanager
def asking(address: Sinful, failed: str, beginning: str = "") -> Iterator[None]:
    """Say in the reference's words why a daemon was asked in vain: SaidError, `failed` and why.

    `beginning` is what could not be begun where the daemon is there and does not let us in; empty
    for commands of which the reference says no more than why.
    """
    try:
        yield
    except NotConnected:
        why = f"DAEMON:1:Failed to connect to remote daemon at '{address}'"
        raise SaidError(f"{failed}: {why}") from None
    except KettleError as error:
        why = explain_in_line(error)
        if beginning and not isinstance(error, RefusedError):
            begun = f"DAEMON:1:{beginning} with remote daemon at '{address}'."
            why = f"{begun}|{why}"
        raise SaidError(f"{failed}: {why}") from None


def token_folder(reach: Reach) -> str:
    """Return the folder in which this user's tokens lie."""
    own = reach.config.get("SEC_TOKEN_DIRECTORY")
    if own:
        return own
    system = reach.config.get("SEC_TOKEN_SYSTEM_DIRECTORY")
    if os.geteuid() == 0 and system:
        return system
    home = reach.environment.get("HOME") or os.path.expanduser("~")
    return os.path.join(home, ".condor", "tokens.d")


def deliver(token: str, wish: Wish, reach: Reach, streams: Streams) -> int:
    """Print the token, or write it to the file that -token or -file names.

    Raises SaidError if it cannot be written.
    """
    name = wish.get("token")
    path = wish.get("file") or (os.path.join(token_folder(reach), name) if name else "")
    if not path:
        streams.stdout.write(f"{token}\n")
        return 0
    if "/" in name:
        raise SaidError("Token name isn't a plain filename")
    try:
        if name:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8", errors=AS_IS) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(f"{token}\n")
    except OSError as error:
        why = f"{error.strerror} (errno={error.errno})"
        raise SaidError(f"Cannot write token to {path}: {why}") from None
    return 0
