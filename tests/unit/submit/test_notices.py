"""What is said of jobs, and why they are refused, are values with fields."""

from __future__ import annotations

import pytest

from kettle.errors import Form, StatementError, SubmitError
from kettle.submit.notices import TWICE, WARNING_MARK, Notice
from unit.submit.submitting import jobs_of, submission, values


def refusal(text: str) -> SubmitError:
    with pytest.raises(SubmitError) as caught:
        jobs_of(text)
    return caught.value


def test_a_notice_is_written_behind_its_mark() -> None:
    assert str(Notice("odd", "cmd")) == "WARNING: odd"
    assert str(Notice("odd", "cmd", TWICE)) == "WARNING: \nWARNING: odd"


def test_a_notice_knows_its_command() -> None:
    made, _ = jobs_of("request_memroy = 1\noutptu = 1\nqueue\n")
    assert [(one.command, one.mark) for one in made.warnings] == [("request_memroy", WARNING_MARK)]
    assert [one.command for one in made.unused] == ["outptu"]


def test_a_problem_of_a_macro_function_knows_whose_text_it_was() -> None:
    made, _ = jobs_of("arguments = $INT(x)\nqueue\n")
    ((proc, problem),) = made.problems
    assert (proc, problem.command, problem.mark) == (0, "ARGUMENTS", "")


def test_a_line_that_is_none_is_a_complaint_with_its_places() -> None:
    # The program stands in the first line.
    error = refusal("A = 1\nif what is it\nendif\nqueue\n")
    assert isinstance(error, StatementError)
    assert (error.line, error.told_line) == (3, 3)
    assert "ERROR" not in error.complaint
    assert error.message.startswith(f"\nERROR: on Line 3 of {error.source}: {error.complaint}")
    colon = refusal("A = 1\nB : 2\nqueue\n")
    assert isinstance(colon, StatementError)
    (place, *_) = colon.remarks
    assert (place.form, place.line, place.text) == (Form.PLACED, 3, "cannot parse: B : 2")


@pytest.mark.parametrize(
    ("text", "mark", "complaint"),
    [
        ("universe = what\nqueue\n", "ERROR: ", "I don't know about the 'what' universe."),
        ("executable = no\nqueue\n", "\nERROR: ", "Can't access executable file"),
        ('environment = "a"\nqueue\n', "ERROR: ", "Missing '=' after environment variable 'a'."),
    ],
)
def test_what_is_wrong_is_apart_from_the_word_before_it(
    text: str, mark: str, complaint: str
) -> None:
    error = refusal(text)
    assert error.mark == mark
    assert error.complaint.startswith(complaint)
    assert error.message == f"{error.mark}{error.said}"


@pytest.mark.parametrize(
    ("usual", "lease"),
    [
        ("5", "20"), ("19", "20"), ("19.5", "20"), ("true", "20"),
        ("20", "20"), ("0", "0"), ("-1", "-1"), ("10+5", "10 + 5"), ('"5"', '"5"'),
    ],
)  # fmt: skip
def test_the_usual_lease_is_no_shorter_than_one_of_a_description(usual: str, lease: str) -> None:
    made = submission(
        "executable = job.sh\nqueue\n", config=f"JOB_DEFAULT_LEASE_DURATION = {usual}\n"
    )
    assert len(list(made.jobs())) == 1
    assert made.cluster.get("JobLeaseDuration") == lease
    said = "JobLeaseDuration less than 20 seconds is not allowed, using 20 instead"
    is_told = lease == "20" and usual != "20"
    assert [notice.sentence for notice in made.warnings] == [said] * is_told


def test_each_job_has_a_lease_that_is_long_enough() -> None:
    text = "job_lease_duration = $(item)\nqueue in (30, 10)\n"
    assert values(text, "JobLeaseDuration") == ["30", "20"]


def test_a_person_called_never_is_doubted_beside_a_later_fault() -> None:
    made = submission("executable = job.sh\nnotify_user = never\npriority = (\nqueue\n")
    with pytest.raises(SubmitError, match="priority"):
        list(made.jobs())
    assert "You used  notify_user=never" in made.warnings[0].sentence
