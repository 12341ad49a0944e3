"""`condor_watch_q`: follow jobs by their event logs, without asking the schedd again and again.

The schedd is asked once which logs the user's jobs write (`watch_search.py`); from then on the
logs alone tell (`watch_jobs.py`). What is shown of it is in `watch_table.py`; here is what goes
round: look, draw, and stop when it is time.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kettle.errors import UsageError
from kettle.tools.configuration.condor_version import version_text
from kettle.tools.options import with_debugging
from kettle.tools.programs import Streams
from kettle.tools.queue.watch_jobs import Found, Tracker, group_clusters
from kettle.tools.queue.watch_search import Ask, Wanted, asker, count_nodes, find_logs
from kettle.tools.queue.watch_table import View, render
from kettle.tools.queue.watch_words import ExitWhen, read_words

if TYPE_CHECKING:
    from types import FrameType

ALTERNATE_SCREEN, USUAL_SCREEN = "\x1b[?1049h\x1b[H", "\x1b[?1049l"
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
# How often a DAGMan that does not know yet how many nodes it has is asked for.
NODES_SECONDS = 60.0
# Limit: looks closer than this would be all that is done.
LEAST_PAUSE, LONGEST_PAUSE = 0.05, 3600.0
_USUAL_SIZE = (80, 24)


@dataclass
class Watch:
    """What goes round: what is followed, what is shown, and when to stop."""

    tracker: Tracker
    found: Found
    ask: Ask
    view: View
    conditions: Sequence[ExitWhen]
    pause: float
    key_ends: bool
    refresh: bool
    asked_at: float = 0.0
    shown: str | None = None

    def frame(self, environment: Mapping[str, str], streams: Streams, moment: str) -> str:
        """Return what is to be shown now."""
        groups = group_clusters(self.tracker.clusters, self.view.by, self.found)
        size = terminal_size(environment, streams)
        # As the reference's, a DAG's nodes count where its batch has the row.
        nodes = {
            name: self.found.nodes[name]
            for name in set(self.found.dag_batches.values())
            if name in self.found.nodes and self.view.by == "batch"
        }
        text = render(groups, nodes, self.view, size, time.time(), moment)
        if not self.refresh:
            text += "\n..."
        if not self.conditions:
            text += f"\nPress {'any key' if self.key_ends else '^C'} to exit"
        return text

    def draw(self, text: str, complaints: Sequence[str], streams: Streams) -> None:
        """Show it, over what was shown before where that is wanted."""
        if self.shown is not None and self.refresh:
            lines = [len(line) for line in _COLOR.sub("", self.shown).splitlines()]
            up = f"\x1b[{len(lines)}A\r"
            blank = "\n".join(" " * length for length in lines) + "\n"
            streams.stdout.write(f"{up}{blank}{up}")
        if complaints:
            streams.stdout.flush()
            streams.stderr.write("\n".join(complaints) + "\n")
        streams.stdout.write(f"{text}\n")
        streams.stdout.flush()
        self.shown = text

    def count_nodes_again(self) -> None:
        """Ask again how many nodes the DAGs have that did not know it, once in a while."""
        if self.found.dagmans <= self.found.counted:
            return
        if time.monotonic() - self.asked_at > NODES_SECONDS:
            self.asked_at = time.monotonic()
            count_nodes(self.found, self.ask())


def main(argv: list[str], environment: Mapping[str, str], streams: Streams) -> int:
    """Run `condor_watch_q`."""
    if argv[1:2] in (["-version"], ["--version"]):
        streams.stdout.write(version_text())
        return 0
    try:
        arguments = read_words(argv[1:], streams)
        wanted = read_wanted(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except UsageError as error:
        streams.stderr.write(f"ERROR: {error}\n")
        return 1
    if arguments.debug:
        streams.stderr.write("WARNING: Debug mode enabled...\n")
    ask = asker(wanted, with_debugging(argv, environment), streams.stderr)
    # As in the reference Ctrl-C is an end like another once the jobs are shown; before, the program
    # ends by it.
    found = find_logs(wanted, ask(), streams.stderr)
    tracker = Tracker(found, streams.stderr, decays_from_reading=arguments.decay_start_at_read)
    if not found.logs:
        streams.stderr.write("WARNING: No jobs found, exiting...\n")
        return 0
    watch = make_watch(arguments, tracker, found, ask, streams)
    try:
        with _terminal(watch, streams) as has_key:
            return follow(watch, environment, streams, has_key)
    except KeyboardInterrupt:
        return 0


def read_wanted(arguments: argparse.Namespace) -> Wanted:
    """Return the jobs that are wanted; UsageError if that is said wrongly."""
    clusters = arguments.clusters
    if clusters is not None and arguments.least is not None:
        raise UsageError("Use of both -clusters and -larger-than flag is prohibited.")
    for word in clusters or ():
        # Compat: the reference says what its own error was
        # (test_a_cluster_that_is_no_number_is_named).
        if not word.isdecimal():
            raise UsageError(f"-clusters {word} is not the number of a cluster")
    return Wanted(
        users=arguments.users or (),
        clusters=None if clusters is None else [int(word) for word in clusters],
        least=arguments.least,
        files=arguments.files,
        batches=arguments.batches or (),
        pool=arguments.collector,
        schedd=arguments.schedd,
    )


def make_watch(
    arguments: argparse.Namespace, tracker: Tracker, found: Found, ask: Ask, streams: Streams
) -> Watch:
    """Return what is to go round."""
    on_terminal = streams.stdout.isatty()
    view = View(
        by=arguments.groupby,
        table=arguments.table,
        progress=arguments.progress,
        row_progress=arguments.row_progress,
        summary=arguments.summary,
        percentages=arguments.summary_type == "percentages",
        updated_at=arguments.updated_at,
        abbreviate=arguments.abbreviate,
        color=arguments.color and on_terminal,
        exited=arguments.display_exited,
        exited_seconds=arguments.exited_row_decay,
    )
    pause = arguments.interval if math.isfinite(arguments.interval) else LONGEST_PAUSE
    return Watch(
        tracker,
        found,
        ask,
        view,
        arguments.exit,
        # Compat: a length below 0 ends the reference with a sentence of Python's
        # (test_looks_are_never_closer_than_the_least_pause).
        min(max(LEAST_PAUSE, pause), LONGEST_PAUSE),
        arguments.exit_on_key_press,
        arguments.refresh and on_terminal,
        asked_at=time.monotonic(),
    )


def terminal_size(environment: Mapping[str, str], streams: Streams) -> tuple[int, int]:
    """Return the columns and lines to fill: of the environment, the terminal, or the usual ones."""
    real = _USUAL_SIZE
    with suppress(OSError, ValueError, AttributeError):
        found = os.get_terminal_size(streams.stdout.fileno())
        real = (found.columns or real[0], found.lines or real[1])
    named = [environment.get(name, "") for name in ("COLUMNS", "LINES")]
    columns, lines = (int(word) if word.isdecimal() else 0 for word in named)
    return columns or real[0], lines or real[1]


@contextmanager
def _terminal(watch: Watch, streams: Streams) -> Iterator[Callable[[], bool]]:
    """Furnish the terminal for drawing and for keys; yield what tells whether one was pressed."""
    with _screen(watch, streams), _keys(watch, streams) as has_key:
        yield has_key


@contextmanager
def _screen(watch: Watch, streams: Streams) -> Iterator[None]:
    """Draw beside what the terminal showed, which is there again afterwards."""
    if not watch.refresh:
        yield
        return
    streams.stdout.write(ALTERNATE_SCREEN)
    streams.stdout.flush()
    signals = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    before = {number: signal.signal(number, _interrupt) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _leave_screen(watch, streams)


def _leave_screen(watch: Watch, streams: Streams) -> None:
    if watch.refresh:
        watch.refresh = False
        streams.stdout.write(USUAL_SCREEN)
        streams.stdout.flush()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _keys(watch: Watch, streams: Streams) -> Iterator[Callable[[], bool]]:
    """Have the terminal hand over each key at once, if one ends the program.

    Compat: without a terminal as its input the reference ends with an error
    (test_nothing_needs_a_terminal).
    """
    if not watch.key_ends or not streams.stdin.isatty():
        yield lambda: False
        return
    import select
    import termios

    keyboard = streams.stdin.fileno()
    before, wanted = termios.tcgetattr(keyboard), termios.tcgetattr(keyboard)
    wanted[3] &= ~termios.ICANON & ~termios.ECHO
    termios.tcsetattr(keyboard, termios.TCSAFLUSH, wanted)
    try:
        yield lambda: bool(select.select([keyboard], [], [], 0)[0])
    finally:
        termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)


def follow(
    watch: Watch, environment: Mapping[str, str], streams: Streams, has_key: Callable[[], bool]
) -> int:
    """Show the jobs again and again, until a condition holds; return its exit code.

    Compat: where there is no log to follow the reference goes on for ever
    (test_a_log_that_is_not_there_is_named_and_not_waited_for).
    """
    has_logs = watch.tracker.has_logs
    while has_logs or watch.conditions:
        complaints = watch.tracker.update(time.time())
        moment = time.strftime("%Y-%m-%d %H:%M:%S")
        watch.count_nodes_again()
        text = watch.frame(environment, streams, moment)
        watch.draw(text, [f"{moment} | {line}" for line in complaints], streams)
        for condition in watch.conditions:
            if condition.holds(watch.tracker.states()):
                _leave_screen(watch, streams)
                streams.stdout.write(
                    f"Exiting with code {condition.code} because of condition "
                    f'"{condition.grouper} {condition.status}" at {moment}\n'
                )
                return condition.code
        if not has_logs:
            break
        if has_key():
            return 0
        time.sleep(watch.pause)
    streams.stderr.write("WARNING: No jobs found, exiting...\n")
    return 0
