"""`condor_config_val` answers as the recorded one did, about the same files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.config.vectors import first_line, load, run_tool, use_machine, write_files
from conformance.known_differences import differences, numbered

CASES = load("cases.json")["cases"]


def case_name(number: int) -> str:
    return f"{number}-{CASES[number]['topic'].replace(' ', '_')}"


@pytest.mark.parametrize("number", numbered(CASES, differences("config/cases")), ids=case_name)
def test_the_tool_answers_as_recorded(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case: dict[str, Any] = CASES[number]
    use_machine(monkeypatch)
    write_files(case["files"], tmp_path)
    monkeypatch.chdir(tmp_path)
    for query in case["queries"]:
        if query.get("hang"):
            continue
        code, stdout, stderr = run_tool(query["args"], tmp_path, case.get("env", {}))
        assert (code, stdout) == (query["exit"], query["stdout"]), query["args"]
        assert first_line(stderr) == first_line(query["stderr"]), query["args"]
