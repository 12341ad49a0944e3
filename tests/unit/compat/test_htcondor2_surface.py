"""`kettle.compat.htcondor2` has every public name of the wheel's `htcondor2` 25.14.1.

What the wheel has is recorded by .ci/record_surface.py in tests/data/wheel/htcondor2.json.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kettle.compat import htcondor2

ROOT = Path(__file__).parents[3]
RECORDED: dict[str, Any] = json.loads((ROOT / "tests/data/wheel/htcondor2.json").read_text())


def surface() -> dict[str, Any]:
    """Return what our module looks like, as the wheel's was recorded."""
    place = ROOT / ".ci/record_surface.py"
    spec = importlib.util.spec_from_file_location("record_surface", place)
    assert spec is not None
    assert spec.loader is not None
    recorder = importlib.util.module_from_spec(spec)
    before = sys.modules.get("htcondor2")
    sys.modules["htcondor2"] = htcondor2
    try:
        spec.loader.exec_module(recorder)
    finally:
        if before is None:
            del sys.modules["htcondor2"]
        else:
            sys.modules["htcondor2"] = before
    found: dict[str, Any] = recorder.surface(htcondor2)
    return found


OURS = surface()


def test_there_is_every_public_name() -> None:
    assert set(RECORDED) - set(OURS) == set()
    assert set(htcondor2.__all__) >= set(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_a_name_is_what_it_is_in_the_wheel(name: str) -> None:
    theirs, ours = RECORDED[name], OURS[name]
    assert ours["kind"] == theirs["kind"]
    if theirs["kind"] == "enumeration":
        assert ours == theirs
    elif theirs["kind"] == "class":
        assert set(theirs["members"]) <= set(ours["members"])
        differing = {
            member: (ours["members"][member], parameters)
            for member, parameters in theirs["members"].items()
            if ours["members"][member] != parameters
        }
        assert differing == {}
        if not issubclass(getattr(htcondor2, name), BaseException):
            assert ours["made by"] == theirs["made by"]
    elif theirs["kind"] == "function" and theirs["parameters"] is not None:
        assert ours["parameters"] == theirs["parameters"]


def test_importing_it_loads_no_event_loop_and_nothing_that_draws() -> None:
    code = "import sys, kettle.compat.htcondor2; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    assert {"asyncio", "numpy", "rich", "cryptography"}.isdisjoint(loaded)
