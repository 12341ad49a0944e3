"""All faults of a description are told, each at its line, not the first alone."""

from __future__ import annotations

import pytest

from kettle.config import Config
from kettle.submit import check_again
from kettle.submit.build import Submission, read_submission
from kettle.submit.check_again import check_description, without_statement
from kettle.submit.sources import MemorySubmitSources, SubmitFacts


def facts_of(file_name: str) -> SubmitFacts:
    return SubmitFacts(
        now=1_700_000_000,
        user="me",
        folder="/work",
        file_name=file_name,
        version="v",
        platform="p",
        environment={},
    )


def make(text: str, file_name: str = "job.sub") -> Submission:
    sources = MemorySubmitSources({"run.sh": "#!/bin/sh\n"})
    return read_submission(
        text, sources, Config.from_text("", subsystem="SUBMIT"), facts_of(file_name)
    )


def lines(text: str) -> list[tuple[int, str]]:
    """Return where faults are found, and of which command."""
    report = check_description(make, text)
    assert report.jobs == 0
    return [(finding.line, finding.name) for finding in report.findings]


def test_each_fault_is_told_at_its_own_line() -> None:
    text = (
        "executable = run.sh\n"
        "notification = sometimes\n"
        "transfer_input_files = nofile\n"
        "requirements = Foo && \\\n"
        "   (\n"
        "\n"
        "rank = )\n"
        "request_memory = 1x\n"
        "queue\n"
    )
    assert lines(text) == [
        (2, "notification"),
        (3, "transfer_input_files"),
        (5, "requirements"),
        (7, "rank"),
        (8, "request_memory"),
    ]


def test_of_standard_input_all_is_told_too() -> None:
    text = "executable = run.sh\nnotification = sometimes\nrank = )\nqueue\n"
    report = check_description(lambda left: make(left, "-"), text)
    found = [(finding.source, finding.line) for finding in report.findings]
    assert found == [("<stdin>", 2), ("<stdin>", 3)]


def test_what_only_leaving_out_would_bring_is_not_told() -> None:
    """Where the kind of job is at fault, what belongs to that kind is not unused."""
    text = "universe = dokcer\ndocker_image = debian\nexecutable = run.sh\nqueue\n"
    assert lines(text) == [(1, "universe")]
    # Nor is a program lacking that has a line, which is wrong.
    text = "executable = $INT(x)\narguments = x\nrank = )\nqueue\n"
    assert {line for line, _ in lines(text)} == {1}


def test_a_description_that_is_right_is_looked_at_once() -> None:
    made: list[str] = []

    def counted(text: str) -> Submission:
        made.append(text)
        return make(text)

    report = check_description(counted, "executable = run.sh\nqueue\n")
    assert (report.jobs, report.findings, len(made)) == (1, [], 1)


def test_of_very_many_faults_some_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_again, "MOST_LEFT_OUT", 2)
    text = "executable = run.sh\nrank = )\nrequirements = )\nrequest_cpus = )\nhold = )\nqueue\n"
    assert len(lines(text)) == 3


@pytest.mark.parametrize(
    ("text", "line", "left"),
    [
        ("a\nb\nc", 2, "a\n\nc"),
        ("a \\\nb \\\nc\nd", 1, "\n\n\nd"),
        ("a \\\nb \\\nc\nd", 2, "\n\n\nd"),
        ("a \\\nb \\\nc\nd", 3, "\n\n\nd"),
        ("a @=end\nb\n@end\nc", 1, "\n\n\nc"),
        ("a @=end\nb\nc", 1, "\nb\nc"),
        ("a \\", 1, ""),
        ("a", 0, "a"),
        ("a", 2, "a"),
    ],
)
def test_a_statement_is_left_out_with_all_of_its_lines(text: str, line: int, left: str) -> None:
    assert without_statement(text, line) == left


@pytest.mark.parametrize("name", ["executable", "cmd"])
def test_what_was_told_of_is_not_told_to_lack(name: str) -> None:
    def with_empty(text: str) -> Submission:
        sources = MemorySubmitSources({"z.sh": ""})
        return read_submission(text, sources, Config.from_text(""), facts_of("job.sub"))

    report = check_description(with_empty, f"universe = vanilla\n{name} = z.sh\nqueue\n")
    assert [finding.sentence for finding in report.findings] == [
        "Executable file z.sh has zero length"
    ]


@pytest.mark.parametrize(
    "rest",
    [
        "if false\nelif version >= 9\nendif\nqueue file in (a b)\n",
        "queue file from nofile\n",
        "x y = 3\nfile = 3\nqueue\n",
    ],
)
def test_what_a_line_behind_a_fault_may_set_is_not_told_to_lack(rest: str) -> None:
    text = f"executable = run.sh\narguments = $(file)\n{rest}"
    (told,) = check_description(make, text).findings
    assert told.kind == "syntax"
