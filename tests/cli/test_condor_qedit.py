"""What condor_qedit's command line means, and what it refuses before asking anybody."""

from __future__ import annotations

import io
from unittest.mock import Mock

import pytest

from kettle.errors import UsageError
from kettle.tools.jobs import condor_qedit
from kettle.tools.jobs.condor_qedit import find_fault, main, read_wish
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
    assert read_wish(["6.0", "Foo", "5"]).single_jobs() == [(6, 0)]
    assert read_wish(["7.1", "6.0", "Foo", "5"]).single_jobs() == [(6, 0), (7, 1)]
    wish = read_wish(["99", "Foo", "5"])
    assert wish.single_jobs() == []
    assert wish.constraint() == "( (ClusterId == 99 ) )"
    assert read_wish(["bob", "Foo", "5"]).constraint() == '( (Owner=="bob") )'
    assert read_wish(["-owner", "bob", "-c", "A", "B=5"]).constraint() == (
        '( (Owner=="bob") && (A) )'
    )
    assert read_wish(["1", "2.0", "Foo", "5"]).constraint() == (
        "( (ClusterId == 1 || ( ClusterId == 2 && ProcId == 0 )) )"
    )


def test_clusters_are_edited_where_nothing_narrower_is_said() -> None:
    for words, whole in (
        (["99", "Foo", "5"], True),
        (["bob", "Foo", "5"], True),
        (["1", "2.0", "Foo", "5"], False),
        (["-owner", "bob", "-c", "A", "B=5"], False),
    ):
        assert read_wish(words).flags() == (0x90 if whole else 0x10), words
        assert read_wish(["-forward", *words]).flags() == (0x94 if whole else 0x14), words


class _Asked:
    """Stands for a schedd's queue: notes what it is asked for."""

    def __init__(self, stream: list[object]) -> None:
        self.asked = stream

    def __enter__(self) -> _Asked:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def set_attribute(self, *words: object, flags: int) -> None:
        self.asked += [*words, flags]

    def commit(self) -> None:
        self.asked.append("committed")


@pytest.mark.parametrize(("options", "flags"), [([], 0), (["-forward"], 4)])
def test_a_single_job_is_marked_as_changed_where_it_is_wished(
    options: list[str], flags: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(condor_qedit, "Queue", lambda *_: _Asked(asked))
    monkeypatch.setattr(condor_qedit, "find_schedd", lambda *_: Mock())
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(["condor_qedit", *options, "6.0", "Foo", "5"], {}, streams) == 0
    assert asked == [6, 0, "Foo", "5", flags, "committed"]


def test_immutable_attributes_and_broken_expressions_are_refused() -> None:
    assert str(find_fault({"ClusterId": "5"})) == (
        'Update of immutable attribute "ClusterId" is not allowed.'
    )
    assert str(find_fault({"Foo": "1 +"})) == "Update aborted, illegal value for : Foo"
    assert find_fault({"Foo": "1 + x"}) is None


@pytest.mark.parametrize("words", [[], ["6.0"], ["6.0", "Foo"], ["-nothing", "6.0", "Foo", "5"]])
def test_an_incomplete_command_line_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError):
        read_wish(words)


def test_a_missing_expression_is_named() -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(["condor_qedit", "6.0", "Foo"], {}, streams) == 1
    said = streams.stderr.getvalue()  # type: ignore[attr-defined]
    assert said.startswith("condor_qedit : expression required after attribute Foo\nUsage:")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        # Recorded, but for the id that is none.
        (["-name"], "condor_qedit: -name requires a SCHEDD name as an argument\n"),
        (["-constraint", "foo(", "A", "1"], "condor_qedit: invalid constraint: foo(\n"),
        (["1", "-edits", "/nosuch"], "Can't open file of edits: /nosuch\n"),
        (["-jobids", "x", "A", "1"], "condor_qedit: x is not a job id\n"),
        (
            ["1", "F o", "1"],
            (
                'Update aborted, illegal attribute-name specified for attribute "F o".\n'
                "Transaction failed.  No attributes were set.\n"
            ),
        ),
        (
            ["1", "Foo", "=", "1"],
            (
                "Update aborted, illegal value for : Foo\n"
                "Transaction failed.  No attributes were set.\n"
            ),
        ),
    ],
)
def test_what_cannot_be_is_said_without_the_usage(words: list[str], said: str) -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(["condor_qedit", *words], {}, streams) == 1
    assert streams.stderr.getvalue() == said  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["1"], "condor_qedit : Error - no attributes specifed.\nUsage:"),
        (["Foo=1"], "condor_qedit : Error - no attributes specifed.\nUsage:"),
        (["1.0", "1bad", "3"], "condor_qedit : Error - no attributes specifed.\nUsage:"),
        (["-f", "1", "A", "1"], "condor_qedit: -f is not a valid option\nUsage:"),
        ([], "Usage:"),
    ],
)
def test_what_is_missing_is_said_with_the_usage(words: list[str], said: str) -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    assert main(["condor_qedit", *words], {}, streams) == 1
    assert streams.stderr.getvalue().startswith(said)  # type: ignore[attr-defined]
