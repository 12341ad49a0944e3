"""Following a batch of jobs: when somebody who looks on is told that nothing happens."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from kettle.records.event_base import Event
from kettle.records.event_kinds import ExecuteEvent, JobTerminatedEvent
from kettle.tools.front import progress
from kettle.tools.front.batch import Batch, Tally
from kettle.tools.front.progress import PATIENCE_SECONDS, Patience, follow
from kettle.tools.programs import Streams


def test_patience_runs_out_once_and_not_where_a_job_has_begun() -> None:
    waiting, begun = Tally(2), Tally(2)
    begun.take(ExecuteEvent(cluster=1, proc=0))
    patience = Patience(since=100.0)
    assert not patience.runs_out(waiting, 100.0)
    assert not patience.runs_out(begun, 100.0 + PATIENCE_SECONDS)
    assert patience.runs_out(waiting, 100.0 + PATIENCE_SECONDS)
    assert not patience.runs_out(waiting, 200.0 + PATIENCE_SECONDS)


def test_who_follows_jobs_that_do_not_begin_reads_what_to_ask(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Late(Batch):
        def events(self) -> Iterator[list[Event]]:
            self.count = 1
            yield []
            yield []
            yield [JobTerminatedEvent(cluster=1, proc=0)]

    clock = iter((0.0, PATIENCE_SECONDS, PATIENCE_SECONDS + 1))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    batch = Late({}, tmp_path)
    batch.count = 1
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    follow(batch, "x", {}, streams, hint="kettle why 1.0")
    assert streams.stderr.getvalue() == "kettle why 1.0\n"  # type: ignore[attr-defined]
