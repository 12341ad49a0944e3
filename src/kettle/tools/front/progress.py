"""A live progress bar over a batch of jobs; nothing but a last line where there is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kettle.records.event_base import Event
from kettle.tools.front.batch import Batch, Tally
from kettle.tools.programs import Streams


def follow(
    batch: Batch,
    title: str,
    environment: Mapping[str, str],
    streams: Streams,
    *,
    on_event: Callable[[Event], None] = lambda _event: None,
    quiet: bool = False,
) -> Tally:
    """Wait until every job of the batch has ended or is held; show the way there.

    The bar goes to stderr, so that output can be piped. Ctrl-C comes out as KeyboardInterrupt.
    """
    tally = Tally(batch.count)
    if quiet or not streams.stderr.isatty():
        for events in batch.events():
            take(tally, events, on_event)
            if tally.done:
                return tally
    return _follow_with_bar(batch, title, environment, streams, tally, on_event)


def take(tally: Tally, events: list[Event], on_event: Callable[[Event], None]) -> None:
    """Count events and pass them on."""
    for event in events:
        tally.take(event)
        on_event(event)


def _follow_with_bar(
    batch: Batch,
    title: str,
    environment: Mapping[str, str],
    streams: Streams,
    tally: Tally,
    on_event: Callable[[Event], None],
) -> Tally:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(
        file=streams.stderr, no_color=bool(environment.get("NO_COLOR")), highlight=False
    )
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        console=console,
    ) as bar:
        task = bar.add_task(title, total=tally.total, state="")
        for events in batch.events():
            take(tally, events, on_event)
            bar.update(task, completed=len(tally.ended), state=describe(tally))
            if tally.done:
                break
    return tally


def describe(tally: Tally) -> str:
    """Return how many jobs are where, in a few words."""
    parts = [
        (tally.idle, "idle"),
        (len(tally.running), "running"),
        (len(tally.held), "held"),
        (tally.failed, "failed"),
    ]
    return ", ".join(f"{number} {word}" for number, word in parts if number)
