"""Whole print-format files beside what condor_q, condor_status and condor_history make of them.

Recorded from 25.14.1 with `-jobads`, `-ads` and `-file` (tests/data/cli/print_formats.json): made
at random of all words of the language, those left out whose values the real tools take from memory
that nobody wrote.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

DATA = Path(__file__).parents[1] / "data" / "cli"
RECORD = json.loads((DATA / "print_formats.json").read_text(encoding="utf-8"))
WORDS = {
    "condor_q": ["-jobads", "ads"],
    "condor_status": ["-ads", "ads", "-any"],
    "condor_history": ["-file", "ads"],
}


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def run(tool: str, *words: str, ads: str, text: str) -> tuple[int, str, str]:
    Path("ads").write_text(ads, encoding="utf-8")
    Path("f").write_text(text, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": "/dev/null"}
    argv = [tool, *WORDS[tool], *words, "-pr", "f"]
    return load_tool(tool)(argv, environment, Streams(io.StringIO(), out, err)), *map(
        io.StringIO.getvalue, (out, err)
    )


@pytest.mark.parametrize("tool", sorted(WORDS))
def test_a_print_format_shows_what_the_real_tool_shows(tool: str) -> None:
    rows = [row for row in RECORD["rows"] if row[0] == tool]
    assert len(rows) > 20
    for _, is_wide, text, said, shown in rows:
        found = run(tool, *(["-wide"] * is_wide), ads=RECORD["ads"][tool], text=text)
        assert (text, found) == (text, (0, shown, said))


def test_a_format_that_does_not_fit_shows_nothing() -> None:
    """The reference shows a number that happens to be in its memory."""
    ads = 'ClusterId = 1\nProcId = 0\nJobBatchName = "b"\n'
    text = "SELECT BARE\nProcId PRINTF %5d PRINTAS BATCH_NAME PRINTF %5d OR ?\nProcId AS P\n"
    assert run("condor_q", ads=ads, text=text) == (0, "?      0\n", "")


def test_rows_are_in_the_order_of_what_their_values_look_like() -> None:
    ads = "".join(f"ClusterId = {n}\nProcId = 0\nV = {n}\n\n" for n in (9, 10, 100, 1))
    by_value = "SELECT BARE\nV AS V\nGROUP BY V DESCENDING\n"
    assert run("condor_q", ads=ads, text=by_value)[1].split() == ["1", "10", "100", "9"]
    by_id = "SELECT BARE\nV AS V\n"
    assert run("condor_q", ads=ads, text=by_id)[1].split() == ["1", "9", "10", "100"]


def test_devices_reasons_and_joins_are_shown_as_the_real_tool_shows_them() -> None:
    record = json.loads((DATA / "devices_and_joins.json").read_text(encoding="utf-8"))
    assert len(record["rows"]) > 20
    for text, out, err in record["rows"]:
        assert run("condor_status", ads=record["ads"], text=text) == (0, out, err), text


def test_a_join_is_complained_of() -> None:
    ads = 'MyType = "Machine"\nName = "a"\n'
    for text in ("SELECT\nName\nJOIN x\n", "SELECT\nName\nJOIN\n"):
        # The reference crashes of the first.
        assert run("condor_status", ads=ads, text=text) == (0, "Name\na   \n", "")
