"""Where a column of a print format stands, and what of a value it shows.

Recorded from condor_q -jobads and condor_status -ads of 25.14.1 (tests/data/cli/columns.json): each
width with each format, and a word about the side or about cutting.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from kettle.tools.programs import Streams, load_tool

RECORD = json.loads(
    (Path(__file__).parents[1] / "data" / "cli" / "columns.json").read_text(encoding="utf-8")
)
ADS = {"condor_q": ["-jobads", "ads"], "condor_status": ["-ads", "ads", "-any"]}


def rows(tool: str, column: str) -> list[str]:
    Path("format").write_text(f"SELECT NOHEADER\n{column}\nP\n")
    out, err = io.StringIO(), io.StringIO()
    words = [tool, *ADS[tool], "-print-format", "format"]
    assert load_tool(tool)(words, {}, Streams(io.StringIO(), out, err)) == 0, err.getvalue()
    return [line for line in out.getvalue().split("\n") if "|" in line]


@pytest.mark.parametrize("tool", sorted(ADS))
def test_each_column_stands_where_the_real_one_does(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ads").write_text(RECORD["ads"])
    recorded = [(column, wanted) for of, column, wanted in RECORD["rows"] if of == tool]
    assert len(recorded) > 100
    assert [(column, rows(tool, column)) for column, _ in recorded] == recorded
