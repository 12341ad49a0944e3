"""What condor_qedit's command line means, and what it refuses before asking anybody."""

from __future__ import annotations

import io

import pytest

from kettle.errors import UsageError
from kettle.tools.jobs.condor_qedit import find_wrong_edit, main, read_wish
from kettle.tools.programs import Streams


@pytest.mark.parametrize(
    ("words", "edits"),
    [
        (["6.0", "Foo", "5"], {"Foo": "5"}),
        (["6", "Foo", '"x"', "Bar", "1+1"], {"Foo": '"x"', "Bar": "1+1"}),
        (["-constraint", "ProcId==1", "Foo=7"], {"Foo": "7"}),
        (["bob", "Requirements", 'Name == "a"'], {"Requirements": 'Name == "a"'}),
        (["6.0", "Foo", "-5"], {"Foo": "-5"}),
    ],
)
def test_edits_are_pairs_of_words_or_assignments(words: list[str], edits: dict[str, str]) -> None:
    assert read_wish(words).edits == edits


def test_one_job_is_edited_directly_and_the_rest_by_constraint() -> None:
    assert read_wish(["6.0", "Foo", "5"]).single_job() == (6, 0)
    wish = read_wish(["99", "Foo", "5"])
    assert wish.single_job() is None
    assert wish.constraint() == "( (ClusterId == 99 ) )"
    assert read_wish(["bob", "Foo", "5"]).constraint() == '( (Owner == "bob" ) )'


def test_immutable_attributes_and_broken_expressions_are_refused() -> None:
    assert find_wrong_edit({"ClusterId": "5"}) == (
        'Update of immutable attribute "ClusterId" is not allowed.'
    )
    assert find_wrong_edit({"Foo": "1 +"}) == "Update aborted, illegal value for : Foo"
    assert find_wrong_edit({"Foo": "1 + x"}) == ""


@pytest.mark.parametrize("words", [[], ["6.0"], ["6.0", "Foo"], ["-nothing", "6.0", "Foo", "5"]])
def test_an_incomplete_command_line_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError):
        read_wish(words)


def test_a_missing_expression_is_named() -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(["condor_qedit", "6.0", "Foo"], {}, streams) == 1
    said = streams.stderr.getvalue()  # type: ignore[attr-defined]
    assert said.startswith("condor_qedit : expression required after attribute Foo\nUsage:")
