"""Slips of the pen in the conditions of a configuration are found, and what is meant."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.tools.front.policy_faults import find_policy_faults


def told(text: str) -> list[tuple[str, str, str]]:
    config = Config.from_text(text, subsystem="MASTER")
    return [(one.severity, one.sentence, one.advice) for one in find_policy_faults(config)]


def test_a_text_in_single_quotes_is_the_name_of_an_attribute() -> None:
    assert told("START = Owner == 'alice'\n") == [
        (
            "warning",
            "in START, 'alice' is the name of an attribute",
            'a text has double quotes: "alice"',
        )
    ]


@pytest.mark.parametrize(
    "line",
    [
        """START = Owner == "it's alice's" """,
        r"""START = regexp("a\"'b'", Owner)""",
        "START = 'Owner' == MINE",
        "NOT_A_POLICY = 'alice'",
        "START = Owner == 'alice",
    ],
)
def test_quotes_that_are_meant_so_are_not_told(line: str) -> None:
    assert told(f"{line}\n") == []


def test_a_misspelt_attribute_of_jobs_is_told_with_the_nearest() -> None:
    assert told("SYSTEM_PERIODIC_HOLD_MINE = MY.JobStatuss == 2 && MemoryUsag > 3\n") == [
        (
            "warning",
            "SYSTEM_PERIODIC_HOLD_MINE asks for JobStatuss, which no job has by itself",
            "did you mean JobStatus?",
        ),
        (
            "warning",
            "SYSTEM_PERIODIC_HOLD_MINE asks for MemoryUsag, which no job has by itself",
            "did you mean MemoryUsage?",
        ),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "SYSTEM_PERIODIC_HOLD = JobStatus == 2 && MyThing && jobSTATUS && Machine",
        "SYSTEM_PERIODIC_HOLD_REASON = JobStatuss",
        "SUBMIT_ATTRS = JobStatuss\nJobStatuss = 3\nSYSTEM_PERIODIC_REMOVE = JobStatuss == 2",
        "START = JobStatuss == 2",
    ],
)
def test_what_a_site_may_have_itself_is_not_told(text: str) -> None:
    assert told(f"{text}\n") == []
