"""String literals of old syntax, as values and inside expressions."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kettle.classad import ClassAd
from kettle.classad.text import (
    equals,
    quote_line,
    quote_old,
    quote_operand,
    read_count,
    read_old_string,
)

texts = st.text(st.sampled_from('ab"\\ \n|é'), max_size=8)


@given(texts)
def test_a_literal_is_read_back_as_the_text(text: str) -> None:
    ad = ClassAd()
    ad.insert_text("Name", quote_old(text), check=True)
    assert ad.string("Name") == text
    assert read_old_string(quote_old(text)) == text


@given(texts)
@example('x" || true || "')
@example("dom\\me")
@example("ends in a backslash\\")
def test_a_condition_holds_for_the_text_and_nothing_else(text: str) -> None:
    ad = ClassAd({"Name": text})
    ad.insert_text("Same", f"({equals('Name', text)}) && true", check=True)
    assert ad.boolean("Same") is True
    ad["Name"] = text + "x"
    assert ad.boolean("Same") is False


def test_a_backslash_is_itself_and_does_not_open_the_literal_at_its_end() -> None:
    assert quote_old("dom\\me") == '"dom\\me"'
    assert quote_operand("dom\\me") == '"dom\\me"'
    assert quote_operand("C:\\") == 'substr("C:\\ ", 0, 3)'


def test_a_record_of_one_line_gets_one() -> None:
    assert quote_line('a\n"b"') == '"a \\"b\\""'


@pytest.mark.parametrize("text", ["", "alice", '"a" + "b"', '"a', 'a"', '"a" || "b"', '"'])
def test_what_is_no_literal_is_not_read_as_one(text: str) -> None:
    assert read_old_string(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("9" * 5000, None),
        ("", None),
        ("-1", None),
        (" 1", None),
        ("1_0", None),
        ("\u0661", None),
    ],
)
def test_a_count_is_written_with_a_bounded_number_of_plain_digits(
    text: str, number: int | None
) -> None:
    assert read_count(text) == number
