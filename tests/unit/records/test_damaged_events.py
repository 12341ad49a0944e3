"""What is made of events that a crash, a full disk or an editor damaged."""

from __future__ import annotations

import re

import pytest

from kettle.records.event_base import Event
from kettle.records.event_cluster import FileTransferEvent
from kettle.records.event_ends import CheckpointedEvent, JobEvictedEvent
from kettle.records.event_forms import event_ad
from kettle.records.event_grid import JobAdInformationEvent, RemoteErrorEvent
from kettle.records.event_kinds import ExecuteEvent, JobAbortedEvent, JobHeldEvent
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


def test_zeros_hide_no_end_of_an_event() -> None:
    log = WHOLE.replace("...", ".\0..\0") + WHOLE
    assert [event.number for event in read_events(log.encode())] == [11, 11]


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


USED = "\t\tUsr 0 00:00:01, Sys 0 00:00:00  -  Run Remote Usage\n"
EVICTED = f"Job was evicted.\n\t(0) CPU times\n{USED}{USED}"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("\tReason: why", "why"),
        ("\tReason: ", None),
        ("\twhy", "why"),
        (f"{USED}\tReason: x", None),
    ],
)
def test_why_a_job_was_evicted_is_no_line_of_times(lines: str, reason: str | None) -> None:
    event = read(4, EVICTED + lines)
    assert isinstance(event, JobEvictedEvent)
    assert event.reason == reason


def test_a_line_too_many_is_kept_as_it_is() -> None:
    log = f"004 {HEAD} {EVICTED}{USED}\tReason: x\n...\n".encode()
    first = b"".join(map(render_event, read_events(log)))
    assert b"".join(map(render_event, read_events(first))) == first
    assert first.count(b"Usr") == 3


def test_an_attribute_that_is_cut_costs_no_other() -> None:
    event = read(28, 'Job ad information event triggered.\nOwner = "tes\nMemory = 5')
    assert isinstance(event, JobAdInformationEvent)
    ad = event_ad(event)
    assert ("Owner" in ad, ad.integer("Memory")) == (False, 5)


def test_an_empty_line_behind_a_reason_costs_no_event() -> None:
    event = read(9, "Job was aborted.\n\twhy\n")
    assert isinstance(event, JobAbortedEvent)
    assert event.reason == "why"


def test_a_property_that_is_cut_costs_no_other() -> None:
    event = read(1, 'Job executing on host: h\n\tName = "/tm\n\tCpus = 1')
    assert isinstance(event, ExecuteEvent)
    props = event_ad(event).evaluate("ExecuteProps")
    assert str(props).count("=") == 1


def test_a_row_of_a_table_that_is_torn_costs_no_event() -> None:
    heading = "\tPartitionable Resources :    Usage  Request Allocated \n"
    event = read(4, f"{EVICTED}\tReason: x\n{heading}\t   Cpus                 :   001 (1.0.0)")
    assert isinstance(event, JobEvictedEvent)
    assert (event.reason, event.run_remote.user_seconds) == ("x", 1)


@pytest.mark.parametrize(
    "log",
    [
        "005 (012.003.000) 2026-03-01 10:11:12 Job terminated.\n\t{}",
        "000 (012.003.000) 2026-03-01 10:11:12 {}",
        "040 (012.003.000) 2026-03-01 10:11:12 {}",
        "003 (012.003.000) 2026-03-01 10:11:12 Job was checkpointed.\n{}",
        "011 {}",
    ],
)
def test_a_damaged_line_is_told_by_its_beginning_however_long_it_is(log: str) -> None:
    event = parse_event(log.format("é" * 100_000))
    assert event is not None
    said = damage_in(event)
    assert len(said) < 250
    assert re.search(r"'(\\t)?é{59,60}' and 99,94[01] more letters", said)
