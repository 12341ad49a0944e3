"""A value that is refused is told with its file and line, and with the nearest right one."""

from __future__ import annotations

import pytest

from kettle.errors import SubmitError
from kettle.submit.refusals import nearest_value
from unit.submit.submitting import jobs_of


def refusal(text: str) -> SubmitError:
    with pytest.raises(SubmitError) as raised:
        jobs_of(f"{text}\nqueue\n")
    return raised.value


@pytest.mark.parametrize(
    ("text", "said", "near"),
    [
        ("universe = vanila", "I don't know about the 'vanila' universe.", "vanilla"),
        ("universe = contianer", "I don't know about the 'contianer' universe.", "container"),
        ("remote_universe = vanila", "Unknown Remote_Universe of 'vanila'", "vanilla"),
        ("use_scitokens = atuo", "use_scitokens error.", "auto"),
        ("notification = allways", "Notification must be", "always"),
        ("kill_sig = TERM", "invalid signal TERM", "SIGTERM"),
        ("hold_kill_sig = SIGUSR3", "invalid signal SIGUSR3", "SIGUSR"),
        ("should_transfer_files = yess", "invalid value (yess)", "yes"),
        ("when_to_transfer_output = onexit", "invalid value (onexit)", "on_exit"),
        ("universe = grid\ngrid_resource = condr a b", "Invalid value 'condr'", "condor"),
        ("skip_filechecks = wan", "must be 'warn' or a boolean", "warn"),
        ("stream_output = ture", "must eval to a boolean", "true"),
    ],
)
def test_a_word_that_is_none_is_told_with_its_line_and_the_nearest(
    text: str, said: str, near: str
) -> None:
    error = refusal(text)
    assert said in error.message
    assert "job.sub" not in error.message
    last = text.split("\n")[-1]
    line = text.count("\n") + 2
    assert error.hint.startswith(f"       job.sub, line {line}: {last}. Did you mean '{near}")


@pytest.mark.parametrize(
    "text",
    [
        "remote_universe = dokcer",
        "priority = high",
        "prio = high",
        "max_retries = x",
        "initialdir = nosuch",
        "rank = 1 +",
        "+Foo = 1 +",
        "job_lease_duration = 1 +",
        "deferral_time = -1",
        "concurrency_limits = a b!",
        "notification = $(nobody)x",
        "request_memory = 4Q",
        'container_image = ""',
    ],
)
def test_a_value_that_has_no_nearest_is_told_with_its_line(text: str) -> None:
    error = refusal(f"log = a.log\n\n{text}")
    assert error.hint == f"       job.sub, line 4: {text}"


def test_a_value_out_of_the_queue_statement_is_told_with_the_line_of_the_command() -> None:
    with pytest.raises(SubmitError) as raised:
        jobs_of("universe = $(u)\nqueue u in (vanila)\n")
    assert raised.value.hint == ("       job.sub, line 2: universe = $(u). Did you mean 'vanilla'?")


def test_a_later_job_is_told_as_the_first_one() -> None:
    with pytest.raises(SubmitError) as raised:
        jobs_of("kill_sig = $(s)\nqueue s in (SIGINT, TERM)\n")
    assert raised.value.hint == ("       job.sub, line 2: kill_sig = $(s). Did you mean 'SIGTERM'?")


def test_a_circle_is_told_with_the_lines_that_make_it() -> None:
    error = refusal("a = $(b)\nb = $(a)\nrank = $(a)")
    assert error.message == "ERROR: a refers to itself: A -> B -> A"
    assert error.hint == "       job.sub, line 2: a = $(b)\n       job.sub, line 3: b = $(a)"


def test_what_is_not_given_has_no_line() -> None:
    assert not refusal("universe = docker").hint or "docker" in refusal("universe = docker").hint
    assert nearest_value("arguments", "vanila") == ""


def test_queue_is_the_nearest_to_a_misspelt_one() -> None:
    error = refusal("queu")
    assert 'did you mean "queue"?' in error.message


@pytest.mark.parametrize("text", ["warn", "WARN", "1+1", "", "1.5", "false"])
def test_skip_filechecks_is_warn_or_a_truth_value(text: str) -> None:
    """Recorded from HTCondor 25.14.1."""
    assert jobs_of(f"skip_filechecks = {text}\nqueue\n")[1]
    for wrong in ("x", "undefined", '"x"', "warning"):
        assert refusal(f"skip_filechecks = {wrong}\nrank = 1+").message == (
            f"ERROR: SUBMIT_CMD_skip_filechecks={wrong} is invalid, must be 'warn' or a boolean"
        )
