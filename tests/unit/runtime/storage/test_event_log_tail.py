"""What a log said last of a job is found at its end, whatever other jobs say around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kettle.records.event_base import Event
from kettle.records.event_cluster import ClusterSubmitEvent
from kettle.records.event_kinds import (
    ExecuteEvent,
    JobAbortedEvent,
    JobEvictedEvent,
    JobTerminatedEvent,
    SubmitEvent,
)
from kettle.records.event_log import DEFAULT_STYLE, render_event
from kettle.runtime.storage import event_log_tail
from kettle.runtime.storage.event_log_tail import (
    last_event,
    read_tail,
    starts_told,
    submissions_told,
    tells_of_start,
)


def write(path: Path, *events: Event) -> Path:
    path.write_bytes(b"".join(render_event(event, DEFAULT_STYLE) for event in events))
    return path


def test_the_last_event_of_a_job_is_found_among_others(tmp_path: Path) -> None:
    path = write(
        tmp_path / "log",
        ExecuteEvent(cluster=7, proc=1),
        JobTerminatedEvent(cluster=7, proc=1, normal=True, return_value=3),
        ExecuteEvent(cluster=7, proc=11),
        ExecuteEvent(cluster=17, proc=1),
    )
    found = last_event(read_tail(str(path)), 7, 1)
    assert isinstance(found, JobTerminatedEvent)
    assert found.return_value == 3
    assert isinstance(last_event(read_tail(str(path)), 17, 1), ExecuteEvent)
    assert last_event(read_tail(str(path)), 1, 1) is None


def test_what_is_torn_or_not_there_says_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "log", JobAbortedEvent(cluster=7, proc=1, reason="r"))
    path.write_bytes(path.read_bytes()[:-2])
    assert last_event(read_tail(str(path)), 7, 1) is None
    assert last_event(read_tail(str(tmp_path / "none")), 7, 1) is None
    assert last_event(read_tail(str(tmp_path)), 7, 1) is None


def test_only_the_end_of_a_long_log_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(
        tmp_path / "log", ExecuteEvent(cluster=7, proc=1), *[ExecuteEvent(cluster=8, proc=0)] * 50
    )
    monkeypatch.setattr(event_log_tail, "TAIL_BYTES", 1000)
    assert last_event(read_tail(str(path)), 7, 1) is None
    assert isinstance(last_event(read_tail(str(path)), 8, 0), ExecuteEvent)


def test_the_start_of_a_run_is_told_until_the_run_ends(tmp_path: Path) -> None:
    begun, gone = ExecuteEvent(cluster=7, proc=1), JobEvictedEvent(cluster=7, proc=1)
    assert not tells_of_start(read_tail(str(write(tmp_path / "log"))), 7, 1)
    assert tells_of_start(read_tail(str(write(tmp_path / "log", begun))), 7, 1)
    assert not tells_of_start(read_tail(str(write(tmp_path / "log", begun, gone))), 7, 1)
    assert tells_of_start(read_tail(str(write(tmp_path / "log", gone, begun))), 7, 1)


def test_starts_are_counted_from_the_submission_on(tmp_path: Path) -> None:
    begun, gone = ExecuteEvent(cluster=7, proc=1), JobEvictedEvent(cluster=7, proc=1)
    other, submitted = ExecuteEvent(cluster=7, proc=11), SubmitEvent(cluster=7, proc=1)
    assert starts_told(read_tail(str(tmp_path / "none")), 7, 1) == 0
    assert (
        starts_told(read_tail(str(write(tmp_path / "log", begun, gone, other, begun))), 7, 1) == 2
    )
    # A log may have had a job of this number before, of another queue.
    assert (
        starts_told(read_tail(str(write(tmp_path / "log", begun, submitted, begun, gone))), 7, 1)
        == 1
    )


def test_a_log_tells_which_jobs_of_a_late_cluster_it_has(tmp_path: Path) -> None:
    path = write(
        tmp_path / "log",
        SubmitEvent(cluster=7, proc=0),
        ClusterSubmitEvent(cluster=7, proc=-1),
        SubmitEvent(cluster=7, proc=1),
        SubmitEvent(cluster=17, proc=2),
        SubmitEvent(cluster=7, proc=12),
    )
    # What came before the cluster was of another one of its number.
    assert submissions_told(read_tail(str(path)), 7) == {1, 12}
    assert submissions_told(read_tail(str(path)), 17) == {2}
    assert submissions_told(read_tail(str(path)), 1) == set()
