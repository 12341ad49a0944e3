"""Command lines of the user's tools beside recordings of the reference (tests/data/cli).

Recorded from HTCondor 25.14.1: wrong options, missing words, what contradicts itself, beginnings of
options, files that are not there; no daemon is asked. `.ci/record_tools.py` adds more. What the
reference says from its usage on is not recorded: usages are in our own words.
"""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from kettle.errors import KettleError
from kettle.tools.programs import Streams, load_tool

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data/cli/command_lines.json").read_text(encoding="utf-8")
)
_USAGE = re.compile(r"^\s*use?(age)?:.*", re.IGNORECASE | re.DOTALL | re.MULTILINE)


def run(argv: list[str]) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of one of our tools, without usages."""
    out, err = io.StringIO(), io.StringIO()
    environment = {"CONDOR_CONFIG": "ONLY_ENV", "HOME": os.devnull}
    try:
        code = load_tool(argv[0])(argv, environment, Streams(io.StringIO(), out, err))
    except KettleError as error:
        code = 1
        err.write(f"ERROR: {error}\n")
    return code, _USAGE.sub("@USAGE@", out.getvalue()), _USAGE.sub("@USAGE@", err.getvalue())


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["argv"]))
def test_it_says_what_the_reference_says(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(case["argv"])
    assert (out, err) == (case["stdout"], case["stderr"])
    assert code == case["exit"]
