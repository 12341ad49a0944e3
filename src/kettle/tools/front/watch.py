"""`kettle watch`: the pool live on the screen, with keys that act on the chosen job.

The screen is drawn anew every second and after each key. Keys are decided by `decide_key`, a
function; performing them goes through the ordinary tools.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from kettle.errors import UsageError
from kettle.tools.front import place
from kettle.tools.front.batch import call_tool
from kettle.tools.front.snapshot import Snapshot, take_snapshot
from kettle.tools.programs import Streams

REFRESH_SECONDS = 1.0
HELP = "↑↓ choose   h hold   r release   x remove   t tail   q quit"
ACTIONS = {"h": "condor_hold", "r": "condor_release", "x": "condor_rm", "t": "condor_tail"}


@dataclass(frozen=True)
class View:
    """What is on the screen besides the pool: the chosen job, its row, and the last thing said."""

    chosen: str | None = None
    row: int = 0
    said: str = ""
    ended: bool = False


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `kettle watch`."""
    parser = argparse.ArgumentParser(description=f"Show the pool live. Keys: {HELP}.")
    place.add_folder_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one line of JSON a second instead of a screen"
    )
    return parser


def settle(view: View, jobs: Sequence[str]) -> View:
    """Return the view of these jobs, as they stand on the screen.

    The chosen job stays the chosen one wherever it has moved to; once it is gone, it is the one
    that stands in its row.
    """
    if not jobs:
        return replace(view, chosen=None, row=0)
    row = jobs.index(view.chosen) if view.chosen in jobs else min(view.row, len(jobs) - 1)
    return replace(view, chosen=jobs[row], row=row)


def decide_key(key: str, view: View, jobs: Sequence[str]) -> tuple[View, str]:
    """Return the view after a key, and the tool to run on the chosen job, empty for none.

    `jobs` are those on the screen: no other can be chosen.
    """
    if key in {"q", "\x03", "\x1b"}:
        return replace(view, ended=True), ""
    if key in {"\x1b[A", "k"}:
        return _move(view, jobs, -1), ""
    if key in {"\x1b[B", "j"}:
        return _move(view, jobs, 1), ""
    if key in ACTIONS and view.chosen in jobs:
        return view, ACTIONS[key]
    return view, ""


def _move(view: View, jobs: Sequence[str], step: int) -> View:
    row = max(0, min(len(jobs) - 1, view.row + step))
    return replace(view, chosen=jobs[row] if jobs else None, row=row, said="")


def run(arguments: argparse.Namespace, environment: Mapping[str, str], streams: Streams) -> int:
    """Watch until `q` or Ctrl-C."""
    inside = place.pool_environment(arguments.dir, environment)
    reach = place.reach_pool(arguments.dir, environment)
    if arguments.json:
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                line = json.dumps(asdict(take_snapshot(reach, asks_each=True)))
                streams.stdout.write(f"{line}\n")
                streams.stdout.flush()
                select.select([], [], [], REFRESH_SECONDS)
        return 0
    if not streams.stdout.isatty() or not streams.stdin.isatty():
        raise UsageError("kettle watch needs a terminal", hint="kettle status, or --json")
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    from kettle.tools.front.screen import draw, order_jobs

    console = Console(file=streams.stdout, no_color=bool(environment.get("NO_COLOR")))
    view = View()
    with Live(console=console, screen=True, auto_refresh=False) as live, keys() as read_key:
        while not view.ended:
            snapshot: Snapshot = take_snapshot(reach, asks_each=True)
            most = max(5, console.height - 22)
            jobs = [job.id for job in order_jobs(snapshot.jobs)[:most]]
            view = settle(view, jobs)
            screen = draw(snapshot, most_jobs=most, chosen=view.chosen)
            live.update(
                Group(screen, Text(view.said or HELP, style="dim")),
                refresh=True,
            )
            view, tool = decide_key(read_key(REFRESH_SECONDS), view, jobs)
            if tool and view.chosen:
                _, out, err = call_tool(tool, [view.chosen], inside)
                view = replace(view, said=(out + err).strip()[-1000:])
    return 0


@contextlib.contextmanager
def keys() -> Iterator[Callable[[float], str]]:
    """Read single keys from the terminal; it is as before afterwards."""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd)
    try:
        yield lambda seconds: read_key(fd, seconds)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def read_key(fd: int, seconds: float) -> str:
    """Return the next key, empty if none was pressed in time."""
    if not select.select([fd], [], [], seconds)[0]:
        return ""
    return os.read(fd, 8).decode("utf-8", "replace")
