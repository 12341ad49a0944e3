"""What `kettle run` asks for becomes a submit file that says just that."""

from __future__ import annotations

import pytest

from kettle.errors import UsageError
from kettle.tools.front.description import Request, quote_arguments, render_description


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
    assert "arguments = \"sh -c 'echo $(DOLLAR)HOME'\"" in lines_of(
        Request(["sh", "-c", "echo $HOME"])
    )


def test_no_command_is_said_plainly() -> None:
    with pytest.raises(UsageError, match="no command"):
        render_description(Request([]))


def test_an_item_that_would_end_the_list_is_refused() -> None:
    with pytest.raises(UsageError, match="item 2"):
        render_description(Request(["x"], items=["a", ")"]))
