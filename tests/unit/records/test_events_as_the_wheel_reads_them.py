"""Odd logs, and what the wheel 25.14.1 reads of them, or where we knowingly read something else."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.compat.htcondor2 import HTCondorException, JobEventLog
from kettle.records.event_log import damage_in, parse_event, read_events, render_event

DATA = Path(__file__).parents[2] / "data" / "event_logs" / "answers.json"
ANSWERS: list[dict[str, Any]] = json.loads(DATA.read_text())
_TORN = ('"Subproc": {\n', '"JobAbortedEvent",\n  {\n')
HEAD = "(012.003.000) 2026-03-01 10:11:12"


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def said_in(path: Path, log: str) -> list[Any]:
    """What a program reads of a log, as it is recorded: attributes, or that there was an error."""
    path.write_bytes(log.encode("latin-1"))
    events = JobEventLog(str(path)).events(stop_after=0)
    said: list[Any] = []
    while True:
        try:
            event = next(events)
        except StopIteration:
            return said
        except HTCondorException:
            said.append("error")
        else:
            values = {name: event[name] for name in event}
            plain = (str, int, float, bool)
            said.append({n: v if isinstance(v, plain) else str(v) for n, v in values.items()})


@pytest.mark.parametrize("case", ANSWERS, ids=range(len(ANSWERS)))
def test_a_log_says_what_it_says_to_the_wheel(case: dict[str, Any], tmp_path: Path) -> None:
    is_torn = any(torn in case["log"] for torn in _TORN)
    said = said_in(tmp_path / "log", case["log"] + "{" * is_torn)
    if is_torn:
        # The last event is right behind a torn one, and the wheel loses it. Ours comes at the
        # latest when one more begins.
        assert said.pop()["EventTypeNumber"] == 11
    assert said == case["said"]


def ads_of(tmp_path: Path, number: int, body: str) -> dict[str, Any]:
    [ad] = said_in(tmp_path / "log", f"{number:03} {HEAD} {body}\n...\n")
    assert isinstance(ad, dict)
    return ad


def test_a_changed_attribute_is_read_whole(tmp_path: Path) -> None:
    changed = ads_of(tmp_path, 33, 'Changing job attribute A from "x y" to "z w"')
    assert [changed[n] for n in ("Attribute", "PriorValue", "Value")] == ["A", '"x y"', '"z w"']
    fresh = ads_of(tmp_path, 33, "Setting job attribute A to 5 6")
    assert (fresh["Attribute"], fresh["Value"], "PriorValue" in fresh) == ("A", "5 6", False)
    odd = ads_of(tmp_path, 33, "some words")
    assert (odd["Attribute"], odd["Value"]) == ("", "")


@pytest.mark.parametrize(("number", "what"), [(0, "Job"), (35, "Cluster")])
def test_warnings_do_not_grow(number: int, what: str, tmp_path: Path) -> None:
    sentence = "WARNING: Committed job submission into the queue with the following warning(s): "
    log = f"{number:03} {HEAD} {what} submitted from host: h\n    note\n    {sentence}w\n...\n"
    [ad] = said_in(tmp_path / "log", log)
    assert (ad["Warnings"], ad["LogNotes"]) == ("w", "note")
    assert b"".join(map(render_event, read_events(log.encode()))) == log.encode()


def test_a_code_is_no_reason(tmp_path: Path) -> None:
    ad = ads_of(tmp_path, 37, "Job Materialization Paused\n\tHoldCode 4")
    assert ("Reason" in ad, ad["HoldCode"]) == (False, 4)


@pytest.mark.parametrize(
    "clock",
    ["x:07:45", "12:(7:45", "12:2147483648:45", "12:-1:45", "12:1e3:45", "12:07:007", " 12:07"],
)
def test_a_time_of_day_is_not_guessed(clock: str) -> None:
    event = parse_event(f"011 (1.2.3) 2026-03-01 {clock} Job was unsuspended.")
    assert event is not None
    assert "no moment follows its job's id" in damage_in(event)


@pytest.mark.parametrize(
    "between", ["words\n...\n", "...\n", "1000 (1.0.0) x\n...\n", "\n\n", "\tCpus = 1\n"]
)
def test_what_is_no_event_costs_no_other(between: str, tmp_path: Path) -> None:
    event = f"011 {HEAD} Job was unsuspended.\n...\n"
    assert len(said_in(tmp_path / "log", event + between + event)) == 2


def test_the_text_of_common_files_is_shown(tmp_path: Path) -> None:
    assert ads_of(tmp_path, 47, "Common files event: k\n\tt")["Text"] == "t"


def test_resources_without_a_request_are_kept(tmp_path: Path) -> None:
    ad = '{"EventTypeNumber": 5, "GPUs": 0, "TimeExecuteUsage": 1}'
    [said] = said_in(tmp_path / "log", ad)
    assert (said["GPUs"], said["TimeExecuteUsage"]) == (0, 1)


def test_an_ad_without_a_time_is_of_none(tmp_path: Path) -> None:
    said = said_in(
        tmp_path / "log", '{"EventTypeNumber": 11}{"EventTypeNumber": 11, "EventTime": ""}'
    )
    assert [ad["EventTime"] for ad in said] == ["1970-01-01T00:00:00"] * 2


def test_a_number_of_a_job_is_not_cut(tmp_path: Path) -> None:
    [said] = said_in(
        tmp_path / "log", "011 (4294967297.0.0) 2026-03-01 10:11:12 Job was unsuspended.\n...\n"
    )
    assert said["Cluster"] == 4294967297


@pytest.mark.parametrize("number", [22, 23, 24, 34, 40])
def test_an_event_that_lacks_what_its_kind_says_is_one(number: int, tmp_path: Path) -> None:
    [said] = said_in(tmp_path / "log", f'{{"EventTypeNumber": {number}, "Cluster": 12}}')
    assert (said["EventTypeNumber"], said["Cluster"]) == (number, 12)


def test_a_reason_may_be_empty(tmp_path: Path) -> None:
    said = ads_of(tmp_path, 22, "Job disconnected\n    \n    Trying to reconnect to slot1@here")
    assert (said["StartdName"], said["DisconnectReason"], said["StartdAddr"]) == (
        "slot1@here",
        "",
        "",
    )


def test_a_change_in_an_ad_that_names_no_attribute_says_none(tmp_path: Path) -> None:
    [said] = said_in(tmp_path / "log", '{"EventTypeNumber": 33}')
    assert not {"Attribute", "Value"} & set(said)


ENDED = (
    f"005 {HEAD} Job terminated.\n\t(1) Normal termination (return value 0)\n"
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n"
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage\n"
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Remote Usage\n"
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Local Usage\n"
    "\t0  -  Run Bytes Sent By Job\n\t0  -  Run Bytes Received By Job\n"
    "\t0  -  Total Bytes Sent By Job\n\t0  -  Total Bytes Received By Job\n"
)


def text_of(path: Path, log: str) -> str:
    path.write_text(log + "...\n")
    [event] = JobEventLog(str(path)).events(0)
    return str(event)


@pytest.mark.parametrize(
    ("read", "shown"),
    [
        # As str(event) of the wheel and `condor_wait -echo` of 25.14.1 have them.
        ("Gpus (Average)", "Gpus (Average)"),
        ("Gpus", "Gpus (Average)"),
        ("GPUs (Average)", "GPUs"),
        ("Foo (Average)", "Foo"),
        ("Disk (Average)", "Disk (KB)"),
        ("memory (MB)", "memory"),
        ("TimeSlotBusy", "TimeSlotBusy (s)"),
    ],
)
@pytest.mark.parametrize("used", ["0.75", ""])
def test_the_label_of_a_row_is_that_of_its_resource(
    read: str, shown: str, used: str, tmp_path: Path
) -> None:
    heading = "\tPartitionable Resources :    Usage  Request Allocated Assigned\n"
    row = '\t   {:<20} : {:>8}        1         1 "GPU-1"\n'
    text = text_of(tmp_path / "log", ENDED + heading + row.format(read, used))
    assert text == ENDED + heading + row.format(shown, used)


@pytest.mark.parametrize(
    ("note", "shown"),
    [("A", '"A"'), ('A "q" \\ b', r'"A \"q\" \\ b"'), ("ü", '"\\303\\274"')],
)
@pytest.mark.parametrize("kind", ["000 {} Job", "035 {} Cluster"])
def test_a_node_of_an_old_log_is_shown_as_notes_with_names(
    kind: str, note: str, shown: str, tmp_path: Path
) -> None:
    first = f"{kind.format(HEAD)} submitted from host: <127.0.0.1:1>\n"
    text = text_of(tmp_path / "log", f"{first}    DAG Node: {note}\n    mine\n")
    assert text == f"{first}    [ DAGNodeName = {shown} ]\n    mine\n"


def test_the_text_drops_no_line(tmp_path: Path) -> None:
    ended = ENDED + "\tJob terminated of its own accord at 2026-11-21T12:00:02Z with exit-code 0.\n"
    evicted = (
        f"004 {HEAD} Job was evicted.\n\t(0) CPU times\n"
        "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n"
        "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage\n"
        "\t0  -  Run Bytes Sent By Job\n\t0  -  Run Bytes Received By Job\n"
        "\tPartitionable Resources :    Usage  Request Allocated \n"
        "\t   Cpus                 :                 1         1 \n"
    )
    for log in (ended, evicted):
        assert text_of(tmp_path / "log", log) == log


@pytest.mark.parametrize("line", ["", "\t3  -  MemoryUsage of job (MB)\n"])
def test_what_is_resident_is_shown_as_none_where_a_log_does_not_say_it(
    line: str, tmp_path: Path
) -> None:
    first, said = (
        f"006 {HEAD} Image size of job updated: 12\n",
        "\t0  -  ResidentSetSize of job (KB)\n",
    )
    assert text_of(tmp_path / "log", first + line) == first + line + said
    ad = '{"EventTypeNumber": 6, "Size": 12, "EventTime": "2026-03-01T10:11:12"}\n'
    assert text_of(tmp_path / "log", ad).endswith("Image size of job updated: 12\n" + said)


def test_the_lines_of_an_ad_of_an_execution_points_event_are_indented(tmp_path: Path) -> None:
    ad = '{"EventTypeNumber": %d, "SlotId": 4, "DSlotId": 2, "EventHead": "x", "b": 1, "A": 2}\n'
    text = text_of(tmp_path / "log", ad % 105)
    assert text == "105 (004.002.000) 1970-01-01 00:00:00 x\n  A = 2\n  b = 1\n"
    assert "x\nA = 2\nb = 1\n" in text_of(tmp_path / "log", ad % 99)


def test_lines_of_an_execution_points_event_stay(tmp_path: Path) -> None:
    log = f"105 {HEAD} x\n\tZeta = 1\n  A   =   1+2\nsome words\n"
    assert text_of(tmp_path / "log", log) == log


@pytest.mark.parametrize(
    "notes",
    ["[ B = 1; A = 2; ] more\n    mine", "mine\n    [ B = 1 ]", "[ Zeta = 1; B = 1 ]", "[ ]"],
)
def test_notes_in_brackets_stay_as_they_are(notes: str, tmp_path: Path) -> None:
    log = f"000 {HEAD} Job submitted from host: <127.0.0.1:1>\n    {notes}\n"
    assert text_of(tmp_path / "log", log) == log


def test_an_ad_of_notes_with_nothing_in_it_is_none(tmp_path: Path) -> None:
    said = ads_of(tmp_path, 0, "Job submitted from host: h\n    [ ]")
    assert ("StructuredNotes" in said, said["LogNotes"]) == (False, "[ ]")
