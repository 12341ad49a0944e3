"""Columns of a print-format file: where `PRINTF` puts its text."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd
from kettle.errors import UsageError
from kettle.tools.printing.print_format import parse_print_format
from kettle.tools.printing.ways import text_of_whole


# As condor_q -print-format of 25.14.1 prints them.
@pytest.mark.parametrize(
    ("column", "row"),
    [
        ("Size AS SIZELONG PRINTF %-3d", "     1   7\n"),
        ("Size AS SIZELONG PRINTF [%-3d]", "   [1  ] 7\n"),
        ("Size AS SIZELONG PRINTF %-3d LEFT", "     1   7\n"),
        ("Size AS SIZELONG PRINTF %-3.1f", "     1.0 7\n"),
        ("Size AS S PRINTF %-3d", "1   7\n"),
        ("Owner AS LONGHEADING PRINTF %-5s", "ann         7\n"),
    ],
)
def test_a_number_keeps_to_the_right_of_a_wider_column(column: str, row: str) -> None:
    found = parse_print_format(f"SELECT\n{column}\nProcId AS P\n", {})
    ad = ClassAd({"Size": 1, "Owner": "ann", "ProcId": 7})
    assert found.mask.render(ad) == row


@pytest.mark.parametrize("text", ["", "\n# nothing\n"])
def test_a_print_format_of_nothing_shows_the_title(text: str) -> None:
    found = parse_print_format(text, {})
    assert (found.title, found.summary, found.mask.columns) == (True, False, [])
    with pytest.raises(UsageError, match="no SELECT"):
        parse_print_format("garbage", {})


def test_widths_of_any_number_of_digits_are_widths() -> None:
    """More digits than Python makes a number of once ended the tool."""
    many = "9" * 5000
    for settings in (f"WIDTH {many}", f"WIDTH -{many}", f"PRINTF %{many}d", f"PRINTF %.{many}f"):
        found = parse_print_format(f"SELECT\nSize AS S {settings}\n", {})
        assert len(found.mask.render(ClassAd({"Size": 1}))) >= 4097
    rows = [
        parse_print_format(f"SELECT\nSize AS S WIDTH {width}\nSize AS T\n", {}).mask.render(
            ClassAd({"Size": 1})
        )
        for width in ("5", "0005", "-5", "-0005")
    ]
    assert rows[0] == rows[1]
    assert rows[2] == rows[3] != rows[0]


def test_a_named_way_shows_what_an_expression_is_worth() -> None:
    found = parse_print_format(
        "SELECT\nSize + 1 PRINTAS DOUBLE WIDTH 3\nSize PRINTAS DOUBLE\n",
        {"DOUBLE": text_of_whole("Twice.", lambda number: str(2 * number))},
    )
    assert found.mask.render(ClassAd({"Size": 2})) == "  6 4   \n"


def test_a_summary_needs_no_columns() -> None:
    for text in ("SUMMARY STANDARD\n", "WHERE ProcId == 0\nSUMMARY STANDARD\n"):
        assert parse_print_format(text, {}).summary
    assert not parse_print_format("SUMMARY NONE\n", {}).summary
    assert not parse_print_format("SELECT\n", {}).summary


@pytest.mark.parametrize(
    ("head", "row", "complaints"),
    [
        ("LABEL", "P = 7 F = undefined\n", []),
        ("LABEL SEPARATOR :", "P:7 F:undefined\n", []),
        ('LABEL SEPARATOR "\\t"', "P\t7 F\tundefined\n", []),
        # What separates labels from values is none where there are no labels yet.
        ("SEPARATOR : LABEL", "P = 7 F = undefined\n", ["SEPARATOR", ":"]),
        ("SEPARATOR :", "7 undefined\n", ["SEPARATOR", ":"]),
    ],
)
def test_a_separator_belongs_to_labels(head: str, row: str, complaints: list[str]) -> None:
    found = parse_print_format(f"SELECT {head}\nProcId AS P\nFoo AS F\n", {})
    assert found.mask.render(ClassAd({"ProcId": 7})) == row
    assert [each.text for each in found.complaints] == [
        f"Warning: Unknown header argument {word} for SELECT" for word in complaints
    ]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("OR ?", "   ?"),
        ("OR ??", "[??]"),
        ("OR . OR ??", "...."),
        ("OR ?? OR .", "...."),
        ("OR ** OR .", "...."),
        ("OR ? OR ** ", "...."),
        ("OR ** OR _", "0000"),
        ("OR - OR ??", "____"),
        ("OR # OR #", "   #"),
    ],
)
def test_fillers_that_are_said_twice_are_joined(said: str, shown: str) -> None:
    """As 25.14.1 shows each pair: the bits of their places in a row are, and one twice fills."""
    found = parse_print_format(f"SELECT\nFoo AS GG PRINTF %d WIDTH 4 {said}\n", {})
    assert found.mask.render(ClassAd({"ProcId": 7})) == f"{shown}\n"


def test_a_label_may_have_a_format_of_nothing() -> None:
    found = parse_print_format('SELECT LABEL\nProcId AS P PRINTF ""\n', {})
    assert found.mask.render(ClassAd({"ProcId": 7})) == "P = \n"


@pytest.mark.parametrize(
    ("word", "heading"),
    [
        (r'"c\q\/\%d"', r"c\q\/\%d"),
        (r'"c\f\v\b\a"', "c\f\v\b\a"),
        (r'"c\101\x41\?\\"', "cAA?\\"),
        (r'"c\0d"', "c"),
        (r"c\101", r"c\101"),
        (r"'c\101'", "cA"),
    ],
)
def test_a_backslash_in_a_quoted_word_stays_before_a_letter_that_means_nothing(
    word: str, heading: str
) -> None:
    """Source: `condor_status -print-format` of 25.14.1, but for the sums of its numbers."""
    found = parse_print_format(f"SELECT\nSize AS {word}\n", {})
    assert found.mask.columns[0].heading == heading


def test_a_format_of_a_file_has_the_backslashes_of_a_format() -> None:
    text = r"""SELECT RECORDPREFIX "\v\q"
Size AS S PRINTF "<\f\q\101|%d>"
"""
    row = parse_print_format(text, {}).mask.render(ClassAd({"Size": 5}))
    assert row == "\v\\q<\fqA|5>\n"


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("Jobs\nMyType\nNope", "JobsMyTypeNope\n2   Summaryundefined\n"),
        ("Jobs AS LONGHEAD PRINTF %3d\nIdle WIDTH 4\n4 AS Y", "LONGHEADIdleY\n       2   14\n"),
        ("Owner AS X WIDTH 9\nB AS YY", "X        YY\nundefinedundefined\n"),
        ("", "\n\n"),
    ],
)
def test_a_summary_may_have_columns_of_its_own(lines: str, shown: str) -> None:
    """Source: `condor_q -jobads` of 25.14.1."""
    head = 'SELECT RECORDPREFIX "[" FIELDSUFFIX ">"'
    found = parse_print_format(f"{head}\nSize AS S\nSUMMARY\n{lines}\n", {})
    assert len(found.mask.columns) == 1
    assert found.own_summary
    summary = ClassAd({"MyType": "Summary", "Jobs": 2, "Idle": 1})
    assert found.render_summary(summary) == shown


def test_columns_of_a_summary_have_labels_where_others_do() -> None:
    found = parse_print_format("SELECT LABEL\nSize\nSUMMARY\nJobs\n", {})
    assert found.render_summary(ClassAd({"Jobs": 2})) == "\nJobs = 2\n"
