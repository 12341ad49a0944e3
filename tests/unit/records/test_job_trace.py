"""The lines by which a job is followed through the daemons' logs."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.records.job_trace import Step, TraceLine, line, parse
from kettle.runtime.job_tracing import trace
from kettle.runtime.logs import Log, parse_verbosity

JOB = ClassAd({"GlobalJobId": "vm#12.0#1795285636", "JobRunCount": 2})


@pytest.mark.parametrize("step", list(Step))
def test_every_step_is_read_back_as_it_was_written(step: Step) -> None:
    head = "(fd:12) (pid:7) (D_JOB) "
    assert parse(head + line(JOB, step, "pid 4711")) == TraceLine(
        "vm#12.0#1795285636", 2, step, "pid 4711"
    )


def test_what_is_only_prepared_belongs_to_the_next_run() -> None:
    assert line(JOB, Step.CLAIMED, coming=True) == "vm#12.0#1795285636/3 claimed"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Matched 12.0",
        "vm#12.0#1795285636/2 unheard-of",
        "Job 13.0 held: vm#12.0#1795285636/2 executing: pid 1",
        "\tvm#12.0#1795285636/2 executing: pid 1",
    ],
)
def test_other_lines_are_no_steps(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("name", ["vm#12.0#1/2 executing: pid 1", "vm#12.0#1\nx", ""])
def test_a_job_whose_name_could_be_taken_for_something_else_has_none(name: str) -> None:
    assert line(ClassAd({"GlobalJobId": name}), Step.SUBMITTED) == "?/0 submitted"


def test_nothing_is_formatted_where_nobody_wants_it() -> None:
    said: list[str] = []
    log = Log(sink=said.append)

    class Untouchable(ClassAd):
        def string(self, name: str) -> str | None:
            raise AssertionError(name)

    trace(log, Untouchable(), Step.EXECUTING)
    assert said == []
    log.verbosity = parse_verbosity("D_JOB")
    trace(log, JOB, Step.EXECUTING, "pid 1")
    assert said[0].endswith("vm#12.0#1795285636/2 executing: pid 1\n")
