"""condor_config_val beside recordings of the reference (.ci/record_config_val.py).

What a value is shown like, which option a beginning means, what cannot be asked at once, and what
is said of daemons that are not there. Of HTCondor 25.14.1, as root.
"""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from kettle.tools.configuration import condor_config_val
from kettle.tools.programs import Streams

DATA = Path(__file__).parents[1] / "data/cli/admin/config_val.json"
RECORDED: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in RECORDED["files"].items():
        (tmp_path / name).write_text(text.replace("@FOLDER@", str(tmp_path)))
    return tmp_path


def answer(folder: Path, line: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    around = {"CONDOR_CONFIG": str(folder / "c"), "HOME": "/root"}
    words = shlex.split(line.replace("@FOLDER@", str(folder)))
    streams = Streams(io.StringIO(), out, err)
    code = condor_config_val.main(["condor_config_val", *words], around, streams)
    return code, portable(out, folder), portable(err, folder)


def portable(said: io.StringIO, folder: Path) -> str:
    text = re.sub(r"(?s)Usage: .*", "@USAGE@", said.getvalue())
    text = re.sub(r"\$Condor\w+:.*\$", "@VERSION@", text)
    return text.replace(str(folder), "@FOLDER@")


def test_it_says_what_the_reference_says(folder: Path) -> None:
    wrong = []
    for case in RECORDED["cases"]:
        said = re.sub(r"\$Condor\w+:.*\$", "@VERSION@", case["stdout"])
        wanted = (case["exit"], said, case["stderr"])
        ours = answer(folder, case["line"])
        if ours != wanted:
            wrong.append(f"{case['line']}\n  theirs {wanted}\n  ours   {ours}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:60])
