"""Ctrl-C while a tool's modules are loaded ends it as it would any program: without a word."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = str(Path(__file__).parents[2] / "src")
# What loads the tool is interrupted before it has loaded anything.
TOOL = """
import os, signal, sys
from kettle.tools import programs
# A shell's background job ignores it, and so may who runs these tests.
heard = signal.default_int_handler if sys.argv[2] == "heard" else signal.SIG_IGN
signal.signal(signal.SIGINT, heard)
load = programs.load_tool
def interrupted(name):
    os.kill(os.getpid(), signal.SIGINT)
    return load(name)
programs.load_tool = interrupted
name, sys.argv[1:] = sys.argv[1], []
raise SystemExit(programs.run_program(name))
"""


def start(name: str, how: str) -> subprocess.CompletedProcess[str]:
    """Return what a tool said, and how it ended."""
    environment = {"PYTHONPATH": SOURCE, "CONDOR_CONFIG": "ONLY_ENV", "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [sys.executable, "-c", TOOL, name, how],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["condor_version", "condor_rm", "kettle"])
def test_an_interrupt_at_the_start_ends_a_tool_by_the_signal(name: str) -> None:
    done = start(name, "heard")
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_who_ignores_interrupts_goes_on() -> None:
    done = start("condor_version", "ignored")
    assert done.returncode == 0
    assert done.stdout.startswith("$CondorVersion")
