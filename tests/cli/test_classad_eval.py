"""classad_eval: words in order, the context shown before values, one sentence for nonsense."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.configuration.classad_eval import main
from kettle.tools.programs import Streams

shows = pytest.mark.shows


def run(*words: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    code = main(["classad_eval", *words], {}, streams)
    assert isinstance(streams.stdout, io.StringIO)
    assert isinstance(streams.stderr, io.StringIO)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


@shows("R022")
def test_quiet_prints_values_only() -> None:
    assert run("-quiet", "a = 2", "a * 2") == (0, "4\n", "")


def test_the_context_is_shown_before_the_first_value_after_a_change() -> None:
    assert run("a", "x=1", "x", "x=2", "x", "x")[1] == (
        "[  ]\nundefined\n[ x = 1 ]\n1\n[ x = 2 ]\n2\n2\n"
    )


@shows("R002")
def test_an_ad_on_the_command_line_joins_the_context() -> None:
    assert run("[a=1;b=a+1]", "b") == (0, "[ a = 1; b = a + 1 ]\n2\n", "")
    assert run("[a=1]", "[b=2]")[1] == ""


def test_text_that_does_not_parse_is_an_error_that_shows_where() -> None:
    code, shown, complaint = run("1", "1+", "2")
    assert (code, shown) == (1, "[  ]\n1\n")
    assert complaint.startswith("Unable to turn '1+' into a ClassAd or an expression.\n")
    assert "column 3" in complaint


@shows("R010")
def test_files_give_the_ad_and_the_target(tmp_path: Path) -> None:
    my, target = tmp_path / "my", tmp_path / "target"
    my.write_text("x = 1\n")
    target.write_text("x = 2\ny = 3\n")
    files = ("-quiet", "-my-file", str(my), "-target-file", str(target))
    assert run(*files, "MY.x", "TARGET.x", "y", "x", "target.X")[1] == "1\n2\n3\n1\n2\n"


def test_a_file_that_is_not_there_or_no_ad_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("x = \n")
    for file in (str(bad), "/nonexistent/ad"):
        code, _, complaint = run("-my-file", file, "x")
        assert code == 1
        assert file in complaint


def test_a_file_that_breaks_off_while_it_is_read_is_named() -> None:
    complaint = "Unable to read '/proc/self/mem': Input/output error.\n"
    assert run("-file", "/proc/self/mem", "1") == (1, "", complaint)


@pytest.mark.parametrize("where", [0, 160, 5_000, 9_999])
def test_of_a_long_text_an_error_shows_the_part_around_the_place(where: int) -> None:
    """The reference repeats all of it, and says no more."""
    text = "1+" * 5_000 + "1"
    code, _, complaint = run("-quiet", f"{text[:where]})@@{text[where:]}")
    assert (code, len(complaint.splitlines())) == (1, 2)
    assert complaint.count(")@@") == 2
    assert len(complaint) < 1000
    assert f"column {where + 1} " in complaint


def test_an_option_without_its_file_is_refused() -> None:
    code, _, complaint = run("-target-file")
    assert code == 255
    assert complaint == "classad_eval: -target-file requires an argument\n"


@shows("R011")
def test_time_and_currenttime_agree() -> None:
    assert run("-quiet", "CurrentTime == time()")[1] == "true\n"


@shows("R003")
def test_values_are_printed_as_they_are_written() -> None:
    words = ("1000000000000", "1.5e3", '"a\\"b"', '{1,"x"}', "FALSE", "Undefined", "[q=1].q")
    assert run("-quiet", *words)[1].split("\n") == [
        "1000000000000",
        "1.500000000000000E+03",
        '"a\\"b"',
        '{ 1,"x" }',
        "false",
        "undefined",
        "1",
        "",
    ]
