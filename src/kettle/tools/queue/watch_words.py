"""The command line of `condor_watch_q`: its options, and what is said to habits from `condor_q`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from kettle.named_tuples import NamedTuple
from kettle.tools.programs import Streams
from kettle.tools.queue.watch_jobs import EXITED, State

INTERVAL_SECONDS = 0.5
_DECAY_UNITS = {
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": 24 * 3600,
    "w": 7 * 24 * 3600,
    "M": 31 * 24 * 3600,
    "y": 365 * 24 * 3600,
}
_GROUPERS: dict[str, Callable[[Iterable[bool]], bool]] = {
    "all": all,
    "any": any,
    "none": lambda tests: not any(tests),
}
_STATUSES: dict[str, frozenset[State]] = {
    "active": frozenset(State) - EXITED,
    "done": frozenset({State.DONE}),
    "idle": frozenset({State.IDLE}),
    "held": frozenset({State.HELD}),
}
# Parts that are shown or not, and what else is one way or the other, with what is said of them.
_SWITCHES = {
    "display-exited": "rows whose jobs have all left the queue",
    "decay-start-at-read": "count -exited-row-decay from when an event is read",
    "table": "the table",
    "progress": "the bar of all jobs",
    "row-progress": "a bar for each row",
    "summary": "the line of totals",
    "updated-at": "the line with the time",
    "abbreviate": "logs by the beginnings of their folders' names",
    "color": "colours, on a terminal",
    "refresh": "redraw in place, on a terminal",
    "exit-on-key-press": "end when a key is pressed, on a terminal",
}


class ExitWhen(NamedTuple):
    """A condition to stop: all, any or none of the jobs are in a state; with which code."""

    grouper: str
    status: str
    code: int

    def holds(self, states: Iterable[State]) -> bool:
        """Tell whether it is time to stop."""
        wanted = _STATUSES[self.status]
        return _GROUPERS[self.grouper](state in wanted for state in states)


def parse_exit(text: str) -> ExitWhen:
    """Read `GROUPER,JOB_STATUS[,EXIT_STATUS]`; ValueError says why it is not that."""
    words = text.split(",")
    if len(words) not in {2, 3}:
        raise ValueError("invalid -exit specification")
    grouper, status, code = (*words, "0")[:3]
    for name, word, known in (
        ("GROUPER", grouper, tuple(_GROUPERS)),
        ("JOB_STATUS", status, tuple(_STATUSES)),
    ):
        if word not in known:
            raise ValueError(f'invalid {name} "{word}", must be one of {{{", ".join(known)}}}')
    try:
        return ExitWhen(grouper, status, int(code))
    except ValueError:
        raise ValueError(f'exit_status must be an integer, but was "{code}"') from None


def parse_decay(text: str) -> float:
    """Read a number with a unit, weeks without; ValueError says why it is none."""
    unit = text[-1:] if not text[-1:].isdigit() else "w"
    number = text[:-1] if not text[-1:].isdigit() else text
    if unit not in _DECAY_UNITS:
        raise ValueError(f"Unknown unit specifier provided for -exited-row-decay: {unit}")
    try:
        return int(number) * _DECAY_UNITS[unit]
    except ValueError:
        raise ValueError("Invalid time value provided for -exited-row-decay") from None


def _keeping(read: Callable[[Any, str, str], object]) -> type[argparse.Action]:
    """Return an action that keeps what `read` makes of three things, or complains in its words.

    They are what was kept before, the option as typed and the word behind it.
    """

    class Keeping(argparse.Action):
        def __call__(
            self,
            parser: argparse.ArgumentParser,
            namespace: argparse.Namespace,
            values: object,
            option_string: str | None = None,
        ) -> None:
            before = getattr(namespace, self.dest)
            try:
                kept = read(before, option_string or "", str(values))
            except ValueError as error:
                parser.error(str(error))
            setattr(namespace, self.dest, kept)

    return Keeping


_Exit = _keeping(lambda before, _, word: [*before, parse_exit(word)])
_Decay = _keeping(lambda _before, _option, word: parse_decay(word))
_Switch = _keeping(lambda _before, option, _word: not option.startswith("-no-"))


class _Parser(argparse.ArgumentParser):
    """A parser that speaks by the streams it is given."""

    streams: Streams | None = None

    def _print_message(self, message: str, file: object = None) -> None:
        if message and self.streams is not None:
            is_error = file is None or file is sys.stderr
            (self.streams.stderr if is_error else self.streams.stdout).write(message)


def build_parser(*, on_terminal: bool) -> _Parser:
    """Return the options; those of a terminal are on where there is one."""
    parser = _Parser(
        "condor_watch_q",
        description="Follow jobs by their event logs: those of the queue, or in the files named.",
        add_help=False,
    )
    _add_choices(parser.add_argument)
    _add_looks(parser, on_terminal=on_terminal)
    return parser


def _add_choices(add: Callable[..., argparse.Action]) -> None:
    """Add what says which jobs are followed, and until when."""
    add("-help", action="help", default=argparse.SUPPRESS, help="say this and end")
    add("-debug", action="store_true", help="say more about what is asked of daemons")
    add("-users", nargs="+", metavar="USER", help="jobs of these users")
    add("-clusters", nargs="+", metavar="CLUSTER_ID", help="these clusters")
    add(
        "-larger-than",
        type=int,
        dest="least",
        metavar="CLUSTER_ID",
        help="of one's own jobs, this cluster and later ones",
    )
    add("-files", nargs="+", metavar="FILE", help="the jobs in these event logs")
    add("-batches", nargs="+", metavar="BATCH_NAME", help="batches of these names")
    add("-collector", default="", help="the pool")
    add("-schedd", default="", help="the schedd")
    add("-interval", type=float, default=INTERVAL_SECONDS, help="seconds between looks (0.5)")
    add(
        "-exit",
        action=_Exit,
        default=[],
        metavar="GROUPER,JOB_STATUS[,EXIT_STATUS]",
        help=f"end when {', '.join(_GROUPERS)} of the jobs are {', '.join(_STATUSES)}; "
        "EXIT_STATUS is 0 if not given; may be given more than once",
    )


def _add_looks(parser: argparse.ArgumentParser, *, on_terminal: bool) -> None:
    """Add what says how the table looks."""
    add, switch = parser.add_argument, _switcher(parser, on_terminal=on_terminal)
    switch("exit-on-key-press")
    add(
        "-groupby",
        default="batch",
        choices=("batch", "log", "cluster"),
        help="what has a row",
    )
    switch("display-exited")
    add(
        "-exited-row-decay",
        action=_Decay,
        default=_DECAY_UNITS["w"],
        metavar="TIME[unit]",
        help="with -no-display-exited, how long such rows still stand: a week; units are "
        "s, m, h, d, w (if none is given), M for months, y",
    )
    for name in ("decay-start-at-read", "table", "progress", "row-progress", "summary"):
        switch(name)
    add(
        "-summary-type",
        choices=("totals", "percentages"),
        default="totals",
        help="what the line of totals counts",
    )
    for name in ("updated-at", "abbreviate", "color", "refresh"):
        switch(name)


def _switcher(parser: argparse.ArgumentParser, *, on_terminal: bool) -> Callable[[str], None]:
    defaults = {
        "decay-start-at-read": False,
        **dict.fromkeys(("exit-on-key-press", "color", "refresh"), on_terminal),
    }

    def switch(name: str) -> None:
        default = defaults.get(name, True)
        parser.add_argument(
            f"-{name}",
            f"-no-{name}",
            action=_Switch,
            nargs=0,
            default=default,
            help=f"{_SWITCHES[name]} ({'default' if default else 'not by default'})",
        )

    return switch


def read_words(words: Sequence[str], streams: Streams) -> argparse.Namespace:
    """Return what the command line says; SystemExit if it is wrong or asks for help."""
    parser = build_parser(on_terminal=streams.stdout.isatty())
    parser.streams = streams
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        _refuse(parser, unknown, streams)
    return arguments


def _refuse(parser: argparse.ArgumentParser, unknown: Sequence[str], streams: Streams) -> NoReturn:
    for n, word in enumerate(unknown):
        advice = advise(word, unknown[n + 1 :])
        if advice:
            streams.stdout.write(parser.format_usage())
            streams.stderr.write(f"condor_watch_q: error: argument {word}: {advice}\n")
            raise SystemExit(1)
    parser.error(f"unrecognized arguments: {' '.join(unknown)}")


def advise(word: str, following: Sequence[str]) -> str:
    """Return what to write instead of a word that condor_q would take; empty if of none."""
    behind = []
    for one in following:
        if one.startswith("-"):
            break
        behind.append(one)
    if word.isdigit():
        clusters = " ".join([word, *filter(str.isdigit, behind)])
        return f"to track specific cluster IDs, try -clusters {clusters}"
    if "-totals" in word:
        return "to only print totals, try -no-table"
    if "-userlog" in word:
        return f"to track jobs from specific event logs, try -files {' '.join(behind)}"
    if "-nobatch" in word:
        groups = "{{batch,log,cluster}}"
        return f"to group by something other than batch name, try -groupby {groups}"
    if not word.startswith("-"):
        users = " ".join([word, *(one for one in behind if not one.isdigit())])
        return f"to track jobs from specific users, try -users {users}"
    return ""
