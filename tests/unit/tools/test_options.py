"""The one- and two-dash rule of the classic tools."""

from __future__ import annotations

import contextlib
import importlib
import io
from collections.abc import Mapping, Sequence

import pytest

from kettle.errors import KettleError, UsageError
from kettle.tools.options import MANY, Asked, Given, Option, read_options, run_tool, take_by
from kettle.tools.programs import Streams

OPTIONS = (
    Option("help", shortest=1),
    Option("hold", shortest=2),
    Option("constraint", shortest=3, values=1),
    Option("autoformat", shortest=5, qualified=True),
    Option("af", shortest=2, qualified=True),
    Option("format", shortest=1, values=2),
    Option("exact", shortest=0),
)


def read(*words: str) -> list[Given]:
    return list(read_options(words, OPTIONS))


@pytest.mark.parametrize("word", ["-c", "-co", "--con", "--", "-exac", "-help:x", "-nothing"])
def test_a_word_that_is_no_option_s_beginning_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="unknown option"):
        read(word)


def test_one_dash_takes_a_beginning_and_two_dashes_the_whole_name() -> None:
    assert [given.name for given in read("-ho", "-con", "x", "--constraint", "y")] == [
        "hold",
        "constraint",
        "constraint",
    ]


def test_qualifiers_follow_a_colon() -> None:
    assert read("-af:jr")[0].qualifiers == "jr"
    assert read("-autof:h")[0] == Given("autoformat", "-autof:h", "h", (), 0)


def test_positional_words_may_stand_anywhere() -> None:
    given = read("12.3", "-format", "%d\n", "ProcId", "bob")
    assert [(item.name, item.values) for item in given] == [
        ("", ("12.3",)),
        ("format", ("%d\n", "ProcId")),
        ("", ("bob",)),
    ]


def test_a_missing_value_is_named() -> None:
    with pytest.raises(UsageError, match="-format needs 2 arguments"):
        read("-format", "%d")


def test_a_mistyped_option_is_corrected() -> None:
    with pytest.raises(UsageError, match="did you mean -constraint"):
        read("-constrant", "x")


def test_an_option_for_many_words_takes_those_before_the_next_option() -> None:
    options = (Option("af", 2, MANY, qualified=True), Option("wide"))
    given = list(read_options(["-af:j", "A", "B", "-wide", "name"], options))
    assert [(item.name, item.values) for item in given] == [
        ("af", ("A", "B")),
        ("wide", ()),
        ("", ("name",)),
    ]
    with pytest.raises(UsageError, match="-af needs an argument"):
        list(read_options(["-af", "-wide"], options))


def run(*words: str) -> tuple[int, str, str]:
    def read_wish(words: Sequence[str]) -> list[Given]:
        return list(read_options(words, OPTIONS))

    def act(wish: list[Given], environment: Mapping[str, str], streams: Streams) -> int:
        if wish:
            raise KettleError(f"no {wish[0].word}")
        streams.stdout.write(environment["WHO"])
        return 3

    streams = Streams(io.StringIO(), out := io.StringIO(), err := io.StringIO())
    code = run_tool(
        ["condor_x", *words],
        {"WHO": "me"},
        streams,
        usage="Usage: condor_x\n",
        read_wish=read_wish,
        act=act,
        prefix="condor_x: ",
    )
    return code, out.getvalue(), err.getvalue()


def test_a_tool_answers_with_the_exit_code_of_its_act() -> None:
    assert run() == (3, "me", "")


def test_help_is_on_stdout_and_nothing_is_done() -> None:
    assert run("-help", "--nonsense") == (0, "Usage: condor_x\n", "")
    with pytest.raises(Asked):
        read("-con", "x", "-help")


def test_wrong_words_get_the_usage_and_operating_errors_a_sentence() -> None:
    assert run("-hepl") == (
        1,
        "",
        "unknown option -hepl (did you mean -help?)\nUsage: condor_x\n",
    )
    assert run("bob") == (1, "", "condor_x: no bob\n")


# What an option's word is where not every word will do.
_WORDS = {"constraint": "true", "target": "/dev/null", "limit": "1", "duration": "5", "sort": "x"}


@pytest.mark.parametrize(
    "module",
    [
        "status.wish",
        "status.condor_who",
        "status.userprio_words",
        "configuration.condor_transform_ads",
    ],
)
def test_something_is_done_for_every_row_of_a_table(module: str) -> None:
    tool = importlib.import_module(f"kettle.tools.{module}")
    for row in tool.OPTIONS:
        words = [_WORDS.get(row.name, "1")] * abs(row.values)
        with contextlib.suppress(Asked, KettleError):
            tool.read_wish([f"--{row.name}", *words])
    with pytest.raises(AssertionError, match="nothing is done for -new"):
        take_by({}, None, Given("new", "-new"))
