"""Of many jobs only what changes is made anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kettle.config import Config
from kettle.errors import SubmitError
from kettle.submit.build import Submission, read_submission
from kettle.submit.quick_job import QuickJob
from kettle.submit.sources import FileFact, MemorySubmitSources
from kettle.submit.steps import Step
from stopwatch import LESS_THAN_A_SQUARE, growth
from unit.submit.submitting import FACTS, MACHINE, jobs_of, submission, values


class CountingSources(MemorySubmitSources):
    """Counts how often files are looked at."""

    looked_at: list[str]

    def look_at(self, path: str) -> FileFact | None:
        self.looked_at.append(path.removeprefix("/work/"))
        return super().look_at(path)


def counted(text: str) -> tuple[Submission, CountingSources]:
    sources = CountingSources(files={"job.sh": "#!/bin/sh\n"})
    sources.looked_at = []
    config = Config.from_text("", facts=MACHINE)
    return read_submission(f"executable = job.sh\n{text}", sources, config, FACTS), sources


def test_a_file_of_all_jobs_is_looked_at_for_two_of_them() -> None:
    made, sources = counted("output = out.$(Process)\n+Mark = $(Process)\nqueue 50\n")
    once, others = counted("queue\n")
    assert len(list(made.jobs())) == 50
    list(once.jobs())
    assert len(sources.looked_at) == 2 * len(others.looked_at)


def test_a_file_of_each_job_is_looked_at_for_each() -> None:
    made, sources = counted("input = in.$(Process)\nqueue 20\n")
    list(made.jobs())
    assert {f"in.{number}" for number in range(20)} <= set(sources.looked_at)


def test_what_follows_from_a_text_that_changes_is_made_again() -> None:
    clause = "(TARGET.Memory >= RequestMemory)"
    for name in ("request_memory", "+RequestMemory"):
        text = f"{name} = $(m)\nqueue m from (\n1\n1\n2048\n1\n5\n)\n"
        found = [clause in (one or "") for one in values(text, "Requirements")]
        assert found == [False, False, True, False, True], name


@pytest.mark.parametrize(
    ("written", "second"),
    [
        ("100% of $(Process)%", "100% of 1%"),
        ("%(Process)s $(Process)", "%(Process)s 1"),
        ("$(two)", "1 and 1"),
        ("$(unknown)[$(Process)]", "[1]"),
        ("$(unknown:$(Process))", "1"),
        ("$CHOICE(Process,a,b,c)$(Step)", "b1"),
        ("$CHOICE(Process,money)$(Step)", "a1b1"),
        ("$INT(Process,%03d)%", "001%"),
        ("$INT(percent)$(Process)", "31"),
        ("$$(Process) $(Process)", "$$(Process) 1"),
    ],
)
def test_texts_are_filled_in_for_each_job(written: str, second: str) -> None:
    lines = "two = $(one) and $(one)\none = $(Process)\nmoney = $(x),a$(Process)b,$(x)\nx = y\n"
    text = f'{lines}percent = 3\n+Told = "{written}"\nqueue 4\n'
    assert values(text, "Told")[1] == f'"{second}"'


@pytest.mark.parametrize(
    ("command", "attribute", "seen"),
    [
        ("output = out.$(Process).$(w)", "Out", "out.9.w9"),
        ("output = /dev/$(w)", "Out", "/dev/w9"),
        ("log = logs//$(w)", "UserLog", "/work/logs/w9"),
        ("arguments = a  $(w) %d", "Args", "a w9 %d"),
        ("arguments = \"a 'b $(w)'\"", "Arguments", "a b' 'w9"),
        ('+Group = "g$INT(Process,%03d)"', "Group", "g009"),
        ("description = 100% of $(w)", "JobDescription", "100% of w9"),
    ],
)
def test_texts_that_are_copied_are_looked_at_for_the_watched_job_alone(
    command: str, attribute: str, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def run(job: QuickJob, step: Step, *more: Any) -> None:
        ran.append(step)
        real(job, step, *more)

    real = QuickJob.run
    monkeypatch.setattr(QuickJob, "run", run)
    items = " ".join(f"w{number}" for number in range(10))
    assert values(f"{command}\nqueue w in ({items})\n", attribute)[9] == f'"{seen}"'
    # Once with marks.
    assert len(ran) == 1


def test_words_that_a_step_may_know_are_not_copied() -> None:
    text = "output = /dev/$(item)\nqueue item in (a0, a1, a2, null, a3)\n"
    assert values(text, "TransferOut") == [None, None, None, "false", None]
    text = "+Told = 1$(item)\nqueue item in (1, 2, 3, .50, 4)\n"
    assert values(text, "Told") == ["11", "12", "13", "1.5", "14"]
    text = "stream_output = $(item)\noutput = a\nqueue item in (0, 1, 0, 1.5)\n"
    assert values(text, "StreamOut") == ["false", "true", "false", "true"]


def test_a_function_that_gives_no_word_has_its_step_run() -> None:
    text = '+Told = "a$INT(item,%5d)b$(Process)"\nqueue item in (1, 22222, 3, x, 5)\n'
    made, jobs = jobs_of(text)
    told = [job.differences.get("Told") or made.cluster.get("Told") for job in jobs]
    assert told == ['"a    1b0"', '"a22222b1"', '"a    3b2"', '"ab3"', '"a    5b4"']
    assert [(proc, str(problem).split(": ")[1]) for proc, problem in made.problems] == [
        (3, "$INT() macro")
    ]


def test_an_item_that_looks_like_a_macro_is_expanded_as_one() -> None:
    text = "arguments = $(item)\nqueue item from (\na\nb\n$(Process)\nc\n)\n"
    assert values(text, "Args") == ['"a"', '"b"', '"2"', '"c"']


def test_a_later_job_that_is_refused_says_where() -> None:
    text = "request_disk = 1\npriority = $(p)\nqueue p from (\n1\n2\n3\nx y\n)\n"
    made, sources = counted(text)
    del sources
    jobs = made.jobs()
    assert [next(jobs).proc for _ in range(3)] == [0, 1, 2]
    with pytest.raises(SubmitError, match="priority=x y is invalid") as caught:
        next(jobs)
    assert "priority = $(p)" in caught.value.hint


def test_a_job_may_set_what_those_before_it_did_not() -> None:
    text = "hold = $(h)\nqueue h from (\nfalse\nfalse\ntrue\nfalse\ntrue\n)\n"
    made, jobs = jobs_of(text)
    assert [job.status for job in jobs] == [1, 1, 5, 1, 5]
    reasons = [job.differences.get("HoldReasonCode") for job in jobs]
    assert reasons == [None, None, "15", None, "15"]
    assert made.cluster.get("HoldReasonCode") is None


def _urls(count: int) -> str:
    return f"transfer_input_files = {','.join(f'http://h/{number}' for number in range(count))}\n"


def _tags(count: int) -> str:
    return (
        "universe = grid\ngrid_resource = ec2 http://h\nec2_ami_id = a\n"
        "ec2_access_key_id = k\nec2_secret_access_key = k\n"
        + "".join(f"ec2_tag_t{number} = {number}\n" for number in range(count))
    )


@pytest.mark.parametrize(
    ("lines", "count"),
    # Four times as many took 8 s and 5 s.
    [(_urls, 7_500), (_tags, 2_500)],
    ids=["urls", "tags"],
)
def test_a_list_of_any_length_takes_time_as_its_length(
    lines: Callable[[int], str], count: int
) -> None:
    def made(length: int) -> None:
        description = f"executable = job.sh\n{lines(length)}queue\n"
        assert len(list(submission(description, {"/work/k": ""}).jobs())) == 1

    assert growth(made, count) < LESS_THAN_A_SQUARE
