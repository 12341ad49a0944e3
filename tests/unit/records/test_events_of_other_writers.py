"""Events of other writers, and damaged ones: the attributes are those of the wheel 25.14.1."""

from __future__ import annotations

from typing import Any

import pytest

from kettle.classad import ClassAd, unparse
from kettle.records.event_forms import event_ad, read_event_ads
from kettle.records.event_future import RawEvent
from kettle.records.event_log import damage_in, parse_event

HEAD = "(012.003.000) 2026-03-01 10:11:12"
TIMES = (
    "\t\tUsr 0 00:00:01, Sys 0 00:00:02  -  Run Remote Usage\n"
    "\t\tUsr 0 00:00:03, Sys 0 00:00:04  -  Run Local Usage\n"
)
TOTALS = (
    "\t\tUsr 1 02:03:04, Sys 0 00:00:02  -  Total Remote Usage\n"
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Local Usage\n"
)
NORMAL = "Job terminated.\n\t(1) Normal termination (return value 3)\n"
TABLE = (
    "\tPartitionable Resources :    Usage  Request Allocated Assigned\n"
    '\t   GPUs (Average)       :     0.50        1         1 "GPU-1"\n'
)


def ad_of(number: int, body: str) -> ClassAd:
    event = parse_event(f"{number:03} {HEAD} {body}".removesuffix("\n"))
    assert event is not None
    assert damage_in(event) == ""
    assert not isinstance(event, RawEvent) or number > 47
    return event_ad(event)


SAID: list[tuple[int, str, dict[str, Any]]] = [
    (
        0,
        "Job submitted from host: <1.2.3.4:5>\n    a note\n    ",
        {"LogNotes": "a note", "UserNotes": None},
    ),
    (
        3,
        "Job was checkpointed.\n" + TIMES,
        {"SentBytes": 0.0, "RunLocalUsage": "Usr 0 00:00:03, Sys 0 00:00:04"},
    ),
    (
        4,
        "Job was evicted.\n\t(0) CPU times\n" + TIMES,
        {"SentBytes": 0.0, "ReceivedBytes": 0.0, "Checkpointed": False},
    ),
    (5, NORMAL + TIMES + TOTALS, {"ReturnValue": 3, "SentBytes": 0.0, "TotalReceivedBytes": 0.0}),
    (
        5,
        NORMAL
        + TIMES
        + TOTALS
        + "\t40  -  Total Bytes Received By Job\n\t10  -  Run Bytes Sent By Job\n",
        {"SentBytes": 10.0, "ReceivedBytes": 0.0, "TotalReceivedBytes": 40.0},
    ),
    (
        5,
        NORMAL + TIMES + TOTALS + "\t1  -  Run Bytes Sent By Job\n" + TABLE,
        {
            "GPUsUsage": 0.5,
            "GPUsAverageUsage": None,
            "RequestGPUs": 1,
            "GPUs": 1,
            "AssignedGPUs": "GPU-1",
        },
    ),
    (
        6,
        "Image size of job updated: 1024",
        {"Size": 1024, "ResidentSetSize": 0, "MemoryUsage": None},
    ),
    (
        6,
        (
            "Image size of job updated: 1\n\t3  -  MemoryUsage of job (MB) now\n"
            "\t9  -  ResidentSetSize of job (KB)"
        ),
        {"MemoryUsage": 3, "ResidentSetSize": 9, "ProportionalSetSize": None},
    ),
    (
        6,
        "Image size of job updated: -1\n\t-2  -  MemoryUsage of job (MB)",
        {"Size": None, "MemoryUsage": None},
    ),
    (
        7,
        "Shadow exception!\n\tsomething\n\t5  -  Run Bytes Sent By Job",
        {"Message": "something", "SentBytes": 5.0},
    ),
    (7, "Shadow exception!", {"Message": "", "SentBytes": 0.0, "ReceivedBytes": 0.0}),
    (8, "", {"Info": None}),
    (
        12,
        "Job was held.\n\tReason text",
        {"HoldReason": "Reason text", "HoldReasonCode": 0, "HoldReasonSubCode": 0},
    ),
    (12, "Job was held.", {"HoldReason": None, "HoldReasonCode": 0}),
    (
        15,
        "Node 2 terminated.\n" + NORMAL.split("\n", 1)[1] + TIMES + TOTALS,
        {"Node": 2, "SentBytes": 0.0, "TerminatedBySignal": -1},
    ),
    (21, "Error from starter on slot1@x:\n\tmsg", {"ErrorMsg": "msg", "CriticalError": None}),
    (21, "Warning from starter on slot1@x:\n\tmsg", {"ErrorMsg": "msg", "CriticalError": 0}),
    (21, "Word from starter on slot1@x:\n\tmsg", {"ErrorMsg": "msg", "CriticalError": None}),
    (21, "Error from starter on x:\n\tmsg\n\tCode 0 Subcode 4", {"HoldReasonSubCode": None}),
    (21, "Error from starter on x:\n\tmsg\n\tCode 3 Subcode 0", {"HoldReasonSubCode": 0}),
    (21, "Error from starter on x:\n\tmsg\n\tCode 3 Subcode 0\n\tmore", {"ErrorMsg": "msg"}),
    (
        24,
        "Words\n    why\n    Can not reconnect to s, rescheduling job",
        {"Reason": "why", "StartdName": "s"},
    ),
    (21, "Error from starter on slot1@x:", {"ErrorMsg": None, "Daemon": "starter"}),
    (
        28,
        (
            "Job ad information event triggered.\nCluster = 99\nFoo = 1 + 2\n"
            'EventTime = "2020-01-01T00:00:00.5Z"'
        ),
        {"Cluster": 12, "EventTime": "2026-03-01T10:11:12.000", "EventTypeNumber": 28, "Foo": 3},
    ),
    (
        31,
        "Job is performing stage-in of input files",
        {"EventHead": "Job is performing stage-in of input files"},
    ),
    (39, "None", {"EventHead": "None"}),
    (99, "Something new\n\ta line", {"EventHead": "Something new", "MyType": "FutureEvent"}),
]


@pytest.mark.parametrize(("number", "body", "said"), SAID)
def test_the_attributes_are_those_of_the_wheel(
    number: int, body: str, said: dict[str, Any]
) -> None:
    ad = ad_of(number, body)
    assert {name: ad.evaluate(name) if name in ad else None for name in said} == said


@pytest.mark.parametrize("number", [0, 35])
def test_a_note_that_names_a_node_is_structured(number: int) -> None:
    what = "Job" if number == 0 else "Cluster"
    ad = ad_of(number, f'{what} submitted from host: <1.2.3.4:5>\n    DAG Node: A "b"')
    notes = ad.lookup("StructuredNotes")
    assert notes is not None
    assert unparse(notes) == r'[ DAGNodeName = "A \"b\"" ]'


def test_a_process_that_left_no_core_file_is_read_with_any_blanks() -> None:
    body = "Job terminated.\n (0) Abnormal termination (signal 9)\n  (0) No core file\n"
    ad = ad_of(5, body + TIMES + TOTALS)
    assert (ad.evaluate("TerminatedBySignal"), "CoreFile" in ad) == (9, False)
    ad = ad_of(5, body.replace("(0) No core", "(1) Corefile in: /tmp/core") + TIMES + TOTALS)
    assert ad.string("CoreFile") == "/tmp/core file"


@pytest.mark.parametrize(
    ("number", "body"),
    [
        (5, "Job terminated.\n\t(1) Normal term"),
        (5, "Job terminated.\n\t(0) Abnormal termination (signal 9)\n" + TIMES + TOTALS),
        (5, NORMAL + TIMES),
        (4, "Job was evicted.\n\t(0) CPU times"),
        (16, "POST Script terminated."),
        (10, "Job was suspended."),
    ],
)
def test_what_the_wheel_cannot_read_is_damaged(number: int, body: str) -> None:
    event = parse_event(f"{number:03} {HEAD} {body}")
    assert isinstance(event, RawEvent)
    where = f"event {number:03} of job 12.3.0 at 2026-03-01 10:11:12 is damaged: "
    assert damage_in(event).startswith(where)
    assert "\n" not in damage_in(event)


@pytest.mark.parametrize("number", [17, 31, 39, 99])
def test_an_event_that_the_reference_does_not_know_is_not_damaged(number: int) -> None:
    event = parse_event(f"{number:03} {HEAD} Something new")
    assert event is not None
    assert damage_in(event) == ""


@pytest.mark.parametrize(
    ("critical", "said"), [("0", 0), ("false", 0), ("1", None), ("true", None)]
)
def test_trouble_that_is_not_critical_says_so_in_every_form(
    critical: str, said: int | None
) -> None:
    [event] = read_event_ads(
        '{"MyType": "RemoteErrorEvent", "EventTypeNumber": 21, "Cluster": 1, '
        f'"CriticalError": {critical}}}'
    )
    ad = event_ad(event)
    assert (ad.evaluate("CriticalError") if "CriticalError" in ad else None) == said
