"""What `kettle run` asks for becomes a submit file that says just that."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from kettle.classad import ClassAd
from kettle.classad.text import quote_old
from kettle.errors import UsageError
from kettle.policy.match_expansion import expand_match
from kettle.submit.arguments import split_new
from kettle.submit.build import JobPlan, Submission
from kettle.tools.front.description import Request, quote_arguments, render_description
from unit.submit.submitting import submission


def lines_of(request: Request) -> list[str]:
    return render_description(request).splitlines()


def test_one_command_is_one_job() -> None:
    lines = lines_of(Request(["sleep", "3"], folder="/d", log="/d/log"))
    assert "executable = /usr/bin/env" in lines
    assert "transfer_executable = false" in lines
    assert 'arguments = "sleep 3"' in lines
    assert lines[-1] == "queue"


def test_a_program_with_a_slash_travels_with_the_job() -> None:
    assert "transfer_executable = true" in lines_of(Request(["./greet", "you"]))


def test_each_item_replaces_the_placeholder_and_queues_one_job() -> None:
    lines = lines_of(Request(["./greet", "hello {}!"], items=["a", "b c"]))
    assert "arguments = \"'hello $(item)!'\"" in lines
    assert lines[-4:] == ["queue item from (", "a", "b c", ")"]


def test_without_a_placeholder_the_item_is_the_last_argument() -> None:
    assert "arguments = \"'$(item)'\"" in lines_of(Request(["./greet"], items=["a"]))


HARD_ITEMS = [
    "$(x)",
    "$$(Nope)",
    "$$$(x) $$$$(x)",
    "$ENV(HOME) $F(x) $$ENV(HOME) $INT(y)",
    "# no comment",
    "#",
    "  blanks around\t ",
    " ",
    ")",
    "backslash\\",
    'it\'s "said"',
    "a, b ,c",
    "cost: $",
    "(x)",
    "queue 3",
    "{}",
    "Ünïcode \u2028 \x0b \x85",
    "a\rb",
]


@pytest.mark.parametrize("frame", ["{}", "<{}>", "${}", "$$ENV{}", "{}(x)", "{}{}", "'{}\""])
@pytest.mark.parametrize("items", [[item] for item in HARD_ITEMS] + [HARD_ITEMS])
def test_every_item_reaches_the_command_as_it_is(frame: str, items: list[str]) -> None:
    made, jobs = jobs_of_description(Request(["say", frame], items=items))
    for item, job in zip(items, jobs, strict=True):
        assert words_of(made, job) == ["say", frame.replace("{}", item)]


def test_every_word_of_a_command_reaches_the_job_as_it_is() -> None:
    made, (job,) = jobs_of_description(Request(["say", *HARD_ITEMS, "echo $$(date) $$"]))
    assert words_of(made, job) == ["say", *HARD_ITEMS, "echo $$(date) $$"]


def jobs_of_description(request: Request) -> tuple[Submission, list[JobPlan]]:
    made = submission(render_description(request))
    return made, list(made.jobs())


def words_of(made: Submission, job: JobPlan) -> list[str]:
    """What a job's program gets on the slot of a match."""
    ad = made.cluster.to_ad()
    ad.update(job.differences.to_ad())
    ad.update(ClassAd(expand_match(ad, ClassAd()).changed))
    return split_new(ad.string("Arguments") or "")


def test_files_whose_names_mean_something_to_the_submit_language_travel() -> None:
    items = ["/d/$(x).txt", "/d/$F(x).txt", "/d/it's.txt", "/d/#1 .txt"]
    made, jobs = jobs_of_description(
        Request(["wc", "{}"], items=items, inputs=["{}"], by_file=True)
    )
    first = made.cluster.get("TransferInput")
    sent = [job.differences.get("TransferInput") or first for job in jobs]
    assert sent == [quote_old(item) for item in items]
    assert [words_of(made, job)[1] for job in jobs] == [os.path.basename(item) for item in items]


@pytest.mark.parametrize("name", ["/d/a,b.txt", "/d/$$(x).txt", "/d/blank "])
def test_a_file_that_no_list_can_name_is_refused_without_a_path_of_its_own(name: str) -> None:
    request = Request(["wc", "{}"], items=[name], inputs=["{}"], by_file=True)
    with pytest.raises(UsageError, match="cannot be named in a submit file"):
        render_description(request)
    made, (job,) = jobs_of_description(replace(request, paths=["/tmp/own/"]))
    assert words_of(made, job) == ["wc", os.path.basename(name)]
    assert made.cluster.get("TransferInput") == '"/tmp/own/"'


def test_items_with_quotes_bring_their_quoted_spelling_along() -> None:
    lines = lines_of(Request(["./greet", "{}"], items=["it's"], inputs=["{}"]))
    assert "arguments = \"'$(word)'\"" in lines
    assert "transfer_input_files = $(item)" in lines
    assert lines[-3:] == ["queue item, word from (", "it's\x1fit''s", ")"]


def test_an_input_with_the_placeholder_is_each_item_s_own() -> None:
    lines = lines_of(Request(["wc"], items=["a", "b"], inputs=["{}", "common"]))
    assert "transfer_input_files = $(item), common" in lines


@pytest.mark.parametrize(
    ("words", "quoted"),
    [
        (["a", "b"], '"a b"'),
        (["a b"], "\"'a b'\""),
        (["it's"], "\"'it''s'\""),
        (['say "hi"'], '"\'say ""hi""\'"'),
        ([""], "\"''\""),
    ],
)
def test_arguments_survive_the_new_syntax(words: list[str], quoted: str) -> None:
    assert quote_arguments(words) == quoted


def test_dollars_of_the_command_reach_the_job() -> None:
    assert "arguments = \"sh -c 'echo $HOME $(DOLLAR)(date)'\"" in lines_of(
        Request(["sh", "-c", "echo $HOME $(date)"])
    )


def test_no_command_is_said_plainly() -> None:
    with pytest.raises(UsageError, match="no command"):
        render_description(Request([]))


def test_a_command_of_several_lines_is_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match="line break") as caught:
        render_description(Request(["sh", "-c", "echo a\necho b"]))
    assert "script" in caught.value.hint


@pytest.mark.parametrize("item", ["a\nb", "a\0b", "a\x1fb"])
def test_an_item_that_no_row_can_carry_is_refused(item: str) -> None:
    with pytest.raises(UsageError, match="item 2"):
        render_description(Request(["x"], items=["a", item]))


def test_an_item_that_is_only_handed_on_as_a_word_has_no_name_of_its_own() -> None:
    """Else condor_submit would warn of a variable that nobody uses."""
    lines = lines_of(Request(["echo", "{}"], items=["it's", "b"]))
    assert lines[-4:] == ["queue word from (", "it''s", "b", ")"]
    lines = lines_of(Request(["echo"], items=["it's", "b"], extra=["description = $(Item)"]))
    assert "queue item, word from (" in lines
