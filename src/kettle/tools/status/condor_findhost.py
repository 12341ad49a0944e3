"""`condor_findhost`: names of machines that are free now and satisfy a condition."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kettle.classad import ClassAd, parse_expression
from kettle.classad.unparse import render_value
from kettle.errors import ClassAdSyntaxError, UnknownHostError, Unreached, UsageError
from kettle.tools.options import (
    BriefError,
    MissingValueError,
    Option,
    UnknownOptionError,
    read_options,
    run_tool,
)
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach

USAGE = """\
Usage: condor_findhost [-m] [-n NUMBER] [-c EXPR] [-r EXPR] [-p HOST] [NAME...]
  NAME...   of these machines or slots
  -m        whole machines, not slots
  -n N      that many (1)
  -c EXPR   for which this is true
  -r EXPR   the greatest of this first
  -p HOST   in this pool
  -h        this screen
"""

OPTIONS = (
    Option("machine", 1),
    Option("number", 1, 1),
    Option("constraint", 1, 1),
    Option("rank", 1, 1),
    Option("pool", 1, 1),
    Option("help", 1),
    Option("version", 1),
)

NO_ADS = "\nERROR:  failed to fetch startd ads ... aborting"
NO_NUMBER = "condor_findhost: -n requires another argument which is an integer greater than 0"
# Slots in these states start a job without sending another away.
_FREE = 'State == "Unclaimed"'
_NAMED_BY = ("Name", "Machine")


@dataclass(slots=True)
class Wish:
    """What the command line asks for."""

    machines: bool = False
    number: int = 1
    constraint: str = ""
    rank: str = ""
    pool: str = ""
    # Of these machines or slots; empty: of all.
    names: list[str] = field(default_factory=list)


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_findhost`: 0 if as many were found as asked for, else one more than found."""
    return run_tool(
        argv,
        environment,
        streams,
        usage=USAGE,
        read_wish=read_wish,
        act=show,
        complain=lambda error: complain(error, streams),
        prefix="ERROR: ",
    )


def complain(error: UsageError, streams: Streams) -> str:
    """Return what is said on stderr; the usage goes to stdout, and is all about a wrong option."""
    if isinstance(error, MissingValueError):
        return f"condor_findhost: {error.word} requires another argument\n"
    streams.stdout.write(f"\n{USAGE}\n")
    return "" if isinstance(error, UnknownOptionError) else f"{error}\n"


def show(wish: Wish, environment: Mapping[str, str], streams: Streams) -> int:
    """Print the machines found, and on stderr how many are missing."""
    try:
        ads = fetch(wish, environment)
    except (Unreached, UnknownHostError):
        streams.stderr.write(f"{NO_ADS}\n")
        return 1
    found = choose(wish, ads)
    for name in found:
        streams.stdout.write(f"{name}\n")
    missing = wish.number - len(found)
    if missing > 0:
        streams.stderr.write(f"\nERROR: {missing} machines not available\n")
        return len(found) + 1
    return 0


def read_wish(words: Sequence[str]) -> Wish:
    """Return what the command line asks for; raise UsageError."""
    wish = Wish()
    for option in read_options([_short(word) for word in words], OPTIONS):
        if option.name == "machine":
            wish.machines = True
        elif option.name == "number":
            # As in the reference the digits at the beginning count.
            number = re.match(r"\s*\+?(\d{1,9})", option.value, re.ASCII)
            if number is None or int(number[1]) < 1:
                raise BriefError(NO_NUMBER)
            wish.number = int(number[1])
        elif option.name in ("constraint", "rank"):
            try:
                parse_expression(option.value)
            except ClassAdSyntaxError as error:
                # Compat: of a wrong rank the reference says nothing and takes any machine
                # (test_silent_pool).
                raise BriefError(NO_ADS) from error
            setattr(wish, option.name, option.value)
        elif option.name == "pool":
            wish.pool = option.value
        else:
            wish.names.append(option.value)
    return wish


def _short(word: str) -> str:
    """Return an option by its first letter, which alone counts; -version is our own."""
    return word[:2] if word[:1] == "-" and word != "-version" else word


def fetch(wish: Wish, environment: Mapping[str, str]) -> list[ClassAd]:
    """Return the slots that are free and satisfy the condition.

    Compat: the reference also asks whether a slot's Requirements are true of a job that requests
    nothing, which is so of no slot as its startds make them today: it finds none at all
    (test_the_best_hosts_come_first_and_machines_count_once).
    """
    from kettle.client.pool import make_query
    from kettle.wire.commands import Command

    constraints = [_FREE, *([wish.constraint] if wish.constraint else [])]
    if wish.names:
        tests = (f"{one} == {render_value(name)}" for name in wish.names for one in _NAMED_BY)
        constraints.append(" || ".join(tests))
    query = make_query("Machine", constraints=constraints)
    return Reach(environment, pool=wish.pool).pool.query(Command.QUERY_STARTD_ADS, query)


def choose(wish: Wish, ads: list[ClassAd]) -> list[str]:
    """Return the best names, at most as many as asked for."""

    def rank(ad: ClassAd) -> float:
        if not wish.rank:
            return 0.0
        value = ad.evaluate_expression(parse_expression(wish.rank))
        return float(value) if isinstance(value, (bool, int, float)) else 0.0

    ordered = sorted(ads, key=lambda ad: (-rank(ad), ad.string("Name") or ""))
    names = [ad.string("Machine" if wish.machines else "Name") or "" for ad in ordered]
    return list(dict.fromkeys(name for name in names if name))[: wish.number]
