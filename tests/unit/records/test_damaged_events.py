"""What is made of events that a crash, a full disk or an editor damaged."""

from __future__ import annotations

import pytest

from kettle.records.event_base import Event
from kettle.records.event_cluster import FileTransferEvent
from kettle.records.event_ends import CheckpointedEvent
from kettle.records.event_grid import RemoteErrorEvent
from kettle.records.event_kinds import JobHeldEvent
from kettle.records.event_log import damage_in, parse_event, read_events, render_event

HEAD = "(012.003.000) 2026-03-01 10:11:12"
WHOLE = f"011 {HEAD} Job was unsuspended.\n...\n"


def read(number: int, body: str) -> Event:
    event = parse_event(f"{number:03} {HEAD} {body}")
    assert event is not None
    assert not damage_in(event)
    return event


@pytest.mark.parametrize("zeros", ["\0" * 50, "\0" * 50 + "\n", "\0\n\0", "\r\0\n"])
def test_zeros_of_a_crash_cost_no_event(zeros: str) -> None:
    log = zeros + WHOLE + zeros + WHOLE + WHOLE
    assert [event.number for event in read_events(log.encode())] == [11, 11, 11]


def test_zeros_in_a_line_are_nothing() -> None:
    log = f"012 {HEAD} Job was held.\n\tre\0ason\0\0\n\tCode 1 Subcode 2\n...\n"
    [event] = read_events(log.encode())
    assert isinstance(event, JobHeldEvent)
    assert (event.reason, event.code, event.subcode) == ("reason", 1, 2)


@pytest.mark.parametrize("line", ["Code 12 Subcode 6", "\tCode 12  Subcode  6"])
def test_codes_of_a_remote_error_may_have_lost_their_tab(line: str) -> None:
    event = read(21, f"Error from starter on here:\n\tsome words\n{line}")
    assert isinstance(event, RemoteErrorEvent)
    assert (event.message, event.code, event.subcode) == ("some words", 12, 6)


@pytest.mark.parametrize(
    ("times", "shown"),
    [
        ("Usr 0 00:00:00, Sys -1 00:00:00", "Usr 0 00:00:00, Sys 0 00:00:00"),
        ("Usr 0 00:00:05,Sys 0 00:00:00", "Usr 0 00:00:05, Sys 0 00:00:00"),
        ("Usr 0 00:00:05, Sys 0 00:00:01 x", "Usr 0 00:00:05, Sys 0 00:00:01"),
    ],
)
def test_odd_times_cost_no_event(times: str, shown: str) -> None:
    lines = f"\t{times}  -  Run Remote Usage\n\t{times}  -  Run Local Usage"
    event = read(3, f"Job was checkpointed.\n{lines}")
    assert isinstance(event, CheckpointedEvent)
    assert str(event.run_remote) == str(event.run_local) == shown


def test_a_checkpoints_times_have_one_tab() -> None:
    lines = render_event(CheckpointedEvent()).decode().split("\n")
    assert lines[1] == "\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage"
    assert lines[2] == "\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage"


def test_a_time_in_the_queue_that_is_not_there_is_none() -> None:
    event = read(40, "Started transferring input files\n\tSeconds spent in queue: ")
    assert isinstance(event, FileTransferEvent)
    assert event.queue_seconds == 0
