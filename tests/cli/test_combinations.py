"""Options together, over the ads of the vectors: what the real tools 25.14.1 print, to the byte."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kettle.classad import Context
from kettle.classad.context import set_ambient
from kettle.tools.programs import Streams, load_tool

DATA = Path(__file__).parent.parent / "data"
RECORDED = json.loads((DATA / "cli" / "combinations.json").read_text())


@pytest.fixture(autouse=True)
def recorded_moment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand where and when the recording was made."""
    monkeypatch.chdir(DATA / "vectors" / "output" / "data")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    before = set_ambient(Context(lambda: float(RECORDED["now"]), Random(1)))
    yield
    set_ambient(before)
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: " ".join(case["argv"]))
def test_output_and_exit_code_are_the_references(case: dict[str, Any]) -> None:
    argv = case["argv"]
    out, err = io.StringIO(), io.StringIO()
    code = load_tool(argv[0])(
        list(argv), {"CONDOR_CONFIG": "/dev/null"}, Streams(io.StringIO(), out, err)
    )
    assert (out.getvalue(), err.getvalue(), code) == (case["stdout"], case["stderr"], case["exit"])
