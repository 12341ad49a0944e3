"""What the tools print, beside recordings of the reference (vectors `output`).

Each case runs one of our tools over the files in `data/`; the clock stands at the recording's
time. Cases that differ knowingly must still differ, so that their list can only become shorter.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from conformance.known_differences import differences
from kettle.classad.context import Context, set_ambient
from kettle.errors import KettleError
from kettle.tools.programs import Streams, load_tool

HERE = Path(__file__).parent
FOLDER = HERE.parent / "data" / "vectors" / "output"
RECORDED = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
CASES = RECORDED["cases"]
TOOLS = ("condor_q", "condor_history")
MINE = [number for number, case in enumerate(CASES) if case["argv"][0] in TOOLS]
DIFFERENT = [number for number in MINE if number in differences("output/cases")]


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in the recordings' folder, at their time and place."""
    monkeypatch.chdir(FOLDER / "data")
    monkeypatch.setenv("TZ", RECORDED["tz"])
    time.tzset()
    before = set_ambient(Context(now=lambda: float(RECORDED["now"]), random=Random(0)))
    yield
    set_ambient(before)
    monkeypatch.undo()
    time.tzset()


def run_tool(argv: list[str]) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of one of our tools."""
    main = load_tool(argv[0])
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": "/dev/null", "HOME": os.devnull}
    try:
        code = main(argv, environment, Streams(io.StringIO(), out, err))
    except KettleError as error:
        err.write(f"ERROR: {error}\n")
        code = 1
    return code, out.getvalue(), err.getvalue()


def is_alike(case: dict[str, Any]) -> bool:
    """Tell whether our tool does what was recorded; what follows @USAGE@ is our own."""
    code, out, err = run_tool(case["argv"])
    return (
        code == case["exit"]
        and _same(out, case["stdout"]["text"])
        and _same(err, case["stderr"].get("text", ""))
    )


def _same(ours: str, recorded: str) -> bool:
    before, mark, _ = recorded.partition("@USAGE@")
    return ours.startswith(before) and "Usage" in ours if mark else ours == recorded


@pytest.mark.parametrize("number", [number for number in MINE if number not in DIFFERENT])
def test_output_is_the_recorded_one(number: int) -> None:
    case = CASES[number]
    code, out, err = run_tool(case["argv"])
    if "crash" in case:
        assert (code, out) == (1, "")
        assert err
        return
    wanted_out, wanted_err = case["stdout"]["text"], case["stderr"].get("text", "")
    if "@USAGE@" not in wanted_out + wanted_err:
        assert (out, err) == (wanted_out, wanted_err)
    assert _same(out, wanted_out)
    assert _same(err, wanted_err)
    assert code == case["exit"]


@pytest.mark.parametrize("number", DIFFERENT)
def test_a_case_that_is_listed_still_differs(number: int) -> None:
    assert not is_alike(CASES[number])
