"""The forms of the queue statement; the recorded ones are in `tests/conformance/submit`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kettle.client.submit_sources import SystemSubmitSources
from kettle.errors import SubmitError
from kettle.submit.build import SubmitOptions
from kettle.submit.queue_statement import QueueStatement, split_item
from unit.submit.submitting import jobs_of, submission, values


def test_the_steps_of_an_item_follow_each_other() -> None:
    args = values("arguments = $(x) $(Step) $(Row)\nqueue 2 x in (a b)\n", "Args")
    assert args == ['"a 0 0"', '"a 1 0"', '"b 0 1"', '"b 1 1"']


def test_a_blank_line_of_items_repeats_the_item_before() -> None:
    args = values("arguments = $(x)-$(y)\nqueue x,y from (\na,1\n\nb\n)\n", "Args")
    assert args == ['"a-1"', '"a-1"', '"b-"']


def test_items_from_a_command_and_from_a_file() -> None:
    files = {"items": "a 1\n# b\n"}
    assert values("arguments = $(x)\nqueue x from items\n", "Args", files=files) == [
        '"a 1"',
        '"# b"',
    ]


def test_items_from_standard_input() -> None:
    text = "executable = job.sh\narguments = $(x)\nqueue x from -\n"
    assert values(text, "Args", standard_input="a\n#b\n") == ['"a"', '"#b"']
    # Where the description came from there itself, its remaining lines are the items.
    assert values(text + "c\nd\n", "Args") == ['"c"', '"d"']


def test_items_whose_fields_are_taken_apart_keep_blanks_and_empty_fields() -> None:
    files = {"items": "\x1f1 2\x1f\nx\x1f\x1fz\n"}
    args = values(
        'arguments = "$(a)|$(b)|$(c)"\nqueue a,b,c from items\n', "Arguments", files=files
    )
    assert args == ['"|1 2|"', '"x||z"']


def test_patterns_are_matched_in_order_and_names_come_once() -> None:
    files = {"b.dat": "", "a.dat": "", "a.txt": ""}
    args = values("arguments = $(f)\nqueue f matching (*.txt a.* *.dat)\n", "Args", files=files)
    assert args == ['"a.txt"', '"a.dat"', '"b.dat"']


def test_a_name_that_is_matched_again_is_told_of() -> None:
    files = {"b.dat": "", "a.dat": ""}
    made, jobs = jobs_of("queue f matching (*.dat b.* a.dat)\n", files=files)
    assert len(jobs) == 2
    assert list(map(str, made.warnings)) == [
        "WARNING: 'b.dat' matching pattern 'b.*' is a duplicate of item 1, skipping",
        "WARNING: 'a.dat' matching pattern 'a.dat' is a duplicate of item 0, skipping",
    ]


@pytest.mark.parametrize("kind", ["files", "dirs", "any"])
def test_a_kind_of_names_without_a_pattern_matches_nothing(kind: str) -> None:
    assert jobs_of(f"queue x matching {kind}\n", files={"a": ""})[1] == []


TABLE = "h,i\na,b\n1, x y ,z\n\n3\n"


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("from TABLE table", "h=a i=b|h=1 i=x y ,z|h=1 i=x y ,z|h=3 i="),
        ("1 from table (\na\n1,2\n)", "a=1,2"),
        ("a,b from table", "a=h b=i|a=a b=b|a=1 b=x y ,z|a=1 b=x y ,z|a=3 b="),
        ("from table(header=none) table", "Item=h,i|Item=a,b|Item=1, x y ,z|Item=1, x y ,z|Item=3"),
        ("p,q from table(csv) table", "p=h q=i|p=a q=b|p=1 q=x y ,z|p=1 q=x y ,z|p=3 q="),
        ("from Table(Header = 1) table", "a=h b=i|a=1 b=x y ,z|a=1 b=x y ,z|a=3 b="),
        ("from TABLE(header=1,skip=1) [:1] table", "a=1 b=x y ,z"),
        ("from [1:2] TABLE(header=1,skip=2,nonsense) table", "a=3 b="),
        ("from TABLE(sep=;) (\na;b\n1,2 ; 3\n)", "a=1,2 b=3"),
        ("from TABLE(sep= ) (\na  b\n1\t2 3\n)", "a=1 b=2 3"),
        ("a from TABLE", "a=file of this name"),
    ],
)
def test_a_table_names_its_variables(statement: str, rows: str) -> None:
    files = {"table": TABLE, "TABLE": "file of this name\n"}
    names = [word.partition("=")[0] for word in rows.split("|")[0].split(" ") if "=" in word]
    shown = " ".join(f"{name}=$({name})" for name in names)
    got = values(f'My.Shown = "{shown}"\nqueue {statement}\n', "Shown", files=files)
    assert "|".join(text.strip('"') for text in got) == rows


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("from TABLE (\n)", "Heading row 0 is beyond the end of table <"),
        ("from TABLE(header=7) (\na\n)", "Heading row 7 is beyond the end of table <"),
        ("from TABLE(header=1) (a)", "Heading row 1 is beyond the end of table $"),
        ("from TABLE (\n\na\n)", "No column headings found on row 0 in table <"),
        ("from TABLE (\na-b,c,,d\n1\n)", "Columns 1,3 have names that are not allowed : a-b,"),
        ("from TABLE(\na\n1\n)", "Invalid TABLE options"),
        ("from TABLE(header=1)", "Heading row 1 is beyond the end of table $"),
        ("from TABLE [x] table", re.escape("Invalid [::] statement")),
        ("in TABLE (a b)", "Queue keyword conflict"),
        ("x matching table *", "Queue keyword conflict"),
    ],
)
def test_a_table_that_is_none_is_refused(statement: str, said: str) -> None:
    with pytest.raises(SubmitError) as raised:
        jobs_of(f"queue {statement}\n")
    assert re.search(said, raised.value.message, re.MULTILINE)


TRIM = 'MY.V = "[$(x)|$(y)|$(z)]"\nqueue x,y,z from TABLE({}) (\n 1 , 2 3\n\n 4 5 ,6\n)\n'


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ("header=none", "[1|2 3|] [1|2 3|] [4 5|6|]"),
        ("header=none,trim=false", "[1 | 2 3|] [1 | 2 3|] [4 5 |6|]"),
        ("header=none, Trim = 1 - 1 ", "[1 | 2 3|] [1 | 2 3|] [4 5 |6|]"),
        ("sep=,trim=0,header=none", "[1|| 2 3] [1|| 2 3] [4|5|,6]"),
        ("trim=false,csv", "[1|2 3|] [1|2 3|] [4 5|6|]"),
        # What is no truth value says nothing.
        ("header=none,trim=no", "[1|2 3|] [1|2 3|] [4 5|6|]"),
        ("csv,trim", "[1|2 3|] [1|2 3|] [4 5|6|]"),
        ("csv,comma_sep=no", "[1|2 3|] [1|2 3|] [4 5|6|]"),
    ],
)
def test_fields_of_a_table_can_keep_their_blanks(options: str, rows: str) -> None:
    shown = values(TRIM.format(options), "V")
    assert " ".join((value or "").strip('"') for value in shown) == rows


def test_a_slice_that_goes_backwards_is_refused() -> None:
    with pytest.raises(SubmitError, match="in steps of -1"):
        jobs_of("queue x in [::-1] (a b)\n")


@pytest.mark.parametrize(
    "text", ["[a]", "[1:x]", "[1:2:3:4]", "[1", "[1.5]", "[ ]", "[0 :1]", "[0:1 ]", "[1a]"]
)
@pytest.mark.parametrize("how", ["in", "from", "matching"])
def test_what_is_no_slice_is_refused_and_is_no_item(how: str, text: str) -> None:
    with pytest.raises(SubmitError, match=r"Invalid \[::\] statement"):
        jobs_of(f"queue x {how} {text} (a b)\n")


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("[+1]", "b"), ("[ 0: 1]", "a"), ("[]", "ab"), ("[:]", "ab"), ("[::2]", "a"), ("[-1:]", "b")],
)
def test_a_slice_is_written_with_signs_and_blanks_before_its_numbers(
    text: str, chosen: str
) -> None:
    args = values(f"arguments = $(x)\nqueue x in {text} (a b)\n", "Args")
    assert args == [f'"{item}"' for item in chosen]


def test_more_jobs_than_any_schedd_takes_are_refused() -> None:
    with pytest.raises(SubmitError, match="Queue count out of range"):
        jobs_of("queue 999999999999\n")


@pytest.mark.parametrize("count", ["-1", "-5 x in (a b)", "(-1)", "1-3"])
def test_less_than_no_job_is_out_of_range(count: str) -> None:
    with pytest.raises(SubmitError, match="Queue count out of range"):
        jobs_of(f"queue {count}\n")


@pytest.mark.parametrize("count", ["inf", "nan", "1e999"])
def test_a_count_that_is_no_finite_number_is_none(count: str) -> None:
    with pytest.raises(SubmitError, match="Invalid Queue count"):
        jobs_of(f"queue {count}\n")


@pytest.mark.parametrize("rest", ["queue\n", "arguments = 1\n"])
def test_an_if_that_nobody_closes_is_refused(rest: str) -> None:
    with pytest.raises(SubmitError, match=r"endif\(s\) not found before end") as raised:
        jobs_of(f"if defined foo\n{rest}")
    assert 'Submit:-1:Error "job.sub", Line 3: \n' in raised.value.message


@pytest.mark.parametrize(
    ("lines", "items"),
    [
        (["a \\", "  b", "c"], ["a b", "c"]),
        (["a\\", "b"], ["ab"]),
        (["a \\  ", "  b"], ["a b"]),
        (["a \\", "b \\", "c", "d"], ["a b c", "d"]),
        (["a \\", "", "b"], ["a", "b"]),
        (["a \\", "# said", "b"], ["a b"]),
        (["# said \\", "b", "c"], ["b", "c"]),
    ],
)
def test_a_line_between_brackets_is_continued_behind_a_backslash(
    lines: list[str], items: list[str]
) -> None:
    text = "\n".join(["arguments = $(x)", "queue x from (", *lines, ")", ""])
    assert values(text, "Args") == [f'"{item}"' for item in items]


def test_an_open_bracket_names_the_line_it_stands_on() -> None:
    with pytest.raises(SubmitError, match="for Queue command on line 2"):
        jobs_of("queue x in (a b\n")


@pytest.mark.parametrize(
    ("item", "count", "expected"),
    [
        ("a, b c", 2, ("a", "b c")),
        ("a b c", 3, ("a", "b", "c")),
        ("4,,6", 3, ("4", "", "6")),
        ("a", 3, ("a", "", "")),
        ("a\x1fb, c\x1f", 3, ("a", "b, c", "")),
        ("a\x1f b ", 2, ("a", "b")),
        (" f , g ", 2, ("f", ", g")),
        (" f , g ", 3, ("f", "", "g")),
        ("f ,g", 2, ("f", ",g")),
        (" f , , g", 3, ("f", "", ", g")),
        (",f", 3, ("", "f", "")),
        ("f,,g", 2, ("f", ",g")),
        ("f\t,\tg h", 3, ("f", "", "g h")),
        ('"f x" g', 2, ('"f', 'x" g')),
    ],
)
def test_items_are_split_at_each_separator(
    item: str, count: int, expected: tuple[str, ...]
) -> None:
    assert split_item(item, count) == expected


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("items", [None, ["", "a,1", "", " ", "b", "c,2", ""]])
@pytest.mark.parametrize("selected", [slice(None), slice(1, None, 2)])
def test_a_making_that_goes_on_begins_with_the_row_where_it_stopped(
    count: int, items: list[str] | None, selected: slice
) -> None:
    """A schedd that starts again does not go through a million rows that have their jobs."""
    statement = QueueStatement(count, ("x", "y"), items, "from", selected)
    whole = [(row.index, row.step, row.values) for row in statement.rows()]
    assert len(whole) == statement.job_count()
    for skip in range(len(whole) + 2):
        rest = [(row.index, row.step, row.values) for row in statement.rows(skip)]
        assert rest == whole[skip:]


# As condor_submit -dry-run of 25.14.1 has them.
@pytest.mark.parametrize(
    ("words", "args"),
    [
        ("2x in (a b)", ["a", "a", "b", "b"]),
        ("1.5x in (a b)", ["a", "b"]),
        ("1,x in (a b)", ["a", "b"]),
        ("5*2 x in (a)", ["a"] * 10),
        ("5 - 2 x in (a)", ["a"] * 3),
        ("7/2x in (a)", ["a"] * 3),
    ],
)
def test_a_variable_may_stand_right_behind_how_many(words: str, args: list[str]) -> None:
    found = values(f"arguments = $(x)\nqueue {words}\n", "Args")
    assert found == [f'"{arg}"' for arg in args]


def test_what_parts_fields_parts_no_items_in_brackets() -> None:
    assert len(jobs_of("queue in (a\x1fb c)\n")) == 2


# As condor_submit -dry-run of 25.14.1 has them.
@pytest.mark.parametrize(
    ("statement", "items"),
    [
        ("x in ((a b)\nc\n)", "a b c"),
        ("x in ((a) )\nb\n)", "a) b"),
        ("x in [1:] [0:1] (a b c)", "a"),
        ("x in [::1]] (a b c)", "a b c"),
        ("x in [::1]](a b c)", "a b c"),
        ("x in [:1]](a b c)", "](a"),
        ("x in [1:]", "[1:]"),
        ("x(in (a b)", None),
        ("x,in (a b)", None),
        ("x in[1:] (a b)", None),
        ("x in", None),
        ("x-y in (a b)", None),
        ("x 2 y in (a b)", None),
        ("2 2 x in (a b)", None),
        ("1 ? 2 : 3 x in (a b)", "a a b b"),
        (". 2, x in (a b)", None),
        ("2, x . in (a)", "a a"),
        ("x from $(nothing)", ""),
        ("x in $(nothing)", ""),
        ("x from ()", ""),
    ],
)
def test_a_statement_is_read_from_its_keyword_on(statement: str, items: str | None) -> None:
    text = f"nothing =\narguments = $(x)\nqueue {statement}\n"
    if items is None:
        with pytest.raises(SubmitError, match="Invalid Queue count expression"):
            jobs_of(text)
    else:
        got = values(text, "Args")
        assert " ".join((one or "").strip('"') for one in got) == items


def test_words_behind_the_keyword_are_no_items() -> None:
    for words in ("in files (a b)", "in any a", "from dirs a", "matching files dirs *"):
        with pytest.raises(SubmitError, match="Queue keyword conflict"):
            jobs_of(f"queue x {words}\n")
    # The last word is an item, whatever it is.
    assert values("arguments = $(x)\nqueue x in files\n", "Args") == ['"files"']
    files = {"files": "", "x": ""}
    assert len(jobs_of("queue matching files\n", files=files)[1]) == 1
    assert len(jobs_of("queue matching files ?\n", files=files)[1]) == 1


def test_a_slice_is_complained_of_before_how_many_jobs_there_are_to_be() -> None:
    with pytest.raises(SubmitError, match=r"Invalid \[::\] statement"):
        jobs_of("queue 2 2 x in [a] (a b)\n")
    with pytest.raises(SubmitError, match="Invalid Queue count expression"):
        jobs_of("queue 2 2 x in [::0] (a b)\n")
    with pytest.raises(SubmitError, match="Invalid Queue count expression"):
        jobs_of("queue 2 2 x from no-such-file\n")


@pytest.mark.parametrize("name", ["my_1", "_1", "m_12y"])
def test_a_name_may_end_in_a_number(name: str) -> None:
    args = values(f"arguments = $({name})\nqueue 2{name} in (a)\n", "Args")
    assert args == ['"a"', '"a"']


@pytest.mark.parametrize(
    ("lines", "items"),
    [
        ("a \\\n b\nc\\\n\nd\n", ["a b", "c", "d"]),
        ("# x \\\ny\n", ["# x", "y"]),
        ("a \\\n# x\nb\n", ["a b"]),
        ("a\nb \\", ["a", "b"]),
    ],
)
def test_a_line_of_items_goes_on_behind_a_backslash(lines: str, items: list[str]) -> None:
    made = submission("executable = job.sh\nqueue from tell 'a' |\n")
    made.sources.commands["tell 'a'"] = lines  # type: ignore[attr-defined]
    assert list(made.first_statement().items or ()) == items
    made = submission("executable = job.sh\nqueue from items\n", files={"items": lines})
    assert list(made.first_statement().items or ()) == items


def test_names_that_match_are_split_for_several_variables() -> None:
    args = values(
        "arguments = $(x)|$(y)\nqueue x,y matching *.dat\n", "Args", files={"a b.dat": ""}
    )
    assert args == ['"a|b.dat"']
    assert values("arguments = $(x)|$(y)\nqueue x,y in (a\x1fb)\n", "Args") == ['"a|b"']


def test_a_pattern_for_folders_finds_no_file() -> None:
    assert jobs_of("queue matching dirs a.dat\n", files={"a.dat": ""})[1] == []


def test_a_pattern_that_matches_nothing_is_told_of_between_others() -> None:
    made, jobs = jobs_of("queue matching nope *.dat no2 b* no3\n", files={"a.dat": "", "b": ""})
    assert len(jobs) == 2
    assert list(map(str, made.warnings)) == ["WARNING: 'no2' does not match any files"]
    # It is told of also where no job follows.
    made, jobs = jobs_of("queue matching [5:] nope no2 *.dat\n", files={"a.dat": ""})
    assert not jobs
    assert list(map(str, made.warnings)) == ["WARNING: 'no2' does not match any files"]


MANY = SubmitOptions(allow_many_queues=True)


def test_what_a_statement_has_set_is_no_value_of_the_next() -> None:
    text = (
        "arguments = $(x)|$(y)|$(Item)\n"
        "queue x,y from (\na 1\nb 2\n)\nqueue\nx = $(x)7\nqueue\nqueue y from (\n\nk\n)\n"
        "queue in (i)\nqueue\n"
    )
    assert values(text, "Args", options=MANY) == [
        '"a|1|"',
        '"b|2|"',
        '"<Queue_item>|<Queue_item>|"',
        '"<Queue_item>7|<Queue_item>|"',
        '"<Queue_item>7|2|"',
        '"<Queue_item>7|k|"',
        '"<Queue_item>7|<Queue_item>|i"',
        '"<Queue_item>7|<Queue_item>|"',
    ]


def test_a_statement_without_items_has_no_item() -> None:
    assert values("Item = 5\narguments = $(Item)x\nqueue\n", "Args") == ['"x"']


def test_a_line_that_a_statement_sets_anew_is_told_of_as_a_line() -> None:
    made, _ = jobs_of("n = 2\nqueue n,m in (a)\n")
    assert [line.split("\n")[0] for line in map(str, made.unused)] == [
        "WARNING: the line 'n = ' was unused by condor_submit. Is it a typo?",
        "WARNING: the Queue variable 'm' was unused by condor_submit. Is it a typo?",
    ]
    made, _ = jobs_of("n = 2\nqueue n in (a)\nqueue m in (b)\n", options=MANY)
    assert "WARNING: the line 'n = <Queue_item>' was unused" in str(made.unused[0])


def test_a_complaint_counts_the_line_breaks_before_it() -> None:
    with pytest.raises(SubmitError) as raised:
        jobs_of("queue n")
    assert "on Line 1 of job.sub" in raised.value.message
    assert "(line 1)" in raised.value.message
    assert raised.value.line == 2


def test_a_folder_is_no_file_of_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    made = submission("executable = job.sh\nqueue x from d\n")
    made.sources = SystemSubmitSources(None)
    with pytest.raises(SubmitError, match="can't open file d: Is a directory"):
        made.first_statement()


@pytest.mark.parametrize("selected", ["[-3:]", "[1:4]", "[0:2]"])
def test_a_slice_has_no_more_items_than_there_are(selected: str) -> None:
    items = {"[1:4]": ['"b"']}.get(selected, ['"a"', '"b"'])
    assert values(f"arguments = $(x)\nqueue x in {selected} (a b)\n", "Args") == items


def test_a_separator_of_fields_in_a_table_separates_there_too() -> None:
    args = values("arguments = $(a)|$(b)\nqueue from TABLE (\na,b\n1\x1f2\n)\n", "Args")
    assert args == ['"1|2"']


@pytest.mark.parametrize("count", ["0", "$(Nothing)"])
def test_a_count_of_nothing_is_one_job(count: str) -> None:
    assert len(values(f"arguments = a\nqueue {count}\n", "Args")) == 1


def test_a_file_with_columns_of_no_good_name_is_refused() -> None:
    made = submission("executable = job.sh\nqueue from TABLE list\n", {"list": "a-b,c\n1,2\n"})
    with pytest.raises(SubmitError, match="Columns 1 have names that are not allowed : a-b"):
        list(made.jobs())


@pytest.mark.parametrize(
    ("text", "jobs"),
    [
        ("arguments = 3\n queue", 1),
        ("arguments = 3\n\tqueue 2 ", 2),
        ("queue A in (\n1\n )", 1),
        ("queue A in (1 2) ", 2),
    ],
)
def test_a_last_line_without_an_end_is_a_line(text: str, jobs: int) -> None:
    for end in ("", "\n"):
        assert len(jobs_of(text + end)[1]) == jobs


@pytest.mark.parametrize("text", ["queue A, B, C from ", "queue A in ", "queue A matching\t"])
def test_a_statement_that_ends_in_its_keyword_is_refused_with_and_without_an_end(
    text: str,
) -> None:
    for end in ("", "\n"):
        with pytest.raises(SubmitError, match="Invalid Queue count expression"):
            jobs_of(text + end)


def test_what_follows_a_queue_statement_is_refused_with_and_without_an_end() -> None:
    for end in ("", "\n"):
        with pytest.raises(SubmitError, match="Extra data found after queue statement"):
            jobs_of(f"queue\n arguments = 3{end}")


@pytest.mark.parametrize(
    ("queue", "line"),
    [
        ("queue A in (\na\n)\n", 5),
        ("queue A in (\na\nb\n)\n\n# x\n", 6),
        ("queue A from (\na\n\n\\\nb\n)", 7),
        ("queue A from (\na\n)\n", 5),
        ("queue \\\nA in (\na\n)\n", 6),
        ("queue A in (a b)\n", 3),
        ("queue A from items\n", 3),
    ],
)
def test_what_a_job_lacks_is_told_at_the_end_of_its_statement(queue: str, line: int) -> None:
    made, _ = jobs_of(f"arguments = $REAL(N)\n{queue}", files={"items": "a\n"})
    (problem,) = {str(notice) for _, notice in made.problems}
    assert problem.startswith(f"ERROR at Queue statement on Line {line}: $REAL() macro: N does ")
