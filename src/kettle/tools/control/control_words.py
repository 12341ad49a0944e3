"""How the control tools read their command line: what it asks for, in a `Wish`.

The words are tried in the order of `ROWS`, which is the reference's, so that `-d` is -debug and
`-n` alone is ambiguous; each is judged before the next is read, so the first complaint is the
reference's too (tests/cli/test_admin_recordings.py). What is sent is `daemon_control.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kettle.classad.unparse import render_value
from kettle.errors import UsageError
from kettle.tools.options import Option, choose_option

DAEMONS = ("master", "startd", "schedd", "collector", "negotiator", "kbdd")
AMBIGUOUS = {
    "f": 'ambiguous parameter: "-f"\nPlease specify "-full" or "-fast"',
    "a": 'ambiguous parameter: "-a"\nPlease specify "-addr" or "-all"',
    "n": 'ambiguous parameter: "-n"\nPlease specify "-name" or "-negotiator"',
    # Compat: spelled as in the reference (test_an_administrators_tool_says_what_the_reference_says)
    "co": 'ambigous parameter: "-co"\nPlease specify "-collector" or "-constraint"',
    "s": 'ambiguous argument "-s"\nPlease specify "-subsystem", "-startd" or "-schedd"',
}
# Compat: HTCondor's masters drain a machine before they do something else; ours do not, and say so
# (test_a_machine_is_not_drained_on_the_side).
DRAIN = Option("drain", 2)
ROWS = (
    Option("version", 1),
    Option("help", 1),
    Option("peaceful", 2),
    Option("pool", 1, 1),
    Option("preen", 0),
    Option("full", 2),
    Option("fast", 2),
    Option("force-graceful", 2),
    Option("f", 0),
    Option("debug", 1, qualified=True),
    Option("daemon", 2, 1),
    Option("exec", 2, 1),
    Option("graceful", 1),
    Option("addr", 2, 1),
    Option("all", 2),
    Option("a", 0),
    Option("name", 2, 1),
    Option("negotiator", 2),
    Option("n", 0),
    Option("master", 1),
    Option("constraint", 3, 1),
    Option("collector", 3),
    Option("co", 0),
    Option("kbdd", 1),
    Option("schedd", 2),
    Option("startd", 2),
    Option("subsystem", 2, 1),
    Option("s", 0),
)
# Which tools know which of the options that not all know.
KNOWN_BY = {
    "peaceful": ("condor_off", "condor_restart"),
    "fast": ("condor_off", "condor_restart", "condor_vacate"),
    "force-graceful": ("condor_off",),
    "full": ("condor_reconfig",),
}


class BriefError(UsageError):
    """A command line that makes no sense, of which the complaint names -help alone."""


@dataclass
class Wish:
    """What the command line asks for.

    `daemon` is the kind that is meant; `about` is how the output calls it, as it was typed.
    """

    daemon: str = ""
    about: str = ""
    speed: str = "graceful"
    forced: bool = False
    program: str = ""
    everywhere: bool = False
    constraint: str = ""
    names: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    pool: str = ""


@dataclass(frozen=True)
class Rules:
    """What of the options a tool has."""

    name: str
    takes_daemon: bool
    can_drain: bool


def read_wish(rules: Rules, words: Sequence[str]) -> Wish:
    """Return what the options ask for; raise UsageError, BriefError or Asked."""
    wish = Wish()
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if not word.startswith("-"):
            _take_target(wish, word)
            continue
        if word.startswith("-annex"):
            _take_annex(word, rest, wish)
            continue
        option, _ = choose_option(word, (DRAIN, *ROWS) if rules.can_drain else ROWS)
        _judge(rules, option.name, wish)
        value = _take_value(option, rest) if option.values else ""
        _take(wish, option.name, value)
    if wish.constraint and (wish.names or wish.addresses):
        raise BriefError(CONFLICT)
    if rules.name == "condor_set_shutdown" and not wish.program:
        raise BriefError(f'"-exec" required for {rules.name}')
    return wish


def _take_annex(word: str, rest: list[str], wish: Wish) -> None:
    """Take an annex for the constraint that names its hosts.

    Kettle makes no annexes, but a pool may have some of HTCondor's.
    """
    test = "IsAnnex"
    if word == "-annex-name":
        if not rest:
            raise BriefError("-annex-name requires an annex name")
        test = f"AnnexName =?= {render_value(rest.pop())}"
    elif word != "-annex-slots" and rest and not rest[-1].startswith("-"):
        test = f"AnnexName =?= {render_value(rest.pop())}"
    wish.constraint = f"({wish.constraint}) && ({test})" if wish.constraint else test


CONFLICT = """\
use of -constraint or -annex conflicts with other arguments containing names or addresses.
You can change the constraint to select daemons by name by adding
  (NAME == "daemon-name" || MACHINE == "daemon-name")
to your constraint."""


def _judge(rules: Rules, name: str, wish: Wish) -> None:
    """Raise BriefError for an option that is ambiguous, or that this tool does not have."""
    if name in AMBIGUOUS:
        raise BriefError(AMBIGUOUS[name])
    known_by = KNOWN_BY.get(name)
    if known_by is not None and rules.name not in known_by:
        raise BriefError(f'"-{name}" is not valid with {rules.name}')
    if name == "drain":
        raise BriefError('"-drain" is not served by this condor_master: use condor_drain first')
    if name == "exec" and rules.name != "condor_set_shutdown":
        raise BriefError(f'"-exec" is not valid with {rules.name} without -drain')
    if name == "constraint" and wish.constraint:
        raise BriefError("only one -constraint argument is allowed")
    if name in DAEMONS or name in {"daemon", "subsystem", "preen"}:
        if not rules.takes_daemon:
            raise UsageError(f"Can't specify a daemon flag with {rules.name}.")
        if wish.daemon:
            raise UsageError("can only specify one daemon flag.")


def _take_value(option: Option, rest: list[str]) -> str:
    """Return the option's word; addresses and names never begin with a dash."""
    if not rest or (option.name in {"addr", "name"} and rest[-1].startswith("-")):
        raise BriefError(f"-{option.name} requires another argument")
    return rest.pop()


def _take(wish: Wish, name: str, value: str) -> None:
    match name:
        case "name" | "addr":
            _take_target(wish, value)
        case "pool" | "constraint":
            setattr(wish, name, value)
        case "all":
            wish.everywhere = True
        case "exec":
            wish.program = value
        case "fast" | "peaceful" | "graceful":
            wish.speed = name
            wish.forced = wish.forced and name == "graceful"
        case "force-graceful":
            wish.speed, wish.forced = "graceful", True
        case "daemon" | "subsystem":
            wish.daemon, wish.about = value.lower(), value
        case _ if name in DAEMONS or name == "preen":
            wish.daemon = wish.about = name


def _take_target(wish: Wish, word: str) -> None:
    (wish.addresses if word.startswith("<") else wish.names).append(word)
