"""`condor_fetchlog`: a daemon's log, from afar."""

from __future__ import annotations

from collections.abc import Mapping

from kettle.client.daemon import fetch_log
from kettle.client.pool import KINDS, MASTER, Kind
from kettle.errors import NotFoundError, UnknownHostError, Unreached, UsageError
from kettle.octets import to_text
from kettle.tools.failures import explain_in_line
from kettle.tools.options import Option
from kettle.tools.phrases import Phrases, SaidError
from kettle.tools.programs import Streams
from kettle.tools.reach import Reach
from kettle.tools.tokens.token_commands import Wish, run
from kettle.wire.commands import Command
from kettle.wire.messages.daemoncore import LogKind

# What the reference knows for a daemon to ask, and no pool of ours has.
_ELSEWHERE = tuple(Kind(name.upper(), "Generic", Command.QUERY_GENERIC_ADS, name) for name in (
    "kbdd", "view_collector",
))  # fmt: skip
_ASKED = {**KINDS, **{kind.title: kind for kind in _ELSEWHERE}}
OPTIONS = (Option("pool", values=1), *(Option(name, shortest=2) for name in _ASKED))
USAGE = """\
Usage: condor_fetchlog [OPTIONS] MACHINE SUBSYSTEM[.EXTENSION]

Print a log of a daemon on another machine: MASTER, SCHEDD, STARTD, STARTER.slot1, …; HISTORY is
the schedd's history, STARTD_HISTORY the startd's.

  -pool HOST     ask this pool's collector where the machine's daemons are
  -master, -schedd, -startd, -collector, -negotiator
                 which daemon to ask (not: whose log to get); the master, if nothing is said
"""
PHRASES = Phrases(unknown="", missing="", missing_of={"pool": "-pool requires an argument.\n\n"})
HISTORIES = {"HISTORY": LogKind.HISTORY, "STARTD_HISTORY": LogKind.HISTORY}


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_fetchlog`."""
    return run(
        argv,
        environment,
        streams,
        OPTIONS,
        USAGE,
        fetch,
        after_help=0,
        phrases=PHRASES,
        takes_words=True,
    )


def fetch(wish: Wish, reach: Reach, streams: Streams) -> int:
    """Copy the log to the output."""
    if len(wish.words) > 2:
        raise SaidError(f"Extra argument: {wish.words[2]}\n", with_usage=True)
    if len(wish.words) != 2:
        raise UsageError("a machine and a subsystem must be named")
    machine, name = wish.words
    if "-" in (machine, name):
        # A dash begins options, and this one names none.
        raise UsageError(f"- is no {'machine' if machine == '-' else 'log'}")
    asked = sorted(wish.flags & _ASKED.keys())
    kind = _ASKED[asked[0]] if asked else MASTER
    named = machine
    where = machine if machine.startswith("<") else ""
    if reach.named_pool:
        try:
            reach.pool.collectors()
        except UnknownHostError as error:
            raise SaidError(f"Error: {error}") from None
    try:
        address = reach.pool.locate(kind, named, address=where, to_command=True).address
    except (NotFoundError, Unreached) as error:
        why = explain_in_line(error)
        raise SaidError(f"Couldn't locate daemon on {machine}: {why}") from None
    log_kind = HISTORIES.get(name.upper(), LogKind.PLAIN)
    try:
        for piece in fetch_log(reach.connector, address, name, log_kind):
            streams.stdout.write(to_text(piece))
    except Unreached:
        whom = "(null)" if where else machine
        raise SaidError(f"couldn't connect to daemon {whom} at {address}") from None
    return 0
