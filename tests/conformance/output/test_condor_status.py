"""condor_status over files of ads prints what the reference printed, byte for byte."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kettle.classad import Context
from kettle.classad.context import set_ambient
from kettle.tools.programs import Streams
from kettle.tools.status.condor_status import main

VECTORS = Path(__file__).parent.parent.parent / "data" / "vectors" / "output"
RECORDED = json.loads((VECTORS / "cases.json").read_text())
NOW = float(RECORDED["now"])

# Options whose tables come with the rest of the print formats.
LATER = {
    "-startd", "-gpus", "-cod", "-healthy:verbose", "-target", "-merge", "-annex-name",
    "-license", "-data", "-ckptsrvr", "-print-format", "-pr", "-direct",
}  # fmt: skip


def is_later(argv: list[str]) -> bool:
    return bool(LATER & set(argv)) or argv[-2:] in (
        ["-subsystem", "startd"],
        ["-state", "-compact"],
    )


CASES = [
    case
    for case in RECORDED["cases"]
    if case["argv"][0] == "condor_status" and not is_later(case["argv"])
]


@pytest.fixture(autouse=True)
def recorded_moment(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stand where and when the recording was made."""
    monkeypatch.chdir(VECTORS / "data")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    before = set_ambient(Context(lambda: NOW, Random(1)))
    yield
    set_ambient(before)
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["argv"][1:])[:60])
def test_output_and_exit_code_are_the_references(case: dict[str, Any]) -> None:
    out, problems = io.StringIO(), io.StringIO()
    code = main(list(case["argv"]), {}, Streams(io.StringIO(), out, problems))
    assert out.getvalue() == case["stdout"]["text"]
    assert code == case["exit"]
    expected = case["stderr"]["text"]
    if "@USAGE@" in expected:
        assert problems.getvalue().startswith(expected.partition("@USAGE@")[0].rstrip("\n"))
    else:
        assert problems.getvalue() == expected


def test_the_table_of_states_shows_how_long_nobody_typed(tmp_path: Path) -> None:
    file = tmp_path / "slots"
    file.write_text(
        'MyType = "Machine"\nName = "slot1@a"\nState = "Claimed"\nActivity = "Idle"\nCpus = 16\n'
        "KeyboardIdle = 333\nCondorLoadAvg = 1.5\nLastHeardFrom = 1200\n"
        "EnteredCurrentState = 1000\nEnteredCurrentActivity = 1010\n"
    )
    out = io.StringIO()
    argv = ["condor_status", "-ads", str(file), "-state"]
    assert main(argv, {}, Streams(io.StringIO(), out, io.StringIO())) == 0
    headings, _, row = out.getvalue().splitlines()[:3]
    assert headings[43:] == "  LoadAv   KbdIdle    State     StateTime  Activ   ActvtyTime"
    assert row[43:] == "   1.500   0+00:05:33 Claimed   0+00:03:20 Idle    0+00:03:10"
