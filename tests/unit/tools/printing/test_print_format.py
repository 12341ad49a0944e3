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
        {"DOUBLE": text_of_whole(lambda number: str(2 * number))},
    )
    assert found.mask.render(ClassAd({"Size": 2})) == "  6 4   \n"
