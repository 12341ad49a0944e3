"""What the interpreter puts into its own environment is no part of what a job gets of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = str(Path(__file__).parents[2] / "src")
TOOL = "from kettle.tools.programs import run_program as r; raise SystemExit(r('condor_submit'))"


@pytest.mark.parametrize("given", [{}, {"LC_CTYPE": "C.UTF-8"}])
def test_getenv_takes_what_the_submitter_has(tmp_path: Path, given: dict[str, str]) -> None:
    path = tmp_path / "job.sub"
    path.write_text("executable = /bin/true\ngetenv = true\nqueue\n", encoding="utf-8")
    # Without a language, as cron and systemd start what they start.
    own = {"PYTHONPATH": SOURCE, "CONDOR_CONFIG": "ONLY_ENV", "PATH": os.defpath, **given}
    done = subprocess.run(
        [sys.executable, "-P", "-c", TOOL, "-dry-run", "-", str(path)],
        env=own, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("Environment=")]
    words = line.partition("=")[2].strip('"').split()
    assert {word.partition("=")[0] for word in words} == own.keys()
