"""`-print-format FILE` with -af or -format: columns beside the file's, as in 25.14.1."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool
from kettle.tools.queue.condor_q import main

JOBS = """\
ClusterId = 9
ProcId = 0
Owner = "u"
JobPrio = 0
JobStatus = 1

ClusterId = 10
ProcId = 0
Owner = "u"
JobPrio = 0
JobStatus = 2
"""
PLAIN = "SELECT\nClusterId AS C\nJobStatus AS S PRINTAS JOB_STATUS\nSUMMARY STANDARD\n"
HEADLESS = "SELECT NOHEADER\nClusterId AS C\nOwner\nSUMMARY NONE\n"
LABELLED = 'SELECT LABEL SEPARATOR " : "\nClusterId AS C\nOwner\nSUMMARY NONE\n'


def show(tmp_path: Path, form: str, options: str) -> str:
    (tmp_path / "jobs").write_text(JOBS)
    (tmp_path / "form").write_text(form)
    out = io.StringIO()
    files = ["-jobads", str(tmp_path / "jobs"), "-pr", str(tmp_path / "form")]
    argv = ["condor_q", *files, *options.split()]
    assert main(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, Streams(io.StringIO(), out, out)) == 0
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "options", "shown"),
    [
        (PLAIN, "-af Owner JobPrio", ["C  S  Owner JobPrio", "9  I  u     0      "]),
        (PLAIN, "-af:, Owner JobPrio", ["C , S , Owner, JobPrio", "9 , I , u    , 0      "]),
        (PLAIN, "-af:t Owner", ["C \tS \tOwner", "9 \tI \tu    "]),
        (PLAIN, "-af:Vj Owner", ["C  S   ID  Owner", '9  I  9.0  "u"  ']),
        (PLAIN, "-af:l Owner", ["C  S  Owner", "9  I  u    "]),
        (PLAIN, "-format %d ClusterId", ["C  S ", "9  I  9"]),
        (PLAIN, "-format %5s Owner -af JobPrio", ["C  S  JobPrio", "9  I      u 0      "]),
        (HEADLESS, "-af JobPrio", ["C  Owner JobPrio", "9  u     0      "]),
        (LABELLED, "-af:lj JobPrio", ["C : 9 Owner : u ID = 9.0 JobPrio = 0"]),
    ],
)
def test_columns_of_the_command_line_stand_behind_those_of_the_file(
    tmp_path: Path, form: str, options: str, shown: list[str]
) -> None:
    lines = show(tmp_path, form, options).splitlines()
    assert lines[: len(shown)] == shown
    assert len(lines) == len(shown) + 1


@pytest.mark.parametrize(
    ("options", "heading"),
    [
        ("-af JobPrio+123456789", "C  S  (expr)"),
        ("-af JobPrio+12345678", "C  S  JobPrio+12345678"),
        ("-af:h JobPrio+123456789", "C  S  JobPrio+123456789"),
        ("-af MY.JobPrio1234567890", "C  S  MY.JobPrio1234567890"),
    ],
)
def test_a_long_expression_is_headed_by_a_word(tmp_path: Path, options: str, heading: str) -> None:
    assert show(tmp_path, PLAIN, options).splitlines()[0].rstrip() == heading


def test_what_is_not_defined_sticks_out(tmp_path: Path) -> None:
    assert show(tmp_path, PLAIN, "-af Nothing").splitlines()[:2] == [
        "C  S  Nothing",
        "9  I  undefined",
    ]


def show_slot(tmp_path: Path, options: str) -> list[str]:
    (tmp_path / "slots").write_text('MyType = "Machine"\nName = "a"\nMachine = "m"\nCpus = 2\n')
    (tmp_path / "form").write_text("SELECT\nMachine AS M\n")
    (tmp_path / "other").write_text("SELECT\nCpus AS C\n")
    out = io.StringIO()
    argv = ["condor_status", "-ads", str(tmp_path / "slots")]
    argv += [
        str(tmp_path / word) if word in {"form", "other"} else word for word in options.split()
    ]
    environment = {"CONDOR_CONFIG": "ONLY_ENV"}
    assert load_tool("condor_status")(argv, environment, Streams(io.StringIO(), out, out)) == 0
    return out.getvalue().splitlines()


def test_the_last_of_two_files_counts(tmp_path: Path) -> None:
    assert show_slot(tmp_path, "-pr form -pr other") == ["C", "2"]


def test_a_format_at_the_end_takes_headings_away(tmp_path: Path) -> None:
    assert show_slot(tmp_path, "-af:h Cpus -format %s Name") == ["2    a"]
