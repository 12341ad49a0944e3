"""`-aaf` beside a print-format file: its columns are behind the file's, as in 25.14.1."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool


def test_columns_are_added_to_those_of_a_print_format(tmp_path: Path) -> None:
    (tmp_path / "form").write_text("SELECT\nOwner AS OWN\nClusterId AS C\nSUMMARY NONE\n")
    (tmp_path / "ads").write_text('ClusterId = 1\nProcId = 0\nOwner = "a"\n')
    out = io.StringIO()
    words = ["-allusers", "-pr", str(tmp_path / "form"), "-aaf", "ProcId"]
    argv = ["condor_q", "-jobads", str(tmp_path / "ads"), *words]
    environment = {"CONDOR_CONFIG": "ONLY_ENV"}
    assert load_tool("condor_q")(argv, environment, Streams(io.StringIO(), out, out)) == 0
    assert out.getvalue().splitlines()[3:] == ["OWN C ProcId", "a   1 0     "]


JOBS = """\
ClusterId = 1
ProcId = 0
Owner = "ann"
JobStatus = 5
JobUniverse = 9
HoldReason = "a reason that is longer than rows may be"
X = "longer text"

ClusterId = 2
ProcId = 0
Owner = "bob"
JobStatus = 2
JobUniverse = 9
"""


def show(tmp_path: Path, options: str) -> list[str]:
    (tmp_path / "jobs").write_text(JOBS)
    out = io.StringIO()
    argv = ["condor_q", "-jobads", str(tmp_path / "jobs"), *options.split()]
    environment = {"CONDOR_CONFIG": "ONLY_ENV"}
    assert load_tool("condor_q")(argv, environment, Streams(io.StringIO(), out, out)) == 0
    return out.getvalue().splitlines()[3:]


def test_rows_of_a_width_that_is_said_end_in_blanks(tmp_path: Path) -> None:
    assert show(tmp_path, "-nobatch -wide:120 -aaf X")[2].endswith(" undefined  ")
    assert show(tmp_path, "-nobatch -aaf X")[2].endswith(" undefined")
    assert show(tmp_path, "-run -wide:120")[1].endswith("[??????????] ")


def test_reasons_are_never_cut(tmp_path: Path) -> None:
    assert show(tmp_path, "-hold -nobatch -wide:60")[1].endswith("longer than rows may be")


def test_a_host_that_is_not_known_fills_its_place_before_other_columns(tmp_path: Path) -> None:
    assert show(tmp_path, "-run -aaf X")[:2] == [
        " ID      OWNER            SUBMITTED     RUN_TIME HOST(S) X",
        "   2.0   bob            [?????????] [??????????] [?] undefined",
    ]


def test_added_columns_stand_above_totals_without_headings(tmp_path: Path) -> None:
    rows = show(tmp_path, "-totals -aaf X Owner")
    assert rows[:2] == ["longer text ann", "undefined   bob"]
    assert rows[2].startswith("Total for query: 2 jobs")


@pytest.mark.parametrize(
    ("qualifiers", "surplus"),
    [("VT", "T"), ("TTT", "TT"), ("jV", "jV"), ("Tj", "j"), ("r:V", ":V")],
)
@pytest.mark.parametrize("tool", ["condor_q", "condor_status", "condor_who"])
def test_a_column_has_one_qualifier_and_what_is_more_is_named(
    tool: str, qualifiers: str, surplus: str
) -> None:
    error = io.StringIO()
    streams = Streams(io.StringIO(), io.StringIO(), error)
    argv = [tool, "-nobatch"] if tool == "condor_q" else [tool]
    argv.append(f"-aaf:{qualifiers}")
    assert load_tool(tool)([*argv, "X"], {"CONDOR_CONFIG": "ONLY_ENV"}, streams) == 1
    said = f"Error: {surplus} is invalid -aaf format qualifier. only one of V"
    assert error.getvalue().startswith(said)


@pytest.mark.parametrize(
    ("qualifier", "heading"),
    [("T", "Reason"), ("Y", "Reason"), ("r", "Reason   "), ("V", "Reason ")],
)
def test_an_added_column_is_as_wide_as_what_it_shows(
    tmp_path: Path, qualifier: str, heading: str
) -> None:
    (tmp_path / "jobs").write_text('ClusterId = 1\nProcId = 0\nReason = "1234567"\n')
    out = io.StringIO()
    argv = ["condor_q", "-jobads", str(tmp_path / "jobs"), "-nobatch", f"-aaf:{qualifier}"]
    environment = {"CONDOR_CONFIG": "ONLY_ENV"}
    streams = Streams(io.StringIO(), out, out)
    assert load_tool("condor_q")([*argv, "Reason"], environment, streams) == 0
    assert out.getvalue().splitlines()[3].endswith(f" {heading}")
