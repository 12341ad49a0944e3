"""Draws a job's life: a row for each step, a bar as long as it took, a colour for each daemon."""

from __future__ import annotations

import time

from rich.table import Table
from rich.text import Text

from kettle.tools.tracing.timeline import Moment, Timeline

COLOURS = {
    "schedd": "cyan",
    "negotiator": "magenta",
    "startd": "yellow",
    "shadow": "blue",
    "starter": "green",
    "event log": "white",
}
# From which width on there is room for bars, and for what steps mean.
BARS_FROM = 64
MEANINGS_FROM = 104
_MOST_BAR = 40


def draw_head(timeline: Timeline, width: int) -> Text:
    """Return the line or two above the steps."""
    head = Text(f"Job {timeline.job}", style="bold")
    head.append(
        f"  {timeline.status}, {_render_whole(timeline)} {'so far' if timeline.until else 'in all'}"
    )
    separator = "  " if width >= BARS_FROM else "\n"
    head.append(f"{separator}{timeline.global_id}", style="dim")
    return head


def draw_steps(timeline: Timeline, width: int) -> Table:
    """Return the table of steps, as wide as there is room."""
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    # The least widths keep a narrow screen from taking a column's end for what is at its side.
    table.add_column("at", justify="right", no_wrap=True, min_width=9)
    table.add_column("took", justify="right", no_wrap=True, min_width=7)
    table.add_column("daemon", no_wrap=True, min_width=10)
    table.add_column("step", no_wrap=True, min_width=12)
    bars, meanings = width >= BARS_FROM, width >= MEANINGS_FROM
    room = min(_MOST_BAR, width - 46 - (38 if meanings else 0))
    if bars:
        table.add_column("", no_wrap=True, width=room)
    if meanings:
        table.add_column("what happens", overflow="ellipsis", no_wrap=True)
    moments = timeline.moments
    began = moments[0].time if moments else 0.0
    run = 0
    for moment in moments:
        colour = COLOURS.get(moment.daemon, "")
        # The second and later runs are told apart.
        again = f" ({moment.run})" if moment.run > 1 and moment.run != run else ""
        run = moment.run
        row = [
            Text(_render_at(moment, began), style="dim"),
            Text(_render_took(moment) if moment is not moments[-1] or timeline.until else ""),
            Text(moment.daemon, style=colour),
            Text(f"{moment.word}{again}", style=colour),
        ]
        if bars:
            row.append(Text(render_bar(moment, began, timeline.seconds, room), style=colour))
        if meanings:
            row.append(Text(f"{moment.meaning}{_in_brackets(moment.detail)}"))
        table.add_row(*row)
    return table


def render_bar(moment: Moment, began: float, whole: float, width: int) -> str:
    """Return a step's bar at its place in the whole; a step too short for one is a point."""
    if whole <= 0 or width <= 0:
        return ""
    left = min(width - 1, int((moment.time - began) / whole * width))
    right = min(width, round((moment.time + moment.took - began) / whole * width))
    return " " * left + ("█" * (right - left) if right > left and not moment.rough else "·")


def render_span(seconds: float) -> str:
    """Return a span of time in the unit that suits it."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours < 48 else f"{hours // 24}d{hours % 24:02}h"


def _render_at(moment: Moment, began: float) -> str:
    """Return when a step was; what is known to the second is told in whole ones."""
    if moment.rough:
        return f"~{max(0, int(moment.time) - int(began))}"
    return f"{moment.time - began:.3f}"


def _render_took(moment: Moment) -> str:
    return render_seconds(moment.took) if moment.rough else render_span(moment.took)


def _render_whole(timeline: Timeline) -> str:
    rough = any(moment.rough for moment in timeline.moments)
    whole = timeline.seconds == int(timeline.seconds)
    return (render_seconds if rough and whole else render_span)(timeline.seconds)


def render_seconds(seconds: float) -> str:
    """Return a span that is known to the second."""
    return f"{int(seconds)} s" if seconds < 60 else render_span(seconds)


def render_moment(moment: float) -> str:
    """Return the moment at which a timeline begins, as a person writes it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def _in_brackets(detail: str) -> str:
    return f" ({detail})" if detail else ""
