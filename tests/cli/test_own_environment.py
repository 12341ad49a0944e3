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


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("", {"SEMI", "PIPE"}),
        ("environment = A=1;B=2", {"A", "B", "PIPE"}),
        ('environment = "A=1"', {"A", "PIPE"}),
        ('environment2 = "A=1"', {"A", "SEMI", "PIPE"}),
        ("env = A=1", {"A", "PIPE"}),
    ],
)
def test_getenv_is_submitted_whatever_the_environment_has(
    tmp_path: Path, line: str, names: set[str]
) -> None:
    """As the reference does: beside `environment` what holds a semicolon stays behind, too."""
    path = tmp_path / "job.sub"
    text = f"executable = /bin/true\ngetenv = SEMI, PIPE, BASH_FUNC_*\n{line}\nqueue\n"
    path.write_text(text, encoding="utf-8")
    own = {
        "PYTHONPATH": SOURCE,
        "CONDOR_CONFIG": "ONLY_ENV",
        "PATH": os.defpath,
        "SEMI": "a;b",
        "PIPE": "a|b",
        "BASH_FUNC_ml%%": "() {  eval $(x)\n}",
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", TOOL, "-dry-run", "-", str(path)],
        env=own, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    lines = [said for said in done.stdout.splitlines() if said.startswith(("Environment=", "Env="))]
    words = lines[0].partition("=")[2].strip('"').replace(";", " ").split()
    assert {word.partition("=")[0] for word in words} - {"b"} == names
