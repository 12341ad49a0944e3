"""A person at a terminal sees where an expression does not parse; others the reference's words."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

SUBMIT = "executable = /bin/true\nrequirements = Memory >\nqueue\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(argv: list[str], err: io.StringIO) -> str:
    streams = Streams(io.StringIO(), io.StringIO(), err)
    load_tool(argv[0])(argv, {"CONDOR_CONFIG": "ONLY_ENV"}, streams)
    return err.getvalue()


@pytest.fixture(autouse=True)
def _in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ads").write_text("Memory = 5\n")
    (tmp_path / "bad").write_text("[ Memory = 5 > ]\n")
    (tmp_path / "rules").write_text("SET A 1\n")
    (tmp_path / "job").write_text(SUBMIT)


@pytest.mark.parametrize(
    "argv",
    [
        ["condor_q", "-jobads", "ads", "-constraint", "Memory > "],
        ["condor_status", "-ads", "ads", "-constraint", "Memory > "],
        ["condor_status", "-ads", "ads", "-af", "Memory > "],
        ["condor_history", "-file", "ads", "-constraint", "Memory > "],
        ["condor_history", "-file", "ads", "-af", "Memory > "],
        ["condor_qedit", "1", "Requirements", "Memory > "],
        ["condor_qedit", "-constraint", "Memory > ", "Requirements", "true"],
        ["classad_eval", "Memory > "],
        ["condor_transform_ads", "-rules", "rules", "bad"],
    ],
)
def test_what_does_not_parse_is_drawn(argv: list[str]) -> None:
    elsewhere = run(argv, io.StringIO())
    at_terminal = run(argv, Terminal())
    assert "^" not in elsewhere
    assert at_terminal.replace(_drawing(at_terminal), "") == elsewhere


def test_a_command_that_does_not_parse_is_drawn_and_shown_with_its_line() -> None:
    argv = ["condor_submit", "-dry-run", "-", "job"]
    elsewhere, at_terminal = run(argv, io.StringIO()), run(argv, Terminal())
    own = _drawing(at_terminal) + "       job, line 2: requirements = Memory >\n"
    assert (own in at_terminal, at_terminal.replace(own, "")) == (True, elsewhere)
    assert "job, line" not in elsewhere


def test_a_value_that_is_none_is_told_with_its_line_and_the_nearest() -> None:
    Path("job").write_text("executable = /bin/true\nuniverse = vanila\nqueue\n")
    argv = ["condor_submit", "-dry-run", "-", "job"]
    own = "       job, line 2: universe = vanila. Did you mean 'vanilla'?\n"
    assert run(argv, Terminal()) == run(argv, io.StringIO()) + own


def test_a_rule_that_is_none_is_told_with_its_line_and_the_nearest() -> None:
    Path("rules").write_text("SET B 1\nDELET A\n")
    argv = ["condor_transform_ads", "-rules", "rules", "ads"]
    own = "    rules, line 2: did you mean DELETE?\n"
    at_terminal = run(argv, Terminal())
    assert at_terminal.count(own) == 1
    assert at_terminal.replace(own, "") == run(argv, io.StringIO())


def _drawing(text: str) -> str:
    """Return the two lines of the drawing; the second one's caret is below the end of the first."""
    lines = text.splitlines(keepends=True)
    [below] = [index for index, line in enumerate(lines) if line.lstrip().startswith("^ ")]
    assert " expected " in lines[below] or " found " in lines[below], text
    shown, caret = lines[below - 1].rstrip("\n"), lines[below].index("^")
    assert shown[:caret].rstrip().endswith(">"), text
    return lines[below - 1] + lines[below]


def test_the_nearest_option_is_told_where_the_reference_is_silent() -> None:
    argv = ["condor_q", "-constrant", "true"]
    elsewhere = run(argv, io.StringIO())
    assert "-constraint" not in elsewhere.partition("unrecognized argument")[2].splitlines()[0]
    assert run(argv, Terminal()) == elsewhere + "    did you mean -constraint?\n"


FORMAT = """SELECT NOHEDER
   Memory AS MEM WDTH 10
   Memory width 10
   Memory PRINTAS MEMORY_USAG
SUMMARY STANDART
"""


def test_a_print_format_is_complained_of_with_its_line_and_the_nearest_word() -> None:
    Path("cpf").write_text(FORMAT)
    argv = ["condor_q", "-jobads", "ads", "-pr", "cpf"]
    elsewhere = run(argv, io.StringIO())
    drawn = run(argv, Terminal())
    own = [line for line in drawn.splitlines() if line.startswith("    cpf, line ")]
    assert own == [
        "    cpf, line 1: did you mean NOHEADER?",
        "    cpf, line 2: WDTH is no keyword, did you mean WIDTH?",
        "    cpf, line 3: did you mean WIDTH?",
        "    cpf, line 4: did you mean MEMORY_USAGE?",
        "    cpf, line 5: did you mean STANDARD?",
    ]
    assert [line for line in drawn.splitlines() if line not in own] == elsewhere.splitlines()
