"""Tables and print formats beside recordings of the reference (tests/data/cli/tables).

Recorded from HTCondor 25.14.1 over the files of ads beside the recordings: what `-compact` adds up,
spans that go back in time, what a choice of ads leaves out of its table only, and what the words of
a print format do, wrong ones too. Titles show the time of the recording and are left out.
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

from kettle.tools.programs import Streams, load_tool

DATA = Path(__file__).parents[1] / "data/cli/tables"
CASES: list[dict[str, Any]] = json.loads((DATA / "recordings.json").read_text(encoding="utf-8"))
ENVIRONMENT = {"CONDOR_CONFIG": "ONLY_ENV", "_CONDOR_COLLECTOR_HOST": "127.0.0.1:1"}
_TITLE = re.compile(r"^(-- .*) @ .*$", re.MULTILINE)
GROUPS = sorted({case["argv"][0] + " " + case["argv"][-2] for case in CASES})


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for path in DATA.glob("*.ads"):
        shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def run(case: dict[str, Any]) -> tuple[int, str, str]:
    Path("FORMAT").write_text(case.get("format", ""), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    code = load_tool(case["argv"][0])(case["argv"], ENVIRONMENT, Streams(io.StringIO(), out, err))
    return code, _TITLE.sub(r"\1", out.getvalue()), err.getvalue()


@pytest.mark.parametrize("group", GROUPS)
def test_output_is_the_recorded_one(group: str) -> None:
    wrong = []
    for case in CASES:
        if case["argv"][0] + " " + case["argv"][-2] != group:
            continue
        said = run(case)
        wanted = case["exit"], _TITLE.sub(r"\1", case["stdout"]), case["stderr"]
        if said != wanted:
            shown = case["argv"], case.get("format", "")
            wrong.append(f"{shown}\n  theirs {wanted}\n  ours   {said}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong)
