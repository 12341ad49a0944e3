"""A live progress bar over a batch of jobs; nothing but a last line where there is no terminal."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from kettle.records.event_base import Event
from kettle.tools.front.batch import Batch, PoolGoneError, Presence, Tally
from kettle.tools.programs import Streams

# After so long without a beginning somebody who looks on wants to know why, whatever it is.
PATIENCE_SECONDS = 10.0
# What is sure is said sooner: it is looked for so often.
LOOK_SECONDS = 1.0


@dataclass
class Patience:
    """When somebody is told, once, why none of the jobs begins.

    `tell` is asked now and then whether there is something to say, at last with `late`.
    """

    since: float
    tell: Callable[[bool], str]
    looked: float = 0.0
    over: bool = False

    def find_words(self, tally: Tally, now: float) -> str:
        """Return what there is to say now; mostly nothing."""
        began = tally.started_at or tally.ended or tally.held
        if self.over or began or now - max(self.since, self.looked) < LOOK_SECONDS:
            return ""
        self.looked = now
        late = now - self.since >= PATIENCE_SECONDS
        said = self.tell(late)
        self.over = late or bool(said)
        return said


@dataclass
class Show:
    """Where the way of a batch is shown."""

    update: Callable[[Tally], None]
    say: Callable[[str], object]


def follow(
    batch: Batch,
    title: str,
    environment: Mapping[str, str],
    streams: Streams,
    *,
    on_event: Callable[[Event], None] = lambda _event: None,
    quiet: bool = False,
    tell_why: Callable[[bool], str] = lambda _late: "",
) -> Tally:
    """Wait until every job of the batch has ended or is held; show the way there.

    The bar goes to stderr, so that output can be piped; so does what `tell_why` says, once, while
    nothing begins: it is told whether PATIENCE_SECONDS are over. Ctrl-C comes out as
    KeyboardInterrupt, a pool that went away as PoolGoneError.
    """
    began = time.monotonic()
    tally, patience, presence = Tally(batch.count), Patience(began, tell_why), Presence(began)
    plain = Show(lambda _tally: None, lambda text: streams.stderr.write(f"{text}\n"))
    silent = quiet or not streams.stderr.isatty()
    bar = contextlib.nullcontext(plain) if silent else _bar(title, tally, environment, streams)
    with bar as show:
        for events in batch.events():
            for event in events:
                tally.take(event)
                on_event(event)
            show.update(tally)
            if tally.done:
                break
            now = time.monotonic()
            if said := patience.find_words(tally, now):
                show.say(said)
            if presence.is_gone(batch.answers, now):
                raise PoolGoneError("the pool does not answer any more", hint=describe(tally))
    return tally


@contextlib.contextmanager
def _bar(
    title: str, tally: Tally, environment: Mapping[str, str], streams: Streams
) -> Iterator[Show]:
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

        def update(tally: Tally) -> None:
            bar.update(task, completed=len(tally.ended), state=describe(tally))

        yield Show(update, partial(bar.console.print, markup=False))


def describe(tally: Tally) -> str:
    """Return how many jobs are where, in a few words."""
    parts = [
        (tally.idle, "idle"),
        (len(tally.running), "running"),
        (len(tally.held), "held"),
        (tally.failed, "failed"),
    ]
    return ", ".join(f"{number} {word}" for number, word in parts if number)
