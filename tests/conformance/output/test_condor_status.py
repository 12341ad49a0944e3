"""condor_status over files of ads prints what the reference printed, byte for byte."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from conformance.known_differences import differences
from kettle.classad import Context
from kettle.classad.context import set_ambient
from kettle.tools.programs import Streams
from kettle.tools.status.condor_status import main

VECTORS = Path(__file__).parent.parent.parent / "data" / "vectors" / "output"
RECORDED = json.loads((VECTORS / "cases.json").read_text())
NOW = float(RECORDED["now"])

CASES = {
    number: case
    for number, case in enumerate(RECORDED["cases"])
    if case["argv"][0] == "condor_status"
}


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


@pytest.mark.shows("R071")
@pytest.mark.parametrize("number", CASES)
def test_output_and_exit_code_are_the_references(
    number: int, request: pytest.FixtureRequest
) -> None:
    case = CASES[number]
    if reason := differences("output/cases").get(number):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
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


def test_the_memory_of_no_machine_is_nothing(tmp_path: Path) -> None:
    file = tmp_path / "startds"
    file.write_text('Name = "a"\nLastHeardFrom = 1200\n')
    out = io.StringIO()
    argv = ["condor_status", "-ads", str(file), "-startd"]
    assert main(argv, {}, Streams(io.StringIO(), out, io.StringIO())) == 0
    total = next(line for line in out.getvalue().splitlines() if "Total" in line)
    assert total.endswith("0    0.00%    0.00%")


# Recorded from condor_status 25.14.1 over files of ads beside the recording.
OURS = VECTORS.parent.parent / "cli" / "status"
RARE = json.loads((OURS / "recorded.json").read_text())
# Long names, lines of so many characters and terminals; every choice of ads over slots and daemons.
WIDTHS = json.loads((OURS / "widths.json").read_text())


@pytest.mark.parametrize(
    "case", WIDTHS, ids=lambda case: " ".join([*case["argv"][2:], str(case.get("tty", ""))])
)
def test_tables_fit_lines_as_the_references_do(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(OURS)
    out, problems = io.StringIO(), io.StringIO()
    if "tty" in case:
        monkeypatch.setattr(out, "fileno", lambda: 1)
        size = os.terminal_size((case["tty"], 24))
        monkeypatch.setattr(os, "get_terminal_size", lambda _: size)
    assert main(list(case["argv"]), {}, Streams(io.StringIO(), out, problems)) == case["exit"]
    assert out.getvalue() == case["stdout"]
    assert problems.getvalue() == case["stderr"]


@pytest.mark.parametrize("case", RARE, ids=lambda case: " ".join(case["argv"][1:]))
def test_tables_that_few_ask_for_are_the_references(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(OURS)
    out, problems = io.StringIO(), io.StringIO()
    assert main(list(case["argv"]), {}, Streams(io.StringIO(), out, problems)) == case["exit"]
    assert out.getvalue() == case["stdout"]
    assert problems.getvalue() == case["stderr"]
