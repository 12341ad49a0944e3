"""The one- and two-dash rule of the classic tools."""

from __future__ import annotations

import pytest

from kettle.errors import UsageError
from kettle.tools.options import Given, Option, read_options

OPTIONS = (
    Option("help", shortest=1),
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
    assert [given.name for given in read("-h", "-con", "x", "--constraint", "y")] == [
        "help",
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
