"""Where a column of a print format stands, and what of a value it shows.

Recorded from condor_q -jobads and condor_status -ads of 25.14.1: each width with each format, and a
word about the side or about cutting (tests/data/cli/columns.json), and the same with ways that have
a name (named_columns.json).
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

DATA = Path(__file__).parents[1] / "data" / "cli"
ADS = {"condor_q": ["-jobads", "ads"], "condor_status": ["-ads", "ads", "-any"]}


def rows(tool: str, column: str) -> list[str]:
    Path("format").write_text(f"SELECT NOHEADER\n{column}\nP\n")
    out, err = io.StringIO(), io.StringIO()
    words = [tool, *ADS[tool], "-print-format", "format"]
    assert load_tool(tool)(words, {}, Streams(io.StringIO(), out, err)) == 0, err.getvalue()
    return [line for line in out.getvalue().split("\n") if line.endswith("|")]


@pytest.mark.parametrize("tool", sorted(ADS))
@pytest.mark.parametrize("name", ["columns", "named_columns"])
def test_each_column_stands_where_the_real_one_does(
    name: str, tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    Path("ads").write_text(record["ads"])
    recorded = [(column, wanted) for of, column, wanted in record["rows"] if of == tool]
    assert len(recorded) > 20
    assert [(column, rows(tool, column)) for column, _ in recorded] == recorded
