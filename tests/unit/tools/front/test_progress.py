"""Following a batch of jobs: when somebody who looks on is told that nothing happens."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.records.event_base import Event
from kettle.records.event_ends import JobTerminatedEvent
from kettle.records.event_kinds import ExecuteEvent
from kettle.tools.front import progress
from kettle.tools.front.batch import Batch, PoolGoneError, Tally
from kettle.tools.front.progress import LOOK_SECONDS, PATIENCE_SECONDS, Patience, follow
from kettle.tools.programs import Streams


def test_patience_asks_for_words_now_and_then_and_has_some_once() -> None:
    waiting, begun = Tally(2), Tally(2)
    begun.take(ExecuteEvent(cluster=1, proc=0))
    asked: list[bool] = []

    def tell(late: bool) -> str:
        asked.append(late)
        return "because" if len(asked) == 3 else ""

    patience = Patience(100.0, tell)
    assert not patience.find_words(begun, 100.0 + PATIENCE_SECONDS)
    moments = [100.0 + LOOK_SECONDS * part for part in (0, 0.5, 1, 1.5, 2, 3, 4, 20)]
    words = [patience.find_words(waiting, moment) for moment in moments]
    assert words == ["", "", "", "", "", "because", "", ""]
    assert asked == [False] * 3


def test_patience_ends_whether_there_are_words_or_not() -> None:
    asked: list[bool] = []
    patience = Patience(100.0, lambda late: asked.append(late) or "")
    for seconds in (PATIENCE_SECONDS, 2 * PATIENCE_SECONDS):
        assert not patience.find_words(Tally(1), 100.0 + seconds)
    assert asked == [True]


def test_who_follows_jobs_that_do_not_begin_reads_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Late(Batch):
        def events(self) -> Iterator[list[Event]]:
            self.count = 1
            yield []
            yield []
            yield [JobTerminatedEvent(cluster=1, proc=0)]

        def answers(self) -> bool:
            return True

    clock = iter((0.0, PATIENCE_SECONDS, PATIENCE_SECONDS + 1))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    batch = Late({}, tmp_path)
    batch.count = 1
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    follow(batch, "x", {}, streams, tell_why=lambda late: f"late: {late}")
    assert streams.stderr.getvalue() == "late: True\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("back_after", "is_gone"), [(99, True), (4, False)])
def test_a_pool_that_went_away_is_waited_for_a_while_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, back_after: int, *, is_gone: bool
) -> None:
    asked: list[float] = []
    now = [0.0]

    class Left(Batch):
        def events(self) -> Iterator[list[Event]]:
            while now[0] < 60.0:
                now[0] += 1.0
                yield []
            yield [JobTerminatedEvent(cluster=1, proc=0)]

        def answers(self) -> bool:
            asked.append(now[0])
            return len(asked) >= back_after

    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    batch = Left({}, tmp_path)
    batch.count = 1
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    if is_gone:
        with pytest.raises(PoolGoneError, match="does not answer any more"):
            follow(batch, "x", {}, streams)
        assert asked == [4.0, 8.0, 12.0, 16.0, 20.0]
    else:
        assert follow(batch, "x", {}, streams).done
