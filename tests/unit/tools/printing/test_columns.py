"""Columns of -af and -format, as the reference prints them."""

from __future__ import annotations

import pytest

from kettle.classad import ClassAd, parse_old_ad
from kettle.tools.printing.columns import Columns

JOB = parse_old_ad(
    'ClusterId = 7\nProcId = 2\nOwner = "ann"\nLoad = 0.25\nDone = true\n'
    'Requirements = TARGET.Memory > 5\nList = {1, "two", 3.5}\n'
)


def auto(qualifiers: str, *texts: str, ad: ClassAd = JOB) -> str:
    columns = Columns()
    columns.add_auto(qualifiers, texts)
    columns.measure([ad])
    return (columns.render_headings() if columns.headings else "") + columns.render(ad)


def formatted(form: str, text: str) -> str:
    columns = Columns()
    columns.add_format(form, text)
    return columns.render(JOB)


@pytest.mark.parametrize(
    ("qualifiers", "row"),
    [
        ("", "ann 0.25 true undefined\n"),
        ("V", '"ann" 0.25 true undefined\n'),
        (",", "ann, 0.25, true, undefined\n"),
        ("t", "ann\t0.25\ttrue\tundefined\n"),
        ("n", "ann\n 0.25\n true\n undefined\n"),
        ("lng", "\nOwner = ann\nLoad = 0.25\nDone = true\nNone = undefined\n"),
        ("j", "7.2 ann 0.25 true undefined\n"),
    ],
)
def test_qualifiers_choose_separators_and_labels(qualifiers: str, row: str) -> None:
    assert auto(qualifiers, "Owner", "Load", "Done", "None") == row


def test_raw_shows_the_expression_and_plain_its_value() -> None:
    assert auto("r", "Requirements") == "TARGET.Memory > 5\n"
    assert auto("", "Requirements") == "undefined\n"
    assert auto("", "List") == '{ 1,"two",3.5 }\n'


def test_a_heading_has_the_room_that_its_bytes_take() -> None:
    assert auto("h", '"äö"', "Owner") == '"äö" Owner\näö   ann  \n'


@pytest.mark.parametrize("letter", sorted({*map(chr, range(32, 127)), "ä", "\n"} - {*"01234567x"}))
def test_a_backslash_stands_for_what_it_does_in_c_or_for_nothing(letter: str) -> None:
    """Source: `condor_status -format` of 25.14.1; but 8 and 9, which are numbers there."""
    controls = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
    assert formatted(f"<\\{letter}>%d", "ProcId") == f"<{controls.get(letter, letter)}>2"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r"\7", "\a"),
        (r"\07", "\a"),
        (r"\012", "\n"),
        (r"\011", "\t"),
        (r"\101", "A"),
        (r"\1011", "A1"),
        (r"\18", "\x018"),
        (r"\x41", "A"),
        (r"\x041", "A"),
        (r"\xag", "\ng"),
        (r"\303\244\xc3\xa4", "ää"),
        (r"\45d", "2"),
    ],
)
def test_a_number_behind_a_backslash_is_that_byte(written: str, shown: str) -> None:
    """Which number that is is C's: the reference adds up digits in a way of its own."""
    assert formatted(written, "ProcId") == shown


@pytest.mark.parametrize("nothing", [r"\0", r"\000", r"\x", r"\x0", r"\xg"])
def test_a_byte_of_nothing_ends_a_format(nothing: str) -> None:
    assert formatted(f"a{nothing}z%d", "ProcId") == "a"
    assert formatted(f"a%d{nothing}z", "ProcId") == "a2"


def test_a_backslash_at_the_end_of_a_format_is_no_part_of_it() -> None:
    assert formatted("a%d\\", "ProcId") == "a2"


@pytest.mark.parametrize("name", ["MY.Owner", "TARGET.Owner", ".Owner", "N.a", "Nope"])
def test_what_is_looked_for_elsewhere_is_no_attribute_to_be_shown_raw(name: str) -> None:
    assert auto("r", name) == "undefined\n"


@pytest.mark.parametrize(
    ("words", "row"),
    [
        ("-af Owner -format <%s> ClusterId -format <%s> ProcId", "ann <7> <2>\n"),
        ("-format <%s> ClusterId -format <%s> ProcId -af Owner", "<7> <2> ann\n"),
        ("-af:, Owner -format <%s> ClusterId -format <%s> ProcId", "ann, <7>, <2>\n"),
        ("-af:t Owner -format <%d> Nope", "ann\t\n"),
        ("-af:g Owner -format <%s> ClusterId", "\nann<7>\n"),
        ("-af:, Owner -af ProcId ClusterId", "ann 2 7\n"),
        ("-af:t Owner -af:, ProcId ClusterId", "ann, 2, 7\n"),
        ("-format <%s> ClusterId -format <%'d> ProcId", "<7><2>"),
    ],
)
def test_the_last_af_says_what_separates_all_columns(words: str, row: str) -> None:
    """Recorded from condor_q -jobads."""
    columns, pending = Columns(), words.split()
    while pending:
        word = pending.pop(0)
        if word == "-format":
            columns.add_format(pending.pop(0), pending.pop(0))
            continue
        texts = []
        while pending and pending[0][0] != "-":
            texts.append(pending.pop(0))
        columns.add_auto(word.partition(":")[2], texts)
    assert columns.render(JOB) == row


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("-0.0", "-0.0"),
        ("0.0", "0.0"),
        ("3.5", "3.5".ljust(21)),
        ("-3.25", "-3.25".ljust(22)),
        ("1E300", "1E+300".ljust(22)),
        ('real("INF")', 'real("INF")'),
        ("true", "true"),
    ],
)
def test_with_headings_a_real_has_the_room_of_its_longest_form(value: str, shown: str) -> None:
    """Recorded, of condor_q and of condor_history, which measures no row beforehand."""
    columns = Columns()
    columns.add_auto("h", ["R", "ProcId"])
    ad = parse_old_ad(f"ProcId = 2\nR = {value}\n")
    assert columns.render(ad) == f"{shown} 2     \n"
    assert auto("h", "R", ad=ad).splitlines()[1] == shown


def test_the_number_of_what_is_no_job_has_no_room() -> None:
    columns = Columns()
    columns.add_auto("jh", ["Owner"])
    assert columns.render(parse_old_ad('Owner = "ann"\n')) == " ann  \n"


def test_headings_make_columns_as_wide_as_their_content() -> None:
    assert auto("h", "Owner", "ClusterId + 1000000") == (
        "Owner ClusterId + 1000000\nann   1000007            \n"
    )


def test_an_unknown_qualifier_is_passed_over() -> None:
    # Recorded: `condor_q -af:j% Owner` prints what -af:j does.
    assert auto("j%z", "Owner") == auto("j", "Owner")


@pytest.mark.parametrize(
    ("form", "text", "row"),
    [
        (r"%s\n", "Owner", "ann\n"),
        ("%s", "ClusterId", "7"),
        ("%s", "Done", "true"),
        ("%s", "ClusterId == 7", ""),
        ("[%5d]", "ClusterId", "[    7]"),
        ("[%5d]", "Owner", "     "),
        ("%d.", "Load", "0."),
        ("%x", "ClusterId + 8", "f"),
        ("%.1f%%", "Load", "0.2%"),
        ("%v and %v", "Owner", "ann and %v"),
        ("%s %s", "Owner", ""),
        ("words", "NoSuch", "words"),
        ("%q", "Owner", "%q"),
        ("%r", "Requirements", "TARGET.Memory > 5"),
        (r"%T\n", "ClusterId", "  0+00:00:07"),
    ],
)
def test_formats_print_what_fits_the_conversion(form: str, text: str, row: str) -> None:
    assert formatted(form, text) == row


@pytest.mark.parametrize(
    ("cluster", "shown"), [(7, " ID Owner\n7.2 ann  \n"), (1234, " ID    Owner\n1234.2 ann  \n")]
)
def test_the_column_of_ids_is_as_wide_as_the_longest_id(cluster: int, shown: str) -> None:
    ad = ClassAd({"ClusterId": cluster, "ProcId": 2, "Owner": "ann"})
    assert auto("jh", "Owner", ad=ad) == shown


# As condor_status of 25.14.1 prints them, with -ads.
@pytest.mark.parametrize(
    ("form", "value", "shown"),
    [
        ("<%+x>", "-5", "<fffffffb>"),
        ("<% u>", "-5", "<4294967291>"),
        ("<%lx>", "-5", "<fffffffffffffffb>"),
        ("<%zu>", "-5", "<18446744073709551611>"),
        ("<%d>", "5000000000", "<705032704>"),
        ("<%hd>", "5000000000", "<-3584>"),
        ("<%hhd>", "5000000000", "<0>"),
        ("<%lld>", "5000000000", "<5000000000>"),
        ("<%Ld>", "5000000000", "<5000000000>"),
        ("<%x>", "5000000000", "<2a05f200>"),
        ("<%.0d>", "0", "<>"),
        ("<%#x>", "0", "<0>"),
        ("<%#06o>", "200", "<000310>"),
        ("<%05.3d>", "-5", "< -005>"),
        ("<%.3a>", "0.1", "<0x1.99ap-4>"),
        ("<%012a>", "1.5", "<0x00001.8p+0>"),
        ("<%05f>", 'real("INF")', "<  inf>"),
        ("<%f>", 'real("NaN")', "<nan>"),
        ("<%d>", 'real("NaN")', "<0>"),
        ("<%d>", 'real("INF")', "<0>"),
        ("<%lld>", 'real("INF")', "<-9223372036854775808>"),
        ("<%lu>", "1e30", "<9223372036854775808>"),
        ("<%lld>", "-1e30", "<-9223372036854775808>"),
        ("<%d>", "1e10", "<1410065408>"),
        ("<%d>", "-4.7", "<-4>"),
        ("<%.2x>", "1.5", "<01>"),
        ("<%5c>", "true", "<    \x01>"),
        ("<%c>", "200", "<\udcc8>"),
        ("<%5c>", "0", "<    "),
        ("<%5Tx>", "-5", "  0+00:00:-5"),
        ("<%-20T>", "-5", "          0+00:00:-5"),
        ("<%Y>", "-5", "    ???    "),
        ("<%Y>", "-0.25", " 1/1  00:00"),
        ("=%-5c|", "0", "=    "),
        ("é%-5c|", "0", "é   "),
        ("=%3.2c|", "0", "=  "),
    ],
)
def test_a_number_is_formatted_as_in_c(form: str, value: str, shown: str) -> None:
    columns = Columns()
    columns.add_format(form, "N")
    assert columns.render(parse_old_ad(f"N = {value}\n")) == shown


# As condor_q of 25.14.1 prints them, with -jobads.
@pytest.mark.parametrize(
    ("form", "value", "shown"),
    [
        ("<%.3s>", '"é ü"', "<é >"),
        ("<%.1s>", '"日本"', "<\udce6>"),
        ("<%8s>", '"é ü ß"', "<é ü ß>"),
        ("<%-10v>", '"é ü ß"', "<é ü ß  >"),
        ("<%5.3V>", '"é"', '<  "é>'),
        ("<%-6.4r>", '"é"', '<"é"  >'),
        ("%%%v%%", "1", "%1%"),
        ("%%%-3r%%", "1", "%1  %"),
        ("<%v>", "{A,A + 1}", "<{ A,A + 1 }>"),
        ("<%.5V>", "{A}", "<{ A }>"),
        ("<%v>", "{[k = A]}", "<{ [ k = A ] }>"),
        ("<%v>", "{error}", "<{ error }>"),
        ("<%v>", "error", "<error>"),
        ("<%v>", 'split("a b")', '<{ "a","b" }>'),
        ("<%v>", "relTime(90.5)", '<relTime("01:30.5")>'),
    ],
)
def test_a_value_is_shown_as_it_is_written_and_measured_in_bytes(
    form: str, value: str, shown: str
) -> None:
    columns = Columns()
    columns.add_format(form, "N")
    assert columns.render(parse_old_ad(f"A = 5\nN = {value}\n")) == shown
    if form == "<%v>":
        assert auto("", "N", ad=parse_old_ad(f"A = 5\nN = {value}\n")) == f"{shown[1:-1]}\n"


def test_a_format_makes_no_more_of_a_value_than_anybody_reads() -> None:
    for form, shown in (("%.65535s", 65535), ("%.65536s", 65536), ("%.65537s", 65536)):
        columns = Columns()
        columns.add_format(form, "Text")
        assert len(columns.render(ClassAd({"Text": "a" * 70_000}))) == shown
    for width, shown in (("4096", 4096), ("4097", 4096), ("9" * 5000, 4096)):
        columns = Columns()
        columns.add_format(f"%{width}s", "Text")
        assert len(columns.render(ClassAd({"Text": "a"}))) == shown
