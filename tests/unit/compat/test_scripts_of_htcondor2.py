"""`kettle.compat.htcondor2` prints for users' scripts what the wheel's `htcondor2` prints."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from kettle.compat import real_names

SCRIPTS = sorted((Path(__file__).parents[2] / "data/compat/htcondor2").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_prints_what_it_prints_under_the_wheel(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("classad2", "htcondor2"):
        monkeypatch.setitem(sys.modules, name, None)
        real_names.take_name(name)
    runpy.run_path(str(script))
    recorded = script.with_suffix(".txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out.splitlines() == recorded.splitlines()
