"""`condor_history` beside recordings of the reference over files (tests/data/cli/condor_history).

The recordings are of HTCondor 25.14.1 in a folder with the files beside them, CONDOR_CONFIG=config
and TZ=UTC; `.ci/record_tools.py condor_history` adds more.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kettle.tools.programs import Streams
from kettle.tools.queue.condor_history import main

FOLDER = Path(__file__).parents[1] / "data/cli/condor_history"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "recordings.json").read_text("utf-8"))
_USAGE = re.compile(r"^\s*use?(age)?:.*", re.IGNORECASE | re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def run(*words: str) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr, without usages."""
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": "config", "TZ": "UTC"}
    code = main(["condor_history", *words], environment, Streams(io.StringIO(), out, err))
    return code, _USAGE.sub("@USAGE@", out.getvalue()), _USAGE.sub("@USAGE@", err.getvalue())


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["argv"][1:]))
def test_it_shows_what_the_reference_shows(case: dict[str, Any], tmp_path: Path) -> None:
    words = case["argv"][1:]
    assert run(*words) == (case["exit"], case["stdout"], case["stderr"])
    if "extracted" in case:
        assert (tmp_path / "extracted").read_text("utf-8") == case["extracted"]


def test_forwards_shows_the_same_records_the_other_way_round() -> None:
    words = ("-epochs", "-type", "SPAWN", "-af", "ClusterId", "RunInstanceId")
    said = run(*words)[1].splitlines()
    assert run(*words, "-forwards")[1].splitlines() == said[::-1] == ["1 0", "1 1", "2 0"]
    both = run("ann", "3.1", "-af", "ClusterId", "ProcId")[1].splitlines()
    assert both == ["3 2", "3 1", "3 0", "1 1", "1 0"]


def test_one_file_is_read_and_no_other() -> None:
    code, _, said = run("-file", "history", "-userlog", "history")
    assert (code, said.splitlines()[0][:30]) == (1, "Error: only one file can be re")
