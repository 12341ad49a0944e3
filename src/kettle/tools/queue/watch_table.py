"""What `condor_watch_q` shows: the table, the bars, the line of totals, and what a terminal takes.

All of it is a function of the jobs' states, the view and the size of the terminal. Recorded of
the reference in tests/data/cli/condor_watch_q.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kettle.named_tuples import NamedTuple
from kettle.tools.queue.watch_jobs import EXITED, Cluster, State

RED, GREEN, YELLOW, CYAN = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"
BRIGHT_YELLOW, BRIGHT_WHITE, RESET = "\x1b[93m", "\x1b[97m", "\x1b[0m"
# The parts of a bar in their order, with their colours.
_BAR = (
    (State.IDLE, "-", BRIGHT_YELLOW),
    (State.INPUT, ">", CYAN),
    (State.RUNNING, "=", CYAN),
    (State.OUTPUT, ">", CYAN),
    (State.DONE, "#", GREEN),
    (State.HELD, "!", RED),
    (State.SUSPENDED, "!", RED),
    (State.REMOVED, "!", RED),
)
_WIDEST_BAR = 79
_LEAST_BAR = 10
_TITLE = "Total Progress: "
# Columns that stand there though nothing is in them.
_ALWAYS = frozenset({State.IDLE, State.RUNNING, State.DONE})
_SUMMARY = (
    ("completed", (State.DONE,)),
    ("removed", (State.REMOVED,)),
    ("idle", (State.IDLE,)),
    ("running", (State.INPUT, State.RUNNING, State.OUTPUT)),
    ("held", (State.HELD,)),
    ("suspended", (State.SUSPENDED,)),
)
TOO_LOW = "Insufficient terminal height to display full output!"


class View(NamedTuple):
    """Which parts are shown, and how."""

    by: str = "batch"
    table: bool = True
    progress: bool = True
    row_progress: bool = True
    summary: bool = True
    percentages: bool = False
    updated_at: bool = True
    abbreviate: bool = True
    color: bool = False
    # Rows whose jobs have all left the queue: all of them, or those that did lately.
    exited: bool = True
    exited_seconds: float = 7 * 24 * 3600


@dataclass
class Row:
    """A row of the table."""

    name: str
    counts: Counter[State]
    total: int
    jobs: str
    order: tuple[bool, int]

    def color(self) -> str:
        """Return the colour of the row: the worst that is in it."""
        if self.counts[State.HELD]:
            return RED
        if self.counts[State.DONE] == self.total:
            return GREEN
        if self.counts[State.RUNNING]:
            return CYAN
        return YELLOW if self.counts[State.IDLE] else BRIGHT_WHITE


def make_row(name: str, clusters: Sequence[Cluster], nodes: int) -> Row:
    """Return the row of a group; `nodes` are how many a DAG will have, at least."""
    counts = Counter(state for cluster in clusters for state in cluster.jobs.values())
    total = max(nodes, sum(cluster.total for cluster in clusters))
    active = sorted(
        (cluster.number, proc)
        for cluster in clusters
        for proc, state in cluster.jobs.items()
        if state not in EXITED
    )
    words = [f"{cluster}.{proc}" for cluster, proc in active]
    jobs = f"{words[0]} ... {words[-1]}" if len(words) > 2 else ", ".join(words)
    done = all(cluster.is_done() for cluster in clusters)
    first = min(cluster.number for cluster in clusters)
    return Row(name, counts, total, jobs, (done, first))


def render(
    groups: Mapping[str, Sequence[Cluster]],
    nodes: Mapping[str, int],
    view: View,
    size: tuple[int, int],
    now: float,
    moment: str,
) -> str:
    """Return what is shown on a terminal of so many columns and lines."""
    columns, height = size
    rows = {name: make_row(name, group, nodes.get(name, -1)) for name, group in groups.items()}
    counts = sum((row.counts for row in rows.values()), Counter[State]())
    total = sum(row.total for row in rows.values())
    shown = [
        row
        for name, row in rows.items()
        if view.exited or any(one.is_recent(view.exited_seconds, now) for one in groups[name])
    ]
    if view.by == "log":
        for row in shown:
            row.name = shorten_path(row.name, abbreviate=view.abbreviate)
    lines: list[str] = []
    if view.table:
        lines += [*render_table(sorted(shown, key=lambda row: row.order), view, columns), ""]
    if view.progress:
        bar = render_bar(counts, total, columns - len(_TITLE), color=view.color)
        lines += [_TITLE + bar, ""]
    if view.summary:
        lines += [render_summary(counts, total, columns, percentages=view.percentages), ""]
    if view.updated_at:
        lines += [f"Updated at {moment}", ""]
    if len(lines) > height:
        return "\n".join([*lines[: height - 2][:-1], TOO_LOW])
    return "\n".join(lines[:-1])


def render_table(rows: Sequence[Row], view: View, columns: int) -> list[str]:
    """Return the lines of the table, with a bar behind each row where there is room."""
    states = [state for state in State if state in _ALWAYS or any(r.counts[state] for r in rows)]
    heads = [view.by.upper(), *(state.value for state in states), "TOTAL"]
    cells = [
        [row.name, *(str(row.counts[state] or "-") for state in states), str(row.total), row.jobs]
        for row in rows
    ]
    if rows:
        heads.append("JOB_IDS")
    lefts = {0, len(states) + 2}
    head, *lines = _align([heads, *([f"{cell} " for cell in line] for line in cells)], lefts)
    finished = [_finish(row, line, view, columns) for row, line in zip(rows, lines, strict=True)]
    return [head.rstrip(), *finished]


def _align(lines: Sequence[Sequence[str]], lefts: set[int]) -> list[str]:
    """Return lines of cells as columns; those of `lefts` begin at the left."""
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if n in lefts else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


def _finish(row: Row, text: str, view: View, columns: int) -> str:
    """Return a row's line in its colour, with a bar behind it where there is room."""
    room = columns - len(text)
    has_bar = view.row_progress and room > _LEAST_BAR
    if not has_bar:
        # Compat: the reference counts colours as letters, and cuts off what ends them
        # (test_a_narrow_terminal_cuts_letters_and_not_colours).
        text = text[:columns]
    bar = render_bar(row.counts, row.total, room, color=view.color) if has_bar else ""
    return (f"{row.color()}{text}{RESET}" if view.color else text) + bar


def render_bar(counts: Mapping[State, int], total: int, width: int, *, color: bool) -> str:
    """Return a bar in brackets; the longest part takes what rounding leaves."""
    inner = max(0, min(width, _WIDEST_BAR) - 2)
    parts = [int(inner * (counts.get(state, 0) / total)) if total else 0 for state, *_ in _BAR]
    longest = parts.index(max(parts))
    parts[longest] += inner - sum(parts)
    return "[{}]".format(
        "".join(
            f"{tint}{letter * length}{RESET}" if color else letter * length
            for (_, letter, tint), length in zip(_BAR, parts, strict=True)
        )
    )


def render_summary(
    counts: Mapping[State, int], total: int, columns: int, *, percentages: bool
) -> str:
    """Return the line of totals; its words are cut down until they fit the terminal."""
    numbers = {word: sum(counts.get(state, 0) for state in states) for word, states in _SUMMARY}
    start = f"Total: {total} jobs; "
    if percentages:
        shares = {w: round(100.0 * number / total) if total else 0 for w, number in numbers.items()}
        return start + ", ".join(f"{share}% {word}" for word, share in shares.items())
    line = ""
    for letters in range(10, 1, -1):
        line = start + ", ".join(f"{n} {word[:letters]}" for word, n in numbers.items() if n)
        if len(line) <= columns:
            break
    return line


def shorten_path(path: str, *, abbreviate: bool) -> str:
    """Return the shortest of a path from the root, from home and from here."""
    here = os.path.relpath(path)
    ways = [os.path.abspath(path), os.path.join("~", os.path.relpath(path, Path.home()))]
    if not here.startswith("../"):
        ways.append(os.path.join(".", here))
    shortest = min(ways, key=len)
    return _abbreviate(shortest) if abbreviate else shortest


def _abbreviate(path: str) -> str:
    """Cut each folder's name after the first letter that not all beside it begin with."""
    *folders, name = Path(path).parts if path.startswith("/") else path.split("/")
    shown = []
    so_far = ""
    for folder in folders:
        so_far = os.path.join(so_far, folder)
        if folder in {"~", "."}:
            shown.append(folder)
            continue
        parent = Path(so_far).expanduser().parent
        try:
            beside = os.listdir(parent)
        except OSError:
            # Compat: a folder that may not be listed ends the reference
            # (test_a_folder_that_cannot_be_listed_is_shown_whole).
            shown.append(folder)
            continue
        # Letters of names, not parts of paths.
        common = os.path.commonprefix(beside) if len(beside) > 1 else ""  # noqa: RUF071
        shown.append(folder[: len(common) + 1])
    return os.path.join(*shown, name)
