"""Tools as programs: what ends them is what their parent is told."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Says when it is ready to be ended; its log has a job that does not end.
_PROGRAM = """
import sys
import time
from kettle.tools.jobs import condor_wait
from kettle.tools.programs import run_program
sys.argv = ["condor_wait", sys.argv[1]]
time.sleep = lambda seconds, sleep=time.sleep: (print("waits", flush=True), sleep(seconds))
sys.exit(run_program("condor_wait"))
"""
LOG = """\
000 (100.000.000) 2027-01-15 06:00:00 Job submitted from host: <192.0.2.5:9618>
...
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_tool_dies_of_the_signal_itself(tmp_path: Path, number: signal.Signals) -> None:
    """As HTCondor's do: a shell that runs a script ends it where Ctrl-C ended a tool."""
    log = tmp_path / "log"
    log.write_text(LOG)
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What was started in the background of a script has Ctrl-C ignored, and so have its tools.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    ) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        assert started.stdout.readline() == "waits\n"
        started.send_signal(number)
        assert started.wait(100) == -number
        assert started.stderr.read() == ""
