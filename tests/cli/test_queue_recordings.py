"""`condor_q` beside recordings of the reference over files (tests/data/cli/condor_q).

The recordings are of HTCondor 25.14.1, `condor_q` with CONDOR_CONFIG=/dev/null and TZ=UTC; ads that
are not beside them are those of vectors/output; `.ci/record_tools.py` adds more. Titles show the
time of the recording and are left out. `NOT_YET` lists those that differ.
"""

from __future__ import annotations

import io
import json
import pwd
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.known_differences import numbered
from kettle.tools.programs import Streams
from kettle.tools.queue.condor_q import main

DATA = Path(__file__).parents[1] / "data"
CASES: list[dict[str, Any]] = json.loads((DATA / "cli/condor_q/recordings.json").read_text())
# Usages are in our own words.
_USAGE = re.compile(r"^\s*usage:.*", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_SECOND = "the reference finds no job of a second id beside one that names a whole job"
NOT_YET = {57: _SECOND}


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for source in (DATA / "cli/condor_q", DATA / "vectors/output/data"):
        for path in source.iterdir():
            shutil.copy(path, tmp_path / path.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    # The recordings were made by root; `-userlog` shows whose file the log is.
    root = pwd.getpwuid(0)
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: root)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def run(case: dict[str, Any]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": "/dev/null", **case.get("environment", {})}
    code = main(case["argv"], environment, Streams(io.StringIO(), out, err))
    return code, _without_time(_USAGE.sub("@USAGE@", out.getvalue())), err.getvalue()


def _without_time(text: str) -> str:
    return re.sub(r"^(-- .*) @ .*$", r"\1", text, flags=re.MULTILINE)


@pytest.mark.parametrize("number", numbered(CASES, NOT_YET))
def test_output_is_the_recorded_one(number: int) -> None:
    case = CASES[number]
    code, out, err = run(case)
    expected = _without_time(_USAGE.sub("@USAGE@", case["stdout"]))
    assert (out, err) == (expected, case["stderr"])
    assert code == case["exit"]
