"""Jobs of a file: `SELECT UNIQUE`, `SELECT FROM AUTOCLUSTER`, and two jobs of one id."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

ADS = """\
ClusterId = 1
ProcId = 0
Owner = "a"
RequestMemory = 1
AutoClusterId = 1

ClusterId = 1
ProcId = 1
Owner = "a"
RequestMemory = 2
AutoClusterId = 2

ClusterId = 2
ProcId = 0
Owner = "b"
AutoClusterId = 1

"""


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ads").write_text(ADS)


def run(tool: str, *words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": "/dev/null"}
    code = load_tool(tool)([tool, *words], environment, Streams(io.StringIO(), out, err))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT UNIQUE BARE\nOwner\n", ["a", "b"]),
        (
            "SELECT UNIQUE BARE\nOwner\nRequestMemory\nGROUP BY Owner\n",
            ["a 1", "a 2", "b undefined"],
        ),
        ("SELECT FROM AUTOCLUSTER BARE\nAutoClusterId\nOwner\n", ["1 a", "2 a"]),
    ],
)
def test_jobs_of_a_file_are_grouped_too(text: str, rows: list[str]) -> None:
    Path("form").write_text(text)
    code, said, _ = run("condor_q", "-jobads", "ads", "-print-format", "form")
    assert (code, [" ".join(line.split()) for line in said.splitlines()]) == (0, rows)


# As the tools of 25.14.1 say it.
def test_of_two_jobs_of_one_id_the_first_is_shown_and_the_other_is_told() -> None:
    Path("ads").write_text(ADS + 'ClusterId = 1\nProcId = 1\nOwner = "c"\n')
    said = "Error: Two results with the same ID.\n"
    assert run("condor_q", "-jobads", "ads", "-af", "Owner") == (0, "a\na\nb\n", said)
    rows = run("condor_q", "-jobads", "ads", "-nobatch")[1].splitlines()
    assert sum(row.lstrip()[:1].isdigit() for row in rows) == 3


@pytest.mark.parametrize(
    ("tool", "source", "complaint"),
    [
        (
            "condor_status",
            "-ads",
            "print-format aggregation not supported\nError: invalid select file form\n",
        ),
        (
            "condor_history",
            "-file",
            "UNIQUE aggregation is not supported.\nError: cannot execute print-format file form\n",
        ),
    ],
)
@pytest.mark.parametrize("what", ["UNIQUE", "FROM AUTOCLUSTER"])
def test_rows_of_other_tools_are_ads(tool: str, source: str, complaint: str, what: str) -> None:
    Path("form").write_text(f"SELECT {what}\nOwner\n")
    assert run(tool, source, "ads", "-print-format", "form") == (1, "", complaint)
